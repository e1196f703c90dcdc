//! Cholesky of eight small systems at a time, with their entries interleaved.
//!
//! A single small system leaves most of a vector unit idle: its columns are short, and each step
//! waits for a square root and a division. Eight interleaved systems use all lanes, and no lane
//! depends on another.

use std::cell::RefCell;

use super::{blocked, is_pivot};
use crate::simd::{Simd, Task};
use crate::{AlignedVec, Backend};

/// Number of systems solved at a time.
pub const LANES: usize = 8;

/// Number of rows that are eliminated together.
const ROWS: usize = 4;

/// The largest order that is interleaved. Eight larger systems do not fit the caches well, and one
/// of them is enough to fill the vector unit.
const MAX_INTERLEAVED_ORDER: usize = 44;

/// The maximum number of vectors that hold one entry of all systems.
const MAX_VECTORS: usize = 4;

thread_local! {
    static SCRATCH: RefCell<AlignedVec<f64>> = RefCell::default();
}

/// Solves up to eight systems of order `n`.
///
/// `matrices` holds eight blocks of `(n+1) x (n+1)` entries as written by
/// [`Backend::normal_equations`]: the lower triangle row by row, with the right-hand side in the
/// last row. The first `count` blocks are solved; the solution of block `l` is written to
/// `out[l*n..][..n]`. If matrix `l` is not positive definite, bit `l` of the result is set and the
/// solution is zero. A solution depends neither on the other systems nor on its position among
/// them.
///
/// ```
/// use quadfill_kernels::{Backend, cholesky};
///
/// let mut matrices = vec![0.0; 8 * 9];
/// matrices[..9].copy_from_slice(&[4.0, 0.0, 0.0, 2.0, 5.0, 0.0, 8.0, 12.0, 0.0]);
/// matrices[9..18].copy_from_slice(&[1.0, 0.0, 0.0, 2.0, 1.0, 0.0, 1.0, 1.0, 0.0]);
/// let mut out = vec![0.0; 16];
/// let failed = cholesky::solve_lanes(Backend::detect(), 2, &mut matrices, 2, &mut out);
/// assert_eq!(failed, 0b10);
/// assert_eq!(out[..4], [1.0, 2.0, 0.0, 0.0]);
/// ```
///
/// # Panics
/// Unless there are eight blocks, space for eight solutions, and `count` is from 1 to 8.
pub fn solve_lanes(
    backend: Backend,
    n: usize,
    matrices: &mut [f64],
    count: usize,
    out: &mut [f64],
) -> u8 {
    solve_with_noise(backend, n, matrices, count, None, out)
}

/// Like [`solve_lanes`], with `noise` (`n` entries for each of the eight systems) added between the
/// two triangular solves: the solution of block `l` is `A^-1 b + R noise`, where `R R^T = A^-1` and
/// `R` is triangular. If the noise is standard normal, this is a draw from the normal distribution
/// with precision matrix `A` and mean `A^-1 b`.
///
/// ```
/// use quadfill_kernels::{Backend, cholesky};
///
/// let mut matrices = vec![0.0; 8 * 9];
/// matrices[..9].copy_from_slice(&[4.0, 0.0, 0.0, 2.0, 5.0, 0.0, 8.0, 12.0, 0.0]);
/// let mut out = vec![0.0; 16];
/// let mut noise = vec![0.0; 16];
/// noise[1] = 2.0; // A = L L^T with L = [2 0; 1 2], and R = L^-T
/// cholesky::draw_lanes(Backend::detect(), 2, &mut matrices, 1, &noise, &mut out);
/// assert_eq!(out[..2], [0.5, 3.0]);
/// ```
///
/// # Panics
/// Like [`solve_lanes`], and unless there is noise for eight systems.
pub fn draw_lanes(
    backend: Backend,
    n: usize,
    matrices: &mut [f64],
    count: usize,
    noise: &[f64],
    out: &mut [f64],
) -> u8 {
    assert_eq!(noise.len(), LANES * n, "noise for eight systems");
    solve_with_noise(backend, n, matrices, count, Some(noise), out)
}

