//! The gradient, and other linear combinations of Jacobians.

use super::call::Call;
use super::gather::Span;
use super::residual::{gather, squares};
use super::workspace::{Layout, PANEL_CELLS, Workspace};
use crate::Real;
use crate::simd::{Simd, Task};

pub(super) struct Gradient<'a, T: Real> {
    pub(super) call: Call<'a, T>,
    pub(super) ws: &'a mut Workspace<T>,
    pub(super) out: &'a mut [f64],
}

impl<T: Real> Task<T> for Gradient<'_, T> {
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) -> f64 {
        let Self { call, ws, out } = self;
        let layout = Layout::new::<T>(call.cols(), S::LANES);
        let mut sum = 0.0;
        for span in Span::panels(call.cells(), layout) {
            gather(simd, &call, span, layout, true, ws);
            sum += squares(&call, span, &ws.residuals);
            apply_weights(&call, span, &ws.residuals, &mut ws.coefficients);
            if call.with_biases {
                set_column(&mut ws.jacobians, layout, span, call.rank, T::ONE);
            }
            add_combination(
                simd,
                &ws.jacobians,
                layout,
                &ws.coefficients[..span.cells],
                &mut ws.sums,
                out,
            );
        }
        sum
    }
}

/// Computes `coefficients = w * values` for each cell.
#[inline(always)]
pub(super) fn apply_weights<T: Real>(
    call: &Call<T>,
    span: Span,
    values: &[T; PANEL_CELLS],
    coefficients: &mut [T; PANEL_CELLS],
) {
    coefficients[..span.cells].copy_from_slice(&values[..span.cells]);
    if let Some(weights) = call.row.weights {
        let weights = &weights[span.first..][..span.cells];
        for (coefficient, &w) in coefficients.iter_mut().zip(weights) {
            *coefficient *= w;
        }
    }
}

/// Sets one column of a panel to `entry`.
#[inline(always)]
pub(super) fn set_column<T: Real>(
    panel: &mut [T],
    layout: Layout,
    span: Span,
    column: usize,
    entry: T,
) {
    for cell in panel.chunks_exact_mut(layout.stride).take(span.cells) {
        cell[column] = entry;
    }
}

/// Adds the linear combination of the rows of a panel with the given coefficients to `out`.
#[inline(always)]
pub(super) fn add_combination<T: Real, S: Simd<T>>(
    simd: S,
    panel: &[T],
    layout: Layout,
    coefficients: &[T],
    sums: &mut [T],
    out: &mut [f64],
) {
    let blocks = out.len().div_ceil(S::LANES);
    let mut block = 0;
    while block < blocks {
        let column = block * S::LANES;
        let sums = &mut sums[column..];
        block += match blocks - block {
            1 => combine_blocks::<T, S, 1>(simd, panel, layout, coefficients, column, sums),
            2 => combine_blocks::<T, S, 2>(simd, panel, layout, coefficients, column, sums),
            3 => combine_blocks::<T, S, 3>(simd, panel, layout, coefficients, column, sums),
            _ => combine_blocks::<T, S, 4>(simd, panel, layout, coefficients, column, sums),
        };
    }
    for (out, sum) in out.iter_mut().zip(sums) {
        *out += sum.to_f64();
    }
}

/// Computes the linear combination for `BLOCKS` vectors of columns; returns `BLOCKS`.
#[inline(always)]
fn combine_blocks<T: Real, S: Simd<T>, const BLOCKS: usize>(
    simd: S,
    panel: &[T],
    layout: Layout,
    coefficients: &[T],
    column: usize,
    sums: &mut [T],
) -> usize {
    assert!(column + BLOCKS * S::LANES <= layout.stride);
    assert!(coefficients.len() * layout.stride <= panel.len() && BLOCKS * S::LANES <= sums.len());
    // Separate accumulators for even and odd cells shorten the chain of dependent additions.
    let mut acc = [[simd.splat(T::ZERO); BLOCKS]; 2];
    for (pair, coefficients) in coefficients.chunks(2).enumerate() {
        for (i, &coefficient) in coefficients.iter().enumerate() {
            let coefficient = simd.splat(coefficient);
            for j in 0..BLOCKS {
                let at = (2 * pair + i) * layout.stride + column + j * S::LANES;
                // SAFETY: the assertions keep the access inside the panel.
                let v = unsafe { simd.load(panel.as_ptr().add(at)) };
                acc[i][j] = simd.mul_add(coefficient, v, acc[i][j]);
            }
        }
    }
    for j in 0..BLOCKS {
        let sum = simd.add(acc[0][j], acc[1][j]);
        // SAFETY: `sums` holds all blocks, as asserted above.
        unsafe { simd.store(sums.as_mut_ptr().add(j * S::LANES), sum) };
    }
    BLOCKS
}
