//! Gathers the rows that cells pick and computes Jacobians and predictions from them.

use std::marker::PhantomData;

use super::MAX_OTHERS;
use super::call::Call;
use super::form::{LaneForm, Lanes, PerForm, Weights, per_form};
use super::workspace::{Layout, PANEL_CELLS};
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

/// Checks the indices of the rows that some cells pick, before they are read without checks.
///
/// Panics if an index is out of range, so unsafe code can rely on it.
#[inline(always)]
fn check_picks<T: Real>(call: &Call<T>, count: usize, span: Span) {
    let picked = &call.row.others[span.first * count..][..span.cells * count];
    let mut out_of_range = false;
    for cell in picked.chunks_exact(count) {
        for b in 0..count {
            // No short-circuit, so that the comparison can be vectorised.
            out_of_range |= cell[b] as usize >= call.rows[b];
        }
    }
    assert!(!out_of_range, "a cell picks a row that does not exist");
}

/// Which rows are prefetched while cells are gathered.
#[derive(Clone, Copy)]
struct Prefetch {
    /// Whether any are.
    enabled: bool,
    /// How many cells ahead.
    distance: usize,
    /// The last cell whose rows are known.
    last: usize,
    /// Number of entries of a row.
    entries: usize,
}

impl Prefetch {
    #[inline(always)]
    fn new<T: Real>(call: &Call<T>, count: usize, entries: usize) -> Self {
        Self {
            enabled: call.prefetched[..count].contains(&true),
            distance: call.prefetch_distance,
            last: call.row.others.len() / count - 1,
            entries,
        }
    }

    /// Prefetches the rows of a cell behind `cell`.
    #[inline(always)]
    fn ahead_of<T: Real>(
        self,
        call: &Call<T>,
        factors: &[&[T]; MAX_OTHERS],
        count: usize,
        cell: usize,
    ) {
        if !self.enabled {
            return;
        }
        let ahead = (cell + self.distance).min(self.last);
        for b in 0..count {
            // SAFETY: every cell up to the last has `count` indices.
            let row = unsafe { *call.row.others.as_ptr().add(ahead * count + b) } as usize;
            let start = factors[b].as_ptr().wrapping_add(row * call.stride);
            for line in (0..self.entries).step_by(T::LINE) {
                prefetch(start.wrapping_add(line));
            }
        }
    }
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
    /// Output for the predictions, without biases and the mean.
    pub(super) forms: &'a mut [T; PANEL_CELLS],
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

/// Number of cells whose predictions are summed over the lanes together.
const GROUP: usize = 4;

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
        let Gather { call, span, layout, mut jacobians, forms, biases } = self.0;
        // A local copy cannot alias the outputs. Otherwise the compiler would reload every field
        // for each cell.
        let call = &{ *call };
        let count = if COUNT == 0 { call.count } else { COUNT };
        let vectors = if VECTORS == 0 { call.rank.div_ceil(S::LANES) } else { VECTORS };
        assert!(0 < span.cells && span.cells <= PANEL_CELLS);
        assert!(vectors * S::LANES <= layout.stride && vectors * S::LANES <= call.stride);
        assert!(call.row.own.len() == call.stride);
        if let Some(jacobians) = &jacobians {
            assert!(span.cells * layout.stride <= jacobians.len());
        }
        check_picks(call, count, span);
        if call.with_biases {
            for (k, bias) in biases[..span.cells].iter_mut().enumerate() {
                *bias = bias_of(&call.point.biases, &picks(call, count, span.first + k), count);
            }
        }
        let weights = Weights::new(simd, &call.form, count);
        let factors = &call.point.factors;
        let mut own_vectors = [simd.splat(T::ZERO); MAX_OWN_VECTORS];
        for (v, vector) in own_vectors.iter_mut().enumerate().take(VECTORS) {
            // SAFETY: the row holds all vectors, as asserted above.
            *vector = unsafe { simd.load(call.row.own.as_ptr().add(v * S::LANES)) };
        }
        let prefetch = Prefetch::new(call, count, vectors * S::LANES);
        let others = call.row.others.as_ptr();
        for first in (0..span.cells).step_by(GROUP) {
            let mut products = [simd.splat(T::ZERO); GROUP];
            for (i, product) in products.iter_mut().enumerate() {
                // The last group repeats its last cell, so that all loops have fixed lengths.
                let k = (first + i).min(span.cells - 1);
                let cell = span.first + k;
                prefetch.ahead_of(call, factors, count, cell);
                let mut starts = [0; MAX_OTHERS];
                for b in 0..count {
                    // SAFETY: `check_picks` has found the indices of the cell.
                    starts[b] = unsafe { *others.add(cell * count + b) } as usize * call.stride;
                }
                let mut sums = [simd.splat(T::ZERO); 2];
                for v in 0..vectors {
                    let at = v * S::LANES;
                    // SAFETY: `Call` has checked that rows have `stride` entries, which covers all
                    // vectors, and `check_picks` that the rows exist.
                    let mut lanes =
                        unsafe { lanes(simd, call.row.own, factors, &starts, count, at) };
                    if VECTORS > 0 {
                        lanes.own = own_vectors[v];
                    }
                    let jacobian;
                    (jacobian, sums) = F::jacobian(simd, &weights, &lanes, count, sums);
                    if let Some(jacobians) = &mut jacobians {
                        let to = k * layout.stride + at;
                        // SAFETY: the panel holds all cells, as asserted above.
                        unsafe { simd.store(jacobians.as_mut_ptr().add(to), jacobian) };
                    }
                }
                *product = simd.add(sums[0], sums[1]);
            }
            forms[first..first + GROUP].copy_from_slice(&simd.sum_each(products));
        }
    }
}
