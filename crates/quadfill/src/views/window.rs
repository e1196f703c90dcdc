//! Readers: they borrow plain cells, and unpack packed ones into a window that moves along.

use std::ops::Range;

use super::packed::{PackedCells, group_start};
use super::{Cells, ModeSelection, Selection, Store};
use quadfill_kernels::Real;

/// Cells that are unpacked at a time where rows are short: they stay in the L1 cache.
const AHEAD: usize = 1024;

/// For how many cells behind those that are read the kernels are told which rows they will need.
const TOLD_AHEAD: usize = 64;

/// Some cells of a packed view, unpacked.
#[derive(Debug, Clone, Default)]
pub(super) struct Window<T> {
    range: Range<usize>,
    pub(super) others: Vec<u32>,
    pub(super) values: Vec<T>,
    pub(super) weights: Vec<T>,
    /// Scratch for two columns.
    pub(super) codes: Vec<u32>,
    pub(super) second: Vec<u32>,
}

impl<T: Real> Window<T> {
    /// The cells of a range, and the labels of the other modes from its start on. Those behind it are unpacked
    /// too, as they are usually read next.
    fn read(&mut self, packed: &PackedCells<T>, range: Range<usize>) -> (Cells<'_, T>, &[u32]) {
        if range.start < self.range.start || range.end > self.range.end {
            let first = group_start(range.start);
            self.range = first..range.end.max(first + AHEAD).min(packed.len());
            packed.unpack(self.range.clone(), self);
        }
        let width = self.others.len() / self.values.len().max(1);
        let at = range.start - self.range.start..range.end - self.range.start;
        let told = self.values.len().min(at.end + TOLD_AHEAD);
        let others = &self.others[at.start * width..told * width];
        let cells = Cells {
            others: &others[..at.len() * width],
            values: &self.values[at.clone()],
            weights: packed.is_weighted().then(|| &self.weights[at]),
        };
        (cells, others)
    }
}

/// Reads the cells of one mode's view, best in order. Each thread has its own.
#[derive(Debug, Clone)]
pub struct ModeReader<'a, T> {
    selection: ModeSelection<'a, T>,
    window: Window<T>,
}

impl<'a, T: Real> ModeReader<'a, T> {
    pub(super) fn new(selection: ModeSelection<'a, T>) -> Self {
        Self::with(selection, Window::default())
    }

    /// A reader with the window of an earlier one of the same view.
    pub(super) fn with(selection: ModeSelection<'a, T>, window: Window<T>) -> Self {
        Self { selection, window }
    }

    pub(super) fn into_window(self) -> Window<T> {
        self.window
    }

    /// The selected observations of a label.
    pub fn cells(&mut self, label: usize) -> Cells<'_, T> {
        self.read(self.selection.range(label))
    }

    /// The observations at some positions.
    pub(crate) fn read(&mut self, range: Range<usize>) -> Cells<'_, T> {
        self.read_ahead(range).0
    }

    /// The same, and the labels of the other modes from there on: also those of the next few observations, which
    /// are usually read next.
    fn read_ahead(&mut self, range: Range<usize>) -> (Cells<'_, T>, &[u32]) {
        match &self.selection.view().store {
            Store::Plain(cells) => {
                (cells.cells(range.clone()), cells.others_from(range, TOLD_AHEAD))
            }
            Store::Packed(cells) => self.window.read(cells, range),
        }
    }

    /// Passes the observations of a label to `see` as full cells with values and weights.
    pub(super) fn visit(
        &mut self,
        mode: usize,
        label: usize,
        range: Range<usize>,
        see: &mut (impl FnMut(&[u32], T, T) + ?Sized),
    ) {
        let mut cell = [0u32; 8];
        if range.is_empty() {
            return;
        }
        let cells = self.read(range);
        let width = cells.others.len() / cells.values.len();
        let cell = &mut cell[..=width];
        cell[mode] = label as u32;
        for (at, &value) in cells.values.iter().enumerate() {
            let row = &cells.others[at * width..(at + 1) * width];
            for (b, &other) in row.iter().enumerate() {
                cell[b + usize::from(b >= mode)] = other;
            }
            see(cell, value, cells.weights.map_or(T::ONE, |w| w[at]));
        }
    }
}

/// Readers of all modes' views.
#[derive(Debug, Clone)]
pub(crate) struct Reader<'a, T> {
    modes: Vec<ModeReader<'a, T>>,
}

impl<'a, T: Real> Reader<'a, T> {
    pub(super) fn new(selection: Selection<'a, T>) -> Self {
        let modes = selection.sizes().len();
        Self { modes: (0..modes).map(|mode| selection.mode(mode).reader()).collect() }
    }

    /// The observations at some positions of a mode's view.
    pub(crate) fn read(&mut self, mode: usize, range: Range<usize>) -> Cells<'_, T> {
        self.modes[mode].read(range)
    }

    /// The same, and the labels of the other modes from there on, for [`RowCells::others`].
    ///
    /// [`RowCells::others`]: quadfill_kernels::RowCells::others
    pub(crate) fn read_ahead(
        &mut self,
        mode: usize,
        range: Range<usize>,
    ) -> (Cells<'_, T>, &[u32]) {
        self.modes[mode].read_ahead(range)
    }

    /// Passes the selected observations of a label of the first mode to `see`.
    pub(crate) fn for_each_of_row(&mut self, label: usize, mut see: impl FnMut(&[u32], T, T)) {
        let range = self.modes[0].selection.range(label);
        self.modes[0].visit(0, label, range, &mut see);
    }
}
