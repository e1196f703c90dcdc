//! The arguments of a kernel, once their shapes are known to agree.

use super::{Direction, Form, MAX_OTHERS, ModeContext, RowCells, Workspace};
use crate::Real;

/// Factor matrices larger than this are not expected to stay in the first-level cache.
const NEAR_BYTES: usize = 16 << 10;

/// How many cache lines of one mode may be on their way: about as many as a core keeps track of.
const LINES_AHEAD: usize = 32;

/// What a cell picks from: the rows of one other mode, or a direction in them.
#[derive(Clone, Copy)]
pub(super) struct Others<'a, T> {
    /// Each holds at least `rows * stride` entries.
    pub(super) factors: [&'a [T]; MAX_OTHERS],
    /// Each holds at least `rows` entries; empty without biases.
    pub(super) biases: [&'a [T]; MAX_OTHERS],
}

/// Arguments that fit together; only [`Call::new`] makes them, and the kernels rely on it.
#[derive(Clone, Copy)]
pub(super) struct Call<'a, T> {
    pub(super) form: Form<'a, T>,
    pub(super) rank: usize,
    pub(super) stride: usize,
    pub(super) mean: T,
    pub(super) with_biases: bool,
    /// How many other modes there are, 1 to [`MAX_OTHERS`].
    pub(super) count: usize,
    /// Rows of each other mode.
    pub(super) rows: [usize; MAX_OTHERS],
    /// Which of them are too large to be always at hand.
    pub(super) distant: [bool; MAX_OTHERS],
    /// How many cells ahead their rows are asked for.
    pub(super) ahead: usize,
    pub(super) point: Others<'a, T>,
    pub(super) row: RowCells<'a, T>,
}

/// A direction that fits a call.
#[derive(Clone, Copy)]
pub(super) struct Along<'a, T> {
    pub(super) own: &'a [T],
    pub(super) own_bias: T,
    pub(super) others: Others<'a, T>,
}

impl<'a, T: Real> Call<'a, T> {
    /// Checks that the arguments fit together; panics if not.
    pub(super) fn new(ctx: &ModeContext<'a, T>, row: &RowCells<'a, T>, ws: &Workspace<T>) -> Self {
        let count = ctx.factors.len();
        assert!((1..=MAX_OTHERS).contains(&count), "a tensor has 2 to {} modes", MAX_OTHERS + 1);
        assert!(ctx.rank > 0, "the rank is at least 1");
        assert!(
            ctx.stride >= ctx.rank && ctx.stride.is_multiple_of(T::LINE),
            "rows are padded to whole cache lines"
        );
        assert_eq!(row.own.len(), ctx.stride, "entries of the row");
        assert_eq!(row.others.len(), row.values.len() * count, "rows picked");
        if let Some(weights) = row.weights {
            assert_eq!(weights.len(), row.values.len(), "one weight per cell");
        }
        if let Form::Quadratic { cross, among, .. } = ctx.form {
            assert_eq!(cross.len(), count, "weights of the cross terms");
            assert_eq!(among.len(), count * count, "weights among the other modes");
        }
        assert!(ws.fits(ctx.rank, ctx.biases.is_some()), "the workspace was made for another rank");

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
            distant: rows.map(|rows| rows * ctx.stride * size_of::<T>() > NEAR_BYTES),
            ahead: (LINES_AHEAD / lines).clamp(2, 16),
            point,
            row: *row,
        }
    }

    /// Checks that a direction has the shape of the point; panics if not.
    pub(super) fn along(&self, dir: &Direction<'a, T>) -> Along<'a, T> {
        assert_eq!(dir.own.len(), self.stride, "entries of the direction's row");
        assert_eq!(dir.factors.len(), self.count, "modes of the direction");
        assert_eq!(
            dir.biases.is_some(),
            self.with_biases,
            "biases in both the point and the direction, or in neither"
        );
        Along {
            own: dir.own,
            own_bias: dir.own_bias,
            others: Others::new(dir.factors, dir.biases, &self.rows, self.stride),
        }
    }

    /// How many cells there are.
    #[inline(always)]
    pub(super) fn cells(&self) -> usize {
        self.row.values.len()
    }

    /// Unknowns of the row.
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
