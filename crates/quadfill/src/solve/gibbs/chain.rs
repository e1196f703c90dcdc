//! One chain: a point, what its rows have in common, and the noise.

use serde::{Deserialize, Serialize};

use super::prior::Belief;
use super::rows::{Residuals, RowLaw};
use crate::model::{Offsets, Parameters, RowPrior};
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
    /// For each factor matrix what its rows have in common.
    pub priors: Vec<RowPrior>,
}

/// Which sweep of which chain: names the streams of random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// The chain.
    pub chain: usize,
    /// Its sweep.
    pub sweep: usize,
}

impl Moment {
    pub(super) fn place(self, group: usize) -> [u64; 2] {
        [self.sweep as u64, (self.chain as u64) << GROUP_BITS | group as u64]
    }
}

impl Chain {
    /// Where a chain begins: with noise as large as the data.
    pub fn new(belief: &Belief, groups: usize, unknowns: usize) -> Self {
        let prior =
            RowPrior { means: vec![0.0; unknowns], precisions: vec![1.0 / belief.unit; unknowns] };
        Self { noise: 1.0 / belief.variance, priors: vec![prior; groups] }
    }

    /// The penalty `lambda` with which ALS would have these rows' equations, on average over rows and
    /// columns.
    pub fn penalty<T: Real>(&self, parameters: &Parameters<T>, observations: f64) -> f64 {
        let layout = parameters.layout();
        let (mut sum, mut count) = (0.0, 0.0);
        for (prior, &rows) in self.priors.iter().zip(layout.rows()) {
            sum += rows as f64 * prior.precisions[..layout.rank()].iter().sum::<f64>();
            count += (rows * layout.rank()) as f64;
        }
        sum / (count * self.noise * observations)
    }
}

/// Draws everything once, each part given the rest, and returns the data term of the objective
/// afterwards (before the global mean moves).
///
/// ```
/// use quadfill::model::{Kernel, ModelSpec, Offsets};
/// use quadfill::objective::{Objective, PenaltyScale};
/// use quadfill::solve::gibbs::{Belief, Chain, Moment, sweep};
/// use quadfill::{Labels, Mode, Observations, OnDuplicate, solve::start, views::Views};
/// # let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(2))];
/// # let indices = vec![vec![0, 1, 1], vec![1, 0, 1]];
/// # let data = Observations::new(modes, indices, vec![1.0, 2.0, 3.0], None, OnDuplicate::Error)?;
/// let views = Views::new(data);
/// let spec = ModelSpec::quadratic(Kernel::pairwise(2), 1).with_offsets(Offsets::Modes);
/// let objective = Objective::new(&views, &spec, 0.0, PenaltyScale::Uniform);
/// let belief = Belief::new(&objective);
/// let mut parameters = start::random(&spec, &views, 1);
/// let mut chain = Chain::new(&belief, 2, 2);
/// for number in 0..10 {
///     let moment = Moment { chain: 0, sweep: number };
///     sweep(&objective, &belief, &mut parameters, &mut chain, 1, moment);
/// }
/// assert!(chain.noise > 0.0);
/// # Ok::<(), quadfill::Error>(())
/// ```
pub fn sweep<T: Real>(
    objective: &Objective<'_, T>,
    belief: &Belief,
    parameters: &mut Parameters<T>,
    chain: &mut Chain,
    seed: u64,
    moment: Moment,
) -> f64 {
    let mut residuals = Residuals::default();
    for group in 0..objective.spec().group_count() {
        let mut rng = streams::stream_at(seed, PRIOR_STREAM, moment.place(group), 0);
        chain.priors[group] = belief.draw_prior(parameters, group, &mut rng);
        residuals = draw_rows(objective, parameters, chain, group, seed, moment);
    }
    let mut rng = streams::stream_at(seed, NOISE_STREAM, moment.place(0), 0);
    chain.noise = belief.draw_noise(residuals.squares, &mut rng);
    if objective.spec().offsets == Offsets::Modes {
        parameters.mean = belief.draw_mean(parameters.mean, residuals.sum, chain.noise, &mut rng);
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
    moment: Moment,
) -> Residuals {
    let law =
        RowLaw { parameters, group, prior: &chain.priors[group], noise: chain.noise, seed, moment };
    let (step, residuals) = law.draw(objective);
    step.apply(parameters, group);
    residuals
}
