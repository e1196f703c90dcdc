//! Many queries: a product of matrices whose entries are looked at and dropped while they are
//! still in registers.

use crate::simd::{Simd, Task};
use crate::{AlignedVec, Kernels, Real};

/// Queries of one tile. With two vectors of rows, twelve sums stay in registers.
const QUERIES: usize = 6;
/// Vectors of rows of one tile.
const VECTORS: usize = 2;
/// The most rows of one tile: two vectors of the widest kind.
const MAX_ROWS: usize = 32;

/// Looks at scores above a floor that may rise on the way.
pub trait Sift<T> {
    /// Only scores above it are of interest to this query.
    fn floor(&self, query: usize) -> T;
    /// A score above the floor, rows in rising order for each query.
    fn see(&mut self, query: usize, row: usize, score: T);
}

/// Queries, laid out for [`Kernels::sift_batch`].
#[derive(Debug, Clone)]
pub struct QueryBatch<T: Real> {
    count: usize,
    width: usize,
    /// Tile by tile; within a tile entry by entry, those of its queries side by side.
    entries: AlignedVec<T>,
}

impl<T: Real> QueryBatch<T> {
    /// Takes queries of `width` entries each, one after the other.
    ///
    /// # Panics
    /// When `queries` is no whole number of them.
    pub fn new(queries: &[T], width: usize) -> Self {
        assert!(width > 0 && queries.len().is_multiple_of(width), "whole queries");
        let count = queries.len() / width;
        let mut entries = AlignedVec::zeros(count.next_multiple_of(QUERIES) * width);
        for (q, query) in queries.chunks_exact(width).enumerate() {
            let tile = &mut entries[q / QUERIES * QUERIES * width..];
            for (l, &entry) in query.iter().enumerate() {
                tile[l * QUERIES + q % QUERIES] = entry;
            }
        }
        Self { count, width, entries }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// Some rows and what is added to their scores.
#[derive(Debug, Clone, Copy)]
pub struct RowPanels<'a, T> {
    /// The rows, `stride` apart.
    pub rows: &'a [T],
    /// Distance between rows, at least the width of the queries.
    pub stride: usize,
    /// Added to the score of each row.
    pub offsets: Option<&'a [T]>,
}

impl Kernels {
    /// Hands out the scores `<row, query> + offset` that are above the query's floor.
    ///
    /// ```
    /// use quadfill_kernels::Kernels;
    /// use quadfill_kernels::scan::{QueryBatch, RowPanels, Sift};
    ///
    /// struct Best(Vec<(usize, f64)>);
    /// impl Sift<f64> for Best {
    ///     fn floor(&self, query: usize) -> f64 {
    ///         self.0[query].1
    ///     }
    ///     fn see(&mut self, query: usize, row: usize, score: f64) {
    ///         self.0[query] = (row, score);
    ///     }
    /// }
    /// let rows = [1.0, 0.0, 0.0, 2.0, 1.0, 1.0];
    /// let queries = QueryBatch::new(&[1.0, 0.0, 1.0, 1.0], 2);
    /// let mut best = Best(vec![(9, f64::NEG_INFINITY); 2]);
    /// let panels = RowPanels { rows: &rows, stride: 2, offsets: None };
    /// Kernels::detect().sift_batch(&queries, panels, &mut best);
    /// assert_eq!(best.0, [(0, 1.0), (1, 2.0)]);
    /// ```
    ///
    /// # Panics
    /// Unless the rows are whole, as wide as the queries and have an offset each, if any has.
    pub fn sift_batch<T: Real>(
        self,
        queries: &QueryBatch<T>,
        panels: RowPanels<'_, T>,
        sift: &mut impl Sift<T>,
    ) {
        let RowPanels { rows, stride, offsets } = panels;
        assert!(stride >= queries.width && rows.len().is_multiple_of(stride), "whole rows");
        let count = rows.len() / stride;
        assert!(offsets.is_none_or(|offsets| offsets.len() == count), "one offset per row");
        let panel = AlignedVec::zeros(queries.width * MAX_ROWS);
        self.run::<T, _>(SiftBatch { queries, panels, count, panel, sift });
    }
}

struct SiftBatch<'a, T: Real, F> {
    queries: &'a QueryBatch<T>,
    panels: RowPanels<'a, T>,
    count: usize,
    /// Entry by entry, those of a tile's rows side by side.
    panel: AlignedVec<T>,
    sift: &'a mut F,
}

impl<T: Real, F: Sift<T>> Task<T> for SiftBatch<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(mut self, simd: S) {
        let tile_rows = VECTORS * S::LANES;
        assert!(tile_rows <= MAX_ROWS, "a tile has room for two vectors");
        let width = self.queries.width;
        let mut offsets = [T::ZERO; MAX_ROWS];
        for first in (0..self.count).step_by(tile_rows) {
            self.pack(first, tile_rows, &mut offsets);
            for (tile, entries) in
                self.queries.entries.chunks_exact(QUERIES * width.max(1)).enumerate()
            {
                // SAFETY: the panel holds `width` times `tile_rows` entries, the tile `width`
                // times `QUERIES`, and there are `MAX_ROWS >= tile_rows` offsets.
                let sums = unsafe {
                    tile_sums::<T, S>(
                        simd,
                        entries.as_ptr(),
                        self.panel.as_ptr(),
                        offsets.as_ptr(),
                        width,
                    )
                };
                let known = QUERIES.min(self.queries.count - tile * QUERIES);
                for (i, sums) in sums.iter().enumerate().take(known) {
                    let query = tile * QUERIES + i;
                    for (v, &sum) in sums.iter().enumerate() {
                        if simd.any_above(sum, simd.splat(self.sift.floor(query))) {
                            self.look(simd, query, first + v * S::LANES, sum);
                        }
                    }
                }
            }
        }
    }
}

impl<T: Real, F: Sift<T>> SiftBatch<'_, T, F> {
    /// Turns a tile of rows so that one entry of all of them makes whole vectors. Rows that are not
    /// there get a score below every floor.
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
    fn look<S: Simd<T>>(&mut self, simd: S, query: usize, row: usize, scores: S::Vector) {
        let mut lanes = [T::ZERO; MAX_ROWS];
        // SAFETY: there is room for two vectors.
        unsafe { simd.store(lanes.as_mut_ptr(), scores) };
        for (lane, &score) in lanes[..S::LANES].iter().enumerate() {
            if score > self.sift.floor(query) {
                self.sift.see(query, row + lane, score);
            }
        }
    }
}

/// The scores of a tile's rows for a tile's queries.
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
    // SAFETY: the caller's promise.
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
