//! Marks held-out cells: they move to the end of every row they are in.

use std::io;

use super::packed::PackedWriter;
use super::window::{ModeReader, Window};
use super::{Cells, ModeSelection, Store, View, Views};
use crate::observations::{CellHash, is_held_out};
use quadfill_kernels::Real;

/// The hash below which cells are held out; it leaves neither part empty.
#[derive(Debug, Clone, Copy)]
struct Limit {
    share: f64,
    /// Held out although it is not below the share: the smallest hash, where none is.
    smallest: Option<u64>,
    /// Kept although it is: the largest hash, where all are.
    largest: Option<u64>,
}

impl Limit {
    fn holds_out(self, hash: u64) -> bool {
        (is_held_out(hash, self.share) || self.smallest == Some(hash)) && self.largest != Some(hash)
    }
}

impl<T: Real> Views<T> {
    /// Holds out about the given share of the cells, by the hashes of their labels. Fails where files of mapped
    /// views cannot be written.
    ///
    /// # Panics
    /// If there is a single observation, which cannot be split.
    pub(crate) fn hold_out(&mut self, share: f64, hash: &CellHash) -> io::Result<()> {
        assert!(self.len() > 1, "a single observation cannot be split");
        let (mut least, mut most, mut held) = (u64::MAX, u64::MIN, 0);
        self.all().for_each(|cell, _, _| {
            let hash = hash.cell(cell);
            least = least.min(hash);
            most = most.max(hash);
            held += usize::from(is_held_out(hash, share));
        });
        let limit = Limit {
            share,
            smallest: (held == 0).then_some(least),
            largest: (held == self.len()).then_some(most),
        };
        for (mode, view) in self.views.iter_mut().enumerate() {
            let writer = match &self.packing {
                Some(packing) => Some(packing.writer(Some(mode))?),
                None => None,
            };
            view.hold_out(mode, writer, |cell| limit.holds_out(hash.cell(cell)))?;
        }
        Ok(())
    }
}

/// The cells of a row, those that are held out last.
#[derive(Default)]
struct Row<T> {
    chosen: Vec<bool>,
    others: Vec<u32>,
    values: Vec<T>,
    weights: Option<Vec<T>>,
}

impl<T: Real> View<T> {
    /// Moves the chosen cells to the end of their rows; the order within both parts stays. Packed cells are
    /// written again.
    fn hold_out(
        &mut self,
        mode: usize,
        mut writer: Option<PackedWriter<T>>,
        is_held_out: impl Fn(&[u32]) -> bool,
    ) -> io::Result<()> {
        let mut training_counts = Vec::with_capacity(self.labels());
        let mut row = Row::default();
        let mut window = Window::default();
        for label in 0..self.labels() {
            let range = self.starts[label]..self.starts[label + 1];
            let mut reader = ModeReader::with(ModeSelection::all(self), window);
            row.chosen.clear();
            reader.visit(mode, label, range.clone(), &mut |cell, _, _| {
                row.chosen.push(is_held_out(cell));
            });
            training_counts.push(row.sort(reader.read(range.clone())));
            window = reader.into_window();
            match (&mut writer, &mut self.store) {
                (Some(writer), _) => writer.push(row.cells())?,
                (None, Store::Plain(cells)) => cells.overwrite(range.start, row.cells()),
                (None, Store::Packed(_)) => unreachable!("packed cells have a writer"),
            }
        }
        if let Some(writer) = writer {
            self.store = Store::Packed(writer.finish()?);
        }
        self.training_counts = Some(training_counts);
        Ok(())
    }
}

impl<T: Real> Row<T> {
    /// Takes the cells of a row in their new order, and returns how many are not held out.
    fn sort(&mut self, cells: Cells<'_, T>) -> u32 {
        let width = cells.others.len() / cells.values.len().max(1);
        self.others.clear();
        self.values.clear();
        self.weights = cells.weights.map(|_| Vec::new());
        for part in [false, true] {
            for at in (0..self.chosen.len()).filter(|&at| self.chosen[at] == part) {
                self.others.extend_from_slice(&cells.others[at * width..(at + 1) * width]);
                self.values.push(cells.values[at]);
                if let (Some(sorted), Some(weights)) = (&mut self.weights, cells.weights) {
                    sorted.push(weights[at]);
                }
            }
        }
        self.chosen.iter().filter(|&&chosen| !chosen).count() as u32
    }

    fn cells(&self) -> Cells<'_, T> {
        Cells { others: &self.others, values: &self.values, weights: self.weights.as_deref() }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]
mod tests {
    use super::*;
    use crate::observations::{Labels, Mode, Observations, OnDuplicate};
    use proptest::prelude::*;

    type Cell = (Vec<u32>, f64);

    fn sorted(selection: crate::views::Selection<'_, f64>) -> Vec<Cell> {
        let mut cells = Vec::new();
        selection.for_each(|cell, value, _| cells.push((cell.to_vec(), value)));
        cells.sort_by(|x, y| x.0.cmp(&y.0));
        cells
    }

    proptest! {
        /// Both parts together are the data, every mode holds out the same cells, and neither the order of
        /// the rows nor the weights make a difference.
        #[test]
        fn a_hold_out_is_a_split_of_every_row(
            cells in proptest::collection::btree_set((0u32..6, 0u32..5, 0u32..4), 2..60),
            share in 0.01f64..0.99,
            seed in any::<u64>(),
            weighted in any::<bool>(),
        ) {
            let modes: Vec<Mode> = [6, 5, 4].map(|n| Mode::new("m", Labels::range(n))).to_vec();
            let columns = vec![
                cells.iter().map(|c| c.0).collect::<Vec<_>>(),
                cells.iter().map(|c| c.1).collect(),
                cells.iter().map(|c| c.2).collect(),
            ];
            let values: Vec<f64> = (0..cells.len()).map(|i| i as f64).collect();
            let weights = weighted.then(|| values.clone());
            let data = Observations::new(modes.clone(), columns, values, weights, OnDuplicate::Error).unwrap();
            let mut views = Views::<f64>::new(data.clone());
            let whole = sorted(views.all());
            views.hold_out(share, &CellHash::new(&modes, seed)).unwrap();
            prop_assert_eq!(&sorted(views.all()), &whole);
            let (training, held) = (sorted(views.training()), sorted(views.held_out()));
            prop_assert!(!training.is_empty() && !held.is_empty());
            prop_assert_eq!(training.len() + held.len(), whole.len());
            prop_assert!(training.iter().all(|cell| !held.contains(cell)));
            let (_, validation) = data.split_random(share, seed).unwrap();
            prop_assert_eq!(held.len(), validation.len());
            for mode in 0..3 {
                for (part, expected) in [(views.training(), &training), (views.held_out(), &held)] {
                    let selection = part.mode(mode);
                    let mut reader = selection.reader();
                    for label in 0..selection.labels() {
                        let found = reader.cells(label);
                        let of_label: Vec<&Cell> =
                            expected.iter().filter(|(cell, _)| cell[mode] as usize == label).collect();
                        prop_assert_eq!(found.values.len(), of_label.len());
                        for (value, weight) in found.values.iter().zip(found.weights.unwrap_or(found.values)) {
                            prop_assert!(of_label.iter().any(|(_, v)| v == value));
                            prop_assert_eq!(value, weight);
                        }
                    }
                }
            }
        }
    }
}
