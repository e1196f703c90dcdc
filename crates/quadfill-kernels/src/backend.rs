//! The instruction set that the kernels run with.

use crate::Isa;
use crate::simd::{Dispatch, Task};

/// The kernels compiled for one instruction set that this machine supports.
///
/// ```
/// use quadfill_kernels::{Backend, Isa};
///
/// assert_eq!(Backend::detect().isa(), Isa::detect());
/// assert_eq!(Backend::new(Isa::Plain).isa(), Isa::Plain);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backend {
    isa: Isa,
}

impl Backend {
    /// The backend for `isa`.
    ///
    /// # Panics
    /// If this machine does not support `isa`; see [`Isa::available`].
    pub fn new(isa: Isa) -> Self {
        assert!(isa.is_available(), "this machine does not support {isa}");
        Self { isa }
    }

    /// The backend for [`Isa::detect`].
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
