//! The kernels of the two precisions, compiled once in this crate.
//!
//! Generic functions are compiled in whichever crate uses them, again in each and with its settings.
//! These are not generic, so that callers link to one optimised copy.

use super::call::Call;
use super::{Direction, ModeContext, RowCells, Workspace, combine, directional, gram, residual};
use crate::{Kernels, Real};

/// What [`Kernels`] offers for a precision.
pub trait CellSums: Sized {
    /// See [`Kernels::normal_equations`].
    fn normal_equations(
        kernels: Kernels,
        ctx: &ModeContext<Self>,
        row: &RowCells<Self>,
        ws: &mut Workspace<Self>,
        out: &mut [f64],
    ) where
        Self: Real;
    /// See [`Kernels::gradient`].
    fn gradient(
        kernels: Kernels,
        ctx: &ModeContext<Self>,
        row: &RowCells<Self>,
        ws: &mut Workspace<Self>,
        out: &mut [f64],
    ) -> f64
    where
        Self: Real;
    /// See [`Kernels::residuals`].
    fn residuals(
        kernels: Kernels,
        ctx: &ModeContext<Self>,
        row: &RowCells<Self>,
        ws: &mut Workspace<Self>,
        out: &mut [Self],
    ) where
        Self: Real;
    /// See [`Kernels::squared_residuals`].
    fn squared_residuals(
        kernels: Kernels,
        ctx: &ModeContext<Self>,
        row: &RowCells<Self>,
        ws: &mut Workspace<Self>,
    ) -> f64
    where
        Self: Real;
    /// See [`Kernels::directional`].
    fn directional(
        kernels: Kernels,
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
                kernels: Kernels,
                ctx: &ModeContext<Self>,
                row: &RowCells<Self>,
                ws: &mut Workspace<Self>,
                out: &mut [f64],
            ) {
                let order = ctx.cols() + 1;
                assert_eq!(out.len(), order * order, "entries of the matrix");
                let call = Call::new(ctx, row, ws);
                kernels.run::<$t, _>(gram::NormalEquations { call, ws, out });
            }

            fn gradient(
                kernels: Kernels,
                ctx: &ModeContext<Self>,
                row: &RowCells<Self>,
                ws: &mut Workspace<Self>,
                out: &mut [f64],
            ) -> f64 {
                assert_eq!(out.len(), ctx.cols(), "entries of the gradient");
                let call = Call::new(ctx, row, ws);
                kernels.run::<$t, _>(combine::Gradient { call, ws, out })
            }

            fn residuals(
                kernels: Kernels,
                ctx: &ModeContext<Self>,
                row: &RowCells<Self>,
                ws: &mut Workspace<Self>,
                out: &mut [Self],
            ) {
                assert_eq!(out.len(), row.values.len(), "one residual per cell");
                let call = Call::new(ctx, row, ws);
                kernels.run::<$t, _>(residual::Residuals { call, ws, out });
            }

            fn squared_residuals(
                kernels: Kernels,
                ctx: &ModeContext<Self>,
                row: &RowCells<Self>,
                ws: &mut Workspace<Self>,
            ) -> f64 {
                let call = Call::new(ctx, row, ws);
                kernels.run::<$t, _>(residual::SquaredResiduals { call, ws })
            }

            fn directional(
                kernels: Kernels,
                ctx: &ModeContext<Self>,
                row: &RowCells<Self>,
                dir: &Direction<Self>,
                ws: &mut Workspace<Self>,
                out: &mut [f64],
                second_order: bool,
            ) {
                assert_eq!(out.len(), ctx.cols(), "entries of the product");
                let call = Call::new(ctx, row, ws);
                let along = call.along(dir);
                kernels.run::<$t, _>(directional::Directional {
                    call,
                    along,
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
