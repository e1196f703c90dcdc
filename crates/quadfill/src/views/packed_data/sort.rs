//! From rows in the order of the files to cells sorted by their labels, without room for all of them at once.
//!
//! The rows are read as often as needed, for a range of labels of the first mode each time: packed rows are read
//! faster than they could be written anywhere and read again.

use std::io;
use std::ops::Range;

use rayon::prelude::*;

use super::ranges::{Room, starts_of};
use crate::observations::OnDuplicate;
use crate::views::packed::{PackedCells, Packing};
use crate::views::plain::PlainCells;
use crate::views::window::Window;
use crate::views::{Store, View};
use quadfill_kernels::bits::bits_for;

/// Rows that are unpacked at a time.
const BLOCK: usize = 2048;

/// Sorted cells, and the number of them for each label of each mode.
pub(super) struct Sorted {
    pub(super) view: View<f64>,
    pub(super) counts: Vec<Vec<usize>>,
}

/// Why rows cannot be sorted.
pub(super) enum SortError {
    /// Merged cells have values that no row has, and that are not in the tables of the packing.
    NewNumbers,
    Repeated {
        cell: Vec<u32>,
        rows: [usize; 2],
    },
    Io(io::Error),
}

/// Rows with a label of every mode, in the order of the files.
pub(super) struct Rows {
    pub(super) cells: PackedCells<f64>,
    /// The index that each label of a mode has in the end, where it is another one.
    pub(super) maps: Vec<Option<Vec<u32>>>,
    /// How many of them each label of the first mode has.
    pub(super) counts: Vec<usize>,
}

impl Rows {
    /// Passes every row to `see`: labels, value, weight.
    pub(super) fn for_each(&self, mut see: impl FnMut(&[u32], f64, f64)) {
        let mut window = Window::default();
        let mut first = 0;
        while first < self.cells.len() {
            let end = self.cells.len().min(first + BLOCK);
            self.cells.unpack(first..end, &mut window);
            let width = self.maps.len();
            for (mode, map) in self.maps.iter().enumerate() {
                let Some(map) = map else { continue };
                for label in window.others.iter_mut().skip(mode).step_by(width) {
                    *label = map[*label as usize];
                }
            }
            for (at, cell) in window.others.chunks_exact(width).enumerate() {
                let weight = window.weights.get(at).copied().unwrap_or(1.0);
                see(cell, window.values[at], weight);
            }
            first = end;
        }
    }

    /// Sorts them; rows of the same cell become one.
    pub(super) fn sort(
        &self,
        packing: &Packing<f64>,
        on_duplicate: OnDuplicate,
        room: Room,
    ) -> Result<Sorted, SortError> {
        let mut counts: Vec<Vec<usize>> = packing.sizes.iter().map(|&n| vec![0; n]).collect();
        let mut writer = packing.writer(Some(0)).map_err(SortError::Io)?;
        let order = Order::of(&packing.sizes);
        for round in room.ranges(&self.counts).chunks(room.threads) {
            let parts: Vec<_> = round
                .par_iter()
                .map(|labels| self.sort_range(labels.clone(), order, packing, on_duplicate))
                .collect();
            for (labels, part) in round.iter().zip(parts) {
                let (cells, kept) = part?;
                counts[0][labels.clone()].copy_from_slice(&kept);
                let width = counts.len() - 1;
                for (mode, counts) in counts[1..].iter_mut().enumerate() {
                    for &label in cells.others.iter().skip(mode).step_by(width) {
                        counts[label as usize] += 1;
                    }
                }
                writer.push(cells.cells(0..cells.len())).map_err(SortError::Io)?;
            }
        }
        let store = Store::Packed(writer.finish().map_err(SortError::Io)?);
        let view = View { starts: starts_of(&counts[0]), training_counts: None, store };
        Ok(Sorted { view, counts })
    }

