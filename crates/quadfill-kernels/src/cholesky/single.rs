//! One system of any order.

use super::is_pivot;
use crate::Backend;
use crate::simd::{Simd, Task};

/// Number of rows whose inner products with a pivot row are computed together.
const ROWS: usize = 4;

/// Overwrites the lower triangle of `a`, of order `n` with row stride `ld`, with its Cholesky
/// factor. Returns whether `a` is positive definite; if not, `a` is left partially factored.
///
/// ```
/// use quadfill_kernels::cholesky::{factor, solve_factored};
///
/// let mut a = [4.0, 0.0, 2.0, 5.0];
/// assert!(factor(&mut a, 2, 2));
/// assert_eq!(a, [2.0, 0.0, 1.0, 2.0]);
/// let mut b = [8.0, 12.0];
/// solve_factored(&a, 2, 2, &mut b);
/// assert_eq!(b, [1.0, 2.0]);
/// ```
///
/// # Panics
/// If `a` is too short or `ld < n`.
pub fn factor(a: &mut [f64], n: usize, ld: usize) -> bool {
    check(a, n, ld);
    Backend::detect().run::<f64, _>(Factor { a, n, ld })
}

/// Solves with a matrix factored by [`factor`]; `b` is overwritten with the solution.
///
/// # Panics
/// If `a` or `b` is too short or `ld < n`.
pub fn solve_factored(a: &[f64], n: usize, ld: usize, b: &mut [f64]) {
    check(a, n, ld);
    let b = &mut b[..n];
    for i in 0..n {
        let row = &a[i * ld..][..=i];
        let known = crate::sum::dot(&row[..i], &b[..i]);
        b[i] = (b[i] - known) / row[i];
    }
    for k in (0..n).rev() {
        let row = &a[k * ld..][..=k];
        let x = b[k] / row[k];
        b[k] = x;
        for (b, factor) in b[..k].iter_mut().zip(row) {
            *b -= factor * x;
        }
    }
}

fn check(a: &[f64], n: usize, ld: usize) {
    assert!(ld >= n, "the row stride {ld} is less than the order {n}");
    if n > 0 {
        assert!(a.len() >= (n - 1) * ld + n, "entries of the matrix");
    }
}

struct Factor<'a> {
    a: &'a mut [f64],
    n: usize,
    ld: usize,
}

impl Task<f64> for Factor<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd<f64>>(self, simd: S) -> bool {
        let Self { a, n, ld } = self;
        for top in (0..n).step_by(ROWS) {
            let rows = ROWS.min(n - top);
            let (above, below) = a.split_at_mut(top * ld);
            if rows == ROWS {
                for j in 0..top {
                    let pivot_row = &above[j * ld..][..=j];
                    let products = products(simd, below, ld, pivot_row, j);
                    for i in 0..ROWS {
                        let entry = &mut below[i * ld + j];
                        *entry = (*entry - products[i]) / pivot_row[j];
                    }
                }
            }
            for i in top..top + rows {
                let (above, row) = a.split_at_mut(i * ld);
                let row = &mut row[..=i];
                let first = if rows == ROWS { top } else { 0 };
                for j in first..i {
                    let pivot_row = &above[j * ld..][..=j];
                    let known = crate::sum::dot(&row[..j], &pivot_row[..j]);
                    row[j] = (row[j] - known) / pivot_row[j];
                }
                let diagonal = row[i];
                let pivot = diagonal - crate::sum::dot(&row[..i], &row[..i]);
                if !is_pivot(pivot, diagonal) {
                    return false;
                }
                row[i] = pivot.sqrt();
            }
        }
        true
    }
}

/// The inner products of the first `len` entries of `pivot_row` and of four rows with stride `ld`.
#[inline(always)]
fn products<S: Simd<f64>>(
    simd: S,
    rows: &[f64],
    ld: usize,
    pivot_row: &[f64],
    len: usize,
) -> [f64; ROWS] {
    assert!(rows.len() >= (ROWS - 1) * ld + len && pivot_row.len() >= len);
    let mut sums = [[simd.splat(0.0); ROWS]; 2];
    let vectors = len / S::LANES;
    for v in 0..vectors {
        let at = v * S::LANES;
        // SAFETY: `at + S::LANES <= len`, and both sides hold `len` entries, as asserted above.
        unsafe {
            let pivot = simd.load(pivot_row.as_ptr().add(at));
            for i in 0..ROWS {
                let row = simd.load(rows.as_ptr().add(i * ld + at));
                sums[v % 2][i] = simd.mul_add(row, pivot, sums[v % 2][i]);
            }
        }
    }
    let mut totals = sums[0];
    for i in 0..ROWS {
        totals[i] = simd.add(totals[i], sums[1][i]);
    }
    let mut products = simd.sum_each(totals);
    for at in vectors * S::LANES..len {
        for i in 0..ROWS {
            products[i] += rows[i * ld + at] * pivot_row[at];
        }
    }
    products
}
