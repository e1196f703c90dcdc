//! Buffers that begin on a cache line.

use std::fmt;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};

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
///
/// Long ones ask the system for large pages: rows are picked all over a factor matrix, and with
/// pages of 4 KB nearly every pick of a large one would have to look its page up.
pub struct AlignedVec<T: Real> {
    lines: Vec<Line>,
    len: usize,
    element: std::marker::PhantomData<T>,
}

impl<T: Real> AlignedVec<T> {
    /// `len` zeros.
    pub fn zeros(len: usize) -> Self {
        let count = len.div_ceil(T::LINE);
        let mut lines = Vec::with_capacity(count);
        ask_for_large_pages(lines.spare_capacity_mut());
        lines.resize(count, Line([0; 64]));
        Self { lines, len, element: std::marker::PhantomData }
    }

    /// A copy of `entries`.
    pub fn from_slice(entries: &[T]) -> Self {
        let mut copy = Self::zeros(entries.len());
        copy.copy_from_slice(entries);
        copy
    }
}

/// The size of a large page.
#[cfg(target_os = "linux")]
const LARGE_PAGE: usize = 2 << 20;

/// Has the whole large pages in `memory` backed as such, if the system likes to.
#[cfg(target_os = "linux")]
fn ask_for_large_pages(memory: &mut [MaybeUninit<Line>]) {
    let address = memory.as_mut_ptr() as usize;
    let first = address.next_multiple_of(LARGE_PAGE) - address;
    let Some(rest) = size_of_val(memory).checked_sub(first) else {
        return;
    };
    let length = rest - rest % LARGE_PAGE;
    if length > 0 {
        // SAFETY: the range lies within `memory`, and the advice changes no contents. It may fail
        // where there are no large pages, and then all is as before.
        unsafe {
            let start = memory.as_mut_ptr().cast::<u8>().add(first);
            libc::madvise(start.cast(), length, libc::MADV_HUGEPAGE);
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn ask_for_large_pages(_: &mut [MaybeUninit<Line>]) {}

impl<T: Real> Clone for AlignedVec<T> {
    fn clone(&self) -> Self {
        Self::from_slice(self)
    }
}

impl<T: Real> Deref for AlignedVec<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the lines hold at least `len` entries of `T` (`LINE` of them each), all bytes
        // are initialised, and `Real` is f32 or f64 only, for which every bit pattern is a value.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl<T: Real> DerefMut for AlignedVec<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and the borrow of `self` is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
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
        // The last one has whole large pages.
        for len in [0, 1, 7, 8, 9, 100, 700_001] {
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
