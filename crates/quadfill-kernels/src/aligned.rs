//! Buffers aligned to cache lines.

use std::fmt;
use std::ops::{Deref, DerefMut};

use memmap2::{MmapMut, MmapOptions};

use crate::Real;

/// One cache line. Buffers are allocated as vectors of lines, which aligns them.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// A fixed-length buffer aligned to 64 bytes.
///
/// Rows of factor matrices are padded to whole cache lines, so in an aligned buffer no row spans
/// more lines than necessary.
///
/// ```
/// use quadfill_kernels::AlignedVec;
///
/// let mut rows = AlignedVec::<f32>::zeros(32);
/// rows[3] = 1.5;
/// assert_eq!(rows.as_ptr() as usize % 64, 0);
/// assert_eq!(rows.iter().sum::<f32>(), 1.5);
/// ```
pub struct AlignedVec<T: Real> {
    memory: Memory,
    len: usize,
    element: std::marker::PhantomData<T>,
}

/// Buffers of at least this many bytes request huge pages. Their rows are accessed at random, and
/// the TLB covers only about two thousand small pages, 8 MB.
const HUGE_PAGE_THRESHOLD: usize = 8 << 20;

enum Memory {
    Lines(Vec<Line>),
    Pages(MmapMut),
}

impl Memory {
    /// Allocates `lines` zeroed cache lines.
    fn zeros(lines: usize) -> Self {
        let bytes = lines * size_of::<Line>();
        let huge = if bytes >= HUGE_PAGE_THRESHOLD { map_huge_pages(bytes) } else { None };
        huge.map_or_else(|| Self::Lines(vec![Line([0; 64]); lines]), Self::Pages)
    }

    fn start(&self) -> *const u8 {
        match self {
            Self::Lines(lines) => lines.as_ptr().cast(),
            Self::Pages(pages) => pages.as_ptr(),
        }
    }

    fn start_mut(&mut self) -> *mut u8 {
        match self {
            Self::Lines(lines) => lines.as_mut_ptr().cast(),
            Self::Pages(pages) => pages.as_mut_ptr(),
        }
    }
}

/// Maps anonymous memory, in huge pages where the system provides them.
fn map_huge_pages(bytes: usize) -> Option<MmapMut> {
    let pages = MmapOptions::new().len(bytes).map_anon().ok()?;
    // Only a hint: small pages are used where huge pages are not available.
    #[cfg(target_os = "linux")]
    let _ = pages.advise(memmap2::Advice::HugePage);
    Some(pages)
}

impl<T: Real> AlignedVec<T> {
    /// A buffer of `len` zeros.
    pub fn zeros(len: usize) -> Self {
        Self {
            memory: Memory::zeros(len.div_ceil(T::LINE)),
            len,
            element: std::marker::PhantomData,
        }
    }

    /// A copy of `entries`.
    pub fn from_slice(entries: &[T]) -> Self {
        let mut copy = Self::zeros(entries.len());
        copy.copy_from_slice(entries);
        copy
    }
}

impl<T: Real> Deref for AlignedVec<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the memory holds at least `len` entries of `T` (`LINE` per cache line), is
        // aligned to a cache line or page and fully initialised, and `Real` is only f32 or f64, for
        // which every bit pattern is valid.
        unsafe { std::slice::from_raw_parts(self.memory.start().cast(), self.len) }
    }
}

impl<T: Real> DerefMut for AlignedVec<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.memory.start_mut().cast(), self.len) }
    }
}

impl<T: Real> Clone for AlignedVec<T> {
    fn clone(&self) -> Self {
        Self::from_slice(self)
    }
}

impl<T: Real> Default for AlignedVec<T> {
    fn default() -> Self {
        Self::zeros(0)
    }
}

impl<T: Real> PartialEq for AlignedVec<T> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl<T: Real> fmt::Debug for AlignedVec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_aligned_zeroed_and_comparable() {
        for len in [0, 1, 7, 8, 9, 100, HUGE_PAGE_THRESHOLD / 8 - 1, HUGE_PAGE_THRESHOLD / 8 + 1] {
            let zeros = AlignedVec::<f64>::zeros(len);
            assert_eq!(zeros.as_ptr() as usize % 64, 0);
            assert_eq!(&zeros[..], &vec![0.0; len][..]);
            let mut copy = AlignedVec::from_slice(&zeros);
            assert_eq!(copy, zeros);
            if let Some(last) = copy.last_mut() {
                *last = 2.0;
                assert_ne!(copy, zeros);
                assert_eq!(copy.clone(), copy);
            }
        }
        assert_eq!(format!("{:?}", AlignedVec::from_slice(&[1.0f32, 2.0])), "[1.0, 2.0]");
    }
}
