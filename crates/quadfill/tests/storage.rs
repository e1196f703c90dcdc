//! Packed and mapped views have the same cells as plain ones, and give the same models to the last bit.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use proptest::prelude::*;
use quadfill::model::{Biases, ModelKind};
use quadfill::objective::{HoldOut, Problem, Terms};
use quadfill::solve::{Choice, Effort, Precision, Rank, Sampling, Solver};
use quadfill::views::{Selection, Storage, Views};
use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate, fit};
use quadfill_kernels::streams::{fill_normal, stream};

const STORAGES: [Storage; 3] = [Storage::Plain, Storage::Packed, Storage::Mapped];

/// About `count` cells of a tensor. Ratings have few values, other data all different ones.
fn data(sizes: &[usize], count: usize, ratings: bool, weighted: bool, seed: u64) -> Observations {
    let modes = sizes.iter().map(|&size| Mode::new("m", Labels::range(size))).collect();
    let mut rng = stream(seed, 31, 0);
    let mut normal = vec![0.0; count * (sizes.len() + 2)];
    fill_normal(&mut normal, &mut rng);
    let (numbers, labels) = normal.split_at(2 * count);
    let columns = sizes.iter().zip(labels.chunks_exact(count)).map(|(&size, numbers)| {
        let label = |x: &f64| (x.abs() * 1e6) as u64 % size as u64;
        numbers.iter().map(|x| label(x) as u32).collect()
    });
    let value = |x: &f64| if ratings { (x * 2.0).round() / 2.0 } else { *x };
    let values = numbers[..count].iter().map(value).collect();
    let weights = weighted.then(|| numbers[count..].iter().map(|x| value(x).abs() + 0.5).collect());
    Observations::new(modes, columns.collect(), values, weights, OnDuplicate::Last).unwrap()
}

/// Labels of the others, bits of values and bits of weights, row by row.
type Rows = Vec<(Vec<u32>, Vec<u64>, Option<Vec<u64>>)>;

fn rows(selection: Selection<'_, f64>, mode: usize) -> Rows {
    let bits = |numbers: &[f64]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let selection = selection.mode(mode);
    let mut reader = selection.reader();
    (0..selection.labels())
        .map(|label| {
            let cells = reader.cells(label);
            (cells.others.to_vec(), bits(cells.values), cells.weights.map(bits))
        })
        .collect()
}

proptest! {
    /// Every selection of every mode is the same, with and without a hold-out.
    #[test]
    fn every_storage_has_the_same_cells(
        sizes in prop::collection::vec(1usize..400, 2..=5),
        count in 2usize..3000,
        ratings in any::<bool>(),
        weighted in any::<bool>(),
        held in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let data = data(&sizes, count, ratings, weighted, seed);
        let held = held && data.len() > 1;
        let spec = FitConfig::default().spec(data.modes()).unwrap();
        let hold_out = held.then_some(HoldOut { share: 0.3, seed });
        let problem = |storage| {
            let data = data.clone();
            Problem::<f64>::stored(data, &spec, &Terms::default(), hold_out, Some(storage)).unwrap()
        };
        let plain = problem(Storage::Plain);
        for storage in [Storage::Packed, Storage::Mapped] {
            let packed = problem(storage);
            for mode in 0..sizes.len() {
                prop_assert_eq!(rows(packed.data(), mode), rows(plain.data(), mode));
                prop_assert_eq!(rows(packed.training(), mode), rows(plain.training(), mode));
            }
        }
    }
}

#[test]
fn ratings_take_at_most_14_bytes_in_all_views() {
    let modes = [1 << 20, 1 << 17, 1 << 10].map(|n| Mode::new("m", Labels::range(n))).to_vec();
    let columns = [1u32 << 20, 1 << 17, 1 << 10]
        .map(|n| (0..50_000u32).map(|i| i.wrapping_mul(2_654_435_761) % n).collect())
        .to_vec();
    let values = (0..50_000).map(|i| f64::from(i % 10) / 2.0).collect();
    let data = Observations::new(modes, columns, values, None, OnDuplicate::Last).unwrap();
    let views = Views::<f32>::stored(data, Some(Storage::Packed)).unwrap();
    let each = views.bytes() as f64 / views.len() as f64;
    assert!(each <= 13.26, "{each} bytes");
}

/// The bytes of the models of every storage.
fn assert_same_model(data: &Observations, config: &FitConfig) {
    let model = |storage| {
        let config = FitConfig { views: Choice::Fixed(storage), ..config.clone() };
        fit(data.clone(), &config).unwrap().to_bytes().unwrap()
    };
    let [plain, packed, mapped] = STORAGES.map(model);
    assert!(plain == packed && plain == mapped, "{config:?}");
}

#[test]
fn models_do_not_depend_on_the_storage() {
    let fixed = FitConfig {
        model: ModelKind::Pairwise,
        rank: Rank::Fixed(3),
        penalty: Choice::Fixed(0.01),
        sweeps: Some(4),
        ..FitConfig::default()
    };
    for weighted in [false, true] {
        let data = data(&[40, 25, 8], 3000, true, weighted, 5);
        for precision in [Precision::F32, Precision::F64] {
            for solver in [Solver::Als, Solver::Lbfgs, Solver::GaussNewton] {
                for biases in [Biases::None, Biases::Modes] {
                    let (precision, biases) = (Choice::Fixed(precision), Choice::Fixed(biases));
                    assert_same_model(
                        &data,
                        &FitConfig { solver, precision, biases, ..fixed.clone() },
                    );
                }
            }
            let precision = Choice::Fixed(precision);
            let path = FitConfig {
                solver: Solver::Path,
                penalty: Choice::Auto,
                path_steps: Choice::Fixed(8),
                precision,
                ..fixed.clone()
            };
            assert_same_model(&data, &path);
            let sampling = Sampling { burn_in: 3, samples: 5, ..Sampling::default() };
            let gibbs = FitConfig {
                solver: Solver::Gibbs(sampling),
                penalty: Choice::Auto,
                sweeps: None,
                precision,
                ..fixed.clone()
            };
            assert_same_model(&data, &gibbs);
        }
    }
}

#[test]
fn a_plain_fit_does_not_depend_on_the_storage() {
    let data = data(&[20, 15, 6], 800, true, false, 9);
    assert_same_model(&data, &FitConfig { effort: Effort::Quick, ..FitConfig::default() });
}

#[test]
fn long_rows_are_cut_alike() {
    let data = data(&[3, 500, 200], 60_000, false, true, 2);
    let config = FitConfig {
        model: ModelKind::Cp,
        rank: Rank::Fixed(2),
        solver: Solver::Als,
        penalty: Choice::Fixed(0.01),
        sweeps: Some(2),
        ..FitConfig::default()
    };
    assert_same_model(&data, &config);
}
