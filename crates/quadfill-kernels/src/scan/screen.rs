//! Scores in 8-bit integers, with a bound on their error: few rows can have one of the best scores, and only for
//! those a score is computed in full precision.
//!
//! Rows `u` and queries `q` are rounded to multiples of a scale, `u = s a + e` and `q = t b + f` with integers of
//! at most 127. Then `<u, q> = s t <a, b> + <e, q - f> + <u, f>`, and by Cauchy-Schwarz the error of the first term is
//! at most `|e| (|q| + |f|) + |u| |f|`. To it is added what floating-point sums may lose.

use super::batch::QueryBatch;
use super::vnni::Vnni;
use crate::{Backend, Real};

/// Number of queries of a tile. With two vectors of rows, twelve sums stay in registers.
pub(super) const QUERIES: usize = 6;
/// Number of rows that share a scale.
pub(super) const BLOCK_ROWS: usize = 32;
/// Number of entries that one lane multiplies and adds at once.
pub(super) const ENTRIES: usize = 4;
/// More entries than that would call for another bound on the rounding errors.
const MAX_WIDTH: usize = 4096;
/// The largest entries are in this range, or all are 0: then no product of a scale, norm or entry overflows, and
/// what underflows is far below the bound on rounding errors.
const ENTRY_RANGE: std::ops::RangeInclusive<f32> = 1e-12..=1e12;
const MAX_INTEGER: f32 = 127.0;
/// Integers of rows are stored with this added, as bytes without sign.
pub(super) const BIAS: i32 = 128;
/// Vectors are padded with zeros to a multiple of this.
pub(super) const LANES: usize = 16;

/// A score that may be above its threshold. Rows count from the first of their block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    pub(super) query: u32,
    pub(super) row: u32,
}

/// The operands for one block of rows: candidates are where
/// `factors * (starts + <rows, queries>) + offsets > thresholds`.
#[derive(Debug, Clone, Copy)]
pub(super) struct IntegerProducts<'a> {
    /// Groups of four entries of all rows.
    pub(super) rows: &'a [u8],
    /// Tile by tile; within a tile, groups of four entries of all its queries.
    pub(super) queries: &'a [i32],
    pub(super) starts: &'a [i32],
    pub(super) factors: &'a [f32],
    pub(super) thresholds: &'a [f32],
    pub(super) offsets: &'a [f32; BLOCK_ROWS],
}

/// Screens blocks of rows for the queries of a batch.
#[derive(Debug)]
pub(super) struct Screen {
    kernel: Vnni,
    width: usize,
    queries: Vec<i32>,
    /// Cancels the bias of the rows.
    starts: Vec<i32>,
    scales: Vec<f32>,
    norms: Vec<f32>,
    errors: Vec<f32>,
    /// The thresholds of exact scores, rounded down. A lower one only means more candidates.
    floors: Vec<f32>,
    factors: Vec<f32>,
    thresholds: Vec<f32>,
    rows: Vec<u8>,
    /// One vector in integers, and vectors in single precision, padded.
    row: Vec<u8>,
    singles: Vec<f32>,
    candidates: Vec<Candidate>,
}

impl Screen {
    /// Nothing if the machine lacks the instructions, or entries are too many, too large or too small.
    pub(super) fn new<T: Real>(backend: Backend, batch: &QueryBatch<T>) -> Option<Self> {
        let kernel = Vnni::detect(backend)?;
        let (count, width) = (batch.len(), batch.width());
        if width > MAX_WIDTH {
            return None;
        }
        let groups = width.div_ceil(ENTRIES);
        let padded = count.next_multiple_of(QUERIES);
        let mut screen = Self {
            kernel,
            width,
            queries: vec![0; groups * padded],
            starts: vec![0; padded],
            scales: vec![0.0; count],
            norms: vec![0.0; count],
            errors: vec![0.0; count],
            floors: vec![f32::NEG_INFINITY; count],
            factors: vec![0.0; padded],
            thresholds: vec![f32::INFINITY; padded],
            rows: vec![0; groups * ENTRIES * BLOCK_ROWS],
            row: vec![0; width.next_multiple_of(LANES)],
            singles: vec![0.0; width.next_multiple_of(LANES) * BLOCK_ROWS],
            candidates: Vec::new(),
        };
        for (q, query) in batch.queries().enumerate() {
            let scale = screen.load(std::iter::once(query))?;
            let (norm, error) = screen.round(0, scale);
            (screen.scales[q], screen.norms[q], screen.errors[q]) = (scale.unit, norm, error);
            let tile = &mut screen.queries[q / QUERIES * QUERIES * groups..];
            for (group, bytes) in screen.row.as_chunks::<ENTRIES>().0[..groups].iter().enumerate() {
                let entries = bytes.map(|byte| i32::from(byte) - BIAS);
                screen.starts[q] -= BIAS * entries.iter().sum::<i32>();
                tile[group * QUERIES + q % QUERIES] =
                    i32::from_le_bytes(entries.map(|entry| entry as u8));
            }
        }
        Some(screen)
    }

