//! Which observations are read: all, the training data, or the held-out data.

use std::ops::Range;

use super::{ModeReader, Reader, View, Views};
use quadfill_kernels::Real;

/// All observations, or the part of them that is held out, or the rest.
#[derive(Debug, Clone, Copy)]
pub struct Selection<'a, T> {
    views: &'a Views<T>,
    part: Part,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    All,
    Training,
    HeldOut,
}

impl<'a, T: Real> From<&'a Views<T>> for Selection<'a, T> {
    fn from(views: &'a Views<T>) -> Self {
        Self::all(views)
    }
}

impl<'a, T: Real> Selection<'a, T> {
    pub(super) fn all(views: &'a Views<T>) -> Self {
        Self { views, part: Part::All }
    }

    pub(super) fn training(views: &'a Views<T>) -> Self {
        Self { views, part: Part::Training }
    }

    pub(super) fn held_out(views: &'a Views<T>) -> Self {
        Self { views, part: Part::HeldOut }
    }

    /// The observations grouped by the labels of a mode.
    pub fn mode(self, mode: usize) -> ModeSelection<'a, T> {
        ModeSelection { view: &self.views.views[mode], part: self.part }
    }

    /// The number of labels of each mode.
    pub fn sizes(self) -> Vec<usize> {
        self.views.sizes()
    }

    /// How many observations are selected.
    pub fn len(self) -> usize {
        let mode = self.mode(0);
        if self.part == Part::All {
            return self.views.len();
        }
        (0..mode.labels()).map(|label| mode.count(label)).sum()
    }

    /// Whether none are.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Whether the observations have weights.
    pub(crate) fn is_weighted(self) -> bool {
        self.views.views[0].is_weighted()
    }

    /// The sum of the weights (the number of observations without them).
    pub(crate) fn total_weight(self) -> f64 {
        if !self.is_weighted() {
            return self.len() as f64;
        }
        let mut sum = 0.0;
        self.for_each(|_, _, weight| sum += weight.to_f64());
        sum
    }

    /// Passes every observation to `see` as a full cell with value and weight, in a fixed order.
    pub fn for_each(self, mut see: impl FnMut(&[u32], T, T)) {
        let mut reader = self.reader();
        for label in 0..self.mode(0).labels() {
            reader.for_each_of_row(label, &mut see);
        }
    }

    /// Readers of the observations, for one thread.
    pub(crate) fn reader(self) -> Reader<'a, T> {
        Reader::new(self)
    }

    /// The weighted mean of the values.
    pub fn mean(self) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        self.for_each(|_, value, weight| {
            sum += value.to_f64() * weight.to_f64();
            total += weight.to_f64();
        });
        sum / total.max(f64::MIN_POSITIVE)
    }
}

/// A [`Selection`] grouped by the labels of one mode.
#[derive(Debug, Clone, Copy)]
pub struct ModeSelection<'a, T> {
    view: &'a View<T>,
    part: Part,
}

impl<'a, T: Real> ModeSelection<'a, T> {
    /// How many labels the mode has.
    pub fn labels(self) -> usize {
        self.view.labels()
    }

    /// How many selected observations a label has.
    pub fn count(self, label: usize) -> usize {
        self.range(label).len()
    }

    /// The positions of the selected observations of a label, among all observations.
    pub fn range(self, label: usize) -> Range<usize> {
        let (start, end) = (self.view.starts[label], self.view.starts[label + 1]);
        let counts = self.view.training_counts.as_ref();
        let held = counts.map_or(end, |counts| start + counts[label] as usize);
        match self.part {
            Part::All => start..end,
            Part::Training => start..held,
            Part::HeldOut => held..end,
        }
    }

    /// The position of the first observation of a label (past the last label, the number of observations).
    pub fn start(self, label: usize) -> usize {
        self.view.starts[label]
    }

    /// A reader of the observations, for one thread.
    pub fn reader(self) -> ModeReader<'a, T> {
        ModeReader::new(self)
    }

    /// All observations of a view.
    pub(super) fn all(view: &'a View<T>) -> Self {
        Self { view, part: Part::All }
    }

    pub(super) fn view(&self) -> &'a View<T> {
        self.view
    }
}
