//! The Gram matrix of Jacobians that fit one vector.
//!
//! The residuals need not be a column of the panel then: all sums stay in registers, and the rows of
//! the lower triangle that end in the first half of the vector are sums of half vectors.

use super::workspace::{Layout, PANEL_CELLS};
use crate::Real;
use crate::simd::{Simd, Task};

/// The lower triangle of the Gram matrix of a panel's Jacobians, and their products with the
/// residuals below it.
pub(super) struct Narrow<'a, T> {
    pub(super) layout: Layout,
    pub(super) cols: usize,
    /// Whether the previous contents of `sums` are overwritten rather than added to.
    pub(super) overwrite: bool,
    pub(super) panel: &'a [T],
    /// The residual of each cell.
    pub(super) residuals: &'a [T],
    pub(super) sums: &'a mut [T],
}

macro_rules! columns {
    ($simd:expr, $task:expr, $($cols:literal)*) => {
        match $task.cols {
            $($cols => $simd.run(AddNarrow::<T, $cols>($task)),)*
            cols => unreachable!("no vector has {cols} columns"),
        }
    };
}

impl<T: Real> Narrow<'_, T> {
    /// Whether Jacobians of `cols` entries fit one vector.
    #[inline(always)]
    pub(super) fn fits<S: Simd<T>>(cols: usize) -> bool {
        cols <= S::LANES
    }

    /// Computes the sums.
    #[inline(always)]
    pub(super) fn add<S: Simd<T>>(self, simd: S) {
        columns!(simd, self, 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
    }
}

/// [`Narrow`] for Jacobians of `COLS` entries.
struct AddNarrow<'a, T, const COLS: usize>(Narrow<'a, T>);

impl<T: Real, const COLS: usize> Task<T> for AddNarrow<'_, T, COLS> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let Narrow { layout, overwrite, panel, residuals, sums, .. } = self.0;
        let stride = layout.stride;
        assert!(COLS <= S::LANES && S::LANES <= stride && residuals.len() <= PANEL_CELLS);
        assert!(residuals.len() * stride <= panel.len());
        assert!((COLS + 1) * stride <= sums.len() && COLS < stride);
        // Rows before this one end in the first half.
        let halves = COLS.min(S::HALF_LANES);
        let mut low = [simd.splat_half(T::ZERO); COLS];
        let mut high = [simd.splat(T::ZERO); COLS];
        let mut rhs = simd.splat(T::ZERO);
        let start = sums.as_mut_ptr();
        let squares = COLS * stride + COLS;
        let mut square_sum = T::ZERO;
        if !overwrite {
            // SAFETY: `sums` holds `COLS + 1` rows of at least a vector.
            unsafe {
                for i in 0..halves {
                    low[i] = simd.load_half(start.add(i * stride));
                }
                for i in halves..COLS {
                    high[i] = simd.load(start.add(i * stride));
                }
                rhs = simd.load(start.add(COLS * stride));
            }
            square_sum = sums[squares];
        }
        for (k, &residual) in residuals.iter().enumerate() {
            // SAFETY: the panel holds a row of at least a vector for each residual.
            unsafe {
                let cell = panel.as_ptr().add(k * stride);
                let (half, all) = (simd.load_half(cell), simd.load(cell));
                for i in 0..halves {
                    low[i] = simd.mul_add_half(simd.splat_half(*cell.add(i)), half, low[i]);
                }
                for i in halves..COLS {
                    high[i] = simd.mul_add(simd.splat(*cell.add(i)), all, high[i]);
                }
                rhs = simd.mul_add(simd.splat(residual), all, rhs);
            }
        }
        // SAFETY: as above.
        unsafe {
            for i in 0..halves {
                simd.store_half(start.add(i * stride), low[i]);
            }
            for i in halves..COLS {
                simd.store(start.add(i * stride), high[i]);
            }
            simd.store(start.add(COLS * stride), rhs);
        }
        sums[squares] = square_sum + sum_of_squares(simd, residuals);
    }
}

/// The sum of the squares of some entries.
#[inline(always)]
fn sum_of_squares<T: Real, S: Simd<T>>(simd: S, entries: &[T]) -> T {
    let mut acc = simd.splat(T::ZERO);
    let chunks = entries.chunks_exact(S::LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        // SAFETY: the chunk has the length of a vector.
        let v = unsafe { simd.load(chunk.as_ptr()) };
        acc = simd.mul_add(v, v, acc);
    }
    let zero = simd.splat(T::ZERO);
    let [mut sum, ..] = simd.sum_each([acc, zero, zero, zero]);
    for &x in rest {
        sum += x * x;
    }
    sum
}