    /// The sorted cells of some labels of the first mode, and how many each of them has.
    fn sort_range(
        &self,
        labels: Range<usize>,
        order: Order,
        packing: &Packing<f64>,
        on_duplicate: OnDuplicate,
    ) -> Result<(PlainCells<f64>, Vec<usize>), SortError> {
        let starts = starts_of(&self.counts[labels.clone()]);
        let width = self.maps.len() - 1;
        let mut cells = PlainCells::zeros(starts[labels.len()], width, self.cells.is_weighted());
        let mut next = starts.clone();
        self.for_each(|cell, value, weight| {
            let label = cell[0] as usize;
            if labels.contains(&label) {
                let at = &mut next[label - labels.start];
                cells.set(*at, cell[1..].iter().copied(), value, weight);
                *at += 1;
            }
        });
        let mut row = SortedRow::default();
        let mut kept = Vec::with_capacity(labels.len());
        let mut end = 0;
        for (at, label) in labels.enumerate() {
            let of_label = starts[at]..starts[at + 1];
            if let Err(others) = row.sort(&cells, of_label, order, on_duplicate) {
                return Err(self.repeated([vec![label as u32], others].concat()));
            }
            if row.new.drain(..).any(|(value, weight)| !packing.has(value, weight)) {
                return Err(SortError::NewNumbers);
            }
            cells.overwrite(end, row.cells());
            kept.push(row.values.len());
            end += row.values.len();
        }
        cells.truncate(end);
        Ok((cells, kept))
    }

    /// The first two rows with a cell.
    fn repeated(&self, cell: Vec<u32>) -> SortError {
        let (mut row, mut rows) = (0, Vec::new());
        self.for_each(|other, _, _| {
            if other == cell {
                rows.push(row);
            }
            row += 1;
        });
        SortError::Repeated { cell, rows: [rows[0], rows[1]] }
    }
}

/// How cells of one label are ordered.
#[derive(Debug, Clone, Copy)]
enum Order {
    /// By one number that all other labels fit into, each with this many bits.
    Number([u32; 7]),
    /// By one label after the other.
    Labels,
}

impl Order {
    fn of(sizes: &[usize]) -> Self {
        let mut bits = [0; 7];
        for (bits, &labels) in bits.iter_mut().zip(&sizes[1..]) {
            *bits = bits_for(labels);
        }
        if bits.iter().sum::<u32>() <= u64::BITS { Self::Number(bits) } else { Self::Labels }
    }
}

/// The cells of a label in their order.
#[derive(Default)]
struct SortedRow {
    keyed: Vec<(u64, u32)>,
    others: Vec<u32>,
    values: Vec<f64>,
    weights: Option<Vec<f64>>,
    /// What the rows of a repeated cell say, and the values and weights that became of them.
    merged: Vec<(f64, f64)>,
    new: Vec<(f64, f64)>,
}

impl SortedRow {
    /// The error is the labels of a cell that is given more than once.
    fn sort(
        &mut self,
        cells: &PlainCells<f64>,
        range: Range<usize>,
        order: Order,
        on_duplicate: OnDuplicate,
    ) -> Result<(), Vec<u32>> {
        let width = cells.width;
        let others = |at: u32| {
            let at = range.start + at as usize;
            &cells.others[at * width..(at + 1) * width]
        };
        let count = range.len() as u32;
        self.keyed.clear();
        match order {
            Order::Number(bits) => {
                self.keyed.extend((0..count).map(|at| {
                    let number =
                        others(at).iter().zip(bits).fold(0u64, |number, (&label, bits)| {
                            number.unbounded_shl(bits) | u64::from(label)
                        });
                    (number, at)
                }));
                self.keyed.sort_unstable();
            }
            Order::Labels => {
                self.keyed.extend((0..count).map(|at| (0, at)));
                self.keyed.sort_by(|x, y| others(x.1).cmp(others(y.1)));
            }
        }
        self.others.clear();
        self.values.clear();
        self.weights = cells.weights.as_ref().map(|_| Vec::new());
        let given = |&(_, at): &(u64, u32)| {
            let at = range.start + at as usize;
            (cells.values[at], cells.weights.as_ref().map_or(1.0, |weights| weights[at]))
        };
        for run in self.keyed.chunk_by(|x, y| others(x.1) == others(y.1)) {
            let (value, weight) = if run.len() == 1 {
                given(&run[0])
            } else if on_duplicate == OnDuplicate::Error {
                return Err(others(run[0].1).to_vec());
            } else {
                self.merged.clear();
                self.merged.extend(run.iter().map(given));
                let merged = on_duplicate.merged(&self.merged);
                self.new.push(merged);
                merged
            };
            self.others.extend_from_slice(others(run[0].1));
            self.values.push(value);
            if let Some(weights) = &mut self.weights {
                weights.push(weight);
            }
        }
        Ok(())
    }

    fn cells(&self) -> crate::views::Cells<'_, f64> {
        crate::views::Cells {
            others: &self.others,
            values: &self.values,
            weights: self.weights.as_deref(),
        }
    }
}
