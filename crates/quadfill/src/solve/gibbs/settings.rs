//! How many draws are taken and kept.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::model::{MAX_COLUMNS, ModelSpec};
use crate::objective::PenaltyScale;
use crate::solve::checked::bad;
use crate::solve::config::{Choice, FitConfig};

/// The default minimum number of kept draws: enough for a mean and for intervals.
const KEPT: usize = 50;
/// More are kept as long as they have no more numbers than this in total: 16 MB.
const KEPT_NUMBERS: usize = 4_000_000;
/// Streams of random numbers are named by the chain, too.
const MAX_CHAINS: usize = 1024;

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
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Sweeps at the beginning of every chain that are discarded.
    pub burn_in: usize,
    /// Draws of every chain after that.
    pub samples: usize,
    /// The thinning interval, or `None` to keep about 50 draws, or more if they fit into 16 MB.
    pub thin: Option<usize>,
    /// The number of chains, each with its own random numbers and its own start.
    pub chains: usize,
    /// The prior of rows, or `None` for the one that predicts held-out data best, or for independent entries
    /// where the rank is given.
    #[serde(default)]
    pub prior: Option<RowPriorKind>,
    /// What is known about the noise beforehand, or `None` to learn it from the residuals, and from held-out data
    /// where the rank is chosen on them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<NoisePrior>,
}

/// The prior of the rows of a factor matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowPriorKind {
    /// Independent entries: a mean and a precision for each column.
    #[default]
    Diagonal,
    /// A mean and a whole precision matrix, drawn from a normal-Wishart distribution. For CP this is
    /// the sampler of the centred model.
    Wishart,
}

/// What is known about the noise beforehand: as much as from `share` times the number of observations,
/// with residuals of this root mean square.
///
/// With few observations the draws can fit them almost exactly, and a noise that is learned from their
/// residuals vanishes. Where the error on held-out data is known, that is an upper bound on the noise:
/// with a share of 1 the drawn noise cannot fall far below its `1 / sqrt(2)`.
///
/// ```
/// use quadfill::solve::{NoisePrior, Sampling};
/// let sampling = Sampling { noise: Some(NoisePrior { rmse: 0.9, share: 1.0 }), ..Sampling::default() };
/// assert!(sampling.noise.is_some());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NoisePrior {
    /// The root mean square, in the unit of the data.
    pub rmse: f64,
    /// The number of observations that it counts as, over that of the data.
    pub share: f64,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { burn_in: 100, samples: 300, thin: None, chains: 1, prior: None, noise: None }
    }
}

impl Sampling {
    /// The thinning interval for a model of data with `sizes` labels per mode.
    pub fn every(&self, spec: &ModelSpec, sizes: &[usize]) -> usize {
        let numbers = spec.rank * spec.group_sizes(sizes).iter().sum::<usize>();
        let most = (KEPT_NUMBERS / numbers.max(1)).max(KEPT).min(MAX_COLUMNS / spec.rank).max(1);
        let by_itself = self.samples.saturating_mul(self.chains).div_ceil(most);
        self.thin.unwrap_or(by_itself.clamp(1, self.samples.max(1)))
    }

    /// The largest rank of which so many draws can be kept.
    pub(in crate::solve) fn max_rank(&self) -> usize {
        match self.thin {
            Some(thin) => MAX_COLUMNS / (self.samples / thin).saturating_mul(self.chains).max(1),
            None => MAX_COLUMNS,
        }
    }

    /// How many draws are kept in all.
    pub fn kept(&self, spec: &ModelSpec, sizes: &[usize]) -> usize {
        (self.samples / self.every(spec, sizes)).saturating_mul(self.chains)
    }
}

/// Refuses settings that the sampler does not support.
pub(in crate::solve) fn check(config: &FitConfig, sampling: Sampling) -> Result<()> {
    if !config.penalty.is_auto() {
        return bad("the solver gibbs also draws the penalties: leave `penalty` out");
    }
    if config.penalty_scale == Choice::Fixed(PenaltyScale::Count) {
        return bad("the solver gibbs also draws the penalties: leave `penalty_scale` out");
    }
    if config.row_norm_penalty.is_some() || config.perturb {
        return bad(
            "the solver gibbs has neither `row_norm_penalty` nor `perturb`: leave them out",
        );
    }
    if config.implicit.is_some() {
        return bad(
            "the solver gibbs is for observed cells only: leave `implicit` or `solver` out",
        );
    }
    if config.sweeps.is_some() {
        return bad("the solver gibbs takes `burn_in` and `samples`: leave `sweeps` out");
    }
    if !config.ties.is_empty() {
        return bad("the solver gibbs needs factors of their own for every mode: leave `ties` out");
    }
    if config.model.has_diagonal() {
        return bad(
            "the solver gibbs is for cp and for kernels with zeros on the diagonal: set `model` to \
             pairwise, matrix, pairs or cp, or choose another `solver`",
        );
    }
    if sampling.samples == 0 || sampling.chains == 0 || sampling.thin == Some(0) {
        return bad("`samples`, `chains` and `thin` must be at least 1");
    }
    if let Some(NoisePrior { rmse, share }) = sampling.noise
        && !(rmse.is_finite() && rmse > 0.0 && share.is_finite() && share >= 0.0)
    {
        return Err(Error::setting(format!(
            "`noise_prior` is {rmse} with a share of {share}: the error must be above 0, and the share \
             not below 0"
        )));
    }
    if sampling.chains > MAX_CHAINS {
        return bad("`chains` must be at most 1024: take more `samples` instead");
    }
    Ok(())
}

/// Refuses settings that would keep no draws, or too many.
pub(in crate::solve) fn check_size(
    sampling: Sampling,
    model: &ModelSpec,
    sizes: &[usize],
) -> Result<()> {
    let (kept, rank) = (sampling.kept(model, sizes), model.rank);
    if kept == 0 {
        return Err(Error::setting(format!(
            "`thin` is {}, which keeps none of {} draws: choose a smaller number",
            sampling.every(model, sizes),
            sampling.samples
        )));
    }
    if kept.saturating_mul(rank) > MAX_COLUMNS {
        return Err(Error::setting(format!(
            "{kept} kept draws of rank {rank} have more than {MAX_COLUMNS} columns: choose a larger \
             `thin` or fewer `chains`"
        )));
    }
    Ok(())
}
