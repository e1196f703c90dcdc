//! Vectors of as many lanes as the machine has: the algorithms are written once over [`Simd`]
//! and compiled for each instruction set.

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

use crate::{Isa, Kernels};

/// Proof that the machine has an instruction set, and its operations on vectors of `T`.
///
/// A value can only be made where the instruction set was checked, so the operations are safe;
/// only those that follow a pointer are not.
pub trait Simd<T>: Copy {
    /// A register.
    type Vector: Copy;
    /// Entries of a register.
    const LANES: usize;
    /// How many registers there are.
    const REGISTERS: usize;

    /// The same entry in all lanes.
    fn splat(self, entry: T) -> Self::Vector;
    /// Reads `LANES` entries.
    ///
    /// # Safety
    /// `from` is valid for reading `LANES` entries. It need not be aligned to the register.
    unsafe fn load(self, from: *const T) -> Self::Vector;
    /// Writes `LANES` entries.
    ///
    /// # Safety
    /// `to` is valid for writing `LANES` entries. It need not be aligned to the register.
    unsafe fn store(self, to: *mut T, v: Self::Vector);
    /// `a + b`.
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a * b`.
    fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a * b + c`, fused where the machine can.
    fn mul_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    /// `c - a * b`, fused where the machine can.
    fn sub_mul(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    /// The sum over the lanes of each of four vectors: dearer than one addition per lane, so it
    /// is done for four at once.
    fn sum_each(self, v: [Self::Vector; 4]) -> [T; 4];
    /// Whether any lane of `v` is above the same lane of `floor`.
    fn any_above(self, v: Self::Vector, floor: Self::Vector) -> bool;
    /// Runs `task` as a function of its own, compiled for this instruction set.
    fn run<K: Task<T>>(self, task: K) -> K::Output;
}

/// A piece of work that is compiled for every instruction set.
pub trait Task<T> {
    /// What it returns.
    type Output;
    /// Does the work. Implementations are `#[inline(always)]`: they must become part of the
    /// function that has the instruction set enabled.
    fn run<S: Simd<T>>(self, simd: S) -> Self::Output;
}

/// Element types the tasks can be run for.
pub trait Dispatch: Sized {
    /// Runs `task` with the instructions of `kernels`.
    fn dispatch<K: Task<Self>>(kernels: Kernels, task: K) -> K::Output;
}

macro_rules! dispatch {
    ($t:ty) => {
        impl Dispatch for $t {
            #[inline]
            fn dispatch<K: Task<Self>>(kernels: Kernels, task: K) -> K::Output {
                match kernels.isa() {
                    #[cfg(target_arch = "x86_64")]
                    // SAFETY: `Kernels` exist only for instruction sets the machine has.
                    Isa::Avx2 => Simd::<$t>::run(unsafe { Avx2::assume() }, task),
                    #[cfg(target_arch = "x86_64")]
                    // SAFETY: as above.
                    Isa::Avx512 => Simd::<$t>::run(unsafe { Avx512::assume() }, task),
                    _ => Simd::<$t>::run(Plain, task),
                }
            }
        }
    };
}

dispatch!(f32);
dispatch!(f64);

/// Asks for the cache line at `address` ahead of its use. Any address is allowed.
#[inline(always)]
pub(crate) fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing the program can see and never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
