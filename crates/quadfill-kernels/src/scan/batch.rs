//! Many queries: a matrix product whose entries are filtered while they are still in registers.

use std::ops::Range;

use super::screen::{BLOCK_ROWS, Candidate, QUERIES, Screen};
use crate::simd::{Simd, Task};
use crate::{AlignedVec, Backend, Real};

/// Number of vectors of rows of a tile.
const VECTORS: usize = 2;
/// The maximum number of rows of a tile: two vectors of the widest type.
const MAX_ROWS: usize = BLOCK_ROWS;
/// Number of blocks between those that are screened where screening does not pay: at first, while thresholds are
/// low, and where many rows are alike.
const PAUSE: usize = 16;
/// Screening pays if at most one of so many scores may be above its threshold.
const SCORES_PER_CANDIDATE: usize = 16;
/// Number of scores that are computed side by side, as each is a chain of dependent operations.
const CHAINS: usize = 8;

/// Receives scores above a threshold, which may rise during the scan.
pub trait ScoreSink<T> {
    /// Only scores above this threshold are passed on for this query.
    fn threshold(&self, query: usize) -> T;
    /// Takes a score above the threshold. For each query, rows come in ascending order.
    fn push(&mut self, query: usize, row: usize, score: T);
}

/// Queries in the layout of [`Backend::scan_batch`].
#[derive(Debug, Clone)]
pub struct QueryBatch<T: Real> {
    count: usize,
    width: usize,
    /// Query by query.
    queries: AlignedVec<T>,
    /// Tile by tile; within a tile, each entry of all its queries is contiguous.
    entries: AlignedVec<T>,
}

impl<T: Real> QueryBatch<T> {
    /// Packs `queries`, the concatenation of queries of `width` entries each.
    ///
    /// # Panics
    /// If `width` is 0 or the length of `queries` is not a multiple of `width`.
    pub fn new(queries: &[T], width: usize) -> Self {
        assert!(width > 0 && queries.len().is_multiple_of(width), "a whole number of queries");
        let count = queries.len() / width;
        let mut entries = AlignedVec::zeros(count.next_multiple_of(QUERIES) * width);
        for (q, query) in queries.chunks_exact(width).enumerate() {
            let tile = &mut entries[q / QUERIES * QUERIES * width..];
            for (l, &entry) in query.iter().enumerate() {
                tile[l * QUERIES + q % QUERIES] = entry;
            }
        }
        Self { count, width, queries: AlignedVec::from_slice(queries), entries }
    }

    /// Number of queries.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no queries.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn queries(&self) -> std::slice::ChunksExact<'_, T> {
        self.queries.chunks_exact(self.width)
    }
}

/// Rows to be scored, with offsets of their scores.
#[derive(Debug, Clone, Copy)]
pub struct RowPanels<'a, T> {
    /// The rows, row-major with `stride`.
    pub rows: &'a [T],
    /// Distance between rows, at least the width of the queries.
    pub stride: usize,
    /// The offset added to the score of each row; 0 if absent.
    pub offsets: Option<&'a [T]>,
}

impl Backend {
    /// Passes the scores `<row, query> + offset` that are above the query's threshold to `sink`.
    ///
    /// ```
    /// use quadfill_kernels::Backend;
    /// use quadfill_kernels::scan::{QueryBatch, RowPanels, ScoreSink};
    ///
    /// struct Best(Vec<(usize, f64)>);
    /// impl ScoreSink<f64> for Best {
    ///     fn threshold(&self, query: usize) -> f64 {
    ///         self.0[query].1
    ///     }
    ///     fn push(&mut self, query: usize, row: usize, score: f64) {
    ///         self.0[query] = (row, score);
    ///     }
    /// }
    /// let rows = [1.0, 0.0, 0.0, 2.0, 1.0, 1.0];
    /// let queries = QueryBatch::new(&[1.0, 0.0, 1.0, 1.0], 2);
    /// let mut best = Best(vec![(9, f64::NEG_INFINITY); 2]);
    /// let panels = RowPanels { rows: &rows, stride: 2, offsets: None };
    /// Backend::detect().scan_batch(&queries, panels, &mut best);
    /// assert_eq!(best.0, [(0, 1.0), (1, 2.0)]);
    /// ```
    ///
    /// # Panics
    /// Unless `rows` is a whole number of rows, `stride` is at least the width of the queries, and
    /// there is one offset per row, if any.
    pub fn scan_batch<T: Real>(
        self,
        queries: &QueryBatch<T>,
        panels: RowPanels<'_, T>,
        sink: &mut impl ScoreSink<T>,
    ) {
        let screen = Screen::new(self, queries);
        self.scan_batch_with(screen, queries, panels, sink);
    }

