//! The handle through which the kernels are called.

use crate::Isa;
use crate::simd::{Dispatch, Task};

/// The kernels for one instruction set of this machine.
///
/// ```
/// use quadfill_kernels::{Isa, Kernels};
///
/// assert_eq!(Kernels::detect().isa(), Isa::detect());
/// assert_eq!(Kernels::new(Isa::Plain).isa(), Isa::Plain);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernels {
    isa: Isa,
}

impl Kernels {
    /// The kernels for `isa`.
    ///
    /// # Panics
    /// When this machine does not have it; see [`Isa::available`].
    pub fn new(isa: Isa) -> Self {
        assert!(isa.is_available(), "this machine has no {isa}");
        Self { isa }
    }

    /// The kernels for [`Isa::detect`].
    pub fn detect() -> Self {
        Self::new(Isa::detect())
    }

    /// The instruction set.
    pub fn isa(self) -> Isa {
        self.isa
    }

    #[inline]
    pub(crate) fn run<T: Dispatch, K: Task<T>>(self, task: K) -> K::Output {
        T::dispatch(self, task)
    }
}
