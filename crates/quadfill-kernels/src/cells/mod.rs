//! Contributions of the observations ("cells") of one row to the equations of that row.
//!
//! A tensor of `N` modes is modelled by one factor matrix per mode. A cell picks one row of each.
//! For a given mode, `u` is the current row and `v_b` are the rows that the cell picks in the
//! `O = N - 1` other modes. The prediction of the cell is
//!
//! ```text
//! pred = mean + (bias of u + sum_b bias of v_b) + form(u, v_1, ..., v_O)
//! ```
//!
//! Its residual is `r = y - pred`, and its Jacobian `J` is the derivative of `pred` with respect to
//! `u`, with an additional entry 1 for the bias of `u` when biases are fitted. All operations are
//! sums over cells of expressions in the weight `w`, `r` and `J`.

mod call;
mod compiled;
mod form;
mod gather;
mod gradient;
mod gram;
mod hessian_vec;
mod narrow;
mod plan;
mod residual;
mod workspace;

pub use compiled::CellSums;
pub use workspace::Workspace;

use crate::{Backend, Real};

/// The maximum number of modes besides the current one.
pub const MAX_OTHERS: usize = 7;

/// How the rows of a cell are combined into its prediction, from the viewpoint of one mode ("own").
#[derive(Clone, Copy, Debug)]
pub enum Form<'a, T> {
    /// `own <u,u> + 2 sum_b cross[b] <u,v_b> + sum_{b,c} among[b*O+c] <v_b,v_c>`, where `O` is
    /// the number of other modes and `among` is a full symmetric matrix.
    Quadratic {
        /// The weight of `<u,u>`.
        own: T,
        /// The weight of each `2 <u,v_b>`.
        cross: &'a [T],
        /// The weights of the inner products among the other modes.
        among: &'a [T],
    },
    /// `sum_l u[l] prod_b v_b[l]`.
    Product,
}

/// Everything that is the same for all rows of a mode.
#[derive(Clone, Copy, Debug)]
pub struct ModeContext<'a, T> {
    /// How rows are combined into a prediction.
    pub form: Form<'a, T>,
    /// Number of entries of a row.
    pub rank: usize,
    /// Distance between rows of every factor matrix: a multiple of [`Real::LINE`], at least
    /// `rank`. The entries past `rank` are zero.
    pub stride: usize,
    /// The factor matrices of the other modes, row-major with `stride`.
    pub factors: &'a [&'a [T]],
    /// The biases of the other modes, if biases are fitted.
    pub biases: Option<&'a [&'a [T]]>,
    /// The constant term of every prediction.
    pub mean: T,
}

impl<T> ModeContext<'_, T> {
    /// Number of unknowns of a row: `rank`, plus one with biases.
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
    /// The rows each cell picks in the other modes: `others[k*O + b]` for cell `k`. More may follow,
    /// those of the cells that are read next: they are only prefetched.
    pub others: &'a [u32],
    /// The observed values.
    pub values: &'a [T],
    /// The nonnegative weight of each cell; 1 if absent.
    pub weights: Option<&'a [T]>,
}

/// A direction in parameter space, with the same shape as the point.
#[derive(Clone, Copy, Debug)]
pub struct Direction<'a, T> {
    /// The direction of the current row.
    pub own: &'a [T],
    /// The direction of its bias.
    pub own_bias: T,
    /// The direction of the factor matrices of the other modes.
    pub factors: &'a [&'a [T]],
    /// The direction of the biases of the other modes.
    pub biases: Option<&'a [&'a [T]]>,
}

/// Sums over cells.
///
/// All of them panic if the shapes of their arguments are inconsistent or a cell picks a row that
/// does not exist.
impl Backend {
    /// Adds the sum over cells of `w [J;r] [J;r]^T` to `out`, a row-major matrix of order
    /// `cols + 1` of which only the lower triangle is accessed. Its last row is the right-hand side
    /// `sum w r J` followed by `sum w r^2`.
    ///
    /// ```
    /// use quadfill_kernels::{AlignedVec, Backend, Form, ModeContext, RowCells, Workspace};
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
    /// Backend::detect().normal_equations(&ctx, &row, &mut Workspace::new(1, false), &mut out);
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

    /// Adds the sum over cells of `w r J` to `out` (`cols` entries) and returns the sum of `w r^2`.
    /// The former is minus half the gradient of the latter.
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

    /// Returns the sum over cells of `w r^2`.
    pub fn squared_residuals<T: Real>(
        self,
        ctx: &ModeContext<T>,
        row: &RowCells<T>,
        ws: &mut Workspace<T>,
    ) -> f64 {
        T::squared_residuals(self, ctx, row, ws)
    }

    /// Adds the sum over cells of `w (dpred J - r dJ)` to `out` (`cols` entries), or of `w dpred J`
    /// unless `second_order`, where `dpred` and `dJ` are the derivatives of the prediction and of
    /// the Jacobian along `dir`.
    ///
    /// This is the row's part of half the product of the Hessian of `sum w r^2` (or of its
    /// Gauss-Newton approximation) with `dir`.
    pub fn hessian_vec<T: Real>(
        self,
        ctx: &ModeContext<T>,
        row: &RowCells<T>,
        dir: &Direction<T>,
        ws: &mut Workspace<T>,
        out: &mut [f64],
        second_order: bool,
    ) {
        T::hessian_vec(self, ctx, row, dir, ws, out, second_order);
    }
}
