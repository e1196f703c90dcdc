//! Learned kernels.
//!
//! 1. [`starts`]: kernels without a diagonal, one for each pattern of signs. A short path from each, once
//!    without biases and once with them; the biases then become a [`diagonal`].
//! 2. [`kernel_step`]: sweeps over the factors alternate with the best kernel for them, a small least
//!    squares problem. Held-out data decide which start was right, and new paths begin from the
//!    kernels that were found as long as they predict better.
//! 3. If the data look exact, [`joint`] steps on factors and kernel bring the residual to working
//!    precision, and that is the fit. Otherwise only the kernel is kept, and the fit continues as if
//!    it had been given.

mod diagonal;
mod joint;
mod kernel_step;
mod search;
mod short_path;
mod starts;

pub use kernel_step::{kernel_step, learned_sweep};
pub(super) use search::run;
