//! Buffers that begin on a cache line.

use std::fmt;
use std::ops::{Deref, DerefMut};

use memmap2::{MmapMut, MmapOptions};

use crate::Real;

/// One cache line; the allocation is a vector of these, which is what aligns it.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// A buffer of fixed length whose first entry is on a 64-byte boundary.
///
/// Rows of factor matrices are padded to whole cache lines; in an aligned buffer no row then
/// straddles more lines than it has to.
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

/// Buffers from this size on, in bytes, ask for large pages: their rows are picked in no order, and
/// a processor remembers where some thousand pages are, 8 MB of small ones.
const LARGE: usize = 8 << 20;

enum Memory {
    Lines(Vec<Line>),
    Pages(MmapMut),
}

impl Memory {
    /// Zeros: so many cache lines.
    fn zeros(lines: usize) -> Self {
        let bytes = lines * size_of::<Line>();
        let large = if bytes >= LARGE { pages(bytes) } else { None };
        large.map_or_else(|| Self::Lines(vec![Line([0; 64]); lines]), Self::Pages)
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

/// Memory of its own, in large pages where the system has them to give.
fn pages(bytes: usize) -> Option<MmapMut> {
    let pages = MmapOptions::new().len(bytes).map_anon().ok()?;
    // Where large pages are not to be had, small ones do.
    #[cfg(target_os = "linux")]
    let _ = pages.advise(memmap2::Advice::HugePage);
    Some(pages)
}

impl<T: Real> AlignedVec<T> {
    /// `len` zeros.
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
        // SAFETY: the memory holds at least `len` entries of `T` (`LINE` of them to a cache line),
        // begins on a cache line or page, all its bytes are initialised, and `Real` is f32 or f64
        // only, for which every bit pattern is a value.
        unsafe { std::slice::from_raw_parts(self.memory.start().cast(), self.len) }
    }
}

impl<T: Real> DerefMut for AlignedVec<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and the borrow of `self` is exclusive.
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
        for len in [0, 1, 7, 8, 9, 100, LARGE / 8 - 1, LARGE / 8 + 1] {
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
