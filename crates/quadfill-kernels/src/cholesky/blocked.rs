//! One system at a time, four rows at a time: for systems too large to stay in the first-level
//! cache eight at a time.
//!
//! The lower triangle is stored row by row, so it is factored as `A = M^T M` with `M` lower
//! triangular, from the last row to the first: all that is read then lies side by side.

use std::cell::RefCell;

use super::is_pivot;
use crate::products::add_products;
use crate::simd::{Simd, Task};
use crate::{AlignedVec, Kernels};

/// Rows of a block.
const ROWS: usize = 4;

/// Rows begin so many entries apart, rounded up: on a cache line, and with one to spare, lest rows
/// of 64 entries fall on one another in the cache.
const LINE: usize = 8;

thread_local! {
    static SCRATCH: RefCell<AlignedVec<f64>> = RefCell::default();
}

/// Solves the system of order `n` that `matrix` holds as [`super::solve_lanes`] describes, with
/// `noise` added between the two triangular solves. Returns whether it is positive definite.
pub(super) fn solve(
    kernels: Kernels,
    n: usize,
    matrix: &[f64],
    noise: Option<&[f64]>,
    out: &mut [f64],
) -> bool {
    assert_eq!(matrix.len(), (n + 1) * (n + 1), "entries of the matrix");
    assert_eq!(out.len(), n, "room for the solution");
    let order = n.next_multiple_of(ROWS);
    let stride = order.next_multiple_of(LINE) + LINE;
    SCRATCH.with_borrow_mut(|scratch| {
        let needed = (order + 2) * stride;
        if scratch.len() < needed {
            *scratch = AlignedVec::zeros(needed);
        }
        let (rows, sides) = scratch[..needed].split_at_mut(order * stride);
        let (right, solution) = sides.split_at_mut(stride);
        for (i, row) in rows.chunks_exact_mut(stride).enumerate() {
            if i < n {
                row[..=i].copy_from_slice(&matrix[i * (n + 1)..][..=i]);
            } else {
                // Rows that fill up the last block are those of the identity.
                row[..i].fill(0.0);
                row[i] = 1.0;
            }
        }
        right[..n].copy_from_slice(&matrix[n * (n + 1)..][..n]);
        right[n..].fill(0.0);
        solution.fill(0.0);
        let done = kernels.run::<f64, _>(Solve { rows, stride, right, solution, noise });
        if done {
            out.copy_from_slice(&solution[..n]);
        } else {
            out.fill(0.0);
        }
        done
    })
}

struct Solve<'a> {
    /// A multiple of [`ROWS`] of them.
    rows: &'a mut [f64],
    stride: usize,
    right: &'a mut [f64],
    solution: &'a mut [f64],
    noise: Option<&'a [f64]>,
}

impl Task<f64> for Solve<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd<f64>>(self, simd: S) -> bool {
        let Self { rows, stride, right, solution, noise } = self;
        let order = rows.len() / stride;
        assert!(order.is_multiple_of(ROWS) && stride >= order.next_multiple_of(LINE) + LINE);
        assert!(right.len() == stride && solution.len() == stride && S::LANES <= LINE);
        let mut matrix = Matrix { rows, stride, right };
        for top in (0..order).step_by(ROWS).rev() {
            if !matrix.factor_block(simd, top) {
                return false;
            }
        }
        let Matrix { rows, right, .. } = matrix;
        if let Some(noise) = noise {
            for (y, z) in right.iter_mut().zip(noise) {
                *y += z;
            }
        }
        for top in (0..order).step_by(ROWS) {
            let known = products(simd, rows, stride, top, solution);
            for i in 0..ROWS {
                let row = &rows[(top + i) * stride + top..][..=i];
                let mut left = right[top + i] - known[i];
                for (factor, x) in row[..i].iter().zip(&solution[top..]) {
                    left -= factor * x;
                }
                solution[top + i] = left * row[i];
            }
        }
        true
    }
}