    fn scan_batch_with<T: Real>(
        self,
        screen: Option<Screen>,
        queries: &QueryBatch<T>,
        panels: RowPanels<'_, T>,
        sink: &mut impl ScoreSink<T>,
    ) {
        let RowPanels { rows, stride, offsets } = panels;
        assert!(
            stride >= queries.width && rows.len().is_multiple_of(stride),
            "a whole number of rows"
        );
        let count = rows.len() / stride;
        assert!(offsets.is_none_or(|offsets| offsets.len() == count), "one offset per row");
        let panel = AlignedVec::zeros(queries.width * MAX_ROWS);
        self.run::<T, _>(ScanBatch { queries, panels, count, panel, screen, sink });
    }
}

struct ScanBatch<'a, T: Real, F> {
    queries: &'a QueryBatch<T>,
    panels: RowPanels<'a, T>,
    count: usize,
    /// The transposed rows of a tile: each entry of all rows is contiguous.
    panel: AlignedVec<T>,
    screen: Option<Screen>,
    sink: &'a mut F,
}

impl<T: Real, F: ScoreSink<T>> Task<T> for ScanBatch<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(mut self, simd: S) {
        assert!(MAX_ROWS.is_multiple_of(VECTORS * S::LANES), "a block is a number of tiles");
        let mut screen = self.screen.take();
        let mut pause = PAUSE;
        for first in (0..self.count).step_by(BLOCK_ROWS) {
            let rows = first..self.count.min(first + BLOCK_ROWS);
            if let Some(screen) = screen.as_mut().filter(|_| pause == 0) {
                if self.score_candidates(screen, rows.clone()) {
                    continue;
                }
                pause = PAUSE;
            }
            self.score_all(simd, rows);
            pause = pause.saturating_sub(1);
            if let Some(screen) = screen.as_mut().filter(|_| pause == 0) {
                for query in 0..self.queries.count {
                    screen.raise_floor(query, self.sink.threshold(query));
                }
            }
        }
    }
}