fn solve_with_noise(
    backend: Backend,
    n: usize,
    matrices: &mut [f64],
    count: usize,
    noise: Option<&[f64]>,
    out: &mut [f64],
) -> u8 {
    assert!((1..=LANES).contains(&count), "one to eight systems");
    assert_eq!(matrices.len(), LANES * (n + 1) * (n + 1), "eight matrices");
    assert_eq!(out.len(), LANES * n, "space for eight solutions");
    if n > MAX_INTERLEAVED_ORDER {
        return solve_one_by_one(backend, n, matrices, count, noise, out);
    }
    SCRATCH.with_borrow_mut(|scratch| {
        let needed = (n + 1) * (n + 1) * LANES;
        if scratch.len() < needed {
            *scratch = AlignedVec::zeros(needed);
        }
        let entries = &mut scratch[..needed];
        interleave(n, matrices, count, entries);
        let failed = backend.run::<f64, _>(Solve { n, entries, noise });
        for (l, solution) in out.chunks_exact_mut(n.max(1)).enumerate() {
            let solved = l < count && failed & (1 << l) == 0;
            for (j, x) in solution.iter_mut().enumerate() {
                let entry = entries[(n * (n + 1) + j) * LANES + l];
                *x = if solved { entry } else { 0.0 };
            }
        }
        failed
    })
}

fn solve_one_by_one(
    backend: Backend,
    n: usize,
    matrices: &[f64],
    count: usize,
    noise: Option<&[f64]>,
    out: &mut [f64],
) -> u8 {
    let mut failed = 0;
    out[count * n..].fill(0.0);
    let systems = matrices.chunks_exact((n + 1) * (n + 1)).zip(out.chunks_exact_mut(n));
    for (l, (matrix, out)) in systems.enumerate().take(count) {
        let noise = noise.map(|noise| &noise[l * n..][..n]);
        if !blocked::solve(backend, n, matrix, noise, out) {
            failed |= 1 << l;
        }
    }
    failed
}

/// Interleaves the systems entry by entry; missing systems are filled with the identity.
fn interleave(n: usize, matrices: &[f64], count: usize, entries: &mut [f64]) {
    let order = n + 1;
    let block = |l: usize| &matrices[l * order * order..][..order * order];
    let blocks: [&[f64]; LANES] = std::array::from_fn(block);
    for i in 0..order {
        let target = entries[i * order * LANES..][..order * LANES].as_chunks_mut().0;
        for (j, lanes) in target.iter_mut().enumerate().take(i + 1) {
            let lanes: &mut [f64; LANES] = lanes;
            let identity = f64::from(u8::from(i == j));
            for l in 0..LANES {
                lanes[l] = if l < count { blocks[l][i * order + j] } else { identity };
            }
        }
    }
}

/// Factors and solves in place; the solutions overwrite the last row.
struct Solve<'a> {
    n: usize,
    entries: &'a mut [f64],
    /// Added after the forward substitution: `n` entries for each system.
    noise: Option<&'a [f64]>,
}

/// One entry of all systems, in as many vectors as needed.
type Entry<S> = [<S as Simd<f64>>::Vector; MAX_VECTORS];

/// The interleaved matrices, addressed by entry.
#[derive(Clone, Copy)]
struct Entries {
    start: *mut f64,
    order: usize,
}

impl Entries {
    /// # Safety
    /// `i` and `j` are less than `order`, and `start` points to `order * order * LANES` entries.
    #[inline(always)]
    unsafe fn at(self, i: usize, j: usize) -> *mut f64 {
        // SAFETY: guaranteed by the caller.
        unsafe { self.start.add((i * self.order + j) * LANES) }
    }
}

/// # Safety
/// `from` points to an entry of [`Entries`].
#[inline(always)]
unsafe fn load<S: Simd<f64>>(simd: S, from: *const f64) -> Entry<S> {
    let mut entry = [simd.splat(0.0); MAX_VECTORS];
    for p in 0..LANES / S::LANES {
        // SAFETY: an entry has `LANES` lanes, by the contract of this function.
        entry[p] = unsafe { simd.load(from.add(p * S::LANES)) };
    }
    entry
}

/// # Safety
/// `to` points to an entry of [`Entries`].
#[inline(always)]
unsafe fn store<S: Simd<f64>>(simd: S, to: *mut f64, entry: Entry<S>) {
    for p in 0..LANES / S::LANES {
        // SAFETY: an entry has `LANES` lanes, by the contract of this function.
        unsafe { simd.store(to.add(p * S::LANES), entry[p]) };
    }
}

#[inline(always)]
fn sub_mul<S: Simd<f64>>(simd: S, a: &Entry<S>, b: &Entry<S>, c: &mut Entry<S>) {
    for p in 0..LANES / S::LANES {
        c[p] = simd.sub_mul(a[p], b[p], c[p]);
    }
}

#[inline(always)]
fn mul<S: Simd<f64>>(simd: S, a: &Entry<S>, b: &Entry<S>) -> Entry<S> {
    let mut product = *a;
    for p in 0..LANES / S::LANES {
        product[p] = simd.mul(a[p], b[p]);
    }
    product
}

