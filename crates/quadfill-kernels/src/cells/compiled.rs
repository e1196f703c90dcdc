//! The kernels for both precisions, compiled once in this crate.
//!
//! Generic functions are compiled again in every crate that uses them, with the settings of that
//! crate. These functions are not generic, so all callers link to the same optimised copy.

use super::call::Call;
use super::{Direction, ModeContext, RowCells, Workspace, gradient, gram, hessian_vec, residual};
use crate::{Backend, Real};

/// The operations of [`Backend`] for one precision.
pub trait CellSums: Sized {
    /// See [`Backend::normal_equations`].
    fn normal_equations(
        backend: Backend,
        ctx: &ModeContext<Self>,
        row: &RowCells<Self>,
        ws: &mut Workspace<Self>,
        out: &mut [f64],
    ) where
        Self: Real;
    /// See [`Backend::gradient`].
    fn gradient(
        backend: Backend,
        ctx: &ModeContext<Self>,
        row: &RowCells<Self>,
        ws: &mut Workspace<Self>,
        out: &mut [f64],
    ) -> f64
    where
        Self: Real;
    /// See [`Backend::residuals`].
    fn residuals(
        backend: Backend,
        ctx: &ModeContext<Self>,
        row: &RowCells<Self>,
        ws: &mut Workspace<Self>,
        out: &mut [Self],
    ) where
        Self: Real;
    /// See [`Backend::squared_residuals`].
    fn squared_residuals(
        backend: Backend,
        ctx: &ModeContext<Self>,
        row: &RowCells<Self>,
        ws: &mut Workspace<Self>,
    ) -> f64
    where
        Self: Real;
    /// See [`Backend::hessian_vec`].
    fn hessian_vec(
        backend: Backend,
        ctx: &ModeContext<Self>,
        row: &RowCells<Self>,
        dir: &Direction<Self>,
        ws: &mut Workspace<Self>,
        out: &mut [f64],
        second_order: bool,
    ) where
        Self: Real;
}

macro_rules! cell_sums {
    ($t:ty) => {
        impl CellSums for $t {
            fn normal_equations(
                backend: Backend,
                ctx: &ModeContext<Self>,
                row: &RowCells<Self>,
                ws: &mut Workspace<Self>,
                out: &mut [f64],
            ) {
                let order = ctx.cols() + 1;
                assert_eq!(out.len(), order * order, "entries of the matrix");
                let call = Call::new(ctx, row, ws);
                backend.run::<$t, _>(gram::NormalEquations { call, ws, out });
            }

            fn gradient(
                backend: Backend,
                ctx: &ModeContext<Self>,
                row: &RowCells<Self>,
                ws: &mut Workspace<Self>,
                out: &mut [f64],
            ) -> f64 {
                assert_eq!(out.len(), ctx.cols(), "entries of the gradient");
                let call = Call::new(ctx, row, ws);
                backend.run::<$t, _>(gradient::Gradient { call, ws, out })
            }

            fn residuals(
                backend: Backend,
                ctx: &ModeContext<Self>,
                row: &RowCells<Self>,
                ws: &mut Workspace<Self>,
                out: &mut [Self],
            ) {
                assert_eq!(out.len(), row.values.len(), "one residual per cell");
                let call = Call::new(ctx, row, ws);
                backend.run::<$t, _>(residual::Residuals { call, ws, out });
            }

            fn squared_residuals(
                backend: Backend,
                ctx: &ModeContext<Self>,
                row: &RowCells<Self>,
                ws: &mut Workspace<Self>,
            ) -> f64 {
                let call = Call::new(ctx, row, ws);
                backend.run::<$t, _>(residual::SquaredResiduals { call, ws })
            }

            fn hessian_vec(
                backend: Backend,
                ctx: &ModeContext<Self>,
                row: &RowCells<Self>,
                dir: &Direction<Self>,
                ws: &mut Workspace<Self>,
                out: &mut [f64],
                second_order: bool,
            ) {
                assert_eq!(out.len(), ctx.cols(), "entries of the product");
                let call = Call::new(ctx, row, ws);
                let direction = call.check_direction(dir);
                backend.run::<$t, _>(hessian_vec::HessianVec {
                    call,
                    direction,
                    ws,
                    out,
                    second_order,
                });
            }
        }
    };
}

cell_sums!(f32);
cell_sums!(f64);
