//! The winner on all data: its chains go on with the held-out cells among the observations.

use std::ops::ControlFlow;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::arena::Arena;
use super::budget::Budget;
use super::contender::Method;
use super::mean_cells::{MeanCells, MeanSums};
use super::propose;
use super::report::RaceReport;
use super::{Race, distil};
use crate::error::Result;
use crate::model::Parameters;
use crate::objective::Objective;
use crate::solve::Status;
use crate::solve::events::Stage;
use crate::solve::gibbs::{self, Chain, HyperPrior, SweepId, sweep};
use crate::solve::session::{FitSession, Iterate, Iteration};
use crate::solve::state::{Finished, Next, Replace, State, Trace};
use crate::solve::step::StepReport;
use quadfill_kernels::Real;

/// Sweeps with all data before draws count.
const BURN_IN: usize = 20;
/// The same, and the fewest draws of a chain, where the race was run on a sample: with so many data the rows that
/// were not in it are soon determined by those that were.
const SHORT_BURN_IN: usize = 6;
const SHORT_RUN: usize = 8;
/// Draws go on until more of them would lower the held-out error by less than this share of it.
const GAIN: f64 = 2.5e-4;
/// The fewest and the most draws of all chains together.
const DRAWS: (f64, f64) = (120.0, 1000.0);
/// The most chains. Posteriors have many modes, and the mean over chains in several of them predicts better than
/// one of them does.
const CHAINS: usize = 4;
/// The number of draws that are kept, and where they were asked for.
const KEPT: usize = 16;
const MORE_KEPT: usize = 32;

/// The winner's chains on all data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::solve) struct PosteriorRun<P> {
    report: RaceReport,
    /// To how many draws' columns the mean may be distilled.
    widths: Vec<usize>,
    /// The point of every chain, and its other state.
    chains: Vec<(P, Chain)>,
    /// Sweeps of every chain before draws count.
    burn_in: usize,
    /// Draws that were kept, of all chains.
    kept: Vec<(P, Chain)>,
    /// Sums over all draws, if their mean is to be distilled.
    sums: MeanSums,
    /// Sweeps of every chain after the burn-in.
    draws: usize,
    trace: Trace,
}

impl<P> Iterate for PosteriorRun<P> {
    fn trace(&mut self) -> &mut Trace {
        &mut self.trace
    }
}

impl<P> PosteriorRun<P> {
    /// See [`State::try_map`].
    pub(in crate::solve) fn try_map<Q>(self, f: &mut Replace<'_, P, Q>) -> Result<PosteriorRun<Q>> {
        let Self { report, widths, chains, burn_in, kept, sums, draws, trace } = self;
        let spec = report.winner().spec.clone();
        let mut each = |points: Vec<(P, Chain)>| -> Result<Vec<(Q, Chain)>> {
            points.into_iter().map(|(point, chain)| Ok((f(&spec, point)?, chain))).collect()
        };
        let (chains, kept) = (each(chains)?, each(kept)?);
        Ok(PosteriorRun { report, widths, chains, burn_in, kept, sums, draws, trace })
    }
}

/// The winner of a race, ready to be fitted to all data.
pub(super) fn start<T: Real>(
    session: &FitSession<'_, T>,
    arena: &Arena<'_, T>,
    budget: &Budget,
    race: Race<Parameters<T>>,
) -> PosteriorRun<Parameters<T>> {
    let report = RaceReport::new(session, arena, &race.heats);
    let winner = propose::leader(&race.heats).expect("a race has heats");
    let affordable = budget.last / budget.whole_sweep(&winner.spec);
    let (burn_in, fewest, most_chains) = if report.sample.is_some() {
        let chains = affordable as usize / (SHORT_BURN_IN + SHORT_RUN);
        (SHORT_BURN_IN, SHORT_RUN, chains.clamp(1, CHAINS))
    } else {
        (BURN_IN, 1, CHAINS)
    };
    // Those of all folds: each of them has learned from nearly all data.
    let chains: Vec<_> = race.leader.into_iter().flatten().take(most_chains).collect();
    // The excess over the limit falls as one over the number of draws.
    let drawn = (winner.draws * winner.chains) as f64;
    let gain = ((winner.half_way - winner.error) / winner.error.max(f64::MIN_POSITIVE)).max(0.0);
    let wanted = (drawn * gain / GAIN).clamp(DRAWS.0, DRAWS.1);
    let count = (wanted.min(affordable) / chains.len() as f64).ceil() as usize;
    let count = count.max(fewest);
    let widths = if session.config().keep_draws {
        Vec::new()
    } else {
        distil::affordable_widths(budget, &winner.spec, session.problem.data())
    };
    PosteriorRun {
        report,
        widths,
        chains,
        burn_in,
        kept: Vec::new(),
        sums: MeanSums::default(),
        draws: count,
        trace: Trace::default(),
    }
}

