//! Sums of slopes, each times a number of its cell.

use super::call::Call;
use super::features::Span;
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
            weigh(&call, span, &ws.residuals, &mut ws.scales);
            if call.with_biases {
                set_column(&mut ws.slopes, layout, span, call.rank, T::ONE);
            }
            add_scaled(simd, &ws.slopes, layout, &ws.scales[..span.cells], &mut ws.sums, out);
        }
        sum
    }
}

/// `scales = w factors`.
#[inline(always)]
pub(super) fn weigh<T: Real>(
    call: &Call<T>,
    span: Span,
    factors: &[T; PANEL_CELLS],
    scales: &mut [T; PANEL_CELLS],
) {
    scales[..span.cells].copy_from_slice(&factors[..span.cells]);
    if let Some(weights) = call.row.weights {
        let weights = &weights[span.first..][..span.cells];
        for (scale, &w) in scales.iter_mut().zip(weights) {
            *scale *= w;
        }
    }
}

/// Writes `entry` to one column of the cells of a panel.
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

/// Adds the sum over the cells of a panel of the cell times its scale to `out`.
#[inline(always)]
pub(super) fn add_scaled<T: Real, S: Simd<T>>(
    simd: S,
    panel: &[T],
    layout: Layout,
    scales: &[T],
    sums: &mut [T],
    out: &mut [f64],
) {
    let blocks = out.len().div_ceil(S::LANES);
    let mut block = 0;
    while block < blocks {
        let column = block * S::LANES;
        let sums = &mut sums[column..];
        block += match blocks - block {
            1 => scaled_blocks::<T, S, 1>(simd, panel, layout, scales, column, sums),
            2 => scaled_blocks::<T, S, 2>(simd, panel, layout, scales, column, sums),
            3 => scaled_blocks::<T, S, 3>(simd, panel, layout, scales, column, sums),
            _ => scaled_blocks::<T, S, 4>(simd, panel, layout, scales, column, sums),
        };
    }
    for (out, sum) in out.iter_mut().zip(sums) {
        *out += sum.to_f64();
    }
}

/// The sums for `BLOCKS` vectors of columns; returns `BLOCKS`.
#[inline(always)]
fn scaled_blocks<T: Real, S: Simd<T>, const BLOCKS: usize>(
    simd: S,
    panel: &[T],
    layout: Layout,
    scales: &[T],
    column: usize,
    sums: &mut [T],
) -> usize {
    assert!(column + BLOCKS * S::LANES <= layout.stride);
    assert!(scales.len() * layout.stride <= panel.len() && BLOCKS * S::LANES <= sums.len());
    // Two sets of sums, for even and odd cells, or each addition would wait for the one before.
    let mut acc = [[simd.splat(T::ZERO); BLOCKS]; 2];
    for (pair, scales) in scales.chunks(2).enumerate() {
        for (i, &scale) in scales.iter().enumerate() {
            let scale = simd.splat(scale);
            for j in 0..BLOCKS {
                let at = (2 * pair + i) * layout.stride + column + j * S::LANES;
                // SAFETY: inside a cell of the panel, by the assertions.
                let v = unsafe { simd.load(panel.as_ptr().add(at)) };
                acc[i][j] = simd.mul_add(scale, v, acc[i][j]);
            }
        }
    }
    for j in 0..BLOCKS {
        let sum = simd.add(acc[0][j], acc[1][j]);
        // SAFETY: `sums` holds the blocks, by the assertions.
        unsafe { simd.store(sums.as_mut_ptr().add(j * S::LANES), sum) };
    }
    BLOCKS
}
