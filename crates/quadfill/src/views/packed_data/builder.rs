//! Takes rows in the order of the files.

use std::sync::Arc;

use super::PackedObservations;
use super::ranges::Room;
use super::sort::{Rows, SortError};
use crate::error::{Error, Result};
use crate::observations::{Mode, OnDuplicate, Source};
use crate::views::Storage;
use crate::views::packed::{Coding, PackedWriter, Packing, Place};
use crate::views::table::Table;

/// Numbers of which perhaps only few differ, as ratings; then they take a byte at most.
///
/// ```
/// use quadfill::views::FewNumbers;
/// let mut stars = FewNumbers::default();
/// stars.add(&[4.0, 5.0, 4.0]);
/// assert_eq!(stars.len(), Some(2));
/// stars.add(&(0..300).map(f64::from).collect::<Vec<_>>());
/// assert_eq!(stars.len(), None);
/// ```
#[derive(Debug, Clone, Default)]
pub struct FewNumbers {
    table: Table<f64>,
    are_many: bool,
}

impl FewNumbers {
    /// Notes more numbers.
    pub fn add(&mut self, numbers: &[f64]) {
        self.are_many = self.are_many || !self.table.add(numbers.iter().copied());
    }

    /// Notes those of another collection.
    pub fn join(&mut self, other: &Self) {
        self.add(other.table.numbers());
        self.are_many |= other.are_many;
    }

