//! Kernels that are fitted too.
//!
//! 1. [`starts`]: kernels without a diagonal, one for each pattern of signs. A short path from each, once
//!    without biases and once with them; the biases then become a [`diagonal`].
//! 2. [`kernel_step`]: sweeps over the factors alternate with the best kernel for them, a small least
//!    squares problem. Held-out data say which start was right, and paths from the kernels that were
//!    found begin anew as long as they predict better.
//! 3. If the data look exact, [`joint`] steps on factors and kernel bring the residual to working
//!    precision, and that is the fit. Otherwise only the kernel is kept, and the fit goes on as if it
//!    had been given.

mod diagonal;
mod joint;
mod kernel_step;
mod search;
mod short_path;
mod starts;

pub use kernel_step::{kernel_step, learned_sweep};
pub(super) use search::Learned;

use super::config::{FitConfig, Solver};
use crate::error::{Error, Result};
use crate::model::Interaction;

/// Refuses what cannot be done with a kernel that is not known yet.
pub(super) fn check(config: &FitConfig) -> Result<()> {
    let bad = |message: &str| Err(Error::Setting(message.to_owned()));
    if config.model.interaction == Interaction::Cp {
        return bad("CP has no kernel to be learned: choose another model");
    }
    if config.model.is_tied() {
        return bad(
            "a kernel cannot be learned where modes share their factors: leave --tie out, or choose \
             another --model",
        );
    }
    if config.implicit.is_some() {
        return bad(
            "--implicit needs a kernel that is known: choose pairwise, matrix, pairs or cp for --model",
        );
    }
    if matches!(config.solver, Solver::Sdp(_) | Solver::Gibbs(_)) {
        return bad(
            "--model learned is not for the solvers sdp and gibbs: leave --solver out, or choose \
             another --model",
        );
    }
    Ok(())
}
