use proptest::prelude::*;

use super::ranges::Room;
use super::{FewNumbers, PackedBuilder, PackedObservations};
use crate::observations::{Labels, Mode, Observations, OnDuplicate};
use crate::views::{Storage, Views};
use crate::{Error, Result};

/// Rows of three modes, some of them of the same cell.
#[derive(Debug, Clone)]
struct Given {
    cells: Vec<[u32; 3]>,
    values: Vec<f64>,
    weights: Option<Vec<f64>>,
    /// Labels of each mode, some of which no row may have.
    sizes: [usize; 3],
}

impl Given {
    fn modes(&self) -> Vec<Mode> {
        let mode = |(name, &labels): (&str, &usize)| {
            let texts = (0..labels).map(|label| format!("{name}{label}"));
            let all = if name == "b" { Labels::from_names(texts) } else { Labels::range(labels) };
            Mode::new(name, all)
        };
        ["a", "b", "c"].into_iter().zip(&self.sizes).map(mode).collect()
    }

    fn columns(&self) -> Vec<Vec<u32>> {
        (0..3).map(|mode| self.cells.iter().map(|cell| cell[mode]).collect()).collect()
    }

    fn builder(&self, few: bool, storage: Storage, part: usize) -> PackedBuilder {
        let numbers = |numbers: &[f64]| {
            let mut seen = FewNumbers::default();
            seen.add(numbers);
            if !few {
                seen.add(&(0..300).map(f64::from).collect::<Vec<_>>());
            }
            seen
        };
        let weights = self.weights.as_deref().map(numbers);
        let mut builder =
            PackedBuilder::new(self.modes(), numbers(&self.values), weights, 0, Some(storage))
                .expect("room");
        let columns = self.columns();
        for first in (0..self.cells.len()).step_by(part) {
            let rows = first..self.cells.len().min(first + part);
            let part: Vec<_> = columns.iter().map(|column| column[rows.clone()].to_vec()).collect();
            let weights = self.weights.as_ref().map(|weights| &weights[rows.clone()]);
            builder.push(&part, &self.values[rows.clone()], weights).expect("valid rows");
        }
        builder
    }

    fn sorted(
        &self,
        builder: PackedBuilder,
        policy: OnDuplicate,
        cells: usize,
    ) -> Result<PackedObservations> {
        let unmapped = vec![None; self.sizes.len()];
        builder.sorted(unmapped, policy, |_| Room { cells, threads: 2 })
    }
}

fn given() -> impl Strategy<Value = Given> {
    let sizes = [3usize..40, 1..6, 1..300].prop_map(|sizes| sizes);
    (sizes, any::<bool>(), 1usize..80).prop_flat_map(|(sizes, weighted, rows)| {
        let cell = [0..sizes[0] as u32, 0..sizes[1] as u32, 0..(sizes[2] as u32).min(4)];
        let values = proptest::collection::vec((0i32..40).prop_map(|v| f64::from(v) / 3.0), rows);
        let weights = proptest::collection::vec((0i32..4).prop_map(f64::from), rows);
        (proptest::collection::vec(cell, rows), values, weights).prop_map(
            move |(cells, values, weights)| {
                let weights = weighted.then_some(weights);
                Given { cells, values, weights, sizes }
            },
        )
    })
}

type Row = (Vec<String>, u64, Option<u64>);

/// Observations by the names of their labels, in order.
fn rows(data: &Observations) -> Vec<Row> {
    let mut rows: Vec<Row> = (0..data.len())
        .map(|row| {
            let name =
                |mode: usize| data.modes()[mode].labels.name(data.indices(mode)[row] as usize);
            let names = (0..data.modes().len()).map(|mode| name(mode).into_owned());
            let weight = data.weights().map(|weights| weights[row].to_bits());
            (names.collect(), data.values()[row].to_bits(), weight)
        })
        .collect();
    rows.sort();
    rows
}

fn policy() -> impl Strategy<Value = OnDuplicate> {
    prop_oneof![Just(OnDuplicate::Mean), Just(OnDuplicate::Last), Just(OnDuplicate::Sum)]
}