    /// A candidate of the last block.
    pub(super) fn candidate(&self, at: usize) -> Candidate {
        self.candidates[at]
    }

    /// Raises the floor of a query to the threshold of its exact scores.
    pub(super) fn raise_floor<T: Real>(&mut self, query: usize, threshold: T) {
        let exact = threshold.to_f64();
        let rounded = exact as f32;
        self.floors[query] = if f64::from(rounded) > exact { rounded.next_down() } else { rounded };
    }

    /// Converts vectors to single precision, and returns their scale, unless entries are out of range.
    #[inline(always)]
    fn load<'r, T: Real>(
        &mut self,
        vectors: impl Iterator<Item = &'r [T]> + Clone,
    ) -> Option<Scale> {
        let padded = self.row.len();
        let mut loaded = 0;
        for (vector, single) in vectors.clone().zip(self.singles.chunks_exact_mut(padded)) {
            for (single, x) in single.iter_mut().zip(vector) {
                *single = x.to_f64() as f32;
            }
            loaded += padded;
        }
        let largest = self.kernel.largest(&self.singles[..loaded]);
        Scale::of(largest).or_else(|| {
            let is_zero = largest == 0.0 && vectors.flatten().all(|&x| x == T::ZERO);
            is_zero.then_some(Scale::ZERO)
        })
    }

    /// Rounds a vector to integers. Returns the norms of the vector and of the error.
    #[inline(always)]
    fn round(&mut self, vector: usize, scale: Scale) -> (f32, f32) {
        let padded = self.row.len();
        let singles = &self.singles[vector * padded..][..padded];
        let [square, squared_error] = self.kernel.round(singles, scale, &mut self.row);
        (square.sqrt(), squared_error.sqrt())
    }

    /// The scores of a block of at most [`BLOCK_ROWS`] rows that may be above the floors of their queries.
    /// For each query, rows are ascending. Nothing if some numbers are too large or too small.
    #[inline(always)]
    pub(super) fn candidates<'r, T: Real>(
        &mut self,
        rows: impl ExactSizeIterator<Item = &'r [T]> + Clone,
        offsets: Option<&[T]>,
    ) -> Option<&[Candidate]> {
        let count = rows.len();
        let scale = self.load(rows)?;
        let groups = self.width.div_ceil(ENTRIES);
        let mut lifted = [f32::NEG_INFINITY; BLOCK_ROWS];
        let (mut norm, mut error, mut offset) = (0.0f32, 0.0f32, 0.0f32);
        for r in 0..count {
            let (own_norm, own_error) = self.round(r, scale);
            norm = norm.max(own_norm);
            error = error.max(own_error);
            lifted[r] = offsets.map_or(0.0, |offsets| round_up(offsets[r].to_f64()));
            offset = offset.max(lifted[r].abs());
            for (group, bytes) in self.row.as_chunks::<ENTRIES>().0[..groups].iter().enumerate() {
                self.rows[(group * BLOCK_ROWS + r) * ENTRIES..][..ENTRIES].copy_from_slice(bytes);
            }
        }
        if offset != 0.0 && !ENTRY_RANGE.contains(&offset) {
            return None;
        }
        // The exact scores lose at most `(width + 1) / 2` epsilons of `|u| |q| + |offset|`, the norms as much each; the
        // rest is for the conversions and the sums below.
        let rounding = (self.width + 32) as f32 * f32::EPSILON;
        let per_norm = error + 2.0 * rounding * norm;
        let per_error = norm + error;
        let bounds = self.floors.iter().zip(&self.norms).zip(&self.errors);
        for (threshold, ((floor, q), f)) in self.thresholds.iter_mut().zip(bounds) {
            *threshold = floor - (per_norm * q + per_error * f + rounding * offset);
        }
        for (factor, own) in self.factors.iter_mut().zip(&self.scales) {
            *factor = scale.unit * own;
        }
        self.candidates.clear();
        let products = IntegerProducts {
            rows: &self.rows,
            queries: &self.queries,
            starts: &self.starts,
            factors: &self.factors,
            thresholds: &self.thresholds,
            offsets: &lifted,
        };
        self.kernel.candidates_into(&products, &mut self.candidates);
        Some(&self.candidates)
    }
}

