//! The sampler as a fit: several chains, draws that are kept, and running means.

use std::ops::ControlFlow;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::chain::{Chain, SweepId, sweep};
use super::prior::HyperPrior;
use super::settings::Sampling;
use crate::error::{Error, Result};
use crate::model::{Biases, ModelSpec, Parameters, Posterior, Predictor, UnknownLabelRows};
use crate::objective::Objective;
use crate::solve::config::Solver;
use crate::solve::events::{Stage, Status};
use crate::solve::race::Method;
use crate::solve::session::{FitSession, Iterate, Iteration};
use crate::solve::start as starts;
use crate::solve::state::{Descent, Finished, Next, Replace, State, Trace};
use crate::solve::step::StepReport;
use quadfill_kernels::Real;

/// The chains, the draws that were kept, and sums over all draws.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::solve) struct SamplerState<P> {
    pub(in crate::solve) spec: ModelSpec,
    /// The point of every chain, and its other state.
    chains: Vec<(P, Chain)>,
    /// The draws that were kept, of all chains.
    kept: Vec<(P, Chain)>,
    /// The number of draws in the running means.
    drawn: usize,
    /// A hash of the tracked cells, to detect running means of other cells.
    cells: u64,
    /// Sums over all draws of the predictions for the tracked cells.
    cell_sums: Vec<f64>,
    trace: Trace,
}

impl<P> Iterate for SamplerState<P> {
    fn trace(&mut self) -> &mut Trace {
        &mut self.trace
    }
}

impl<P> SamplerState<P> {
    /// See [`State::try_map`].
    pub(in crate::solve) fn try_map<Q>(self, f: &mut Replace<'_, P, Q>) -> Result<SamplerState<Q>> {
        let Self { spec, chains, kept, drawn, cells, cell_sums, trace } = self;
        let mut each = |draws: Vec<(P, Chain)>| -> Result<Vec<(Q, Chain)>> {
            draws.into_iter().map(|(point, chain)| Ok((f(&spec, point)?, chain))).collect()
        };
        let (chains, kept) = (each(chains)?, each(kept)?);
        Ok(SamplerState { spec, chains, kept, drawn, cells, cell_sums, trace })
    }

    /// Whether the chains belong to the model: a checkpoint may say anything.
    pub(in crate::solve) fn is_consistent(&self) -> bool {
        let unknowns = self.spec.rank + usize::from(self.spec.biases == Biases::Modes);
        let has_all = |chain: &Chain| {
            chain.priors.len() == self.spec.group_count()
                && chain.priors.iter().all(|prior| {
                    let precisions = prior.precisions.len();
                    prior.len() == unknowns
                        && (precisions == unknowns || precisions == unknowns * unknowns)
                })
        };
        let mut chains = self.chains.iter().chain(&self.kept);
        !self.chains.is_empty() && chains.all(|(_, chain)| has_all(chain))
    }
}

/// What stays the same from sweep to sweep.
struct Sampler<'a> {
    burn_in: usize,
    /// The thinning interval.
    every: usize,
    hyper: HyperPrior,
    seed: u64,
    cells: &'a [Vec<u32>],
}

impl Sampler<'_> {
    /// One sweep of every chain.
    fn advance<T: Real>(
        &self,
        objective: &Objective<'_, T>,
        state: &mut SamplerState<Parameters<T>>,
    ) -> StepReport {
        let step = state.trace.step;
        let data: Vec<f64> = state
            .chains
            .par_iter_mut()
            .enumerate()
            .map(|(number, (parameters, chain))| {
                let id = SweepId { chain: number, sweep: step };
                sweep(objective, &self.hyper, parameters, chain, self.seed, id)
            })
            .collect();
        let draw = (step + 1).saturating_sub(self.burn_in);
        if draw > 0 {
            for (parameters, chain) in &state.chains {
                self.add_cells(objective, parameters, chain, &mut state.cell_sums);
                if draw.is_multiple_of(self.every) {
                    state.kept.push((parameters.clone(), chain.clone()));
                }
            }
            state.drawn += state.chains.len();
        }
        let data = data.iter().sum::<f64>() / data.len() as f64;
        StepReport { objective: data, data, stuck: false }
    }

    /// Adds the predictions of one draw for the tracked cells.
    fn add_cells<T: Real>(
        &self,
        objective: &Objective<'_, T>,
        parameters: &Parameters<T>,
        chain: &Chain,
        sums: &mut [f64],
    ) {
        if sums.is_empty() {
            return;
        }
        let unknown = UnknownLabelRows::of(&chain.priors, objective.spec().rank);
        let columns: Vec<&[u32]> = self.cells.iter().map(Vec::as_slice).collect();
        let predictor =
            Predictor::new(objective.spec(), parameters).with_unknown_rows(Some(&unknown));
        for (sum, prediction) in sums.iter_mut().zip(predictor.cells(&columns)) {
            *sum += prediction;
        }
    }
}