impl<T: Real, F: ScoreSink<T>> ScanBatch<'_, T, F> {
    #[inline(always)]
    fn score_all<S: Simd<T>>(&mut self, simd: S, rows: Range<usize>) {
        let tile_rows = VECTORS * S::LANES;
        let width = self.queries.width;
        let mut offsets = [T::ZERO; MAX_ROWS];
        for first in rows.step_by(tile_rows) {
            self.pack(first, tile_rows, &mut offsets);
            for (tile, entries) in self.queries.entries.chunks_exact(QUERIES * width).enumerate() {
                // SAFETY: the panel holds `width * tile_rows` entries, the tile `width * QUERIES`,
                // and there are `MAX_ROWS >= tile_rows` offsets.
                let sums = unsafe {
                    tile_sums::<T, S>(
                        simd,
                        entries.as_ptr(),
                        self.panel.as_ptr(),
                        offsets.as_ptr(),
                        width,
                    )
                };
                let queries = QUERIES.min(self.queries.count - tile * QUERIES);
                for (i, sums) in sums.iter().enumerate().take(queries) {
                    let query = tile * QUERIES + i;
                    for (v, &sum) in sums.iter().enumerate() {
                        if simd.any_above(sum, simd.splat(self.sink.threshold(query))) {
                            self.push_above(simd, query, first + v * S::LANES, sum);
                        }
                    }
                }
            }
        }
    }

    /// Passes on the scores of the few candidates in a block of rows. Does nothing and returns false if they are not
    /// few.
    #[inline(always)]
    fn score_candidates(&mut self, screen: &mut Screen, rows: Range<usize>) -> bool {
        let RowPanels { rows: entries, stride, offsets } = self.panels;
        let width = self.queries.width;
        let row = |row: usize| &entries[row * stride..][..width];
        let offsets = offsets.map(|offsets| &offsets[rows.clone()]);
        let Some(candidates) = screen.candidates(rows.clone().map(row), offsets) else {
            return false;
        };
        if candidates.len() * SCORES_PER_CANDIDATE > rows.len() * self.queries.count {
            return false;
        }
        for some in candidates.chunks(CHAINS) {
            let mut scores = [T::ZERO; CHAINS];
            let mut factors = [(&entries[..width], &entries[..width]); CHAINS];
            for (i, &Candidate { query, row: r }) in some.iter().enumerate() {
                scores[i] = offsets.map_or(T::ZERO, |offsets| offsets[r as usize]);
                let query = &self.queries.queries[query as usize * width..][..width];
                factors[i] = (query, row(rows.start + r as usize));
            }
            // In the order of the sums of a tile, so that scores are bit-identical.
            for l in 0..width {
                for (score, (query, row)) in scores.iter_mut().zip(factors) {
                    *score = query[l].mul_add(row[l], *score);
                }
            }
            for (&score, &Candidate { query, row }) in scores.iter().zip(some) {
                if score > self.sink.threshold(query as usize) {
                    self.sink.push(query as usize, rows.start + row as usize, score);
                }
            }
        }
        for at in 0..candidates.len() {
            let query = screen.candidate(at).query as usize;
            screen.raise_floor(query, self.sink.threshold(query));
        }
        true
    }

    /// Transposes a tile of rows, so that each entry of all rows forms whole vectors. Missing rows
    /// get an offset of minus infinity, below every threshold.
    #[inline(always)]
    fn pack(&mut self, first: usize, tile_rows: usize, offsets: &mut [T; MAX_ROWS]) {
        let RowPanels { rows, stride, offsets: given } = self.panels;
        for r in 0..tile_rows {
            let row = first + r;
            if row >= self.count {
                offsets[r] = T::from_f64(f64::NEG_INFINITY);
                for l in 0..self.queries.width {
                    self.panel[l * tile_rows + r] = T::ZERO;
                }
                continue;
            }
            offsets[r] = given.map_or(T::ZERO, |given| given[row]);
            for (l, &entry) in rows[row * stride..][..self.queries.width].iter().enumerate() {
                self.panel[l * tile_rows + r] = entry;
            }
        }
    }

    #[inline(always)]
    fn push_above<S: Simd<T>>(&mut self, simd: S, query: usize, row: usize, scores: S::Vector) {
        let mut lanes = [T::ZERO; MAX_ROWS];
        // SAFETY: `lanes` has space for two vectors.
        unsafe { simd.store(lanes.as_mut_ptr(), scores) };
        for (lane, &score) in lanes[..S::LANES].iter().enumerate() {
            if score > self.sink.threshold(query) {
                self.sink.push(query, row + lane, score);
            }
        }
    }
}

/// The scores of the rows of a tile for the queries of a tile.
///
/// # Safety
/// `queries` holds `width * QUERIES` entries, `panel` `width * VECTORS` vectors, `offsets`
/// `VECTORS` vectors.
#[inline(always)]
unsafe fn tile_sums<T: Real, S: Simd<T>>(
    simd: S,
    queries: *const T,
    panel: *const T,
    offsets: *const T,
    width: usize,
) -> [[S::Vector; VECTORS]; QUERIES] {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut start = [simd.splat(T::ZERO); VECTORS];
        for (v, start) in start.iter_mut().enumerate() {
            *start = simd.load(offsets.add(v * S::LANES));
        }
        let mut sums = [start; QUERIES];
        for l in 0..width {
            let mut rows = start;
            for (v, rows) in rows.iter_mut().enumerate() {
                *rows = simd.load(panel.add((l * VECTORS + v) * S::LANES));
            }
            for (i, sums) in sums.iter_mut().enumerate() {
                let entry = simd.splat(*queries.add(l * QUERIES + i));
                for v in 0..VECTORS {
                    sums[v] = simd.mul_add(entry, rows[v], sums[v]);
                }
            }
        }
        sums
    }
}
