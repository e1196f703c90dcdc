//! Buffers that begin on a cache line.

use std::fmt;
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
#[derive(Clone)]
pub struct AlignedVec<T: Real> {
    lines: Vec<Line>,
    len: usize,
    element: std::marker::PhantomData<T>,
}

impl<T: Real> AlignedVec<T> {
    /// `len` zeros.
    pub fn zeros(len: usize) -> Self {
        Self {
            lines: vec![Line([0; 64]); len.div_ceil(T::LINE)],
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
        for len in [0, 1, 7, 8, 9, 100] {
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
