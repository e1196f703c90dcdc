//! The inner loop of Gram matrices and of the blocked Cholesky: a tile of sums that stays in registers.

use crate::Real;
use crate::simd::Simd;

/// Adds to a tile, for each of some lines, its entries `row ..` times its vectors from `column` on.
///
/// # Safety
/// There are `lines` lines, `stride` entries apart, and these entries are in each.
#[inline(always)]
pub(crate) unsafe fn add_products<T: Real, S: Simd<T>, const ROWS: usize, const BLOCKS: usize>(
    simd: S,
    start: *const T,
    lines: usize,
    stride: usize,
    row: usize,
    column: usize,
    tile: &mut [[S::Vector; BLOCKS]; ROWS],
) {
    let mut sums = *tile;
    for k in 0..lines {
        // SAFETY: the caller's promise.
        unsafe {
            let line = start.add(k * stride);
            let mut columns = [simd.splat(T::ZERO); BLOCKS];
            for j in 0..BLOCKS {
                columns[j] = simd.load(line.add(column + j * S::LANES));
            }
            for i in 0..ROWS {
                let entry = simd.splat(*line.add(row + i));
                for j in 0..BLOCKS {
                    sums[i][j] = simd.mul_add(entry, columns[j], sums[i][j]);
                }
            }
        }
    }
    *tile = sums;
}
