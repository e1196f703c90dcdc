//! Products of 8-bit integers, four of which the machine multiplies and adds in one lane.

use super::screen::{BLOCK_ROWS, Candidate, ENTRIES, IntegerProducts, LANES, QUERIES, Scale};
use crate::Backend;

/// Proof that the machine has the instructions of [`Vnni::candidates_into`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Vnni {
    _detected: (),
}

#[expect(clippy::unused_self, reason = "it is the proof that the instructions exist")]
impl Vnni {
    /// The instructions, if the machine has them and `backend` may use them.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn detect(backend: Backend) -> Option<Self> {
        let is_available =
            backend.isa() == crate::Isa::Avx512 && is_x86_feature_detected!("avx512vnni");
        is_available.then_some(Self { _detected: () })
    }

    /// No other architecture has them.
    #[cfg(not(target_arch = "x86_64"))]
    pub(super) fn detect(_: Backend) -> Option<Self> {
        None
    }

    /// The largest absolute value; not finite if one of them is not.
    ///
    /// # Panics
    /// Unless the entries are a multiple of `LANES`.
    pub(super) fn largest(self, entries: &[f32]) -> f32 {
        let (vectors, rest) = entries.as_chunks();
        assert!(rest.is_empty(), "whole vectors");
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `self` proves that the machine has the instructions.
        unsafe {
            avx512::largest(vectors)
        }
        #[cfg(not(target_arch = "x86_64"))]
        unreachable!("there is no such proof")
    }

    /// Writes the entries in units of the scale, rounded and with the bias. Returns the sums of the squares of the
    /// entries and of the rounding errors.
    ///
    /// # Panics
    /// Unless there are as many entries as integers, a multiple of `LANES`.
    pub(super) fn round(self, entries: &[f32], scale: Scale, integers: &mut [u8]) -> [f32; 2] {
        let (entries, rest) = entries.as_chunks::<LANES>();
        let (integers, other_rest) = integers.as_chunks_mut::<LANES>();
        assert!(rest.is_empty() && other_rest.is_empty(), "whole vectors");
        assert_eq!(entries.len(), integers.len());
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `self` proves that the machine has the instructions.
        unsafe {
            avx512::round(entries, scale, integers)
        }
        #[cfg(not(target_arch = "x86_64"))]
        unreachable!("there is no such proof")
    }

    /// Appends the candidates of a block, query by query in tiles, rows ascending for each query.
    ///
    /// # Panics
    /// If the lengths of the slices do not fit together.
    pub(super) fn candidates_into(self, products: &IntegerProducts<'_>, out: &mut Vec<Candidate>) {
        let IntegerProducts { rows, queries, starts, factors, thresholds, .. } = products;
        let groups = rows.len() / (BLOCK_ROWS * ENTRIES);
        assert_eq!(rows.len(), groups * BLOCK_ROWS * ENTRIES, "whole groups of entries");
        assert!(starts.len().is_multiple_of(QUERIES), "whole tiles of queries");
        assert_eq!(queries.len(), groups * starts.len(), "as many groups of entries as rows have");
        assert_eq!((factors.len(), thresholds.len()), (starts.len(), starts.len()));
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `self` proves that the machine has the instructions, and the lengths were checked.
        unsafe {
            avx512::candidates_into(products, groups, out);
        }
        #[cfg(not(target_arch = "x86_64"))]
        unreachable!("there is no such proof: {out:?}");
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::{
        __m512i, _CMP_GT_OQ, _mm_storeu_si128, _mm512_abs_ps, _mm512_add_epi32,
        _mm512_castps_si512, _mm512_cmp_ps_mask, _mm512_cvtepi32_epi8, _mm512_cvtepi32_ps,
        _mm512_cvtps_epi32, _mm512_dpbusd_epi32, _mm512_fmadd_ps, _mm512_fnmadd_ps,
        _mm512_loadu_ps, _mm512_loadu_si512, _mm512_max_epu32, _mm512_mul_ps, _mm512_reduce_add_ps,
        _mm512_reduce_max_epu32, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps,
        _mm512_setzero_si512,
    };

    use crate::scan::screen::{
        BIAS, BLOCK_ROWS, Candidate, IntegerProducts, LANES, QUERIES, Scale,
    };

    const VECTORS: usize = BLOCK_ROWS / LANES;

    #[target_feature(enable = "avx512f,avx512vnni")]
    pub(super) fn largest(vectors: &[[f32; LANES]]) -> f32 {
        let mut most = _mm512_setzero_si512();
        for vector in vectors {
            // SAFETY: the vector is an array of as many entries as are read.
            let vector = unsafe { _mm512_loadu_ps(vector.as_ptr()) };
            // The bits of positive floats are in the order of their values, and those of NaN above all others.
            most = _mm512_max_epu32(most, _mm512_castps_si512(_mm512_abs_ps(vector)));
        }
        f32::from_bits(_mm512_reduce_max_epu32(most))
    }

    #[target_feature(enable = "avx512f,avx512vnni")]
    pub(super) fn round(
        entries: &[[f32; LANES]],
        scale: Scale,
        integers: &mut [[u8; LANES]],
    ) -> [f32; 2] {
        let (unit, inverse) = (_mm512_set1_ps(scale.unit), _mm512_set1_ps(scale.inverse));
        let (mut squares, mut squared_errors) = (_mm512_setzero_ps(), _mm512_setzero_ps());
        for (entries, integers) in entries.iter().zip(integers) {
            // SAFETY: the entries are an array of as many as are read.
            let entries = unsafe { _mm512_loadu_ps(entries.as_ptr()) };
            let rounded = _mm512_cvtps_epi32(_mm512_mul_ps(entries, inverse));
            let errors = _mm512_fnmadd_ps(_mm512_cvtepi32_ps(rounded), unit, entries);
            squares = _mm512_fmadd_ps(entries, entries, squares);
            squared_errors = _mm512_fmadd_ps(errors, errors, squared_errors);
            let biased = _mm512_add_epi32(rounded, _mm512_set1_epi32(BIAS));
            // SAFETY: the integers are an array of as many bytes as are written.
            unsafe {
                let integers = integers.as_mut_ptr().cast();
                _mm_storeu_si128(integers, _mm512_cvtepi32_epi8(biased));
            }
        }
        [_mm512_reduce_add_ps(squares), _mm512_reduce_add_ps(squared_errors)]
    }

    /// # Safety
    /// The machine has AVX-512 VNNI. With `n` queries, a multiple of `QUERIES`, there are
    /// `groups * VECTORS` vectors of rows, `groups * n` groups of entries of queries, and `n` entries of
    /// all other slices.
    #[target_feature(enable = "avx512f,avx512vnni")]
    pub(super) unsafe fn candidates_into(
        products: &IntegerProducts<'_>,
        groups: usize,
        out: &mut Vec<Candidate>,
    ) {
        let offsets = products.offsets.as_ptr();
        // SAFETY: there are `BLOCK_ROWS` offsets.
        let offsets: [_; VECTORS] =
            std::array::from_fn(|v| unsafe { _mm512_loadu_ps(offsets.add(v * LANES)) });
        for first in (0..products.starts.len()).step_by(QUERIES) {
            // SAFETY: guaranteed by the caller.
            let sums = unsafe { tile_sums(products, groups, first) };
            for (i, sums) in sums.iter().enumerate() {
                let factor = _mm512_set1_ps(products.factors[first + i]);
                let threshold = _mm512_set1_ps(products.thresholds[first + i]);
                let mut above = 0;
                for v in 0..VECTORS {
                    let scores = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[v]), factor, offsets[v]);
                    let mask = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(scores, threshold);
                    above |= u32::from(mask) << (v * LANES);
                }
                while above != 0 {
                    let row = above.trailing_zeros();
                    out.push(Candidate { query: (first + i) as u32, row });
                    above &= above - 1;
                }
            }
        }
    }

    /// The inner products of the rows with the queries from `first` on.
    ///
    /// # Safety
    /// As above, and there are `QUERIES` queries from `first` on.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vnni")]
    unsafe fn tile_sums(
        products: &IntegerProducts<'_>,
        groups: usize,
        first: usize,
    ) -> [[__m512i; VECTORS]; QUERIES] {
        let rows: *const __m512i = products.rows.as_ptr().cast();
        // SAFETY: guaranteed by the caller; loads need not be aligned.
        unsafe {
            let queries = products.queries.as_ptr().add(first * groups);
            let starts = products.starts.as_ptr().add(first);
            let mut sums: [[__m512i; VECTORS]; QUERIES] =
                std::array::from_fn(|i| [_mm512_set1_epi32(*starts.add(i)); VECTORS]);
            for group in 0..groups {
                let rows: [__m512i; VECTORS] =
                    std::array::from_fn(|v| _mm512_loadu_si512(rows.add(group * VECTORS + v)));
                for (i, sums) in sums.iter_mut().enumerate() {
                    let entries = _mm512_set1_epi32(*queries.add(group * QUERIES + i));
                    for v in 0..VECTORS {
                        sums[v] = _mm512_dpbusd_epi32(sums[v], rows[v], entries);
                    }
                }
            }
            sums
        }
    }
}
