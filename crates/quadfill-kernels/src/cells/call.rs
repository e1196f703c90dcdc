//! Kernel arguments whose shapes have been checked.

use super::{Direction, Form, MAX_OTHERS, ModeContext, RowCells, Workspace};
use crate::Real;

/// Factor matrices larger than this are not expected to stay in the L1 cache.
const L1_RESIDENT_BYTES: usize = 16 << 10;

/// Cache lines of one mode that may be in flight: about as many as a core can track.
const MAX_LINES_IN_FLIGHT: usize = 32;

/// The factors and biases of the other modes, or a direction in them.
#[derive(Clone, Copy)]
pub(super) struct Others<'a, T> {
    /// Each holds at least `rows * stride` entries.
    pub(super) factors: [&'a [T]; MAX_OTHERS],
    /// Each holds at least `rows` entries; empty without biases.
    pub(super) biases: [&'a [T]; MAX_OTHERS],
}

/// Arguments with consistent shapes. Only [`Call::new`] constructs them, and the kernels rely on
/// its checks.
#[derive(Clone, Copy)]
pub(super) struct Call<'a, T> {
    pub(super) form: Form<'a, T>,
    pub(super) rank: usize,
    pub(super) stride: usize,
    pub(super) mean: T,
    pub(super) with_biases: bool,
    /// Number of other modes, 1 to [`MAX_OTHERS`].
    pub(super) count: usize,
    /// Number of rows of each other mode.
    pub(super) rows: [usize; MAX_OTHERS],
    /// The modes that are too large for the L1 cache, so that their rows are prefetched.
    pub(super) prefetched: [bool; MAX_OTHERS],
    /// How many cells ahead rows are prefetched.
    pub(super) prefetch_distance: usize,
    pub(super) point: Others<'a, T>,
    pub(super) row: RowCells<'a, T>,
}

/// A direction whose shape matches a call.
#[derive(Clone, Copy)]
pub(super) struct CheckedDirection<'a, T> {
    pub(super) own: &'a [T],
    pub(super) own_bias: T,
    pub(super) others: Others<'a, T>,
}

impl<'a, T: Real> Call<'a, T> {
    /// Checks that the shapes of the arguments are consistent; panics if not.
    pub(super) fn new(ctx: &ModeContext<'a, T>, row: &RowCells<'a, T>, ws: &Workspace<T>) -> Self {
        let count = ctx.factors.len();
        assert!((1..=MAX_OTHERS).contains(&count), "a tensor has 2 to {} modes", MAX_OTHERS + 1);
        assert!(ctx.rank > 0, "the rank is at least 1");
        assert!(
            ctx.stride >= ctx.rank && ctx.stride.is_multiple_of(T::LINE),
            "rows are padded to whole cache lines"
        );
        assert_eq!(row.own.len(), ctx.stride, "entries of the row");
        assert!(
            row.others.len() >= row.values.len() * count && row.others.len().is_multiple_of(count),
            "one row of each other mode per cell"
        );
        if let Some(weights) = row.weights {
            assert_eq!(weights.len(), row.values.len(), "one weight per cell");
        }
        if let Form::Quadratic { cross, among, .. } = ctx.form {
            assert_eq!(cross.len(), count, "weights of the cross terms");
            assert_eq!(among.len(), count * count, "weights among the other modes");
        }
        assert!(ws.fits(ctx.rank, ctx.biases.is_some()), "the workspace has another shape");

        let mut rows = [0; MAX_OTHERS];
        for (rows, factor) in rows.iter_mut().zip(ctx.factors) {
            *rows = factor.len() / ctx.stride;
        }
        let lines = ctx.rank.div_ceil(T::LINE);
        let point = Others::new(ctx.factors, ctx.biases, &rows, ctx.stride);
        Self {
            form: ctx.form,
            rank: ctx.rank,
            stride: ctx.stride,
            mean: ctx.mean,
            with_biases: ctx.biases.is_some(),
            count,
            rows,
            prefetched: rows.map(|rows| rows * ctx.stride * size_of::<T>() > L1_RESIDENT_BYTES),
            prefetch_distance: (MAX_LINES_IN_FLIGHT / lines).clamp(2, MAX_LINES_IN_FLIGHT),
            point,
            row: *row,
        }
    }

    /// Checks that a direction has the same shape as the point; panics if not.
    pub(super) fn check_direction(&self, dir: &Direction<'a, T>) -> CheckedDirection<'a, T> {
        assert_eq!(dir.own.len(), self.stride, "entries of the direction's row");
        assert_eq!(dir.factors.len(), self.count, "modes of the direction");
        assert_eq!(
            dir.biases.is_some(),
            self.with_biases,
            "biases in both the point and the direction, or in neither"
        );
        CheckedDirection {
            own: dir.own,
            own_bias: dir.own_bias,
            others: Others::new(dir.factors, dir.biases, &self.rows, self.stride),
        }
    }

    /// Number of cells.
    #[inline(always)]
    pub(super) fn cells(&self) -> usize {
        self.row.values.len()
    }

    /// Number of unknowns of the row.
    #[inline(always)]
    pub(super) fn cols(&self) -> usize {
        self.rank + usize::from(self.with_biases)
    }
}

impl<'a, T: Real> Others<'a, T> {
    fn new(
        factors: &[&'a [T]],
        biases: Option<&[&'a [T]]>,
        rows: &[usize; MAX_OTHERS],
        stride: usize,
    ) -> Self {
        let mut others = Self { factors: [&[]; MAX_OTHERS], biases: [&[]; MAX_OTHERS] };
        for (b, factor) in factors.iter().enumerate() {
            assert!(factor.len() >= rows[b] * stride, "rows of mode {b}");
            others.factors[b] = factor;
        }
        if let Some(biases) = biases {
            assert_eq!(biases.len(), factors.len(), "biases for each mode");
            for (b, bias) in biases.iter().enumerate() {
                assert!(bias.len() >= rows[b], "biases of mode {b}");
                others.biases[b] = bias;
            }
        }
        others
    }
}
