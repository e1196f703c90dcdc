//! Gathers the rows that cells pick and computes Jacobians and predictions from them.

use std::marker::PhantomData;

use super::MAX_OTHERS;
use super::call::Call;
use super::form::{LaneForm, Lanes, PerForm, Weights, per_form};
use super::workspace::Layout;
use crate::Real;
use crate::simd::{Simd, Task, prefetch};

/// Cells `first .. first + cells` of a call.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub(super) first: usize,
    pub(super) cells: usize,
}

impl Span {
    /// The panels of a call, in order.
    #[inline(always)]
    pub(super) fn panels(total: usize, layout: Layout) -> impl Iterator<Item = Self> {
        (0..total)
            .step_by(layout.cells)
            .map(move |first| Self { first, cells: layout.cells.min(total - first) })
    }
}

/// The indices of the rows that cell `cell` picks.
///
/// Panics if an index is out of range, so unsafe code can rely on the result.
#[inline(always)]
pub(super) fn picks<T: Real>(call: &Call<T>, count: usize, cell: usize) -> [usize; MAX_OTHERS] {
    let mut picks = [0; MAX_OTHERS];
    let picked = &call.row.others[cell * count..][..count];
    for b in 0..count {
        picks[b] = picked[b] as usize;
        assert!(picks[b] < call.rows[b], "a cell picks a row that does not exist");
    }
    picks
}

/// Prefetches the rows of the cell `prefetch_distance` cells ahead.
#[inline(always)]
pub(super) fn prefetch_picks<T: Real>(
    call: &Call<T>,
    factors: &[&[T]; MAX_OTHERS],
    count: usize,
    cell: usize,
) {
    let ahead = cell + call.prefetch_distance;
    if ahead >= call.cells() {
        return;
    }
    let picked = &call.row.others[ahead * count..][..count];
    for b in 0..count {
        if call.prefetched[b] {
            let start = factors[b].as_ptr();
            let start = start.wrapping_add(picked[b] as usize * call.stride);
            prefetch(start);
            // Cells with short rows are cheap, so the loop would cost too much there.
            if call.rank > T::LINE {
                for line in (T::LINE..call.rank).step_by(T::LINE) {
                    prefetch(start.wrapping_add(line));
                }
            }
        }
    }
}

/// Prefetches the rows of up to `cells` cells, starting at `first`.
///
/// Not inlined: it is called between loops that need all registers.
#[inline(never)]
pub(super) fn prefetch_cells<T: Real>(call: &Call<T>, first: usize, cells: usize) {
    let last = call.cells().min(first + cells);
    for b in 0..call.count {
        if !call.prefetched[b] {
            continue;
        }
        let factor = call.point.factors[b].as_ptr();
        for cell in first..last {
            let row = call.row.others[cell * call.count + b] as usize;
            let start = factor.wrapping_add(row * call.stride);
            for line in (0..call.rank).step_by(T::LINE) {
                prefetch(start.wrapping_add(line));
            }
        }
    }
}

/// The sum of the biases of the rows `picks`.
#[inline(always)]
pub(super) fn bias_of<T: Real>(
    biases: &[&[T]; MAX_OTHERS],
    picks: &[usize; MAX_OTHERS],
    count: usize,
) -> T {
    let mut sum = T::ZERO;
    for b in 0..count {
        sum += biases[b][picks[b]];
    }
    sum
}

/// The SIMD vectors at offset `at` of the current row and of the rows that begin at `starts`.
///
/// # Safety
/// `own` and, for the first `count` modes, `factors[b]` from `starts[b]` on hold at least a SIMD
/// vector from offset `at` on.
#[inline(always)]
pub(super) unsafe fn lanes<T: Real, S: Simd<T>>(
    simd: S,
    own: &[T],
    factors: &[&[T]; MAX_OTHERS],
    starts: &[usize; MAX_OTHERS],
    count: usize,
    at: usize,
) -> Lanes<S::Vector> {
    let mut others = [simd.splat(T::ZERO); MAX_OTHERS];
    for b in 0..count {
        // SAFETY: guaranteed by the caller.
        others[b] = unsafe { simd.load(factors[b].as_ptr().add(starts[b] + at)) };
    }
    Lanes {
        // SAFETY: guaranteed by the caller.
        own: unsafe { simd.load(own.as_ptr().add(at)) },
        others,
    }
}

