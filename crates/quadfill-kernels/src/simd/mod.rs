//! SIMD vectors: algorithms are written once against [`Simd`] and compiled for each instruction
//! set.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod plain;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::Avx512;
pub(crate) use plain::Plain;

use crate::{Backend, Isa};

/// Proof that the machine supports an instruction set, with its operations on vectors of `T`.
///
/// A value can only be constructed where support has been checked, so all operations are safe
/// except those that dereference a pointer.
pub trait Simd<T>: Copy {
    /// The type of a SIMD register.
    type Vector: Copy;
    /// Number of entries of a register.
    const LANES: usize;
    /// Number of registers.
    const REGISTERS: usize;
    /// A vector of half as many entries, where operations on it are cheaper; else a whole one.
    type Half: Copy;
    /// Number of entries of a half vector.
    const HALF_LANES: usize;

    /// Broadcasts `entry` to all lanes.
    fn splat(self, entry: T) -> Self::Vector;
    /// Reads `LANES` entries.
    ///
    /// # Safety
    /// `from` is valid for reading `LANES` entries. It need not be aligned to the register.
    unsafe fn load(self, from: *const T) -> Self::Vector;
    /// Reads `LANES` entries of single precision and converts them to this one, without loss.
    ///
    /// # Safety
    /// As for `load`.
    unsafe fn load_f32(self, from: *const f32) -> Self::Vector;
    /// Writes `LANES` entries.
    ///
    /// # Safety
    /// `to` is valid for writing `LANES` entries. It need not be aligned to the register.
    unsafe fn store(self, to: *mut T, v: Self::Vector);
    /// As `splat`, for a half vector.
    fn splat_half(self, entry: T) -> Self::Half;
    /// Reads `HALF_LANES` entries.
    ///
    /// # Safety
    /// `from` is valid for reading `HALF_LANES` entries.
    unsafe fn load_half(self, from: *const T) -> Self::Half;
    /// Writes `HALF_LANES` entries.
    ///
    /// # Safety
    /// `to` is valid for writing `HALF_LANES` entries.
    unsafe fn store_half(self, to: *mut T, v: Self::Half);
    /// As `mul_add`, for half vectors.
    fn mul_add_half(self, a: Self::Half, b: Self::Half, c: Self::Half) -> Self::Half;
    /// `a + b`.
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a * b`.
    fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a * b + c`, fused where the machine supports it.
    fn mul_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    /// `c - a * b`, fused where the machine supports it.
    fn sub_mul(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    /// The horizontal sum of each of four vectors. Four at once, as horizontal sums are expensive.
    fn sum_each(self, v: [Self::Vector; 4]) -> [T; 4];
    /// Whether any lane of `v` is greater than the same lane of `threshold`.
    fn any_above(self, v: Self::Vector, threshold: Self::Vector) -> bool;
    /// Runs `task` as a separate function compiled for this instruction set.
    fn run<K: Task<T>>(self, task: K) -> K::Output;
}

/// A computation that is compiled for every instruction set.
pub trait Task<T> {
    /// The type of the result.
    type Output;
    /// Runs the computation. Implementations are `#[inline(always)]`: they must become part of the
    /// function that enables the instruction set.
    fn run<S: Simd<T>>(self, simd: S) -> Self::Output;
}

/// Element types that tasks can be run for.
pub trait Dispatch: Sized {
    /// Runs `task` with the instruction set of `backend`.
    fn dispatch<K: Task<Self>>(backend: Backend, task: K) -> K::Output;
    /// Reads entries as double precision.
    ///
    /// # Safety
    /// `from` is valid for reading `S::LANES` entries.
    unsafe fn load_f64<S: Simd<f64>>(simd: S, from: *const Self) -> S::Vector;
}

macro_rules! dispatch {
    ($t:ty, $load:ident) => {
        impl Dispatch for $t {
            #[inline]
            fn dispatch<K: Task<Self>>(backend: Backend, task: K) -> K::Output {
                match backend.isa() {
                    #[cfg(target_arch = "x86_64")]
                    // SAFETY: a `Backend` exists only for instruction sets that the machine
                    // supports.
                    Isa::Avx2 => Simd::<$t>::run(unsafe { Avx2::assume() }, task),
                    #[cfg(target_arch = "x86_64")]
                    // SAFETY: as above.
                    Isa::Avx512 => Simd::<$t>::run(unsafe { Avx512::assume() }, task),
                    _ => Simd::<$t>::run(Plain, task),
                }
            }
            #[inline(always)]
            unsafe fn load_f64<S: Simd<f64>>(simd: S, from: *const Self) -> S::Vector {
                // SAFETY: guaranteed by the caller.
                unsafe { simd.$load(from) }
            }
        }
    };
}

dispatch!(f32, load_f32);
dispatch!(f64, load);

/// Prefetches the cache line at `address`. Any address is allowed.
#[inline(always)]
pub(crate) fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch has no observable effect and never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
