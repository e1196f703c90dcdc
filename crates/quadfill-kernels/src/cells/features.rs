//! Gathers the rows that cells pick and turns them into slopes and products.

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

/// The rows cell `cell` picks, as indices.
///
/// Panics when a row is not there, so that the indices can be relied on.
#[inline(always)]
pub(super) fn picks<T: Real>(call: &Call<T>, count: usize, cell: usize) -> [usize; MAX_OTHERS] {
    let mut picks = [0; MAX_OTHERS];
    let picked = &call.row.others[cell * count..][..count];
    for b in 0..count {
        picks[b] = picked[b] as usize;
        assert!(picks[b] < call.rows[b], "a cell picks a row that is not there");
    }
    picks
}

/// Asks for the rows of a cell some way ahead.
#[inline(always)]
pub(super) fn prefetch_picks<T: Real>(
    call: &Call<T>,
    factors: &[&[T]; MAX_OTHERS],
    count: usize,
    cell: usize,
) {
    let ahead = cell + call.ahead;
    if ahead >= call.cells() {
        return;
    }
    let picked = &call.row.others[ahead * count..][..count];
    for b in 0..count {
        if call.distant[b] {
            let start = factors[b].as_ptr();
            let start = start.wrapping_add(picked[b] as usize * call.stride);
            prefetch(start);
            // Short rows, the ones whose cells cost little else, are spared the loop.
            if call.rank > T::LINE {
                for line in (T::LINE..call.rank).step_by(T::LINE) {
                    prefetch(start.wrapping_add(line));
                }
            }
        }
    }
}

/// Asks for the rows of some cells from `first` on to be brought near, as far as there are such cells.
///
/// Not inlined: it is called between pieces of work that need all registers.
#[inline(never)]
pub(super) fn fetch_early<T: Real>(call: &Call<T>, first: usize, cells: usize) {
    let last = call.cells().min(first + cells);
    for b in 0..call.count {
        if !call.distant[b] {
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

/// The sum of the biases in `biases` that belong to `picks`.
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

/// The lanes from `at` on of the row worked on and of the rows picked.
///
/// # Safety
/// `own` and the rows of `factors` are `stride` long, of which `at` leaves a vector, and `picks`
/// are rows of `factors`.
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
        // SAFETY: the caller's promise.
        others[b] = unsafe { simd.load(factors[b].as_ptr().add(starts[b] + at)) };
    }
    Lanes {
        // SAFETY: the caller's promise.
        own: unsafe { simd.load(own.as_ptr().add(at)) },
        others,
    }
}

/// Writes the slopes and products of some cells.
pub(super) struct Gather<'a, T> {
    pub(super) call: &'a Call<'a, T>,
    pub(super) span: Span,
    pub(super) layout: Layout,
    /// Where the slopes go, if they are wanted: a panel.
    pub(super) slopes: Option<&'a mut [T]>,
    /// Where the products go: one vector per cell.
    pub(super) products: &'a mut [T],
    /// Where the sums of the picked biases go.
    pub(super) biases: &'a mut [T],
}

impl<T: Real> Gather<'_, T> {
    /// Does it.
    #[inline(always)]
    pub(super) fn run<S: Simd<T>>(self, simd: S) {
        let call = self.call;
        per_form(simd, &call.form, call.count, self);
    }
}

impl<T: Real> PerForm<T> for Gather<'_, T> {
    #[inline(always)]
    fn with<S: Simd<T>, F: LaneForm, const COUNT: usize>(self, simd: S) {
        // Three modes and short rows are common enough to have their loops unrolled.
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

/// The most vectors of the row worked on that are kept in registers.
const MAX_KEPT: usize = 4;

/// `COUNT` other modes and rows of `VECTORS` vectors; 0 stands for any number.
struct GatherAs<'a, T, F, const COUNT: usize, const VECTORS: usize>(Gather<'a, T>, PhantomData<F>);

impl<T: Real, F: LaneForm, const COUNT: usize, const VECTORS: usize> Task<T>
    for GatherAs<'_, T, F, COUNT, VECTORS>
{
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let Gather { call, span, layout, mut slopes, products, biases } = self.0;
        // A copy: what is written through pointers could otherwise be part of it, and all of it
        // would be read again for each cell.
        let call = &{ *call };
        let count = if COUNT == 0 { call.count } else { COUNT };
        let vectors = if VECTORS == 0 { call.rank.div_ceil(S::LANES) } else { VECTORS };
        assert!(span.cells * S::LANES <= products.len() && vectors * S::LANES <= layout.stride);
        assert!(vectors * S::LANES <= call.stride && call.row.own.len() == call.stride);
        if let Some(slopes) = &slopes {
            assert!(span.cells * layout.stride <= slopes.len());
        }
        let weights = Weights::new(simd, &call.form, count);
        let factors = &call.point.factors;
        let mut kept = [simd.splat(T::ZERO); MAX_KEPT];
        for (v, kept) in kept.iter_mut().enumerate().take(VECTORS) {
            // SAFETY: the row was seen to hold all vectors.
            *kept = unsafe { simd.load(call.row.own.as_ptr().add(v * S::LANES)) };
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
                // SAFETY: `Call` has checked that rows are `stride` long, which is at least all
                // vectors, and `picks` that they are there.
                let mut lanes = unsafe { lanes(simd, call.row.own, factors, &starts, count, at) };
                if VECTORS > 0 {
                    lanes.own = kept[v];
                }
                let slope;
                (slope, sums) = F::slope(simd, &weights, &lanes, count, sums);
                if let Some(slopes) = &mut slopes {
                    // SAFETY: cell `k` of the panel, which was seen to hold all cells.
                    unsafe { simd.store(slopes.as_mut_ptr().add(k * layout.stride + at), slope) };
                }
            }
            let sum = simd.add(sums[0], sums[1]);
            // SAFETY: `products` was seen to hold a vector per cell.
            unsafe { simd.store(products.as_mut_ptr().add(k * S::LANES), sum) };
        }
    }
}