/// Draws from the posterior given all data, and distils the mean of the draws.
pub(in crate::solve) fn run<T: Real>(
    session: &mut FitSession<'_, T>,
    mut state: PosteriorRun<Parameters<T>>,
) -> Next<T> {
    let winner = state.report.winner().clone();
    let (spec, seed) = (winner.spec.clone(), session.config().seed);
    let mut objective = session.problem.objective(&spec, 0.0);
    let Method::Posterior { prior, noise } = winner.contender.method else {
        unreachable!("a path has a state of its own");
    };
    let hyper = HyperPrior::new(&objective).with_priors(prior, noise);
    let observations = objective.observations();
    let after_heats = winner.chains * state.report.folds;
    let most = if session.config().keep_draws { MORE_KEPT } else { KEPT };
    let every = (state.draws * state.chains.len()).div_ceil(most).max(1);
    let is_distilled = !state.widths.is_empty();
    let cells = is_distilled.then(|| MeanCells::new(session.problem.data(), spec.rank, seed));
    let iteration = Iteration {
        stage: Stage::Sample,
        count: state.burn_in + state.draws,
        advance: &mut |objective: &mut Objective<'_, T>, state: &mut PosteriorRun<_>| {
            let step = state.trace.step;
            let data: Vec<f64> = state
                .chains
                .par_iter_mut()
                .enumerate()
                .map(|(number, (parameters, chain))| {
                    // Other random numbers than those of the heats.
                    let id = SweepId { chain: number + after_heats, sweep: step };
                    sweep(objective, &hyper, parameters, chain, seed, id)
                })
                .collect();
            if step >= state.burn_in {
                if let Some(cells) = &cells {
                    for (draw, _) in &state.chains {
                        state.sums.add(cells, &spec, draw);
                    }
                }
                if (step - state.burn_in + 1).is_multiple_of(every) {
                    state.kept.extend(state.chains.iter().cloned());
                }
            }
            let data = data.iter().sum::<f64>() / data.len() as f64;
            StepReport { objective: data, data, stuck: false }
        },
        checkpoint: Some(&|state: &PosteriorRun<_>| State::Posterior(state.clone())),
        sweeps_before: None,
    };
    let ending = session.iterate(&mut objective, &mut state, iteration, |state, _| {
        let (parameters, chain) = &state.chains[0];
        let penalty = chain.penalty(parameters, observations);
        if let Some(point) = state.trace.path.last_mut() {
            point.penalty = penalty;
        }
        false
    });
    let status = ending.status(Status::Sampled);
    let PosteriorRun { report, widths, chains, kept, sums, trace, .. } = state;
    let (count, held_out) = (chains.len(), report.held_out);
    let distilled =
        cells.filter(|_| status != Status::Interrupted && !kept.is_empty()).and_then(|cells| {
            let source = distil::Source {
                spec: &spec,
                kept: &kept,
                chains: count,
                cells: &cells,
                sums: &sums,
            };
            distil::mean_of(session, &source, &widths, held_out.rmse, status)
        });
    let finished = distilled.unwrap_or_else(|| {
        let kept = if kept.is_empty() { chains } else { kept };
        gibbs::mean_of(session, &spec, kept, status)
    });
    ControlFlow::Break(Finished {
        path: trace.path,
        validation_rmse: Some(held_out.rmse),
        race: Some(Box::new(report)),
        ..finished
    })
}