/// The lower triangle and the right-hand side, half done.
struct Matrix<'a> {
    rows: &'a mut [f64],
    stride: usize,
    right: &'a mut [f64],
}

impl Matrix<'_> {
    /// Makes rows `top .. top + ROWS` of the factor from the rows below, and their part of the first
    /// triangular solve. Returns whether the pivots were positive.
    #[inline(always)]
    fn factor_block<S: Simd<f64>>(&mut self, simd: S, top: usize) -> bool {
        let stride = self.stride;
        let before = std::array::from_fn(|i| self.rows[(top + i) * stride + top + i]);
        let wide = 2 * S::LANES;
        let last = (top + ROWS - 1) / wide * wide;
        let tile = self.less_rows_below(simd, top, last);
        for j in 0..2 {
            self.store(simd, top, last + j * S::LANES, tile.map(|row| row[j]));
        }
        let Some(corner) = Corner::factor(self.rows, stride, top, before) else {
            return false;
        };
        let knowns = corner.solve_transposed(&self.right[top..][..ROWS]);
        for column in (last..top).step_by(S::LANES) {
            let vectors = self.load(simd, top, column);
            self.finish(simd, top, column, vectors, &corner, &knowns);
        }
        for first in (0..last).step_by(wide) {
            let tile = self.less_rows_below(simd, top, first);
            for j in 0..2 {
                let vectors = tile.map(|row| row[j]);
                self.finish(simd, top, first + j * S::LANES, vectors, &corner, &knowns);
            }
        }
        corner.write(self.rows, stride, top);
        self.right[top..][..ROWS].copy_from_slice(&knowns);
        true
    }

    /// Two vectors of each row of a block, less the products of the rows below it.
    #[inline(always)]
    fn less_rows_below<S: Simd<f64>>(
        &self,
        simd: S,
        top: usize,
        column: usize,
    ) -> [[S::Vector; 2]; ROWS] {
        let below = top + ROWS;
        let lines = self.rows.len() / self.stride - below;
        assert!(column + 2 * S::LANES <= self.stride && below <= self.stride);
        let mut tile = [[simd.splat(0.0); 2]; ROWS];
        // SAFETY: each of the rows below has `stride` entries, of which these are some.
        unsafe {
            let start = self.rows.as_ptr().add(below * self.stride);
            add_products(simd, start, lines, self.stride, top, column, &mut tile);
        }
        let one = simd.splat(1.0);
        for j in 0..2 {
            let vectors = self.load(simd, top, column + j * S::LANES);
            for i in 0..ROWS {
                tile[i][j] = simd.sub_mul(one, tile[i][j], vectors[i]);
            }
        }
        tile
    }

    /// A vector of each row of a block.
    #[inline(always)]
    fn load<S: Simd<f64>>(&self, simd: S, top: usize, column: usize) -> [S::Vector; ROWS] {
        assert!(column + S::LANES <= self.stride);
        assert!((top + ROWS) * self.stride <= self.rows.len());
        // SAFETY: the rows are there and have `stride` entries.
        std::array::from_fn(|i| unsafe {
            simd.load(self.rows.as_ptr().add((top + i) * self.stride + column))
        })
    }

    #[inline(always)]
    fn store<S: Simd<f64>>(
        &mut self,
        simd: S,
        top: usize,
        column: usize,
        vectors: [S::Vector; ROWS],
    ) {
        assert!(column + S::LANES <= self.stride);
        assert!((top + ROWS) * self.stride <= self.rows.len());
        for (i, v) in vectors.into_iter().enumerate() {
            // SAFETY: as in `load`.
            unsafe {
                simd.store(self.rows.as_mut_ptr().add((top + i) * self.stride + column), v);
            }
        }
    }

    /// Solves with the transpose of the corner for a vector of each row of its block, stores that,
    /// and takes its products with `knowns` from the right-hand side. Where a vector reaches into
    /// the corner, what it leaves there is not used.
    #[inline(always)]
    fn finish<S: Simd<f64>>(
        &mut self,
        simd: S,
        top: usize,
        column: usize,
        mut vectors: [S::Vector; ROWS],
        corner: &Corner,
        knowns: &[f64; ROWS],
    ) {
        assert!(column + S::LANES <= self.right.len());
        // SAFETY: just asserted.
        let mut left = unsafe { simd.load(self.right.as_ptr().add(column)) };
        for i in (0..ROWS).rev() {
            vectors[i] = simd.mul(simd.splat(corner.0[i][i]), vectors[i]);
            for j in 0..i {
                vectors[j] = simd.sub_mul(simd.splat(corner.0[i][j]), vectors[i], vectors[j]);
            }
            left = simd.sub_mul(simd.splat(knowns[i]), vectors[i], left);
        }
        // SAFETY: as above.
        unsafe { simd.store(self.right.as_mut_ptr().add(column), left) };
        self.store(simd, top, column, vectors);
    }
}

