//! Vectors as arrays, for machines without a specialised version.

use super::{Simd, Task};

/// The portable baseline. The arrays are 128 bits long, the register width of the baselines of both
/// x86-64 and ARM64.
#[derive(Clone, Copy)]
pub(crate) struct Plain;

macro_rules! plain {
    ($t:ty, $lanes:literal) => {
        impl Simd<$t> for Plain {
            type Vector = [$t; $lanes];
            const LANES: usize = $lanes;
            const REGISTERS: usize = 16;
            type Half = Self::Vector;
            const HALF_LANES: usize = $lanes;

            #[inline(always)]
            fn splat(self, entry: $t) -> Self::Vector {
                [entry; $lanes]
            }
            #[inline(always)]
            unsafe fn load(self, from: *const $t) -> Self::Vector {
                // SAFETY: guaranteed by the caller.
                unsafe { from.cast::<Self::Vector>().read_unaligned() }
            }
            #[inline(always)]
            unsafe fn load_f32(self, from: *const f32) -> Self::Vector {
                // SAFETY: guaranteed by the caller.
                let entries = unsafe { from.cast::<[f32; $lanes]>().read_unaligned() };
                entries.map(<$t>::from)
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $t, v: Self::Vector) {
                // SAFETY: guaranteed by the caller.
                unsafe { to.cast::<Self::Vector>().write_unaligned(v) }
            }
            #[inline(always)]
            fn splat_half(self, entry: $t) -> Self::Half {
                Simd::<$t>::splat(self, entry)
            }
            #[inline(always)]
            unsafe fn load_half(self, from: *const $t) -> Self::Half {
                // SAFETY: guaranteed by the caller.
                unsafe { Simd::<$t>::load(self, from) }
            }
            #[inline(always)]
            unsafe fn store_half(self, to: *mut $t, v: Self::Half) {
                // SAFETY: guaranteed by the caller.
                unsafe { Simd::<$t>::store(self, to, v) }
            }
            #[inline(always)]
            fn mul_add_half(self, a: Self::Half, b: Self::Half, c: Self::Half) -> Self::Half {
                Simd::<$t>::mul_add(self, a, b, c)
            }
            #[inline(always)]
            fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
                std::array::from_fn(|l| a[l] + b[l])
            }
            #[inline(always)]
            fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
                std::array::from_fn(|l| a[l] * b[l])
            }
            // Not fused: without hardware support, a fused operation is a slow library call.
            #[inline(always)]
            fn mul_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
                std::array::from_fn(|l| a[l] * b[l] + c[l])
            }
            #[inline(always)]
            fn sub_mul(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
                std::array::from_fn(|l| c[l] - a[l] * b[l])
            }
            #[inline(always)]
            fn sum_each(self, v: [Self::Vector; 4]) -> [$t; 4] {
                std::array::from_fn(|i| v[i].iter().sum())
            }
            #[inline(always)]
            fn any_above(self, v: Self::Vector, threshold: Self::Vector) -> bool {
                // No short-circuit, so that the comparison can be vectorised.
                v.iter().zip(&threshold).fold(false, |any, (v, threshold)| any | (v > threshold))
            }
            #[inline]
            fn run<K: Task<$t>>(self, task: K) -> K::Output {
                task.run(self)
            }
        }
    };
}

plain!(f32, 4);
plain!(f64, 2);
