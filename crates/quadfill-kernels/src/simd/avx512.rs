//! AVX-512 vectors.

use std::arch::x86_64::{
    __m256, __m256d, __m512, __m512d, _CMP_GT_OQ, _mm256_add_pd, _mm256_add_ps, _mm256_castpd_ps,
    _mm256_loadu_ps, _mm512_add_pd, _mm512_add_ps, _mm512_castpd512_pd256, _mm512_castps_pd,
    _mm512_castps512_ps256, _mm512_cmp_pd_mask, _mm512_cmp_ps_mask, _mm512_cvtps_pd,
    _mm512_extractf64x4_pd, _mm512_fmadd_pd, _mm512_fmadd_ps, _mm512_fnmadd_pd, _mm512_fnmadd_ps,
    _mm512_loadu_pd, _mm512_loadu_ps, _mm512_mul_pd, _mm512_mul_ps, _mm512_set1_pd, _mm512_set1_ps,
    _mm512_storeu_pd, _mm512_storeu_ps,
};

use super::{Avx2, Simd, Task, avx2};

/// Proof that the machine supports AVX-512.
#[derive(Clone, Copy)]
pub(crate) struct Avx512 {
    _assumed: (),
}

impl Avx512 {
    /// # Safety
    /// The machine supports the target features enabled in `run` below.
    #[inline(always)]
    pub(crate) unsafe fn assume() -> Self {
        Self { _assumed: () }
    }
}

/// The instructions on vectors of half the length.
impl From<Avx512> for Avx2 {
    #[inline(always)]
    fn from(_: Avx512) -> Self {
        // SAFETY: every machine with AVX-512 has AVX2 and FMA, and `run` below enables them.
        unsafe { Self::assume() }
    }
}

macro_rules! registers {
    ($t:ty, $vector:ty, $lanes:literal, $splat:ident, $load:ident, $load_f32:ident, $store:ident, $add:ident, $mul:ident,
     $mul_add:ident, $sub_mul:ident, $sum_each:ident, $any_above:ident) => {
        impl Simd<$t> for Avx512 {
            type Vector = $vector;
            const LANES: usize = $lanes;
            const REGISTERS: usize = 32;
            type Half = <Avx2 as Simd<$t>>::Vector;
            const HALF_LANES: usize = $lanes / 2;

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
                Simd::<$t>::splat(Avx2::from(self), entry)
            }
            #[inline(always)]
            unsafe fn load_half(self, from: *const $t) -> Self::Half {
                // SAFETY: guaranteed by the caller.
                unsafe { Simd::<$t>::load(Avx2::from(self), from) }
            }
            #[inline(always)]
            unsafe fn store_half(self, to: *mut $t, v: Self::Half) {
                // SAFETY: guaranteed by the caller.
                unsafe { Simd::<$t>::store(Avx2::from(self), to, v) }
            }
            #[inline(always)]
            fn mul_add_half(self, a: Self::Half, b: Self::Half, c: Self::Half) -> Self::Half {
                Simd::<$t>::mul_add(Avx2::from(self), a, b, c)
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
                #[target_feature(enable = "avx512f,avx2,fma")]
                fn enter<K: Task<$t>>(proof: Avx512, task: K) -> K::Output {
                    task.run(proof)
                }
                // Otherwise the compiler inlines all loops into one function, where they compete
                // for registers; `#[inline(never)]` has no effect on functions with their own
                // target features.
                let enter: unsafe fn(Avx512, K) -> K::Output = std::hint::black_box(enter::<K>);
                // SAFETY: as above.
                unsafe { enter(self, task) }
            }
        }
    };
}

registers!(
    f32,
    __m512,
    16,
    _mm512_set1_ps,
    _mm512_loadu_ps,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_add_ps,
    _mm512_mul_ps,
    _mm512_fmadd_ps,
    _mm512_fnmadd_ps,
    sum_each_f32,
    any_above_f32
);
registers!(
    f64,
    __m512d,
    8,
    _mm512_set1_pd,
    _mm512_loadu_pd,
    load_wide,
    _mm512_storeu_pd,
    _mm512_add_pd,
    _mm512_mul_pd,
    _mm512_fmadd_pd,
    _mm512_fnmadd_pd,
    sum_each_f64,
    any_above_f64
);

#[inline]
#[target_feature(enable = "avx512f,avx2,fma")]
fn sum_each_f32([a, b, c, d]: [__m512; 4]) -> [f32; 4] {
    avx2::sum_each_f32([fold_f32(a), fold_f32(b), fold_f32(c), fold_f32(d)])
}

#[inline]
#[target_feature(enable = "avx512f,avx2,fma")]
fn sum_each_f64([a, b, c, d]: [__m512d; 4]) -> [f64; 4] {
    avx2::sum_each_f64([fold_f64(a), fold_f64(b), fold_f64(c), fold_f64(d)])
}

/// Adds the upper half to the lower half.
#[inline]
#[target_feature(enable = "avx512f,avx2,fma")]
fn fold_f32(v: __m512) -> __m256 {
    let high = _mm512_extractf64x4_pd::<1>(_mm512_castps_pd(v));
    _mm256_add_ps(_mm512_castps512_ps256(v), _mm256_castpd_ps(high))
}

/// Adds the upper half to the lower half.
#[inline]
#[target_feature(enable = "avx512f,avx2,fma")]
fn fold_f64(v: __m512d) -> __m256d {
    _mm256_add_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd::<1>(v))
}

#[inline]
#[target_feature(enable = "avx512f,avx2,fma")]
fn any_above_f32(v: __m512, threshold: __m512) -> bool {
    _mm512_cmp_ps_mask::<_CMP_GT_OQ>(v, threshold) != 0
}

#[inline]
#[target_feature(enable = "avx512f,avx2,fma")]
fn any_above_f64(v: __m512d, threshold: __m512d) -> bool {
    _mm512_cmp_pd_mask::<_CMP_GT_OQ>(v, threshold) != 0
}

/// # Safety
/// `from` is valid for reading as many entries as the vector has.
#[inline]
#[target_feature(enable = "avx512f,avx2,fma")]
unsafe fn load_wide(from: *const f32) -> __m512d {
    // SAFETY: guaranteed by the caller.
    _mm512_cvtps_pd(unsafe { _mm256_loadu_ps(from) })
}
