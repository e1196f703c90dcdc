//! Blocked Cholesky of one system, for orders at which eight systems do not fit into the L1 cache.
//!
//! The lower triangle is stored row by row, so it is factored as `A = M^T M` with `M` lower
//! triangular, from the last row to the first: then all reads are contiguous.

use std::cell::RefCell;

use super::is_pivot;
use crate::products::add_products;
use crate::simd::{Simd, Task};
use crate::{AlignedVec, Backend};

/// Number of rows of a block.
const ROWS: usize = 4;

/// Entries of a cache line. The row stride is rounded up to whole lines plus one extra, so that
/// rows of 64 entries do not map to the same cache sets.
const LINE: usize = 8;

thread_local! {
    static SCRATCH: RefCell<AlignedVec<f64>> = RefCell::default();
}

/// Solves one system of order `n`, stored in `matrix` as described in [`super::solve_lanes`], with
/// `noise` added between the two triangular solves. Returns whether it is positive definite.
pub(super) fn solve(
    backend: Backend,
    n: usize,
    matrix: &[f64],
    noise: Option<&[f64]>,
    out: &mut [f64],
) -> bool {
    assert_eq!(matrix.len(), (n + 1) * (n + 1), "entries of the matrix");
    assert_eq!(out.len(), n, "space for the solution");
    let order = n.next_multiple_of(ROWS);
    let stride = order.next_multiple_of(LINE) + LINE;
    SCRATCH.with_borrow_mut(|scratch| {
        let len = (order + 2) * stride;
        if scratch.len() < len {
            *scratch = AlignedVec::zeros(len);
        }
        let (rows, vectors) = scratch[..len].split_at_mut(order * stride);
        let (rhs, solution) = vectors.split_at_mut(stride);
        for (i, row) in rows.chunks_exact_mut(stride).enumerate() {
            if i < n {
                row[..=i].copy_from_slice(&matrix[i * (n + 1)..][..=i]);
            } else {
                // The last block is padded with rows of the identity.
                row[..i].fill(0.0);
                row[i] = 1.0;
            }
        }
        rhs[..n].copy_from_slice(&matrix[n * (n + 1)..][..n]);
        rhs[n..].fill(0.0);
        solution.fill(0.0);
        let is_definite = backend.run::<f64, _>(Solve { rows, stride, rhs, solution, noise });
        if is_definite {
            out.copy_from_slice(&solution[..n]);
        } else {
            out.fill(0.0);
        }
        is_definite
    })
}

struct Solve<'a> {
    /// A multiple of [`ROWS`] rows.
    rows: &'a mut [f64],
    stride: usize,
    rhs: &'a mut [f64],
    solution: &'a mut [f64],
    noise: Option<&'a [f64]>,
}

impl Task<f64> for Solve<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd<f64>>(self, simd: S) -> bool {
        let Self { rows, stride, rhs, solution, noise } = self;
        let order = rows.len() / stride;
        assert!(order.is_multiple_of(ROWS) && stride >= order.next_multiple_of(LINE) + LINE);
        assert!(rhs.len() == stride && solution.len() == stride && S::LANES <= LINE);
        let mut matrix = Matrix { rows, stride, rhs };
        for top in (0..order).step_by(ROWS).rev() {
            if !matrix.factor_block(simd, top) {
                return false;
            }
        }
        let Matrix { rows, rhs, .. } = matrix;
        if let Some(noise) = noise {
            for (y, z) in rhs.iter_mut().zip(noise) {
                *y += z;
            }
        }
        for top in (0..order).step_by(ROWS) {
            let known = products(simd, rows, stride, top, solution);
            for i in 0..ROWS {
                let row = &rows[(top + i) * stride + top..][..=i];
                let mut remainder = rhs[top + i] - known[i];
                for (factor, x) in row[..i].iter().zip(&solution[top..]) {
                    remainder -= factor * x;
                }
                solution[top + i] = remainder * row[i];
            }
        }
        true
    }
}

/// The partially factored lower triangle and the right-hand side.
struct Matrix<'a> {
    rows: &'a mut [f64],
    stride: usize,
    rhs: &'a mut [f64],
}

