//! The inner loop of Gram matrices and of the blocked Cholesky: a tile of sums that stays in registers.

use crate::Real;
use crate::simd::Simd;

/// So few sums wait for each other: a second set of them takes every other line.
const FEW: usize = 6;

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
    let add = |k: usize, sums: &mut [[S::Vector; BLOCKS]; ROWS]| {
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
    };
    let mut done = 0;
    if ROWS * BLOCKS <= FEW {
        let mut others = [[simd.splat(T::ZERO); BLOCKS]; ROWS];
        while done + 2 <= lines {
            add(done, &mut sums);
            add(done + 1, &mut others);
            done += 2;
        }
        for i in 0..ROWS {
            for j in 0..BLOCKS {
                sums[i][j] = simd.add(sums[i][j], others[i][j]);
            }
        }
    }
    for k in done..lines {
        add(k, &mut sums);
    }
    *tile = sums;
}