/// Computes column `j` of the factor in rows `row .. row + COUNT` from the previous columns.
///
/// # Safety
/// The rows are rows of `entries`, and row `j` of the factor is already computed.
#[inline(always)]
unsafe fn eliminate<S: Simd<f64>, const COUNT: usize>(
    simd: S,
    entries: Entries,
    row: usize,
    j: usize,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut remainder = [[simd.splat(0.0); MAX_VECTORS]; COUNT];
        for i in 0..COUNT {
            remainder[i] = load(simd, entries.at(row + i, j));
        }
        for k in 0..j {
            let pivot = load(simd, entries.at(j, k));
            for i in 0..COUNT {
                let factor = load(simd, entries.at(row + i, k));
                sub_mul(simd, &factor, &pivot, &mut remainder[i]);
            }
        }
        let inverse = load(simd, entries.at(j, j));
        for i in 0..COUNT {
            store(simd, entries.at(row + i, j), mul(simd, &remainder[i], &inverse));
        }
    }
}

/// Computes the diagonal entry of row `j`, stored as the inverse square root of the pivot; returns
/// the lanes without a valid pivot.
///
/// # Safety
/// `j` is a row of `entries` whose columns before `j` are already computed.
#[inline(always)]
unsafe fn invert_pivot<S: Simd<f64>>(simd: S, entries: Entries, j: usize) -> u8 {
    // SAFETY: guaranteed by the caller; an entry is an array of `LANES` numbers.
    let lanes = unsafe {
        let diagonal = entries.at(j, j);
        let diagonal_entry = *diagonal.cast::<[f64; LANES]>();
        let mut remainder = load(simd, diagonal);
        for k in 0..j {
            let factor = load(simd, entries.at(j, k));
            sub_mul(simd, &factor, &factor, &mut remainder);
        }
        store(simd, diagonal, remainder);
        let remainder = &mut *diagonal.cast::<[f64; LANES]>();
        (remainder, diagonal_entry)
    };
    let (remainder, diagonal_entry) = lanes;
    let mut failed = 0;
    for l in 0..LANES {
        if is_pivot(remainder[l], diagonal_entry[l]) {
            remainder[l] = 1.0 / remainder[l].sqrt();
        } else {
            failed |= 1 << l;
            remainder[l] = 1.0;
        }
    }
    failed
}

impl Task<f64> for Solve<'_> {
    type Output = u8;

    #[inline(always)]
    fn run<S: Simd<f64>>(self, simd: S) -> u8 {
        let n = self.n;
        let order = n + 1;
        assert_eq!(self.entries.len(), order * order * LANES);
        let entries = Entries { start: self.entries.as_mut_ptr(), order };
        let mut failed = 0;
        // A few rows at a time are eliminated with all rows above them. The last row is the
        // right-hand side: eliminating it is the forward substitution.
        for top in (0..order).step_by(ROWS) {
            let rows = ROWS.min(order - top);
            // SAFETY: all rows and columns are less than `order`, and columns are computed in
            // order.
            unsafe {
                for j in 0..top {
                    match rows {
                        1 => eliminate::<S, 1>(simd, entries, top, j),
                        2 => eliminate::<S, 2>(simd, entries, top, j),
                        3 => eliminate::<S, 3>(simd, entries, top, j),
                        _ => eliminate::<S, ROWS>(simd, entries, top, j),
                    }
                }
                for row in top..top + rows {
                    for j in top..row {
                        eliminate::<S, 1>(simd, entries, row, j);
                    }
                    if row < n {
                        failed |= invert_pivot(simd, entries, row);
                    }
                }
            }
        }
        if let Some(noise) = self.noise {
            for (l, noise) in noise.chunks_exact(n.max(1)).enumerate().take(LANES) {
                for (j, x) in noise.iter().enumerate() {
                    // SAFETY: `j` is less than `n`, and an entry has `LANES` lanes.
                    unsafe { *entries.at(n, j).add(l) += x };
                }
            }
        }
        for k in (0..n).rev() {
            // SAFETY: as above.
            unsafe {
                let solution = load(simd, entries.at(n, k));
                let solution = mul(simd, &solution, &load(simd, entries.at(k, k)));
                store(simd, entries.at(n, k), solution);
                for i in 0..k {
                    let mut remainder = load(simd, entries.at(n, i));
                    sub_mul(simd, &load(simd, entries.at(k, i)), &solution, &mut remainder);
                    store(simd, entries.at(n, i), remainder);
                }
            }
        }
        failed
    }
}
