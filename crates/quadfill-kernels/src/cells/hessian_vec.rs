//! Hessian-vector products.

use std::marker::PhantomData;

use super::call::{Call, CheckedDirection};
use super::form::{LaneForm, PerForm, Weights, per_form};
use super::gather::{Span, bias_of, lanes, picks, prefetch_picks};
use super::gradient::{add_combination, apply_weights, set_column};
use super::residual::{gather, sum_lanes};
use super::workspace::{Layout, Workspace};
use crate::Real;
use crate::simd::{Simd, Task};

pub(super) struct HessianVec<'a, T: Real> {
    pub(super) call: Call<'a, T>,
    pub(super) direction: CheckedDirection<'a, T>,
    pub(super) ws: &'a mut Workspace<T>,
    pub(super) out: &'a mut [f64],
    pub(super) second_order: bool,
}

impl<T: Real> Task<T> for HessianVec<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let Self { call, direction, ws, out, second_order } = self;
        let layout = Layout::new::<T>(call.cols(), S::LANES);
        for span in Span::panels(call.cells(), layout) {
            gather(simd, &call, span, layout, true, ws);
            let derivatives = GatherDerivatives {
                call: &call,
                direction: &direction,
                span,
                layout,
                jacobian_derivatives: &mut ws.jacobian_derivatives,
                tangents: &mut ws.tangents,
                biases: &mut ws.bias_tangents,
            };
            per_form(simd, &call.form, call.count, derivatives);
            if call.with_biases {
                set_column(&mut ws.jacobians, layout, span, call.rank, T::ONE);
                set_column(&mut ws.jacobian_derivatives, layout, span, call.rank, T::ZERO);
            }
            if second_order {
                apply_weights(&call, span, &ws.residuals, &mut ws.coefficients);
                for coefficient in &mut ws.coefficients {
                    *coefficient = -*coefficient;
                }
                add_combination(
                    simd,
                    &ws.jacobian_derivatives,
                    layout,
                    &ws.coefficients[..span.cells],
                    &mut ws.sums,
                    out,
                );
            }
            // The residuals are no longer needed: their buffer is reused for the derivatives of the
            // predictions.
            let tangents = &mut ws.residuals;
            sum_lanes(simd, &ws.tangents, span.cells, tangents);
            for (tangent, &bias) in tangents.iter_mut().zip(&ws.bias_tangents) {
                *tangent += direction.own_bias + bias;
            }
            apply_weights(&call, span, tangents, &mut ws.coefficients);
            add_combination(
                simd,
                &ws.jacobians,
                layout,
                &ws.coefficients[..span.cells],
                &mut ws.sums,
                out,
            );
        }
    }
}

/// Computes the directional derivatives of the Jacobians and predictions of some cells.
struct GatherDerivatives<'a, T> {
    call: &'a Call<'a, T>,
    direction: &'a CheckedDirection<'a, T>,
    span: Span,
    layout: Layout,
    jacobian_derivatives: &'a mut [T],
    tangents: &'a mut [T],
    biases: &'a mut [T],
}

impl<T: Real> PerForm<T> for GatherDerivatives<'_, T> {
    #[inline(always)]
    fn with<S: Simd<T>, F: LaneForm, const COUNT: usize>(self, simd: S) {
        simd.run(GatherDerivativesAs::<T, F, COUNT>(self, PhantomData));
    }
}

struct GatherDerivativesAs<'a, T, F, const COUNT: usize>(GatherDerivatives<'a, T>, PhantomData<F>);

impl<T: Real, F: LaneForm, const COUNT: usize> Task<T> for GatherDerivativesAs<'_, T, F, COUNT> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let GatherDerivatives {
            call,
            direction,
            span,
            layout,
            jacobian_derivatives,
            tangents,
            biases,
        } = self.0;
        // Local copies, for the same reason as in `GatherAs`.
        let (call, direction) = (&{ *call }, &{ *direction });
        let count = if COUNT == 0 { call.count } else { COUNT };
        let used = call.rank.next_multiple_of(S::LANES);
        assert!(span.cells * S::LANES <= tangents.len() && used <= layout.stride);
        assert!(span.cells * layout.stride <= jacobian_derivatives.len());
        let weights = Weights::new(simd, &call.form, count);
        for k in 0..span.cells {
            let cell = span.first + k;
            prefetch_picks(call, &direction.others.factors, count, cell);
            let picks = picks(call, count, cell);
            if call.with_biases {
                biases[k] = bias_of(&direction.others.biases, &picks, count);
            }
            let starts = picks.map(|row| row * call.stride);
            let mut sum = simd.splat(T::ZERO);
            for at in (0..used).step_by(S::LANES) {
                // SAFETY: `Call` has checked that rows of the point and of the direction have
                // `stride` entries, which is a multiple of the lanes and at least `rank`, and
                // `picks` that the rows exist.
                let (point, along) = unsafe {
                    let (own, factors) = (call.row.own, &call.point.factors);
                    (
                        lanes(simd, own, factors, &starts, count, at),
                        lanes(simd, direction.own, &direction.others.factors, &starts, count, at),
                    )
                };
                let derivative;
                (derivative, sum) =
                    F::jacobian_derivative(simd, &weights, &point, &along, count, sum);
                // SAFETY: the panel holds all cells, as asserted above.
                unsafe {
                    simd.store(
                        jacobian_derivatives.as_mut_ptr().add(k * layout.stride + at),
                        derivative,
                    );
                }
            }
            // SAFETY: `tangents` holds a vector per cell, as asserted above.
            unsafe { simd.store(tangents.as_mut_ptr().add(k * S::LANES), sum) };
        }
    }
}
