//! One query: limited by memory bandwidth.

use crate::simd::{Simd, Task};
use crate::{Backend, Real};

/// Number of rows that are scored together: their horizontal sums are computed at once.
const ROWS: usize = 4;

impl Backend {
    /// Writes the score `<row, query> + own <row, row>` of each row to `out`.
    ///
    /// A score does not depend on the position of its row: equal rows have bit-identical scores.
    ///
    /// ```
    /// use quadfill_kernels::{AlignedVec, Backend};
    ///
    /// let mut rows = AlignedVec::<f64>::zeros(16);
    /// (rows[0], rows[8]) = (2.0, 3.0);
    /// let mut query = AlignedVec::<f64>::zeros(8);
    /// query[0] = 10.0;
    /// let mut scores = [0.0; 2];
    /// Backend::detect().row_scores(&rows, 8, &query, -1.0, &mut scores);
    /// assert_eq!(scores, [16.0, 21.0]);
    /// ```
    ///
    /// # Panics
    /// Unless `stride` is a multiple of [`Real::LINE`], the query has `stride` entries and there
    /// are as many rows as scores.
    pub fn row_scores<T: Real>(
        self,
        rows: &[T],
        stride: usize,
        query: &[T],
        own: T,
        out: &mut [T],
    ) {
        assert!(stride.is_multiple_of(T::LINE), "rows are padded to whole cache lines");
        assert_eq!(query.len(), stride, "entries of the query");
        assert_eq!(rows.len(), out.len() * stride, "one score per row");
        if own == T::ZERO {
            self.run::<T, _>(Scores::<T, false> { rows, query, own, out });
        } else {
            self.run::<T, _>(Scores::<T, true> { rows, query, own, out });
        }
    }
}

struct Scores<'a, T, const SQUARES: bool> {
    rows: &'a [T],
    query: &'a [T],
    own: T,
    out: &'a mut [T],
}

impl<T: Real, const SQUARES: bool> Task<T> for Scores<'_, T, SQUARES> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let stride = self.query.len();
        let own = simd.splat(self.own);
        let (query, rows) = (self.query.as_ptr(), self.rows.as_ptr());
        let last = self.out.len().saturating_sub(1);
        for (block, out) in self.out.chunks_mut(ROWS).enumerate() {
            let first = block * ROWS;
            let mut sums = [simd.splat(T::ZERO); ROWS];
            for at in (0..stride).step_by(S::LANES) {
                // SAFETY: `stride` is a multiple of the lanes, the query has `stride` entries, and
                // row indices are at most `last`, so all rows exist.
                unsafe {
                    let q = simd.load(query.add(at));
                    for (i, sum) in sums.iter_mut().enumerate() {
                        let row = (first + i).min(last);
                        let u = simd.load(rows.add(row * stride + at));
                        let coefficients = if SQUARES { simd.mul_add(own, u, q) } else { q };
                        *sum = simd.mul_add(u, coefficients, *sum);
                    }
                }
            }
            let scores = simd.sum_each(sums);
            out.copy_from_slice(&scores[..out.len()]);
        }
    }
}
