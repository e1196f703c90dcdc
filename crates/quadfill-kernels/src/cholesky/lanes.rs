//! Eight small systems at a time, entry by entry side by side.
//!
//! One small system leaves most of a vector unit idle: its columns are short and each step waits
//! for a root and a division. Eight of them, interleaved, fill it, and no lane ever looks at
//! another one.

use std::cell::RefCell;

use super::{blocked, is_pivot};
use crate::simd::{Simd, Task};
use crate::{AlignedVec, Kernels};

/// Systems solved at a time.
pub const LANES: usize = 8;

/// Rows that are eliminated together.
const ROWS: usize = 4;

/// Eight systems of a larger order do not fit the caches well, and one of them fills the vector unit.
const MOST_INTERLEAVED: usize = 44;

/// The most vectors that hold an entry of all systems.
const MAX_PARTS: usize = 4;

thread_local! {
    static SCRATCH: RefCell<AlignedVec<f64>> = RefCell::default();
}

/// Solves up to eight systems of order `n`.
///
/// `matrices` holds eight blocks of `(n+1) x (n+1)` entries as
/// [`Kernels::normal_equations`] leaves them: the lower triangle row by row, and the right-hand
/// side in the last row. The first `count` blocks are solved; the solution of block `l` goes to
/// `out[l*n..][..n]`. Bit `l` of the result is set, and the solution zero, if matrix `l` is not
/// positive definite. A solution does not depend on the other systems, nor on where among them
/// it stands.
///
/// ```
/// use quadfill_kernels::{Kernels, cholesky};
///
/// let mut matrices = vec![0.0; 8 * 9];
/// matrices[..9].copy_from_slice(&[4.0, 0.0, 0.0, 2.0, 5.0, 0.0, 8.0, 12.0, 0.0]);
/// matrices[9..18].copy_from_slice(&[1.0, 0.0, 0.0, 2.0, 1.0, 0.0, 1.0, 1.0, 0.0]);
/// let mut out = vec![0.0; 16];
/// let failed = cholesky::solve_lanes(Kernels::detect(), 2, &mut matrices, 2, &mut out);
/// assert_eq!(failed, 0b10);
/// assert_eq!(out[..4], [1.0, 2.0, 0.0, 0.0]);
/// ```
///
/// # Panics
/// Unless there are eight blocks, room for eight solutions and `count` is from 1 to 8.
pub fn solve_lanes(
    kernels: Kernels,
    n: usize,
    matrices: &mut [f64],
    count: usize,
    out: &mut [f64],
) -> u8 {
    solve_shifted(kernels, n, matrices, count, None, out)
}

/// The same with `noise` (`n` entries for each of the eight systems) added between the two
/// triangular solves: the solution of block `l` becomes `A^-1 b + R noise`, where `R R^T = A^-1` and `R` is
/// triangular. If the noise is standard normal, that is a draw from the normal distribution with
/// precision matrix `A` and mean `A^-1 b`.
///
/// ```
/// use quadfill_kernels::{Kernels, cholesky};
///
/// let mut matrices = vec![0.0; 8 * 9];
/// matrices[..9].copy_from_slice(&[4.0, 0.0, 0.0, 2.0, 5.0, 0.0, 8.0, 12.0, 0.0]);
/// let mut out = vec![0.0; 16];
/// let mut noise = vec![0.0; 16];
/// noise[1] = 2.0; // A = L L^T with L = [2 0; 1 2], and R = L^-T
/// cholesky::draw_lanes(Kernels::detect(), 2, &mut matrices, 1, &noise, &mut out);
/// assert_eq!(out[..2], [0.5, 3.0]);
/// ```
///
/// # Panics
/// As [`solve_lanes`], and unless there is noise for eight systems.
pub fn draw_lanes(
    kernels: Kernels,
    n: usize,
    matrices: &mut [f64],
    count: usize,
    noise: &[f64],
    out: &mut [f64],
) -> u8 {
    assert_eq!(noise.len(), LANES * n, "noise for eight systems");
    solve_shifted(kernels, n, matrices, count, Some(noise), out)
}

fn solve_shifted(
    kernels: Kernels,
    n: usize,
    matrices: &mut [f64],
    count: usize,
    noise: Option<&[f64]>,
    out: &mut [f64],
) -> u8 {
    assert!((1..=LANES).contains(&count), "one to eight systems");
    assert_eq!(matrices.len(), LANES * (n + 1) * (n + 1), "eight matrices");
    assert_eq!(out.len(), LANES * n, "room for eight solutions");
    if n > MOST_INTERLEAVED {
        return solve_in_turn(kernels, n, matrices, count, noise, out);
    }
    SCRATCH.with_borrow_mut(|scratch| {
        let needed = (n + 1) * (n + 1) * LANES;
        if scratch.len() < needed {
            *scratch = AlignedVec::zeros(needed);
        }
        let entries = &mut scratch[..needed];
        interleave(n, matrices, count, entries);
        let failed = kernels.run::<f64, _>(Solve { n, entries, noise });
        for (l, solution) in out.chunks_exact_mut(n.max(1)).enumerate() {
            let usable = l < count && failed & (1 << l) == 0;
            for (j, x) in solution.iter_mut().enumerate() {
                let found = entries[(n * (n + 1) + j) * LANES + l];
                *x = if usable { found } else { 0.0 };
            }
        }
        failed
    })
}

