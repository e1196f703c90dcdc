//! The memory a kernel works in.

use super::plan::Plan;
use crate::{AlignedVec, Real};

/// The most cells of a panel.
pub(super) const PANEL_CELLS: usize = 64;

/// A panel should leave room in the first-level cache for the rows that are gathered.
const PANEL_BYTES: usize = 20 << 10;

/// Scratch memory for the kernels in [`cells`](super), made once per thread.
#[derive(Debug)]
pub struct Workspace<T: Real> {
    rank: usize,
    with_biases: bool,
    /// Slopes of a panel of cells, one cell after the other.
    pub(super) slopes: AlignedVec<T>,
    /// Their derivatives along a direction.
    pub(super) turns: AlignedVec<T>,
    /// Products whose sum over the lanes is a cell's prediction.
    pub(super) products: AlignedVec<T>,
    /// The same for its derivative.
    pub(super) tangents: AlignedVec<T>,
    /// Sum of the picked biases of each cell.
    pub(super) biases: [T; PANEL_CELLS],
    /// The same for a direction.
    pub(super) bias_tangents: [T; PANEL_CELLS],
    /// Residual of each cell.
    pub(super) residuals: [T; PANEL_CELLS],
    /// What each cell's slope is multiplied with.
    pub(super) scales: [T; PANEL_CELLS],
    /// Sums over the cells of some panels, before they are added to the result.
    pub(super) sums: AlignedVec<T>,
    pub(super) plan: Plan,
}

impl<T: Real> Workspace<T> {
    /// Scratch for rows of `rank` entries, with or without a bias.
    pub fn new(rank: usize, with_biases: bool) -> Self {
        let order = rank + usize::from(with_biases) + 1;
        let row = order.next_multiple_of(T::LINE);
        Self {
            rank,
            with_biases,
            slopes: AlignedVec::zeros(PANEL_CELLS * row),
            turns: AlignedVec::zeros(PANEL_CELLS * row),
            products: AlignedVec::zeros(PANEL_CELLS * T::LINE),
            tangents: AlignedVec::zeros(PANEL_CELLS * T::LINE),
            biases: [T::ZERO; PANEL_CELLS],
            bias_tangents: [T::ZERO; PANEL_CELLS],
            residuals: [T::ZERO; PANEL_CELLS],
            scales: [T::ZERO; PANEL_CELLS],
            sums: AlignedVec::zeros(order * row),
            plan: Plan::default(),
        }
    }

    pub(super) fn fits(&self, rank: usize, with_biases: bool) -> bool {
        self.rank == rank && self.with_biases == with_biases
    }
}

/// How a panel is laid out for vectors of some lanes.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// Distance between the cells of a panel.
    pub(super) stride: usize,
    /// Cells of a panel.
    pub(super) cells: usize,
}

impl Layout {
    /// For `cols` unknowns and the residual behind them.
    #[inline(always)]
    pub(super) fn new<T: Real>(cols: usize, lanes: usize) -> Self {
        let stride = (cols + 1).next_multiple_of(lanes);
        let full = PANEL_CELLS * stride * size_of::<T>();
        let cells = if full <= PANEL_BYTES { PANEL_CELLS } else { PANEL_CELLS / 2 };
        Self { stride, cells }
    }
}