    /// How many differ, unless they are too many to be told apart by a byte.
    pub fn len(&self) -> Option<usize> {
        (!self.are_many).then(|| self.table.numbers().len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    fn coding(self) -> Coding<f64> {
        if self.are_many { Coding::Exact } else { Coding::Table(Arc::new(self.table)) }
    }
}

/// Packs rows as they come, and sorts them in the end.
///
/// ```
/// use quadfill::views::{FewNumbers, PackedBuilder, Storage};
/// use quadfill::{FitConfig, Labels, Mode, OnDuplicate};
/// let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(3))];
/// let mut numbers = FewNumbers::default();
/// numbers.add(&[1.0, 2.0]);
/// let mut builder = PackedBuilder::new(modes, numbers, None, 3, Some(Storage::Packed))?;
/// builder.push(&[vec![1, 0], vec![2, 0]], &[1.0, 2.0], None)?;
/// builder.push(&[vec![0], vec![1]], &[2.0], None)?;
/// let data = builder.finish(OnDuplicate::Error)?;
/// assert_eq!(data.unpack().indices(1), [0, 1, 2]);
/// let model = quadfill::fit(data, &FitConfig::default())?;
/// assert_eq!(model.modes().len(), 2);
/// # Ok::<(), quadfill::Error>(())
/// ```
#[derive(Debug)]
pub struct PackedBuilder {
    modes: Vec<Mode>,
    source: Source,
    packing: Packing<f64>,
    writer: PackedWriter<f64>,
    /// Rows per label, for each mode.
    counts: Vec<Vec<usize>>,
    rows: usize,
}

impl PackedBuilder {
    /// A builder of observations with these labels. `values` has all numbers that will come, and `weights` those
    /// of weighted data. [`Storage::Mapped`] keeps everything in temporary files, any other storage in memory;
    /// by default it is memory if there is room for about `rows` of them.
    pub fn new(
        modes: Vec<Mode>,
        values: FewNumbers,
        weights: Option<FewNumbers>,
        rows: usize,
        storage: Option<Storage>,
    ) -> Result<Self> {
        if !(2..=8).contains(&modes.len()) {
            return Err(Error::ModeCount { got: modes.len() });
        }
        let sizes = modes.iter().map(|mode| mode.labels.len()).collect();
        let weights = weights.map(FewNumbers::coding);
        let packing = Packing { sizes, place: Place::Memory, values: values.coding(), weights };
        let storage = storage.unwrap_or_else(|| Storage::choose_for_rows(rows, &packing));
        let place = if storage == Storage::Mapped { Place::File } else { Place::Memory };
        Self::packed(modes, Packing { place, ..packing })
    }

    /// A builder of observations with the numbers of others.
    pub(super) fn like(data: &PackedObservations, modes: Vec<Mode>) -> Result<Self> {
        let sizes = modes.iter().map(|mode| mode.labels.len()).collect();
        Ok(Self {
            source: data.source.clone(),
            ..Self::packed(modes, Packing { sizes, ..data.packing.clone() })?
        })
    }

    fn packed(modes: Vec<Mode>, packing: Packing<f64>) -> Result<Self> {
        let writer = packing.writer(None).map_err(Error::temporary_files)?;
        let counts = packing.sizes.iter().map(|&labels| vec![0; labels]).collect();
        Ok(Self { modes, source: Source::default(), packing, writer, counts, rows: 0 })
    }

    /// Appends rows: a column of label indices for each mode, the values, and the weights of weighted data.
    ///
    /// # Panics
    /// If there are numbers that were not announced.
    pub fn push(
        &mut self,
        indices: &[Vec<u32>],
        values: &[f64],
        weights: Option<&[f64]>,
    ) -> Result<()> {
        self.check(indices, values, weights)?;
        for (counts, column) in self.counts.iter_mut().zip(indices) {
            for &index in column {
                counts[index as usize] += 1;
            }
        }
        self.rows += values.len();
        self.writer.push_columns(indices, values, weights).map_err(Error::temporary_files)
    }

    fn check(&self, indices: &[Vec<u32>], values: &[f64], weights: Option<&[f64]>) -> Result<()> {
        let expected = values.len();
        let length = |column: &str, got: usize| {
            if got == expected {
                return Ok(());
            }
            Err(Error::ColumnLength { column: column.to_owned(), expected, got })
        };
        if indices.len() != self.modes.len() {
            return Err(Error::OtherModes { expected: self.modes.len(), got: indices.len() });
        }
        for (mode, column) in self.modes.iter().zip(indices) {
            length(&mode.name, column.len())?;
            let labels = mode.labels.len();
            if column.iter().copied().max().is_some_and(|largest| largest as usize >= labels) {
                let row = column.iter().position(|&index| index as usize >= labels).unwrap_or(0);
                let (mode, index) = (mode.name.clone(), column[row]);
                return Err(Error::IndexOutOfRange { row: self.rows + row, mode, index, labels });
            }
        }
        if let Some(row) = values.iter().position(|value| !value.is_finite()) {
            return Err(Error::NotFinite { row: self.rows + row, value: values[row] });
        }
        match (weights, &self.packing.weights) {
            (Some(weights), Some(_)) => {
                length("weight", weights.len())?;
                match weights.iter().position(|weight| !weight.is_finite() || *weight < 0.0) {
                    Some(row) => {
                        Err(Error::BadWeight { row: self.rows + row, weight: weights[row] })
                    }
                    None => Ok(()),
                }
            }
            (None, None) => Ok(()),
            (Some(weights), None) => Err(Error::ColumnLength {
                column: "weight".to_owned(),
                expected: 0,
                got: weights.len(),
            }),
            (None, Some(_)) => length("weight", 0),
        }
    }

    /// How many rows there are so far.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Sorts the rows; labels that none of them has are left out. Repeated cells are refused with the positions of
    /// their rows, or merged.
    pub fn finish(mut self, on_duplicate: OnDuplicate) -> Result<PackedObservations> {
        let maps = self.leave_out_unobserved();
        self.sorted(maps, on_duplicate, Room::for_cells_of)
    }

    /// Leaves out labels without rows, and returns the new index of each label where some are.
    pub(super) fn leave_out_unobserved(&mut self) -> Vec<Option<Vec<u32>>> {
        let maps = self.counts.iter().map(|counts| ranks(counts)).collect();
        for (mode, counts) in self.modes.iter_mut().zip(&mut self.counts) {
            if counts.contains(&0) {
                let seen = (0..counts.len()).filter(|&label| counts[label] > 0);
                *mode = mode.with_labels(mode.labels.picked(seen));
                counts.retain(|&count| count > 0);
            }
        }
        self.packing.sizes = self.counts.iter().map(Vec::len).collect();
        maps
    }

    pub(super) fn sorted(
        self,
        maps: Vec<Option<Vec<u32>>>,
        on_duplicate: OnDuplicate,
        room: impl FnOnce(usize) -> Room,
    ) -> Result<PackedObservations> {
        if self.rows == 0 {
            return Err(Error::Empty);
        }
        let Self { modes, source, mut packing, writer, counts, .. } = self;
        let bytes = (modes.len() - 1) * size_of::<u32>()
            + size_of::<f64>() * (1 + usize::from(packing.weights.is_some()));
        let cells = writer.finish().map_err(Error::temporary_files)?;
        let counts = counts.into_iter().next().unwrap_or_default();
        let rows = Rows { cells, maps, counts };
        let room = room(bytes);
        let mut sorted = rows.sort(&packing, on_duplicate, room);
        if matches!(sorted, Err(SortError::NewNumbers)) {
            packing = packing.exact();
            sorted = rows.sort(&packing, on_duplicate, room);
        }
        let sorted = sorted.map_err(|error| match error {
            SortError::NewNumbers => unreachable!("all numbers can be written as they are"),
            SortError::Io(source) => Error::temporary_files(source),
            SortError::Repeated { cell, rows: [first, second] } => {
                let names = modes.iter().zip(cell).map(|(mode, label)| mode.label(label as usize));
                let cell = names.collect::<Vec<_>>().join(", ");
                Error::DuplicateCell { cell, first, second }
            }
        })?;
        Ok(PackedObservations { modes, source, packing, view: sorted.view, counts: sorted.counts })
    }

    /// Takes sorted observations whose labels have other indices.
    pub(super) fn rebuild(
        mut self,
        data: &PackedObservations,
        maps: &[Option<Vec<u32>>],
    ) -> Result<PackedObservations> {
        const BLOCK: usize = 1 << 16;
        let mut columns = vec![Vec::with_capacity(BLOCK); maps.len()];
        let (mut values, mut weights) = (Vec::new(), Vec::new());
        let is_weighted = data.is_weighted();
        let mut result = Ok(());
        data.for_each(|cell, value, weight| {
            for ((column, map), &label) in columns.iter_mut().zip(maps).zip(cell) {
                column.push(map.as_ref().map_or(label, |map| map[label as usize]));
            }
            values.push(value);
            weights.push(weight);
            if values.len() == BLOCK && result.is_ok() {
                result = self.push(&columns, &values, is_weighted.then_some(&weights));
                columns.iter_mut().for_each(Vec::clear);
                values.clear();
                weights.clear();
            }
        });
        result?;
        self.push(&columns, &values, is_weighted.then_some(&weights))?;
        let unmapped = vec![None; maps.len()];
        self.sorted(unmapped, OnDuplicate::Error, Room::for_cells_of)
    }
}

/// The new indices of labels once those without rows are gone, unless all have some.
fn ranks(counts: &[usize]) -> Option<Vec<u32>> {
    counts.contains(&0).then(|| {
        let mut rank = 0;
        counts
            .iter()
            .map(|&count| {
                rank += u32::from(count > 0);
                rank.wrapping_sub(1)
            })
            .collect()
    })
}
