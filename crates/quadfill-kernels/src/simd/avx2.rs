//! AVX2 vectors.

use std::arch::x86_64::{
    __m256, __m256d, _CMP_GT_OQ, _mm_add_ps, _mm_loadu_ps, _mm_storeu_ps, _mm256_add_pd,
    _mm256_add_ps, _mm256_castps256_ps128, _mm256_cmp_pd, _mm256_cmp_ps, _mm256_cvtps_pd,
    _mm256_extractf128_ps, _mm256_fmadd_pd, _mm256_fmadd_ps, _mm256_fnmadd_pd, _mm256_fnmadd_ps,
    _mm256_hadd_pd, _mm256_hadd_ps, _mm256_loadu_pd, _mm256_loadu_ps, _mm256_movemask_pd,
    _mm256_movemask_ps, _mm256_mul_pd, _mm256_mul_ps, _mm256_permute2f128_pd, _mm256_set1_pd,
    _mm256_set1_ps, _mm256_storeu_pd, _mm256_storeu_ps,
};

use super::{Simd, Task};

/// Proof that the machine supports AVX2.
#[derive(Clone, Copy)]
pub(crate) struct Avx2 {
    _assumed: (),
}

impl Avx2 {
    /// # Safety
    /// The machine supports the target features enabled in `run` below.
    #[inline(always)]
    pub(crate) unsafe fn assume() -> Self {
        Self { _assumed: () }
    }
}

macro_rules! registers {
    ($t:ty, $vector:ty, $lanes:literal, $splat:ident, $load:ident, $load_f32:ident, $store:ident, $add:ident, $mul:ident,
     $mul_add:ident, $sub_mul:ident, $sum_each:ident, $any_above:ident) => {
        impl Simd<$t> for Avx2 {
            type Vector = $vector;
            const LANES: usize = $lanes;
            const REGISTERS: usize = 16;
            type Half = Self::Vector;
            const HALF_LANES: usize = $lanes;

            #[inline(always)]
            fn splat(self, entry: $t) -> Self::Vector {
                // SAFETY: `self` proves that the machine supports the instruction.
                unsafe { $splat(entry) }
            }
            #[inline(always)]
            unsafe fn load(self, from: *const $t) -> Self::Vector {
                // SAFETY: as above, and guaranteed by the caller.
                unsafe { $load(from) }
            }
            #[inline(always)]
            unsafe fn load_f32(self, from: *const f32) -> Self::Vector {
                // SAFETY: as above, and guaranteed by the caller.
                unsafe { $load_f32(from) }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $t, v: Self::Vector) {
                // SAFETY: as above, and guaranteed by the caller.
                unsafe { $store(to, v) }
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
                // SAFETY: `self` proves that the machine supports the instruction.
                unsafe { $add(a, b) }
            }
            #[inline(always)]
            fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
                // SAFETY: as above.
                unsafe { $mul(a, b) }
            }
            #[inline(always)]
            fn mul_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
                // SAFETY: as above.
                unsafe { $mul_add(a, b, c) }
            }
            #[inline(always)]
            fn sub_mul(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
                // SAFETY: as above.
                unsafe { $sub_mul(a, b, c) }
            }
            #[inline(always)]
            fn sum_each(self, v: [Self::Vector; 4]) -> [$t; 4] {
                // SAFETY: as above.
                unsafe { $sum_each(v) }
            }
            #[inline(always)]
            fn any_above(self, v: Self::Vector, threshold: Self::Vector) -> bool {
                // SAFETY: as above.
                unsafe { $any_above(v, threshold) }
            }
            #[inline(always)]
            fn run<K: Task<$t>>(self, task: K) -> K::Output {
                #[target_feature(enable = "avx2,fma")]
                fn enter<K: Task<$t>>(proof: Avx2, task: K) -> K::Output {
                    task.run(proof)
                }
                // Otherwise the compiler inlines all loops into one function, where they compete
                // for registers; `#[inline(never)]` has no effect on functions with their own
                // target features.
                let enter: unsafe fn(Avx2, K) -> K::Output = std::hint::black_box(enter::<K>);
                // SAFETY: as above.
                unsafe { enter(self, task) }
            }
        }
    };
}

registers!(
    f32,
    __m256,
    8,
    _mm256_set1_ps,
    _mm256_loadu_ps,
    _mm256_loadu_ps,
    _mm256_storeu_ps,
    _mm256_add_ps,
    _mm256_mul_ps,
    _mm256_fmadd_ps,
    _mm256_fnmadd_ps,
    sum_each_f32,
    any_above_f32
);
registers!(
    f64,
    __m256d,
    4,
    _mm256_set1_pd,
    _mm256_loadu_pd,
    load_wide,
    _mm256_storeu_pd,
    _mm256_add_pd,
    _mm256_mul_pd,
    _mm256_fmadd_pd,
    _mm256_fnmadd_pd,
    sum_each_f64,
    any_above_f64
);

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn sum_each_f32([a, b, c, d]: [__m256; 4]) -> [f32; 4] {
    let pairs = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
    let sums = _mm_add_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps::<1>(pairs));
    let mut out = [0.0; 4];
    // SAFETY: `out` holds the four entries.
    unsafe { _mm_storeu_ps(out.as_mut_ptr(), sums) };
    out
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn sum_each_f64([a, b, c, d]: [__m256d; 4]) -> [f64; 4] {
    let (ab, cd) = (_mm256_hadd_pd(a, b), _mm256_hadd_pd(c, d));
    let low = _mm256_permute2f128_pd::<0x20>(ab, cd);
    let high = _mm256_permute2f128_pd::<0x31>(ab, cd);
    let mut out = [0.0; 4];
    // SAFETY: `out` holds the four entries.
    unsafe { _mm256_storeu_pd(out.as_mut_ptr(), _mm256_add_pd(low, high)) };
    out
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn any_above_f32(v: __m256, threshold: __m256) -> bool {
    _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GT_OQ>(v, threshold)) != 0
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn any_above_f64(v: __m256d, threshold: __m256d) -> bool {
    _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_GT_OQ>(v, threshold)) != 0
}

/// # Safety
/// `from` is valid for reading as many entries as the vector has.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn load_wide(from: *const f32) -> __m256d {
    // SAFETY: guaranteed by the caller.
    _mm256_cvtps_pd(unsafe { _mm_loadu_ps(from) })
}