/// Computes the Jacobians and predictions of some cells.
pub(super) struct Gather<'a, T> {
    pub(super) call: &'a Call<'a, T>,
    pub(super) span: Span,
    pub(super) layout: Layout,
    /// Output panel for the Jacobians, if they are needed.
    pub(super) jacobians: Option<&'a mut [T]>,
    /// Output for the predictions: one SIMD vector per cell, still to be summed over its lanes.
    pub(super) products: &'a mut [T],
    /// Output for the sum of the picked biases of each cell.
    pub(super) biases: &'a mut [T],
}

impl<T: Real> Gather<'_, T> {
    /// Runs the operation.
    #[inline(always)]
    pub(super) fn run<S: Simd<T>>(self, simd: S) {
        let call = self.call;
        per_form(simd, &call.form, call.count, self);
    }
}

impl<T: Real> PerForm<T> for Gather<'_, T> {
    #[inline(always)]
    fn with<S: Simd<T>, F: LaneForm, const COUNT: usize>(self, simd: S) {
        // Three modes with short rows are common, so their loops are unrolled.
        let vectors = self.call.rank.div_ceil(S::LANES);
        match vectors {
            1 if COUNT == 2 => simd.run(GatherAs::<T, F, COUNT, 1>(self, PhantomData)),
            2 if COUNT == 2 => simd.run(GatherAs::<T, F, COUNT, 2>(self, PhantomData)),
            3 if COUNT == 2 => simd.run(GatherAs::<T, F, COUNT, 3>(self, PhantomData)),
            4 if COUNT == 2 => simd.run(GatherAs::<T, F, COUNT, 4>(self, PhantomData)),
            _ => simd.run(GatherAs::<T, F, COUNT, 0>(self, PhantomData)),
        }
    }
}

/// The maximum number of vectors of the current row that are kept in registers.
const MAX_OWN_VECTORS: usize = 4;

/// [`Gather`] for `COUNT` other modes and rows of `VECTORS` SIMD vectors; 0 means any number.
struct GatherAs<'a, T, F, const COUNT: usize, const VECTORS: usize>(Gather<'a, T>, PhantomData<F>);

impl<T: Real, F: LaneForm, const COUNT: usize, const VECTORS: usize> Task<T>
    for GatherAs<'_, T, F, COUNT, VECTORS>
{
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let Gather { call, span, layout, mut jacobians, products, biases } = self.0;
        // A local copy cannot alias the outputs. Otherwise the compiler would reload every field
        // for each cell.
        let call = &{ *call };
        let count = if COUNT == 0 { call.count } else { COUNT };
        let vectors = if VECTORS == 0 { call.rank.div_ceil(S::LANES) } else { VECTORS };
        assert!(span.cells * S::LANES <= products.len() && vectors * S::LANES <= layout.stride);
        assert!(vectors * S::LANES <= call.stride && call.row.own.len() == call.stride);
        if let Some(jacobians) = &jacobians {
            assert!(span.cells * layout.stride <= jacobians.len());
        }
        let weights = Weights::new(simd, &call.form, count);
        let factors = &call.point.factors;
        let mut own_vectors = [simd.splat(T::ZERO); MAX_OWN_VECTORS];
        for (v, vector) in own_vectors.iter_mut().enumerate().take(VECTORS) {
            // SAFETY: the row holds all vectors, as asserted above.
            *vector = unsafe { simd.load(call.row.own.as_ptr().add(v * S::LANES)) };
        }
        for k in 0..span.cells {
            let cell = span.first + k;
            prefetch_picks(call, factors, count, cell);
            let picks = picks(call, count, cell);
            if call.with_biases {
                biases[k] = bias_of(&call.point.biases, &picks, count);
            }
            let starts = picks.map(|row| row * call.stride);
            let mut sums = [simd.splat(T::ZERO); 2];
            for v in 0..vectors {
                let at = v * S::LANES;
                // SAFETY: `Call` has checked that rows have `stride` entries, which covers all
                // vectors, and `picks` that the rows exist.
                let mut lanes = unsafe { lanes(simd, call.row.own, factors, &starts, count, at) };
                if VECTORS > 0 {
                    lanes.own = own_vectors[v];
                }
                let jacobian;
                (jacobian, sums) = F::jacobian(simd, &weights, &lanes, count, sums);
                if let Some(jacobians) = &mut jacobians {
                    // SAFETY: the panel holds all cells, as asserted above.
                    unsafe {
                        simd.store(jacobians.as_mut_ptr().add(k * layout.stride + at), jacobian);
                    }
                }
            }
            let sum = simd.add(sums[0], sums[1]);
            // SAFETY: `products` holds a vector per cell, as asserted above.
            unsafe { simd.store(products.as_mut_ptr().add(k * S::LANES), sum) };
        }
    }
}