fn solve_in_turn(
    kernels: Kernels,
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
        if !blocked::solve(kernels, n, matrix, noise, out) {
            failed |= 1 << l;
        }
    }
    failed
}

/// Writes entry `(i, j)` of all systems next to each other; systems that are not there become
/// the identity.
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

/// Factors and solves in place; the solutions take the place of the last row.
struct Solve<'a> {
    n: usize,
    entries: &'a mut [f64],
    /// Added after the forward substitution: `n` entries for each system.
    noise: Option<&'a [f64]>,
}

/// One entry of all systems, in as many vectors as it takes.
type Entry<S> = [<S as Simd<f64>>::Vector; MAX_PARTS];

/// The interleaved matrices, by entry.
#[derive(Clone, Copy)]
struct Entries {
    start: *mut f64,
    order: usize,
}

impl Entries {
    /// # Safety
    /// `i` and `j` are below `order`, and `start` is that of `order * order * LANES` entries.
    #[inline(always)]
    unsafe fn at(self, i: usize, j: usize) -> *mut f64 {
        // SAFETY: the caller's promise.
        unsafe { self.start.add((i * self.order + j) * LANES) }
    }
}

/// # Safety
/// `from` is an entry of [`Entries`].
#[inline(always)]
unsafe fn load<S: Simd<f64>>(simd: S, from: *const f64) -> Entry<S> {
    let mut entry = [simd.splat(0.0); MAX_PARTS];
    for p in 0..LANES / S::LANES {
        // SAFETY: an entry is `LANES` long, by the caller's promise.
        entry[p] = unsafe { simd.load(from.add(p * S::LANES)) };
    }
    entry
}

/// # Safety
/// `to` is an entry of [`Entries`].
#[inline(always)]
unsafe fn store<S: Simd<f64>>(simd: S, to: *mut f64, entry: Entry<S>) {
    for p in 0..LANES / S::LANES {
        // SAFETY: an entry is `LANES` long, by the caller's promise.
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

/// Makes column `j` of rows `row .. row + COUNT` from the columns before it.
///
/// # Safety
/// The rows are rows of `entries` and `j` is a column whose factor is known.
#[inline(always)]
unsafe fn eliminate<S: Simd<f64>, const COUNT: usize>(
    simd: S,
    entries: Entries,
    row: usize,
    j: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut left = [[simd.splat(0.0); MAX_PARTS]; COUNT];
        for i in 0..COUNT {
            left[i] = load(simd, entries.at(row + i, j));
        }
        for k in 0..j {
            let pivot = load(simd, entries.at(j, k));
            for i in 0..COUNT {
                let factor = load(simd, entries.at(row + i, k));
                sub_mul(simd, &factor, &pivot, &mut left[i]);
            }
        }
        let inverse = load(simd, entries.at(j, j));
        for i in 0..COUNT {
            store(simd, entries.at(row + i, j), mul(simd, &left[i], &inverse));
        }
    }
}

/// Makes the diagonal entry of row `j`, stored as the inverse of the pivot's root; returns the
/// lanes in which there is none.
///
/// # Safety
/// `j` is a row of `entries` whose columns before `j` are known.
#[inline(always)]
unsafe fn invert_pivot<S: Simd<f64>>(simd: S, entries: Entries, j: usize) -> u8 {
    // SAFETY: the caller's promise; an entry is an array of `LANES`.
    let lanes = unsafe {
        let diagonal = entries.at(j, j);
        let before = *diagonal.cast::<[f64; LANES]>();
        let mut left = load(simd, diagonal);
        for k in 0..j {
            let factor = load(simd, entries.at(j, k));
            sub_mul(simd, &factor, &factor, &mut left);
        }
        store(simd, diagonal, left);
        let left = &mut *diagonal.cast::<[f64; LANES]>();
        (left, before)
    };
    let (left, before) = lanes;
    let mut failed = 0;
    for l in 0..LANES {
        if is_pivot(left[l], before[l]) {
            left[l] = 1.0 / left[l].sqrt();
        } else {
            failed |= 1 << l;
            left[l] = 1.0;
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
        // Some rows at a time, each against all rows above it. The last row is the right-hand
        // side: eliminating it is the forward substitution.
        for top in (0..order).step_by(ROWS) {
            let rows = ROWS.min(order - top);
            // SAFETY: all rows and columns are below `order`, and columns are taken in order.
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
                    // SAFETY: `j` is below `n`, and an entry has `LANES` lanes.
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
                    let mut left = load(simd, entries.at(n, i));
                    sub_mul(simd, &load(simd, entries.at(k, i)), &solution, &mut left);
                    store(simd, entries.at(n, i), left);
                }
            }
        }
        failed
    }
}
