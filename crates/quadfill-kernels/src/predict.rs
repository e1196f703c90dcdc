//! Predictions for many cells, in double precision whatever the precision of the model is.
//!
//! Products of single-precision numbers are exact in double precision, and sums are taken in the same order with
//! every instruction set: column `l` belongs to lane `l % 8`, a lane adds its terms one after the other, and
//! [`sum_lanes`] adds the lanes.

use crate::simd::{Simd, Task, prefetch};
use crate::{Backend, Real};

/// Number of sums that the columns are distributed over.
pub const LANES: usize = 8;
/// The maximum number of modes.
pub const MAX_MODES: usize = 8;
/// Number of cells whose lanes are added together, as horizontal sums are expensive.
const CELLS: usize = 4;
/// How many cells ahead rows are fetched.
const PREFETCH_DISTANCE: usize = 16;
/// Factor matrices with fewer bytes stay in the cache.
const PREFETCHED_FROM: usize = 1 << 17;

/// How the rows of a cell make its prediction, column by column.
#[derive(Debug, Clone, Copy)]
pub enum Interaction<'a> {
    /// The sum over pairs of modes of a weight times the product of their entries.
    Pairs(&'a [(usize, usize, f64)]),
    /// The product of the entries of all modes.
    Product,
}

/// What predictions are made of.
#[derive(Debug, Clone, Copy)]
pub struct CellModel<'a, T> {
    /// What every prediction begins with.
    pub mean: f64,
    /// Number of columns.
    pub rank: usize,
    /// Distance between rows, a multiple of [`Real::LINE`]; entries from `rank` on are zero.
    pub stride: usize,
    /// The rows of each mode.
    pub factors: &'a [&'a [T]],
    /// The biases of each mode; empty if there are none.
    pub biases: &'a [&'a [T]],
    /// What is added to mean and biases.
    pub interaction: Interaction<'a>,
}

/// Adds the lanes of a prediction.
pub fn sum_lanes(lanes: [f64; LANES]) -> f64 {
    let halves: [f64; 4] = std::array::from_fn(|lane| lanes[lane] + lanes[lane + 4]);
    (halves[0] + halves[1]) + (halves[2] + halves[3])
}

impl Backend {
    /// Writes the predictions of cells, given as one column of row indices per mode.
    ///
    /// ```
    /// use quadfill_kernels::predict::{CellModel, Interaction};
    /// use quadfill_kernels::{AlignedVec, Backend};
    ///
    /// let mut rows = AlignedVec::<f32>::zeros(32);
    /// (rows[0], rows[16]) = (2.0, 3.0);
    /// let model = CellModel {
    ///     mean: 0.5,
    ///     rank: 1,
    ///     stride: 16,
    ///     factors: &[&rows, &rows],
    ///     biases: &[],
    ///     interaction: Interaction::Pairs(&[(1, 0, 2.0)]),
    /// };
    /// let mut predictions = [0.0; 2];
    /// Backend::detect().predict_cells(&model, &[&[0, 1], &[1, 1]], &mut predictions);
    /// assert_eq!(predictions, [12.5, 18.5]);
    /// ```
    ///
    /// # Panics
    /// Unless there are 1 to [`MAX_MODES`] modes with a column and whole rows each, all columns are as long as
    /// `out`, all indices have a row and a bias (if there are biases), and pairs name modes.
    pub fn predict_cells<T: Real>(
        self,
        model: &CellModel<'_, T>,
        columns: &[&[u32]],
        out: &mut [f64],
    ) {
        let CellModel { rank, stride, factors, biases, interaction, .. } = *model;
        let modes = factors.len();
        assert!((1..=MAX_MODES).contains(&modes) && columns.len() == modes, "a column per mode");
        assert!(rank <= stride && stride.is_multiple_of(T::LINE), "rows of whole cache lines");
        assert!(biases.is_empty() || biases.len() == modes, "biases of all modes or none");
        for (mode, column) in columns.iter().enumerate() {
            assert_eq!(column.len(), out.len(), "one index per cell");
            let largest = column.iter().fold(0, |largest, &index| largest.max(index)) as usize;
            let has_row = column.is_empty() || (largest + 1) * stride <= factors[mode].len();
            assert!(has_row, "a cell picks a row that does not exist");
            let has_bias = biases.is_empty() || column.is_empty() || largest < biases[mode].len();
            assert!(has_bias, "a cell picks a bias that does not exist");
        }
        let call = Call { model, columns, out };
        match interaction {
            Interaction::Product => match modes {
                3 => self.run::<f64, _>(Cells::<T, Products, 3>(call, Products)),
                _ => self.run::<f64, _>(Cells::<T, Products, 0>(call, Products)),
            },
            Interaction::Pairs(pairs) => {
                assert!(pairs.iter().all(|&(a, b, _)| a < modes && b < modes), "pairs of modes");
                let every = (0..modes).flat_map(|a| (0..a).map(move |b| (a, b)));
                let is_every = every.eq(pairs.iter().map(|&(a, b, _)| (a, b)));
                match modes {
                    2 if is_every => self.run::<f64, _>(Cells::<T, _, 2>(call, Pairs(pairs))),
                    3 if is_every => self.run::<f64, _>(Cells::<T, _, 3>(call, Pairs(pairs))),
                    _ => self.run::<f64, _>(Cells::<T, _, 0>(call, Pairs(pairs))),
                }
            }
        }
    }
}

struct Call<'a, T> {
    model: &'a CellModel<'a, T>,
    columns: &'a [&'a [u32]],
    out: &'a mut [f64],
}

