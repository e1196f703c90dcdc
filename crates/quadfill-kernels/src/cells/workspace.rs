//! Scratch memory of the kernels.

use super::plan::Plan;
use crate::{AlignedVec, Real};

/// The maximum number of cells of a panel.
pub(super) const PANEL_CELLS: usize = 64;

/// A panel should leave room in the L1 cache for the rows that are gathered.
const PANEL_BYTES: usize = 20 << 10;

/// Scratch memory for the kernels in [`cells`](super), allocated once per thread.
#[derive(Debug)]
pub struct Workspace<T: Real> {
    rank: usize,
    with_biases: bool,
    /// Jacobians of a panel of cells, one row per cell.
    pub(super) jacobians: AlignedVec<T>,
    /// Directional derivatives of the Jacobians.
    pub(super) jacobian_derivatives: AlignedVec<T>,
    /// One vector per cell whose sum over the lanes is the directional derivative of the form.
    pub(super) tangents: AlignedVec<T>,
    /// Sum of the picked biases of each cell.
    pub(super) biases: [T; PANEL_CELLS],
    /// The same for a direction.
    pub(super) bias_tangents: [T; PANEL_CELLS],
    /// Residual of each cell.
    pub(super) residuals: [T; PANEL_CELLS],
    /// Coefficient of each cell in a linear combination of Jacobians.
    pub(super) coefficients: [T; PANEL_CELLS],
    /// Sums over the cells of a few panels, before they are added to the result.
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
            jacobians: AlignedVec::zeros(PANEL_CELLS * row),
            jacobian_derivatives: AlignedVec::zeros(PANEL_CELLS * row),
            tangents: AlignedVec::zeros(PANEL_CELLS * T::LINE),
            biases: [T::ZERO; PANEL_CELLS],
            bias_tangents: [T::ZERO; PANEL_CELLS],
            residuals: [T::ZERO; PANEL_CELLS],
            coefficients: [T::ZERO; PANEL_CELLS],
            sums: AlignedVec::zeros(order * row),
            plan: Plan::default(),
        }
    }

    pub(super) fn fits(&self, rank: usize, with_biases: bool) -> bool {
        self.rank == rank && self.with_biases == with_biases
    }
}

/// The layout of a panel for a vector length.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// Number of entries per cell.
    pub(super) stride: usize,
    /// Number of cells of a panel.
    pub(super) cells: usize,
}

impl Layout {
    /// The layout for `cols` unknowns followed by the residual.
    #[inline(always)]
    pub(super) fn new<T: Real>(cols: usize, lanes: usize) -> Self {
        let stride = (cols + 1).next_multiple_of(lanes);
        let full = PANEL_CELLS * stride * size_of::<T>();
        let cells = if full <= PANEL_BYTES { PANEL_CELLS } else { PANEL_CELLS / 2 };
        Self { stride, cells }
    }
}