proptest! {
    /// However the rows come and however little room there is: the same observations, bit by bit, as when all of
    /// them are in memory, and the same views.
    #[test]
    fn packed_observations_are_those_that_were_given(
        given in given(),
        policy in policy(),
        few in any::<bool>(),
        part in 1usize..30,
        room in 1usize..60,
        stored in prop_oneof![Just(Storage::Plain), Just(Storage::Packed), Just(Storage::Mapped)],
    ) {
        let whole = Observations::new(
            given.modes(), given.columns(), given.values.clone(), given.weights.clone(), policy,
        ).expect("valid rows");
        let packed = given.sorted(given.builder(few, stored, part), policy, room).expect("sorted");
        prop_assert_eq!(rows(&packed.unpack()), rows(&whole));
        prop_assert_eq!(packed.len(), whole.len());
        let (mut ours, mut theirs) = (packed.summary(), whole.summary());
        prop_assert!((ours.mean - theirs.mean).abs() <= 1e-12 * theirs.mean.abs());
        prop_assert!((ours.deviation - theirs.deviation).abs() <= 1e-12);
        (ours.mean, ours.deviation, theirs.mean, theirs.deviation) = (0.0, 0.0, 0.0, 0.0);
        prop_assert_eq!(ours, theirs);

        let plain = Views::<f32>::new(whole);
        let views = Views::<f32>::stored(packed, Some(stored)).expect("stored");
        prop_assert_eq!(views.sizes(), plain.sizes());
        for mode in 0..3 {
            let (ours, theirs) = (views.all().mode(mode), plain.all().mode(mode));
            let (mut ours_reader, mut theirs_reader) = (ours.reader(), theirs.reader());
            for label in 0..ours.labels() {
                let (x, y) = (ours_reader.cells(label), theirs_reader.cells(label));
                prop_assert_eq!((x.others, x.values, x.weights), (y.others, y.values, y.weights));
            }
        }
    }

    /// A repeated cell is refused with the first two rows that have it.
    #[test]
    fn repeated_cells_are_refused(given in given(), part in 1usize..30, room in 1usize..60) {
        let builder = given.builder(true, Storage::Packed, part);
        let has_repeated = (1..given.cells.len()).any(|row| given.cells[..row].contains(&given.cells[row]));
        match given.sorted(builder, OnDuplicate::Error, room) {
            Ok(_) => prop_assert!(!has_repeated),
            Err(Error::DuplicateCell { first, second, .. }) => {
                prop_assert!(first < second);
                prop_assert_eq!(given.cells[first], given.cells[second]);
                let cell = given.cells[first];
                prop_assert_eq!(given.cells.iter().position(|&other| other == cell), Some(first));
            }
            Err(error) => prop_assert!(false, "{}", error),
        }
    }

    #[test]
    fn labels_without_rows_are_left_out(given in given(), policy in policy()) {
        let all = Observations::new(
            given.modes(), given.columns(), given.values.clone(), given.weights.clone(), policy,
        ).expect("valid rows");
        let packed = given.builder(false, Storage::Packed, 7).finish(policy).expect("sorted");
        prop_assert_eq!(rows(&packed.unpack()), rows(&all));
        for mode in packed.summary().modes {
            prop_assert_eq!(mode.unobserved, 0);
        }
        prop_assert!(packed.sizes().iter().zip(given.sizes).all(|(&ours, given)| ours <= given));
    }
}

#[test]
fn tied_modes_get_each_others_labels() {
    let modes = vec![
        Mode::new("head", Labels::from_names(["ann", "bob"])),
        Mode::new("tail", Labels::from_names(["bob", "eve"])),
    ];
    let mut ones = FewNumbers::default();
    ones.add(&[1.0, 2.0]);
    let mut builder = PackedBuilder::new(modes, ones, None, 2, None).expect("room");
    builder.push(&[vec![1, 0], vec![1, 0]], &[2.0, 1.0], None).expect("rows");
    let data = builder.finish(OnDuplicate::Error).expect("sorted");
    let data = data.with_shared_labels(&[0, 1]).expect("shared");
    assert_eq!(data.sizes(), [3, 3]);
    let mut names = Vec::new();
    data.for_each(|cell, value, _| {
        let name = |mode: usize| data.modes()[mode].label(cell[mode] as usize).into_owned();
        names.push((name(0), name(1), value));
    });
    let expected = [("ann", "bob", 1.0), ("bob", "eve", 2.0)];
    assert_eq!(
        names,
        expected.map(|(head, tail, value)| (head.to_owned(), tail.to_owned(), value))
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let modes = || vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(2))];
    let builder =
        || PackedBuilder::new(modes(), FewNumbers::default(), None, 1, None).expect("room");
    let refused = |indices: &[Vec<u32>], values: &[f64], weights: Option<&[f64]>| {
        builder().push(indices, values, weights).expect_err("refused").to_string()
    };
    assert!(refused(&[vec![0], vec![2]], &[1.0], None).contains('2'));
    assert!(refused(&[vec![0], vec![0, 1]], &[1.0], None).contains(" b "));
    assert!(refused(&[vec![0]], &[1.0], None).contains("modes"));
    assert!(refused(&[vec![0], vec![0]], &[f64::NAN], None).contains("NaN"));
    assert!(refused(&[vec![0], vec![0]], &[1.0], Some(&[1.0])).contains("weight"));
    assert!(builder().finish(OnDuplicate::Error).is_err());
}
