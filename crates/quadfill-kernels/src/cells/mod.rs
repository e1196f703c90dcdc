//! What the observations ("cells") of one row contribute to the row's equations.
//!
//! A tensor of `N` modes is modelled by one factor matrix per mode. A cell picks one row of each;
//! seen from one mode `a`, `u` is the row that is worked on and `v_b` are the rows the cell picks
//! in the `O = N - 1` other modes. The prediction of the cell is
//!
//! ```text
//! pred = mean + (bias of u + sum_b bias of v_b) + form(u, v_1, ..., v_O)
//! ```
//!
//! its residual is `r = y - pred` and its slope `J` is the derivative of `pred` by `u`, with one
//! more entry, the constant 1, when biases are fitted. Everything here is a sum over cells of
//! something made of `w`, `r` and `J`.

mod call;
mod combine;
mod compiled;
mod directional;
mod features;
mod form;
mod gram;
mod plan;
mod residual;
mod workspace;

pub use compiled::CellSums;
pub use workspace::Workspace;

use crate::{Kernels, Real};

/// The most modes a tensor may have besides the one worked on.
pub const MAX_OTHERS: usize = 7;

/// How the rows picked by a cell make its prediction, seen from one mode ("own").
#[derive(Clone, Copy, Debug)]
pub enum Form<'a, T> {
    /// `own <u,u> + 2 sum_b cross[b] <u,v_b> + sum_{b,c} among[b*O+c] <v_b,v_c>`, where `O` is
    /// the number of other modes and `among` is a full symmetric matrix.
    Quadratic {
        /// The weight of `<u,u>`.
        own: T,
        /// Half the weight of each `<u,v_b>`.
        cross: &'a [T],
        /// The weights among the other modes.
        among: &'a [T],
    },
    /// `sum_l u[l] prod_b v_b[l]`.
    Product,
}

/// Everything that stays fixed while a mode is worked on.
#[derive(Clone, Copy, Debug)]
pub struct ModeContext<'a, T> {
    /// How rows make a prediction.
    pub form: Form<'a, T>,
    /// Entries of a row.
    pub rank: usize,
    /// Distance between rows of every factor matrix: a multiple of [`Real::LINE`], at least
    /// `rank`. The entries past `rank` are zero.
    pub stride: usize,
    /// The other modes' factor matrices, row-major with `stride`.
    pub factors: &'a [&'a [T]],
    /// The other modes' biases, when per-label biases are fitted.
    pub biases: Option<&'a [&'a [T]]>,
    /// The constant part of every prediction.
    pub mean: T,
}

impl<T> ModeContext<'_, T> {
    /// Unknowns of a row: `rank`, and one more with biases.
    pub fn cols(&self) -> usize {
        self.rank + usize::from(self.biases.is_some())
    }
}

/// The cells of one row, or a segment of them.
#[derive(Clone, Copy, Debug)]
pub struct RowCells<'a, T> {
    /// The row (`stride` entries).
    pub own: &'a [T],
    /// The row's bias; 0 without biases.
    pub own_bias: T,
    /// The rows each cell picks in the other modes: `others[k*O + b]` for cell `k`.
    pub others: &'a [u32],
    /// What was observed.
    pub values: &'a [T],
    /// How much each cell counts, at least 0; 1 if absent.
    pub weights: Option<&'a [T]>,
}

/// A direction in the space of all rows, shaped like the point it starts at.
#[derive(Clone, Copy, Debug)]
pub struct Direction<'a, T> {
    /// For the row worked on.
    pub own: &'a [T],
    /// For its bias.
    pub own_bias: T,
    /// For the other modes' factor matrices.
    pub factors: &'a [&'a [T]],
    /// For the other modes' biases.
    pub biases: Option<&'a [&'a [T]]>,
}

/// The sums over cells.
///
/// All of them panic when the shapes in their arguments do not agree with one another, or when
/// a cell picks a row that is not there.
impl Kernels {
    /// Adds the sum over cells of `w [J;r] [J;r]^T` to `out`, a row-major matrix of order
    /// `cols + 1` of which only the lower triangle is touched. Its last row is then the
    /// right-hand side `sum w r J` followed by `sum w r^2`.
    ///
    /// ```
    /// use quadfill_kernels::{AlignedVec, Form, Kernels, ModeContext, RowCells, Workspace};
    ///
    /// // Rank 1, two modes: each prediction is the product of two numbers.
    /// let mut v = AlignedVec::<f64>::zeros(16);
    /// (v[0], v[8]) = (2.0, 3.0);
    /// let ctx = ModeContext {
    ///     form: Form::Product,
    ///     rank: 1,
    ///     stride: 8,
    ///     factors: &[&v],
    ///     biases: None,
    ///     mean: 0.0,
    /// };
    /// let own = AlignedVec::<f64>::zeros(8);
    /// let row = RowCells {
    ///     own: &own,
    ///     own_bias: 0.0,
    ///     others: &[0, 1],
    ///     values: &[4.0, 6.0],
    ///     weights: None,
    /// };
    /// let mut out = [0.0; 4];
    /// Kernels::detect().normal_equations(&ctx, &row, &mut Workspace::new(1, false), &mut out);
    /// assert_eq!(out, [13.0, 0.0, 26.0, 52.0]); // u = 26 / 13 explains both
    /// ```
    pub fn normal_equations<T: Real>(
        self,
        ctx: &ModeContext<T>,
        row: &RowCells<T>,
        ws: &mut Workspace<T>,
        out: &mut [f64],
    ) {
        T::normal_equations(self, ctx, row, ws, out);
    }

    /// Adds the sum over cells of `w r J` to `out` (`cols` entries) and returns that of `w r^2`.
    pub fn gradient<T: Real>(
        self,
        ctx: &ModeContext<T>,
        row: &RowCells<T>,
        ws: &mut Workspace<T>,
        out: &mut [f64],
    ) -> f64 {
        T::gradient(self, ctx, row, ws, out)
    }

    /// Writes the residual of each cell to `out`.
    pub fn residuals<T: Real>(
        self,
        ctx: &ModeContext<T>,
        row: &RowCells<T>,
        ws: &mut Workspace<T>,
        out: &mut [T],
    ) {
        T::residuals(self, ctx, row, ws, out);
    }

    /// The sum over cells of `w r^2`.
    pub fn squared_residuals<T: Real>(
        self,
        ctx: &ModeContext<T>,
        row: &RowCells<T>,
        ws: &mut Workspace<T>,
    ) -> f64 {
        T::squared_residuals(self, ctx, row, ws)
    }

    /// Adds the sum over cells of `w (dpred J - r dJ)` to `out` (`cols` entries), or of
    /// `w dpred J` unless `second_order`, where `dpred` and `dJ` are the derivatives of the
    /// prediction and of the slope along `dir`.
    ///
    /// That is the part of this row in half the product of the Hessian (or of its Gauss-Newton
    /// approximation) of the sum of `w r^2` with `dir`.
    pub fn directional<T: Real>(
        self,
        ctx: &ModeContext<T>,
        row: &RowCells<T>,
        dir: &Direction<T>,
        ws: &mut Workspace<T>,
        out: &mut [f64],
        second_order: bool,
    ) {
        T::directional(self, ctx, row, dir, ws, out, second_order);
    }
}