impl Matrix<'_> {
    /// Computes rows `top .. top + ROWS` of the factor from the rows below, and performs their part
    /// of the first triangular solve. Returns whether the pivots are positive.
    #[inline(always)]
    fn factor_block<S: Simd<f64>>(&mut self, simd: S, top: usize) -> bool {
        let stride = self.stride;
        let diagonal = std::array::from_fn(|i| self.rows[(top + i) * stride + top + i]);
        let width = 2 * S::LANES;
        let last = (top + ROWS - 1) / width * width;
        let tile = self.schur_complement(simd, top, last);
        for j in 0..2 {
            self.store(simd, top, last + j * S::LANES, tile.map(|row| row[j]));
        }
        let Some(block) = DiagonalBlock::factor(self.rows, stride, top, diagonal) else {
            return false;
        };
        let solved = block.solve_transposed(&self.rhs[top..][..ROWS]);
        for column in (last..top).step_by(S::LANES) {
            let vectors = self.load(simd, top, column);
            self.solve_columns(simd, top, column, vectors, &block, &solved);
        }
        for first in (0..last).step_by(width) {
            let tile = self.schur_complement(simd, top, first);
            for j in 0..2 {
                let vectors = tile.map(|row| row[j]);
                self.solve_columns(simd, top, first + j * S::LANES, vectors, &block, &solved);
            }
        }
        block.write(self.rows, stride, top);
        self.rhs[top..][..ROWS].copy_from_slice(&solved);
        true
    }

    /// Two vectors of columns of each row of a block, minus the contributions of the rows below it.
    #[inline(always)]
    fn schur_complement<S: Simd<f64>>(
        &self,
        simd: S,
        top: usize,
        column: usize,
    ) -> [[S::Vector; 2]; ROWS] {
        let below = top + ROWS;
        let count = self.rows.len() / self.stride - below;
        assert!(column + 2 * S::LANES <= self.stride && below <= self.stride);
        let mut tile = [[simd.splat(0.0); 2]; ROWS];
        // SAFETY: each of the rows below has `stride` entries, which include the ones read.
        unsafe {
            let start = self.rows.as_ptr().add(below * self.stride);
            add_products(simd, start, count, self.stride, top, column, &mut tile);
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

    /// Loads one vector of each row of a block.
    #[inline(always)]
    fn load<S: Simd<f64>>(&self, simd: S, top: usize, column: usize) -> [S::Vector; ROWS] {
        assert!(column + S::LANES <= self.stride);
        assert!((top + ROWS) * self.stride <= self.rows.len());
        // SAFETY: the rows exist and have `stride` entries, as asserted above.
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

    /// Solves with the transpose of the diagonal block for one vector of columns, stores the
    /// result, and subtracts its product with `solved` from the right-hand side. Where the vector
    /// overlaps the diagonal block, the values stored there are not used.
    #[inline(always)]
    fn solve_columns<S: Simd<f64>>(
        &mut self,
        simd: S,
        top: usize,
        column: usize,
        mut vectors: [S::Vector; ROWS],
        block: &DiagonalBlock,
        solved: &[f64; ROWS],
    ) {
        assert!(column + S::LANES <= self.rhs.len());
        // SAFETY: just asserted.
        let mut remainder = unsafe { simd.load(self.rhs.as_ptr().add(column)) };
        for i in (0..ROWS).rev() {
            vectors[i] = simd.mul(simd.splat(block.0[i][i]), vectors[i]);
            for j in 0..i {
                vectors[j] = simd.sub_mul(simd.splat(block.0[i][j]), vectors[i], vectors[j]);
            }
            remainder = simd.sub_mul(simd.splat(solved[i]), vectors[i], remainder);
        }
        // SAFETY: as above.
        unsafe { simd.store(self.rhs.as_mut_ptr().add(column), remainder) };
        self.store(simd, top, column, vectors);
    }
}

/// The Cholesky factor of a diagonal block: a lower triangle with inverted diagonal entries.
struct DiagonalBlock([[f64; ROWS]; ROWS]);

impl DiagonalBlock {
    /// Factors the diagonal block; `None` unless its pivots are positive.
    #[inline(always)]
    fn factor(rows: &[f64], stride: usize, top: usize, diagonal: [f64; ROWS]) -> Option<Self> {
        let mut block = [[0.0; ROWS]; ROWS];
        for (i, entries) in block.iter_mut().enumerate() {
            entries[..=i].copy_from_slice(&rows[(top + i) * stride + top..][..=i]);
        }
        // Square roots are taken afterwards: each pivot then depends on a division by the previous
        // one, but not on a square root.
        for i in (0..ROWS).rev() {
            if !is_pivot(block[i][i], diagonal[i]) {
                return None;
            }
            block[i][i] = 1.0 / block[i][i];
            for j in 0..i {
                let multiplier = block[i][j] * block[i][i];
                for k in 0..=j {
                    block[j][k] -= multiplier * block[i][k];
                }
            }
        }
        for (i, entries) in block.iter_mut().enumerate() {
            entries[i] = entries[i].sqrt();
            for j in 0..i {
                entries[j] *= entries[i];
            }
        }
        Some(Self(block))
    }

    /// Solves with the transposed factor.
    #[inline(always)]
    fn solve_transposed(&self, rhs: &[f64]) -> [f64; ROWS] {
        let mut x: [f64; ROWS] = std::array::from_fn(|i| rhs[i]);
        for i in (0..ROWS).rev() {
            x[i] *= self.0[i][i];
            for j in 0..i {
                x[j] -= self.0[i][j] * x[i];
            }
        }
        x
    }

    /// Writes the factor back to `rows`.
    #[inline(always)]
    fn write(&self, rows: &mut [f64], stride: usize, top: usize) {
        for (i, entries) in self.0.iter().enumerate() {
            rows[(top + i) * stride + top..][..ROWS].copy_from_slice(entries);
        }
    }
}

/// The products of the rows of a block with the part of the solution before it; the rest is zero.
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
        // SAFETY: all rows and the solution hold a vector from `column` on, as asserted above.
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
