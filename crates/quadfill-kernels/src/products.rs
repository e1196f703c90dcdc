//! The inner loop of Gram matrices and of the blocked Cholesky: a tile of sums kept in registers.

use crate::Real;
use crate::simd::Simd;

/// Tiles with at most this many sums use a second set of accumulators, as there are too few sums to
/// hide the latency of a multiply-add.
const MAX_SUMS_TO_DOUBLE: usize = 6;

/// Adds a tile of `sum_k x_k x_k^T` over `count` vectors `x_k` to `tile`: `ROWS` rows from `row` on
/// and `BLOCKS` SIMD vectors of columns from `column` on.
///
/// # Safety
/// `start` points to `count` vectors, `stride` entries apart, each of which contains these rows and
/// columns.
#[inline(always)]
pub(crate) unsafe fn add_products<T: Real, S: Simd<T>, const ROWS: usize, const BLOCKS: usize>(
    simd: S,
    start: *const T,
    count: usize,
    stride: usize,
    row: usize,
    column: usize,
    tile: &mut [[S::Vector; BLOCKS]; ROWS],
) {
    let mut sums = *tile;
    let add = |k: usize, sums: &mut [[S::Vector; BLOCKS]; ROWS]| {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let vector = start.add(k * stride);
            let mut columns = [simd.splat(T::ZERO); BLOCKS];
            for j in 0..BLOCKS {
                columns[j] = simd.load(vector.add(column + j * S::LANES));
            }
            for i in 0..ROWS {
                let entry = simd.splat(*vector.add(row + i));
                for j in 0..BLOCKS {
                    sums[i][j] = simd.mul_add(entry, columns[j], sums[i][j]);
                }
            }
        }
    };
    let mut done = 0;
    if ROWS * BLOCKS <= MAX_SUMS_TO_DOUBLE {
        let mut odd_sums = [[simd.splat(T::ZERO); BLOCKS]; ROWS];
        while done + 2 <= count {
            add(done, &mut sums);
            add(done + 1, &mut odd_sums);
            done += 2;
        }
        for i in 0..ROWS {
            for j in 0..BLOCKS {
                sums[i][j] = simd.add(sums[i][j], odd_sums[i][j]);
            }
        }
    }
    for k in done..count {
        add(k, &mut sums);
    }
    *tile = sums;
}