/// The square on the diagonal of a block: a lower triangle with the inverses of its diagonal.
struct Corner([[f64; ROWS]; ROWS]);

impl Corner {
    /// Factors the square; none unless its pivots are positive.
    #[inline(always)]
    fn factor(rows: &[f64], stride: usize, top: usize, before: [f64; ROWS]) -> Option<Self> {
        let mut corner = [[0.0; ROWS]; ROWS];
        for (i, entries) in corner.iter_mut().enumerate() {
            entries[..=i].copy_from_slice(&rows[(top + i) * stride + top..][..=i]);
        }
        // A pivot waits for the division by the one before it, but not for its root.
        for i in (0..ROWS).rev() {
            if !is_pivot(corner[i][i], before[i]) {
                return None;
            }
            corner[i][i] = 1.0 / corner[i][i];
            for j in 0..i {
                let share = corner[i][j] * corner[i][i];
                for k in 0..=j {
                    corner[j][k] -= share * corner[i][k];
                }
            }
        }
        for (i, entries) in corner.iter_mut().enumerate() {
            entries[i] = entries[i].sqrt();
            for j in 0..i {
                entries[j] *= entries[i];
            }
        }
        Some(Self(corner))
    }

    /// Solves with the transpose.
    #[inline(always)]
    fn solve_transposed(&self, right: &[f64]) -> [f64; ROWS] {
        let mut x: [f64; ROWS] = std::array::from_fn(|i| right[i]);
        for i in (0..ROWS).rev() {
            x[i] *= self.0[i][i];
            for j in 0..i {
                x[j] -= self.0[i][j] * x[i];
            }
        }
        x
    }

    /// Puts the square in its place.
    #[inline(always)]
    fn write(&self, rows: &mut [f64], stride: usize, top: usize) {
        for (i, entries) in self.0.iter().enumerate() {
            rows[(top + i) * stride + top..][..ROWS].copy_from_slice(entries);
        }
    }
}

/// The products of a block's rows with what is known of the solution; the rest of it is zero.
#[inline(always)]
fn products<S: Simd<f64>>(
    simd: S,
    rows: &[f64],
    stride: usize,
    top: usize,
    solution: &[f64],
) -> [f64; ROWS] {
    let mut sums = [simd.splat(0.0); ROWS];
    for column in (0..top).step_by(S::LANES) {
        assert!(column + S::LANES <= stride && (top + ROWS) * stride <= rows.len());
        assert!(column + S::LANES <= solution.len());
        // SAFETY: all rows and the solution have entries for a vector from `column` on.
        unsafe {
            let x = simd.load(solution.as_ptr().add(column));
            for (i, sum) in sums.iter_mut().enumerate() {
                let row = simd.load(rows.as_ptr().add((top + i) * stride + column));
                *sum = simd.mul_add(row, x, *sum);
            }
        }
    }
    simd.sum_each(sums)
}
