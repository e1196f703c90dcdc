//! Products of the Hessian with a direction.

use std::marker::PhantomData;

use super::call::{Along, Call};
use super::combine::{add_scaled, set_column, weigh};
use super::features::{Span, bias_of, lanes, picks, prefetch_picks};
use super::form::{LaneForm, PerForm, Weights, per_form};
use super::residual::{gather, sum_lanes};
use super::workspace::{Layout, Workspace};
use crate::Real;
use crate::simd::{Simd, Task};

pub(super) struct Directional<'a, T: Real> {
    pub(super) call: Call<'a, T>,
    pub(super) along: Along<'a, T>,
    pub(super) ws: &'a mut Workspace<T>,
    pub(super) out: &'a mut [f64],
    pub(super) second_order: bool,
}

impl<T: Real> Task<T> for Directional<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let Self { call, along, ws, out, second_order } = self;
        let layout = Layout::new::<T>(call.cols(), S::LANES);
        for span in Span::panels(call.cells(), layout) {
            gather(simd, &call, span, layout, true, ws);
            let turns = GatherTurns {
                call: &call,
                along: &along,
                span,
                layout,
                turns: &mut ws.turns,
                tangents: &mut ws.tangents,
                biases: &mut ws.bias_tangents,
            };
            per_form(simd, &call.form, call.count, turns);
            if call.with_biases {
                set_column(&mut ws.slopes, layout, span, call.rank, T::ONE);
                set_column(&mut ws.turns, layout, span, call.rank, T::ZERO);
            }
            if second_order {
                weigh(&call, span, &ws.residuals, &mut ws.scales);
                for scale in &mut ws.scales {
                    *scale = -*scale;
                }
                add_scaled(simd, &ws.turns, layout, &ws.scales[..span.cells], &mut ws.sums, out);
            }
            // The residuals have served; their place takes the derivatives of the predictions.
            let tangents = &mut ws.residuals;
            sum_lanes(simd, &ws.tangents, span.cells, tangents);
            for (tangent, &bias) in tangents.iter_mut().zip(&ws.bias_tangents) {
                *tangent += along.own_bias + bias;
            }
            weigh(&call, span, tangents, &mut ws.scales);
            add_scaled(simd, &ws.slopes, layout, &ws.scales[..span.cells], &mut ws.sums, out);
        }
    }
}

/// Writes the derivatives along a direction of the slopes and products of some cells.
struct GatherTurns<'a, T> {
    call: &'a Call<'a, T>,
    along: &'a Along<'a, T>,
    span: Span,
    layout: Layout,
    turns: &'a mut [T],
    tangents: &'a mut [T],
    biases: &'a mut [T],
}

impl<T: Real> PerForm<T> for GatherTurns<'_, T> {
    #[inline(always)]
    fn with<S: Simd<T>, F: LaneForm, const COUNT: usize>(self, simd: S) {
        simd.run(GatherTurnsAs::<T, F, COUNT>(self, PhantomData));
    }
}

struct GatherTurnsAs<'a, T, F, const COUNT: usize>(GatherTurns<'a, T>, PhantomData<F>);

impl<T: Real, F: LaneForm, const COUNT: usize> Task<T> for GatherTurnsAs<'_, T, F, COUNT> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let GatherTurns { call, along, span, layout, turns, tangents, biases } = self.0;
        // Copies, for the reason given where slopes are gathered.
        let (call, along) = (&{ *call }, &{ *along });
        let count = if COUNT == 0 { call.count } else { COUNT };
        let used = call.rank.next_multiple_of(S::LANES);
        assert!(span.cells * S::LANES <= tangents.len() && used <= layout.stride);
        assert!(span.cells * layout.stride <= turns.len());
        let weights = Weights::new(simd, &call.form, count);
        for k in 0..span.cells {
            let cell = span.first + k;
            prefetch_picks(call, &along.others.factors, count, cell);
            let picks = picks(call, count, cell);
            if call.with_biases {
                biases[k] = bias_of(&along.others.biases, &picks, count);
            }
            let starts = picks.map(|row| row * call.stride);
            let mut sum = simd.splat(T::ZERO);
            for at in (0..used).step_by(S::LANES) {
                // SAFETY: `Call` has checked that rows of the point and of the direction are
                // `stride` long, which is a multiple of the lanes and at least `rank`, and
                // `picks` that they are there.
                let (here, d) = unsafe {
                    let (own, factors) = (call.row.own, &call.point.factors);
                    (
                        lanes(simd, own, factors, &starts, count, at),
                        lanes(simd, along.own, &along.others.factors, &starts, count, at),
                    )
                };
                let turn;
                (turn, sum) = F::turn(simd, &weights, &here, &d, count, sum);
                // SAFETY: cell `k` of the panel, which was seen to hold all cells.
                unsafe { simd.store(turns.as_mut_ptr().add(k * layout.stride + at), turn) };
            }
            // SAFETY: `tangents` was seen to hold a vector per cell.
            unsafe { simd.store(tangents.as_mut_ptr().add(k * S::LANES), sum) };
        }
    }
}