/// An [`Interaction`] of SIMD vectors.
trait Terms: Copy {
    /// Adds the terms of some columns to `sum`. With `MODES` above 0 the number of modes is known when this is
    /// compiled, and pairs are all pairs of two different modes.
    fn add<S: Simd<f64>, const MODES: usize>(
        self,
        simd: S,
        rows: &[S::Vector],
        sum: S::Vector,
    ) -> S::Vector;
}

#[derive(Clone, Copy)]
struct Pairs<'a>(&'a [(usize, usize, f64)]);

impl Terms for Pairs<'_> {
    #[inline(always)]
    fn add<S: Simd<f64>, const MODES: usize>(
        self,
        simd: S,
        rows: &[S::Vector],
        mut sum: S::Vector,
    ) -> S::Vector {
        // Not fused, as the baseline has no fused operations.
        if MODES > 0 {
            let mut pair = 0;
            for a in 0..MODES {
                for b in 0..a {
                    let weight = simd.splat(self.0[pair].2);
                    sum = simd.add(sum, simd.mul(weight, simd.mul(rows[a], rows[b])));
                    pair += 1;
                }
            }
        } else {
            for &(a, b, weight) in self.0 {
                let product = simd.mul(rows[a], rows[b]);
                sum = simd.add(sum, simd.mul(simd.splat(weight), product));
            }
        }
        sum
    }
}

#[derive(Clone, Copy)]
struct Products;

impl Terms for Products {
    #[inline(always)]
    fn add<S: Simd<f64>, const MODES: usize>(
        self,
        simd: S,
        rows: &[S::Vector],
        sum: S::Vector,
    ) -> S::Vector {
        let mut product = rows[0];
        for row in &rows[1..] {
            product = simd.mul(product, *row);
        }
        simd.add(sum, product)
    }
}

struct Cells<'a, T, K, const MODES: usize>(Call<'a, T>, K);

impl<T: Real, K: Terms, const MODES: usize> Task<f64> for Cells<'_, T, K, MODES> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<f64>>(self, simd: S) {
        let Self(Call { model, columns, out }, terms) = self;
        let CellModel { mean, rank, stride, .. } = *model;
        let modes = if MODES == 0 { model.factors.len() } else { MODES };
        // Local copies cannot alias the output.
        let (mut factors, mut picked) = ([std::ptr::null::<T>(); MAX_MODES], [&[][..]; MAX_MODES]);
        let mut prefetched = [false; MAX_MODES];
        for mode in 0..modes {
            factors[mode] = model.factors[mode].as_ptr();
            picked[mode] = columns[mode];
            prefetched[mode] = size_of_val(model.factors[mode]) >= PREFETCHED_FROM;
        }
        let last = out.len().saturating_sub(1);
        for first in (0..out.len()).step_by(CELLS) {
            let mut totals = [[simd.splat(0.0); 2]; CELLS];
            for (i, total) in totals.iter_mut().enumerate() {
                let cell = (first + i).min(last);
                let ahead = (cell + PREFETCH_DISTANCE).min(last);
                let mut rows = [std::ptr::null::<T>(); MAX_MODES];
                for mode in 0..modes {
                    // SAFETY: columns are as long as `out`, and all their indices have rows.
                    unsafe {
                        let index = *picked[mode].get_unchecked(cell) as usize;
                        rows[mode] = factors[mode].add(index * stride);
                        if prefetched[mode] {
                            let index = *picked[mode].get_unchecked(ahead) as usize;
                            prefetch(factors[mode].add(index * stride));
                        }
                    }
                }
                // SAFETY: rows have `stride` entries, and `rank` is at most that; `stride` is a multiple of `LANES`.
                let lanes = unsafe { lanes::<T, K, S, MODES>(simd, terms, &rows[..modes], rank) };
                // The upper half of the lanes is added to the lower half; the widest vectors do it themselves.
                *total = match S::LANES {
                    8 => [lanes[0]; 2],
                    4 => [simd.add(lanes[0], lanes[1]); 2],
                    _ => [simd.add(lanes[0], lanes[2]), simd.add(lanes[1], lanes[3])],
                };
            }
            let mut sums = simd.sum_each(totals.map(|total| total[0]));
            if S::LANES == 2 {
                let others = simd.sum_each(totals.map(|total| total[1]));
                sums = std::array::from_fn(|i| sums[i] + others[i]);
            }
            for (i, (sum, out)) in sums.iter().zip(&mut out[first..]).enumerate() {
                let mut prediction = mean;
                for (biases, column) in model.biases.iter().zip(columns) {
                    prediction += biases[column[first + i] as usize].to_f64();
                }
                *out = prediction + sum;
            }
        }
    }
}

/// The lanes of one cell, in as many vectors as they need.
///
/// # Safety
/// Rows can be read up to the next multiple of `LANES` from `rank` on, and there are `MODES` of them unless that is 0.
#[inline(always)]
unsafe fn lanes<T: Real, K: Terms, S: Simd<f64>, const MODES: usize>(
    simd: S,
    terms: K,
    rows: &[*const T],
    rank: usize,
) -> [S::Vector; 4] {
    let mut sums = [simd.splat(0.0); 4];
    for column in (0..rank).step_by(LANES) {
        for (part, sum) in sums.iter_mut().enumerate().take(LANES / S::LANES) {
            let mut vectors = [simd.splat(0.0); MAX_MODES];
            for (vector, row) in vectors.iter_mut().zip(rows) {
                // SAFETY: guaranteed by the caller.
                *vector = unsafe { T::load_f64(simd, row.add(column + part * S::LANES)) };
            }
            *sum = terms.add::<S, MODES>(simd, &vectors[..rows.len()], *sum);
        }
    }
    sums
}