/// A hash of the tracked cells.
fn hash_of(cells: &[Vec<u32>]) -> u64 {
    cells.iter().flatten().fold(0x243f_6a88_85a3_08d3, |hash: u64, &label| {
        (hash ^ u64::from(label)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    })
}

/// Where all chains begin.
pub(in crate::solve) fn start<T: Real>(
    session: &FitSession<'_, T>,
    sampling: Sampling,
) -> SamplerState<Parameters<T>> {
    let biases = session.config().biases.unwrap_or(Biases::Modes);
    let spec = session.base.clone().with_biases(biases);
    start_from(session, sampling, spec, Vec::new())
}

/// The same for a model of which there are chains already; further ones begin at random.
pub(in crate::solve) fn start_from<T: Real>(
    session: &FitSession<'_, T>,
    sampling: Sampling,
    spec: ModelSpec,
    mut chains: Vec<(Parameters<T>, Chain)>,
) -> SamplerState<Parameters<T>> {
    let config = session.config();
    let hyper = HyperPrior::new(&session.problem.objective(&spec, 0.0));
    chains.truncate(sampling.chains);
    for number in chains.len()..sampling.chains {
        let seed = config.seed.wrapping_add((number as u64) << 32);
        let point = starts::random(&spec, session.problem.data(), seed);
        let chain = Chain::new(&hyper, spec.group_count(), point.layout().row_unknowns());
        chains.push((point, chain));
    }
    let cells = session.tracked_cells();
    SamplerState {
        spec,
        chains,
        kept: Vec::new(),
        drawn: 0,
        cells: hash_of(&cells),
        cell_sums: vec![0.0; cells.first().map_or(0, Vec::len)],
        trace: Trace::default(),
    }
}

/// Draws from the posterior.
pub(in crate::solve) fn run<T: Real>(
    session: &mut FitSession<'_, T>,
    mut state: SamplerState<Parameters<T>>,
) -> Result<Next<T>> {
    let config = session.config();
    let Solver::Gibbs(sampling) = config.solver else {
        unreachable!("a sampler is asked for by name");
    };
    let cells = session.tracked_cells();
    if state.cells != hash_of(&cells) {
        return Err(Error::setting(
            "the checkpoint has the running means of other test data: resume with the same `test`, or \
             without `resume`",
        ));
    }
    let mut objective = session.problem.objective(&state.spec, 0.0);
    let (prior, noise) = match session.race.as_ref().map(|race| race.winner().contender.method) {
        Some(Method::Posterior { prior, noise }) => (prior, noise),
        _ => (sampling.prior.unwrap_or_default(), sampling.noise),
    };
    let sampler = Sampler {
        burn_in: sampling.burn_in,
        every: sampling.every(&state.spec, &session.problem.data().sizes()),
        hyper: HyperPrior::new(&objective).with_priors(prior, noise),
        seed: config.seed,
        cells: &cells,
    };
    let iteration = Iteration {
        stage: Stage::Sample,
        count: sampling.burn_in + sampling.samples,
        advance: &mut |objective: &mut Objective<'_, T>, state: &mut SamplerState<_>| {
            sampler.advance(objective, state)
        },
        checkpoint: Some(&|state: &SamplerState<_>| State::Sample(state.clone())),
        sweeps_before: None,
    };
    let observations = objective.observations();
    let ending = session.iterate(&mut objective, &mut state, iteration, |state, _| {
        let (parameters, chain) = &state.chains[0];
        let penalty = chain.penalty(parameters, observations);
        if let Some(point) = state.trace.path.last_mut() {
            point.penalty = penalty;
        }
        false
    });
    let finished = mean_of_draws(session, state, ending.status(Status::Sampled));
    Ok(ControlFlow::Break(finished))
}

/// The model whose predictions are the means over all draws that were kept. Where a limit came before
/// the first, the current point of every chain is used.
fn mean_of_draws<T: Real>(
    session: &FitSession<'_, T>,
    state: SamplerState<Parameters<T>>,
    status: Status,
) -> Finished<T> {
    let SamplerState { spec, chains, kept, drawn, cell_sums, trace, .. } = state;
    let kept = if kept.is_empty() { chains } else { kept };
    let mut finished = mean_of(session, &spec, kept, status);
    if let (Some(posterior), true) = (&mut finished.posterior, drawn > 0 && !cell_sums.is_empty()) {
        posterior.cell_means = Some(cell_sums.iter().map(|sum| sum / drawn as f64).collect());
    }
    let validation_rmse = session.race.as_ref().map(|race| race.held_out.rmse);
    Finished { path: trace.path, validation_rmse, ..finished }
}

/// The model whose predictions are the means over draws.
pub(in crate::solve) fn mean_of<T: Real>(
    session: &FitSession<'_, T>,
    spec: &ModelSpec,
    kept: Vec<(Parameters<T>, Chain)>,
    status: Status,
) -> Finished<T> {
    let data = session.problem.data();
    let observations = data.len() as f64;
    let penalties = kept.iter().map(|(point, chain)| chain.penalty(point, observations));
    let penalty = penalties.sum::<f64>() / kept.len() as f64;
    let kept = kept.into_iter().map(|(point, chain)| (point, chain.noise, chain.priors)).collect();
    let (spec, parameters, posterior) = Posterior::join(spec, &data.sizes(), kept);
    let finished = Finished::at(Descent::new(spec, 0.0, parameters), penalty, status);
    Finished { posterior: Some(posterior), ..finished }
}
