//! Observations that are packed while they are read, so that data beyond the memory never are in it.
//!
//! ```text
//! builder.rs   rows in the order of the files, in as few bits as their labels need
//! sort.rs      the same sorted by their labels, repeated cells merged
//! regroup.rs   the views of the other modes
//! ranges.rs    labels whose cells there is room for
//! ```

mod builder;
mod ranges;
mod regroup;
mod sort;
#[cfg(test)]
mod tests;

pub use builder::{FewNumbers, PackedBuilder};
pub(super) use ranges::Room;
pub(super) use regroup::regroup;

use super::packed::{Coding, Packing};
use super::{ModeReader, ModeSelection, View};
use crate::observations::{Labels, Mode, Observations, Source, Summary};

/// Observations in few bits, sorted by their labels. A [`PackedBuilder`] makes them.
#[derive(Debug, Clone)]
pub struct PackedObservations {
    modes: Vec<Mode>,
    source: Source,
    pub(super) packing: Packing<f64>,
    /// The cells, grouped by the labels of the first mode.
    pub(super) view: View<f64>,
    /// Observations per label, for each mode.
    pub(super) counts: Vec<Vec<usize>>,
}

impl PackedObservations {
    /// How many observations there are.
    pub fn len(&self) -> usize {
        self.view.starts.last().copied().unwrap_or(0)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The modes.
    pub fn modes(&self) -> &[Mode] {
        &self.modes
    }

    /// The number of labels of each mode.
    pub fn sizes(&self) -> Vec<usize> {
        self.modes.iter().map(|mode| mode.labels.len()).collect()
    }

    /// The columns that they came from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The same with the source of the columns.
    #[must_use]
    pub fn with_source(mut self, source: Source) -> Self {
        self.source = source;
        self
    }

    /// Whether they have weights.
    pub fn is_weighted(&self) -> bool {
        self.packing.weights.is_some()
    }

    /// Passes every observation to `see`, sorted: one label index per mode, the value, the weight.
    pub fn for_each(&self, mut see: impl FnMut(&[u32], f64, f64)) {
        let mut reader = ModeReader::new(ModeSelection::all(&self.view));
        for label in 0..self.view.labels() {
            let range = self.view.starts[label]..self.view.starts[label + 1];
            reader.visit(0, label, range, &mut see);
        }
    }

    /// Some of the observations, unpacked.
    pub fn filter(&self, mut keep: impl FnMut(&[u32]) -> bool) -> Observations {
        let mut indices = vec![Vec::new(); self.modes.len()];
        let (mut values, mut weights) = (Vec::new(), Vec::new());
        self.for_each(|cell, value, weight| {
            if keep(cell) {
                indices.iter_mut().zip(cell).for_each(|(column, &label)| column.push(label));
                values.push(value);
                weights.push(weight);
            }
        });
        let weights = self.is_weighted().then_some(weights);
        Observations::of_checked(self.modes.clone(), indices, values, weights, self.source.clone())
    }

    /// All observations, unpacked.
    pub fn unpack(&self) -> Observations {
        self.filter(|_| true)
    }

    /// Summarises the data on their own.
    pub fn summary(&self) -> Summary {
        Summary::of(&self.modes, &self.counts, |see| self.for_each(|_, value, _| see(value)))
    }

    /// Calls `see` with every number that occurs among values and weights, at least once.
    pub(crate) fn each_number(&self, mut see: impl FnMut(f64)) {
        let mut is_exact = false;
        for coding in std::iter::once(&self.packing.values).chain(&self.packing.weights) {
            match coding {
                Coding::Table(table) => table.numbers().iter().for_each(|&number| see(number)),
                Coding::Exact => is_exact = true,
            }
        }
        if is_exact {
            self.for_each(|_, value, weight| {
                see(value);
                see(weight);
            });
        }
    }

    /// Gives some modes all the labels that any of them has.
    pub(crate) fn with_shared_labels(self, tied: &[usize]) -> crate::Result<Self> {
        let union = Labels::union(tied.iter().map(|&mode| &self.modes[mode].labels));
        let mut maps: Vec<Option<Vec<u32>>> = vec![None; self.modes.len()];
        let mut modes = self.modes.clone();
        for &mode in tied {
            maps[mode] = Some(modes[mode].labels.index_map(&union));
            modes[mode] = modes[mode].with_labels(union.clone());
        }
        PackedBuilder::like(&self, modes)?.rebuild(&self, &maps)
    }
}
