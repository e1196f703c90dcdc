//! How many draws are taken and kept.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::model::{Kernel, MOST_COLUMNS, ModelSpec};
use crate::objective::PenaltyScale;
use crate::solve::config::FitConfig;

/// So many draws are kept at least where nothing else is said: enough for a mean and for intervals.
const KEPT: usize = 50;
/// More are kept as long as they have no more numbers than this in all: 16 MB.
const KEPT_NUMBERS: usize = 4_000_000;
/// Streams of random numbers are named by the chain, too.
const MOST_CHAINS: usize = 1024;

/// How many draws are taken from the posterior, and how many of them are kept.
///
/// ```
/// use quadfill::model::{Kernel, ModelSpec};
/// use quadfill::solve::Sampling;
/// let sampling = Sampling::default();
/// assert_eq!((sampling.burn_in, sampling.samples, sampling.chains), (100, 300, 1));
/// // Of large models every sixth draw is kept, of small ones all.
/// let spec = ModelSpec::quadratic(Kernel::pairwise(2), 10);
/// assert_eq!(sampling.kept(&spec, &[70_000, 10_000]), 50);
/// assert_eq!(sampling.kept(&spec, &[100, 100]), 300);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampling {
    /// Sweeps at the beginning of every chain that do not count, while it finds its place.
    pub burn_in: usize,
    /// Draws of every chain after that.
    pub samples: usize,
    /// Every so many draws one is kept, or `None` to keep about 50 in all, or as many as fit into 16 MB.
    pub thin: Option<usize>,
    /// Chains with streams of random numbers of their own, from starts of their own.
    pub chains: usize,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { burn_in: 100, samples: 300, thin: None, chains: 1 }
    }
}

impl Sampling {
    /// Every so many draws of a chain one is kept, for a model of data with `sizes` labels per mode.
    pub fn every(&self, spec: &ModelSpec, sizes: &[usize]) -> usize {
        let numbers = spec.rank * spec.group_sizes(sizes).iter().sum::<usize>();
        let most = (KEPT_NUMBERS / numbers.max(1)).max(KEPT).min(MOST_COLUMNS / spec.rank).max(1);
        let by_itself = self.samples.saturating_mul(self.chains).div_ceil(most);
        self.thin.unwrap_or(by_itself.clamp(1, self.samples.max(1)))
    }

    /// How many draws are kept in all.
    pub fn kept(&self, spec: &ModelSpec, sizes: &[usize]) -> usize {
        (self.samples / self.every(spec, sizes)).saturating_mul(self.chains)
    }
}

/// Refuses settings that a sampler cannot follow.
pub(in crate::solve) fn check(
    config: &FitConfig,
    sampling: Sampling,
    sizes: &[usize],
) -> Result<()> {
    let bad = |message: &str| Err(Error::Setting(message.to_owned()));
    let model = &config.model;
    if config.penalty.is_some() {
        return bad("--solver gibbs draws the penalties, too: leave --penalty out");
    }
    if config.penalty_scale != PenaltyScale::Uniform {
        return bad("--solver gibbs draws the penalties, too: leave --penalty-scale out");
    }
    if config.incoherence.is_some() || config.perturb {
        return bad("--solver gibbs has no --incoherence and no --perturb: leave them out");
    }
    if config.implicit.is_some() {
        return bad("--solver gibbs is for observed cells only: leave --implicit or --solver out");
    }
    if config.sweeps.is_some() {
        return bad("--solver gibbs takes --burn-in and --samples: leave --sweeps out");
    }
    if model.is_tied() {
        return bad("--solver gibbs needs factors of their own for every mode: leave --tie out");
    }
    if model.kernel().is_some_and(Kernel::has_diagonal) {
        return bad("--solver gibbs is for cp and for kernels with zeros on the diagonal: choose \
                    --model pairwise, matrix, pairs or cp, or another solver");
    }
    if sampling.samples == 0 || sampling.chains == 0 || sampling.thin == Some(0) {
        return bad("a sampler needs at least one draw, one chain and to keep every first draw");
    }
    if sampling.chains > MOST_CHAINS {
        return bad("more than 1024 chains make no sense: take more --samples instead");
    }
    let (kept, rank) = (sampling.kept(model, sizes), model.rank);
    if kept == 0 {
        return Err(Error::Setting(format!(
            "--thin {} keeps none of {} draws: choose a smaller one",
            sampling.every(model, sizes),
            sampling.samples
        )));
    }
    if kept.saturating_mul(rank) > MOST_COLUMNS {
        return Err(Error::Setting(format!(
            "{kept} kept draws of rank {rank} have more than {MOST_COLUMNS} columns: choose a larger \
             --thin or fewer --chains"
        )));
    }
    Ok(())
}
