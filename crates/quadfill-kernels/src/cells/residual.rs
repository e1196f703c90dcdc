//! Residuals of cells.

use super::call::Call;
use super::gather::{Gather, Span};
use super::workspace::{Layout, PANEL_CELLS, Workspace};
use crate::Real;
use crate::simd::{Simd, Task};

/// Sums each of `cells` vectors over its lanes.
#[inline(always)]
pub(super) fn sum_lanes<T: Real, S: Simd<T>>(
    simd: S,
    products: &[T],
    cells: usize,
    sums: &mut [T; PANEL_CELLS],
) {
    assert!(cells <= PANEL_CELLS && products.len() >= PANEL_CELLS * S::LANES);
    for k in (0..cells).step_by(4) {
        let mut four = [simd.splat(T::ZERO); 4];
        for (i, v) in four.iter_mut().enumerate() {
            // SAFETY: `products` holds a vector for each cell of a full panel, whose number of
            // cells is a multiple of four.
            *v = unsafe { simd.load(products.as_ptr().add((k + i) * S::LANES)) };
        }
        sums[k..k + 4].copy_from_slice(&simd.sum_each(four));
    }
}

/// Replaces the forms in `ws.residuals` by residuals.
#[inline(always)]
fn forms_to_residuals<T: Real>(call: &Call<T>, span: Span, ws: &mut Workspace<T>) {
    let base = call.mean + call.row.own_bias;
    let values = &call.row.values[span.first..][..span.cells];
    let residuals = &mut ws.residuals[..span.cells];
    if call.with_biases {
        for ((r, &y), &bias) in residuals.iter_mut().zip(values).zip(&ws.biases) {
            *r = y - (base + bias + *r);
        }
    } else {
        for (r, &y) in residuals.iter_mut().zip(values) {
            *r = y - (base + *r);
        }
    }
}

/// Computes the residuals and, if requested, the Jacobians of some cells in `ws`.
#[inline(always)]
pub(super) fn gather<T: Real, S: Simd<T>>(
    simd: S,
    call: &Call<T>,
    span: Span,
    layout: Layout,
    with_jacobians: bool,
    ws: &mut Workspace<T>,
) {
    Gather {
        call,
        span,
        layout,
        jacobians: with_jacobians.then_some(&mut ws.jacobians[..]),
        forms: &mut ws.residuals,
        biases: &mut ws.biases,
    }
    .run(simd);
    forms_to_residuals(call, span, ws);
}

pub(super) struct Residuals<'a, T: Real> {
    pub(super) call: Call<'a, T>,
    pub(super) ws: &'a mut Workspace<T>,
    pub(super) out: &'a mut [T],
}

impl<T: Real> Task<T> for Residuals<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let layout = Layout::new::<T>(self.call.cols(), S::LANES);
        for span in Span::panels(self.call.cells(), layout) {
            gather(simd, &self.call, span, layout, false, self.ws);
            self.out[span.first..][..span.cells].copy_from_slice(&self.ws.residuals[..span.cells]);
        }
    }
}

pub(super) struct SquaredResiduals<'a, T: Real> {
    pub(super) call: Call<'a, T>,
    pub(super) ws: &'a mut Workspace<T>,
}

impl<T: Real> Task<T> for SquaredResiduals<'_, T> {
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) -> f64 {
        let layout = Layout::new::<T>(self.call.cols(), S::LANES);
        let mut sum = 0.0;
        for span in Span::panels(self.call.cells(), layout) {
            gather(simd, &self.call, span, layout, false, self.ws);
            sum += squares(&self.call, span, &self.ws.residuals);
        }
        sum
    }
}

/// The sum of `w r^2` over some cells.
#[inline(always)]
pub(super) fn squares<T: Real>(call: &Call<T>, span: Span, residuals: &[T; PANEL_CELLS]) -> f64 {
    // Independent accumulators shorten the chain of dependent additions.
    let mut sums = [0.0; 8];
    let residuals = &residuals[..span.cells];
    if let Some(weights) = call.row.weights {
        let weights = &weights[span.first..][..span.cells];
        for (k, (r, w)) in residuals.iter().zip(weights).enumerate() {
            sums[k % 8] += w.to_f64() * (r.to_f64() * r.to_f64());
        }
    } else {
        for (k, r) in residuals.iter().enumerate() {
            sums[k % 8] += r.to_f64() * r.to_f64();
        }
    }
    sums.iter().sum()
}
