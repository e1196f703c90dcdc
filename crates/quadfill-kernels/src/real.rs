//! The two precisions a fit can run in.

use std::fmt::{Debug, Display};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::cells::CellSums;
use crate::simd::Dispatch;

/// The floating-point types `f32` and `f64`; no other type can implement this trait.
pub trait Real:
    Copy
    + Debug
    + Default
    + Display
    + PartialEq
    + PartialOrd
    + Send
    + Sync
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + SubAssign
    + Mul<Output = Self>
    + MulAssign
    + Div<Output = Self>
    + Neg<Output = Self>
    + Sum
    + Dispatch
    + CellSums
    + 'static
{
    /// Number of entries per cache line of 64 bytes; rows of factor matrices are padded to a
    /// multiple of it.
    const LINE: usize;
    /// The name of the type: `f32` or `f64`.
    const NAME: &'static str;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The machine epsilon: the distance from 1 to the next larger number.
    const EPSILON: f64;
    /// Rounds to this precision.
    fn from_f64(value: f64) -> Self;
    /// Converts to `f64` without loss.
    fn to_f64(self) -> f64;
    /// `self * a + b`.
    #[must_use]
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// The square root.
    #[must_use]
    fn sqrt(self) -> Self;
    /// The number with these bytes, lowest first.
    ///
    /// # Panics
    /// If there are fewer bytes than a number has.
    fn from_le_bytes(bytes: &[u8]) -> Self;
    /// Appends the bytes of the number, lowest first.
    fn append_le_bytes(self, bytes: &mut Vec<u8>);
    /// Whether the number is neither infinite nor NaN.
    fn is_finite(self) -> bool;
}

macro_rules! real {
    ($t:ident, $line:literal) => {
        impl Real for $t {
            const LINE: usize = $line;
            const NAME: &'static str = stringify!($t);
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const EPSILON: f64 = $t::EPSILON as f64;
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $t
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                $t::mul_add(self, a, b)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $t::sqrt(self)
            }
            #[inline(always)]
            fn from_le_bytes(bytes: &[u8]) -> Self {
                let bytes = bytes.first_chunk().expect("the bytes of a number");
                $t::from_le_bytes(*bytes)
            }
            #[inline(always)]
            fn append_le_bytes(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                $t::is_finite(self)
            }
        }
    };
}

real!(f32, 16);
real!(f64, 8);
