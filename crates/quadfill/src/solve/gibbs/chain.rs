//! One chain: a point, the priors of its rows, and the noise.

use serde::{Deserialize, Serialize};

use super::prior::HyperPrior;
use super::rows::{Residuals, RowDistribution};
use crate::model::{Biases, GroupPrior, Parameters};
use crate::objective::Objective;
use quadfill_kernels::{Real, streams};

const PRIOR_STREAM: u64 = 0x67_6962_6273_0002;
const NOISE_STREAM: u64 = 0x67_6962_6273_0003;
const GROUP_BITS: u32 = 8;

/// Everything about a chain but its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chain {
    /// Precision of the noise on an observation of weight 1.
    pub noise: f64,
    /// The prior of the rows of each factor matrix.
    pub priors: Vec<GroupPrior>,
}

/// Which sweep of which chain: names the streams of random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SweepId {
    /// The chain.
    pub chain: usize,
    /// Its sweep.
    pub sweep: usize,
}

impl SweepId {
    pub(super) fn place(self, group: usize) -> [u64; 2] {
        [self.sweep as u64, (self.chain as u64) << GROUP_BITS | group as u64]
    }
}

impl Chain {
    /// Where a chain begins: with noise as large as the data.
    pub fn new(hyper: &HyperPrior, groups: usize, unknowns: usize) -> Self {
        let prior =
            GroupPrior { means: vec![0.0; unknowns], precisions: vec![1.0 / hyper.unit; unknowns] };
        Self { noise: 1.0 / hyper.variance, priors: vec![prior; groups] }
    }

    /// The penalty `lambda` for which ALS would have the same row equations, on average over rows and
    /// columns.
    pub fn penalty<T: Real>(&self, parameters: &Parameters<T>, observations: f64) -> f64 {
        let layout = parameters.layout();
        let (mut sum, mut count) = (0.0, 0.0);
        for (prior, &rows) in self.priors.iter().zip(layout.rows()) {
            let diagonal = (0..layout.rank()).map(|j| prior.diagonal(j));
            sum += rows as f64 * diagonal.sum::<f64>();
            count += (rows * layout.rank()) as f64;
        }
        sum / (count * self.noise * observations)
    }
}

/// Draws everything once, each part given the rest, and returns the data term of the objective
/// afterwards (before the global mean moves).
///
/// ```
/// use quadfill::model::{Kernel, ModelSpec, Biases};
/// use quadfill::objective::{Objective, PenaltyScale};
/// use quadfill::solve::gibbs::{HyperPrior, Chain, SweepId, sweep};
/// use quadfill::{Labels, Mode, Observations, OnDuplicate, solve::start, views::Views};
/// # let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(2))];
/// # let indices = vec![vec![0, 1, 1], vec![1, 0, 1]];
/// # let data = Observations::new(modes, indices, vec![1.0, 2.0, 3.0], None, OnDuplicate::Error)?;
/// let views = Views::<f64>::new(data);
/// let spec = ModelSpec::quadratic(Kernel::pairwise(2), 1).with_biases(Biases::Modes);
/// let objective = Objective::new(&views, &spec, 0.0, PenaltyScale::Uniform);
/// let hyper = HyperPrior::new(&objective);
/// let mut parameters = start::random(&spec, views.all(), 1);
/// let mut chain = Chain::new(&hyper, 2, 2);
/// for number in 0..10 {
///     let id = SweepId { chain: 0, sweep: number };
///     sweep(&objective, &hyper, &mut parameters, &mut chain, 1, id);
/// }
/// assert!(chain.noise > 0.0);
/// # Ok::<(), quadfill::Error>(())
/// ```
pub fn sweep<T: Real>(
    objective: &Objective<'_, T>,
    hyper: &HyperPrior,
    parameters: &mut Parameters<T>,
    chain: &mut Chain,
    seed: u64,
    id: SweepId,
) -> f64 {
    let mut residuals = Residuals::default();
    for group in 0..objective.spec().group_count() {
        let mut rng = streams::stream_at(seed, PRIOR_STREAM, id.place(group), 0);
        chain.priors[group] = hyper.draw_prior(parameters, group, &mut rng);
        residuals = draw_rows(objective, parameters, chain, group, seed, id);
    }
    let mut rng = streams::stream_at(seed, NOISE_STREAM, id.place(0), 0);
    chain.noise = hyper.draw_noise(residuals.squares, &mut rng);
    if objective.spec().biases == Biases::Modes {
        parameters.mean = hyper.draw_mean(parameters.mean, residuals.sum, chain.noise, &mut rng);
    }
    residuals.squares.max(0.0) / objective.observations()
}

/// Draws all rows of one factor matrix, given everything else.
pub(super) fn draw_rows<T: Real>(
    objective: &Objective<'_, T>,
    parameters: &mut Parameters<T>,
    chain: &Chain,
    group: usize,
    seed: u64,
    id: SweepId,
) -> Residuals {
    let distribution = RowDistribution {
        parameters,
        group,
        prior: &chain.priors[group],
        noise: chain.noise,
        random: Some((seed, id)),
    };
    let (step, residuals) = distribution.draw(objective);
    step.apply(parameters, group);
    residuals
}
