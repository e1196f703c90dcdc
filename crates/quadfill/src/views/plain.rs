//! Cells as the kernels read them.

use std::ops::Range;

use super::Cells;
use quadfill_kernels::Real;

/// The cells of a view, ready for the kernels.
#[derive(Debug, Clone)]
pub(super) struct PlainCells<T> {
    /// The labels of the other modes, `width` per cell.
    pub(super) others: Vec<u32>,
    pub(super) values: Vec<T>,
    pub(super) weights: Option<Vec<T>>,
    pub(super) width: usize,
}

impl<T: Real> PlainCells<T> {
    /// Room for cells, all of them zero.
    pub(super) fn zeros(len: usize, width: usize, weighted: bool) -> Self {
        Self {
            others: vec![0; len * width],
            values: vec![T::ZERO; len],
            weights: weighted.then(|| vec![T::ZERO; len]),
            width,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Forgets the cells from `len` on.
    pub(super) fn truncate(&mut self, len: usize) {
        self.others.truncate(len * self.width);
        self.values.truncate(len);
        if let Some(weights) = &mut self.weights {
            weights.truncate(len);
        }
    }

    /// Some cells.
    pub(super) fn cells(&self, range: Range<usize>) -> Cells<'_, T> {
        Cells {
            others: &self.others[range.start * self.width..range.end * self.width],
            values: &self.values[range.clone()],
            weights: self.weights.as_ref().map(|weights| &weights[range]),
        }
    }

    /// The labels of the other modes of some cells and of up to `more` that follow.
    pub(super) fn others_from(&self, range: Range<usize>, more: usize) -> &[u32] {
        let end = self.values.len().min(range.end + more);
        &self.others[range.start * self.width..end * self.width]
    }

    /// Overwrites a cell.
    #[inline]
    pub(super) fn set(
        &mut self,
        at: usize,
        others: impl Iterator<Item = u32>,
        value: T,
        weight: T,
    ) {
        let row = &mut self.others[at * self.width..(at + 1) * self.width];
        // Entry by entry: so few are faster without a call to memcpy.
        for (place, other) in row.iter_mut().zip(others) {
            *place = other;
        }
        self.values[at] = value;
        if let Some(weights) = &mut self.weights {
            weights[at] = weight;
        }
    }

    /// Overwrites the cells from `first` on.
    pub(super) fn overwrite(&mut self, first: usize, cells: Cells<'_, T>) {
        let end = first + cells.values.len();
        self.others[first * self.width..end * self.width].copy_from_slice(cells.others);
        self.values[first..end].copy_from_slice(cells.values);
        if let (Some(all), Some(weights)) = (&mut self.weights, cells.weights) {
            all[first..end].copy_from_slice(weights);
        }
    }
}