/// What entries are multiples of after rounding.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    pub(super) unit: f32,
    pub(super) inverse: f32,
}

impl Scale {
    /// The scale for entries of this size, unless it is out of range.
    fn of(largest: f32) -> Option<Self> {
        // NaN is not in the range either.
        ENTRY_RANGE
            .contains(&largest)
            .then(|| Self { unit: largest / MAX_INTEGER, inverse: MAX_INTEGER / largest })
    }

    /// The scale for vectors of zeros.
    const ZERO: Self = Self { unit: 0.0, inverse: 0.0 };
}

fn round_up(x: f64) -> f32 {
    let rounded = x as f32;
    if f64::from(rounded) < x { rounded.next_up() } else { rounded }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_few_and_no_score_above_a_floor_is_missed() {
        let width = 37;
        let entry = |i: usize| ((i * 7919 % 1013) as f64 * 0.37).sin() as f32;
        let rows: Vec<f32> = (0..BLOCK_ROWS * width).map(entry).collect();
        let queries: Vec<f32> = (0..20 * width).map(|i| entry(i + 5)).collect();
        let batch = QueryBatch::new(&queries, width);
        let Some(mut screen) = Screen::new(Backend::detect(), &batch) else { return };
        let score = |candidate: Candidate| -> f32 {
            let row = rows[candidate.row as usize * width..].iter();
            let query = &queries[candidate.query as usize * width..][..width];
            row.zip(query).map(|(u, q)| u * q).sum()
        };
        for floor in [-2.0, 0.0, 2.0, 5.0, 100.0] {
            for query in 0..20 {
                screen.raise_floor(query, floor);
            }
            let found = screen.candidates(rows.chunks_exact(width), None).expect("in range");
            let all = (0..20)
                .flat_map(|query| (0..BLOCK_ROWS as u32).map(move |row| Candidate { query, row }));
            for candidate in all {
                let is_above = score(candidate) > floor;
                let is_near = score(candidate) > floor - 1.0;
                let is_found = found.binary_search(&candidate).is_ok();
                assert!(is_above <= is_found && is_found <= is_near, "{candidate:?}");
            }
        }
    }

    #[test]
    fn numbers_out_of_range_are_not_screened() {
        for broken in [f32::NAN, f32::INFINITY, 1e30, 1e-30] {
            let queries = QueryBatch::new(&[broken, 0.0], 2);
            assert!(Screen::new(Backend::detect(), &queries).is_none());
            let queries = QueryBatch::new(&[1.0, 0.0], 2);
            let Some(mut screen) = Screen::new(Backend::detect(), &queries) else { return };
            assert_eq!(screen.candidates([&[broken, 0.0][..]].into_iter(), None), None);
            let zeros = [&[0.0f32, 0.0][..]];
            assert!(screen.candidates(zeros.into_iter(), None).is_some());
            // A score that is not a number is above nothing, and neither is its approximation.
            let found = screen.candidates(zeros.into_iter(), Some(&[broken]));
            assert_eq!(found.is_some(), broken.is_nan());
        }
    }
}
