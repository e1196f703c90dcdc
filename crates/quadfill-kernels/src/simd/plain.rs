//! Vectors as arrays, for machines without a version of their own.

use super::{Simd, Task};

/// What every machine has. The arrays are 128 bits long, as wide as the registers of the
/// baseline of both x86-64 and ARM64.
#[derive(Clone, Copy)]
pub(crate) struct Plain;

macro_rules! plain {
    ($t:ty, $lanes:literal) => {
        impl Simd<$t> for Plain {
            type Vector = [$t; $lanes];
            const LANES: usize = $lanes;
            const REGISTERS: usize = 16;

            #[inline(always)]
            fn splat(self, entry: $t) -> Self::Vector {
                [entry; $lanes]
            }
            #[inline(always)]
            unsafe fn load(self, from: *const $t) -> Self::Vector {
                // SAFETY: the caller's promise.
                unsafe { from.cast::<Self::Vector>().read_unaligned() }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $t, v: Self::Vector) {
                // SAFETY: the caller's promise.
                unsafe { to.cast::<Self::Vector>().write_unaligned(v) }
            }
            #[inline(always)]
            fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
                std::array::from_fn(|l| a[l] + b[l])
            }
            #[inline(always)]
            fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
                std::array::from_fn(|l| a[l] * b[l])
            }
            // Not fused: without the instruction a fused operation is a slow library call.
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
            fn any_above(self, v: Self::Vector, floor: Self::Vector) -> bool {
                // Without a short cut, so that lanes are compared side by side.
                v.iter().zip(&floor).fold(false, |any, (v, floor)| any | (v > floor))
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
