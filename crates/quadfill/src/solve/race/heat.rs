//! One heat: chains of a contender on every fold, and the held-out errors of their means.

use std::ops::Range;

use rayon::prelude::*;

use super::arena::Arena;
use super::contender::Method;
use super::path_heat;
use super::propose::{self, Plan};
use super::report::{Heat, HeldOutError};
use super::{FoldChains, Race};
use crate::model::{GroupPrior, Interaction, ModelSpec, Parameters};
use crate::objective::{Objective, squared_norm};
use crate::solve::Status;
use crate::solve::events::Stage;
use crate::solve::gibbs::{Chain, HyperPrior, SweepId, sweep};
use crate::solve::session::{FitSession, Iterate, Iteration};
use crate::solve::state::{State, Trace};
use crate::solve::step::StepReport;
use crate::solve::{centred, start};
use crate::views::Selection;
use quadfill_kernels::Real;

/// A heat in progress.
struct Running<T: Real> {
    chains: FoldChains<Parameters<T>>,
    /// For each fold, the sums of all draws' predictions for its held-out cells.
    sums: Vec<Vec<f64>>,
    /// The held-out error after half of the draws.
    half_way: f64,
    trace: Trace,
}

impl<T: Real> Iterate for Running<T> {
    fn trace(&mut self) -> &mut Trace {
        &mut self.trace
    }
}

/// A heat that was run to its end, with its chains.
pub(super) type Result<T> = Option<(Heat, FoldChains<Parameters<T>>)>;

/// Runs a heat; if a limit of the whole fit ended it, that is returned too.
pub(super) fn run<T: Real>(
    session: &mut FitSession<'_, T>,
    arena: &Arena<'_, T>,
    race: &Race<Parameters<T>>,
    plan: &Plan,
) -> (Result<T>, Option<Status>) {
    let Method::Posterior { prior, noise } = plan.contender.method else {
        return path_heat::run(session, arena, race, plan);
    };
    let spec = plan.contender.spec(&session.base);
    let seed = session.config().seed;
    let objectives: Vec<Objective<'_, T>> = arena
        .folds
        .iter()
        .map(|fold| fold.problem.objective_on(fold.training, &spec, 0.0))
        .collect();
    let hypers: Vec<HyperPrior> = objectives
        .iter()
        .map(|objective| HyperPrior::new(objective).with_priors(prior, noise))
        .collect();
    let mut running = Running {
        chains: match grown(race, &spec, plan) {
            Some(chains) => chains,
            None => objectives
                .iter()
                .zip(&hypers)
                .enumerate()
                .map(|(fold, (objective, hyper))| {
                    let numbers = fold * plan.chains..(fold + 1) * plan.chains;
                    starts(objective, hyper, &spec, numbers, seed)
                })
                .collect(),
        },
        sums: arena.folds.iter().map(|fold| vec![0.0; fold.held_out.len()]).collect(),
        half_way: f64::INFINITY,
        trace: Trace::default(),
    };
    let half = plan.burn_in + plan.draws.div_ceil(2);
    let iteration = Iteration {
        stage: Stage::Race(race.heats.len()),
        count: plan.burn_in + plan.draws,
        advance: &mut |_: &mut Objective<'_, T>, running: &mut Running<T>| {
            let step = running.trace.step;
            advance(&objectives, &hypers, running, seed, step);
            if step >= plan.burn_in {
                add_predictions(arena, &spec, running);
            }
            if step + 1 == half {
                running.half_way = errors(arena, running, plan, half).chosen_on;
            }
            StepReport { objective: 0.0, data: 0.0, stuck: false }
        },
        // A heat is short: it starts again when it is resumed.
        checkpoint: Some(&|_: &Running<T>| State::Race(race.clone())),
        sweeps_before: Some(session.sweeps()),
    };
    let mut objective = objectives[0].clone();
    let ending = session.iterate(&mut objective, &mut running, iteration, |running, _| {
        let step = running.trace.step;
        if step > plan.burn_in {
            let rmse = errors(arena, running, plan, step).chosen_on;
            running.trace.note_held_out(rmse);
        }
        false
    });
    if let Some(status) = ending.limit() {
        return (None, Some(status));
    }
    let found = errors(arena, &running, plan, plan.burn_in + plan.draws);
    let heat = Heat {
        contender: plan.contender.clone(),
        spec,
        is_pilot: plan.is_pilot,
        chains: plan.chains,
        burn_in: plan.burn_in,
        draws: plan.draws,
        error: found.chosen_on,
        half_way: running.half_way,
        told: HeldOutError { rmse: found.told, standard_error: found.standard_error },
        operations: plan.operations,
    };
    (Some((heat, running.chains)), None)
}

/// The leader's chains with more columns, where that is what the contender has: many columns take long to
/// be found from a random start.
fn grown<T: Real>(
    race: &Race<Parameters<T>>,
    spec: &ModelSpec,
    plan: &Plan,
) -> Option<FoldChains<Parameters<T>>> {
    let before = propose::leader(&race.heats)?;
    let same = before.spec.clone().with_rank(spec.rank) == *spec && before.chains >= plan.chains;
    let chains = &race.leader;
    if !same || before.spec.rank >= spec.rank || chains.is_empty() {
        return None;
    }
    let grow = |(point, chain): &(Parameters<T>, Chain)| {
        (grown_point(point, spec), grown_chain(chain, before.spec.rank, spec.rank))
    };
    Some(chains.iter().map(|fold| fold.iter().take(plan.chains).map(grow).collect()).collect())
}

/// The same rows with further random columns, not so small that their prior would keep them there.
fn grown_point<T: Real>(point: &Parameters<T>, spec: &ModelSpec) -> Parameters<T> {
    const SIZE: f64 = 0.6;
    const SEED: u64 = 7;
    let rank = point.layout().rank();
    // Contenders share no factors: every mode has as many labels as its matrix has rows.
    let sizes = point.layout().rows();
    let mut grown = Parameters::<T>::random(spec, sizes, 1.0, SEED);
    grown.mean = point.mean;
    for (group, &rows) in sizes.iter().enumerate() {
        let squares: f64 = (0..rows).map(|row| squared_norm(point.row(group, row))).sum();
        let size = SIZE * (squares / (rows * rank).max(1) as f64).sqrt();
        for row in 0..rows {
            let target = grown.row_mut(group, row);
            target[..rank].copy_from_slice(point.row(group, row));
            for u in &mut target[rank..] {
                *u = T::from_f64(size * u.to_f64());
            }
            if point.layout().has_biases() {
                grown.set_bias(group, row, point.bias(group, row));
            }
        }
    }
    grown
}

/// The chain's priors are drawn again before they are used; its noise stays.
fn grown_chain(chain: &Chain, before: usize, rank: usize) -> Chain {
    let mut chain = chain.clone();
    for prior in &mut chain.priors {
        let n = prior.len() + rank - before;
        *prior = GroupPrior { means: vec![0.0; n], precisions: vec![1.0; n] };
    }
    chain
}

/// Where the chains of one fold begin, each by its number.
fn starts<T: Real>(
    objective: &Objective<'_, T>,
    hyper: &HyperPrior,
    spec: &ModelSpec,
    numbers: Range<usize>,
    seed: u64,
) -> Vec<(Parameters<T>, Chain)> {
    numbers
        .map(|number| {
            let seed = seed.wrapping_add((number as u64) << 32);
            let point = start_of_chain(spec, objective.views(), seed);
            let chain = Chain::new(hyper, spec.group_count(), point.layout().row_unknowns());
            (point, chain)
        })
        .collect()
}

/// Where a chain begins: for CP, near the constant rows whose product is the mean of the data, where that
/// is not small.
fn start_of_chain<T: Real>(spec: &ModelSpec, data: Selection<'_, T>, seed: u64) -> Parameters<T> {
    if spec.interaction == Interaction::Cp && centred::has_mean(data) {
        centred::start(spec, data, seed)
    } else {
        start::random(spec, data, seed)
    }
}

/// One sweep of every chain of every fold.
fn advance<T: Real>(
    objectives: &[Objective<'_, T>],
    hypers: &[HyperPrior],
    running: &mut Running<T>,
    seed: u64,
    step: usize,
) {
    running.chains.par_iter_mut().enumerate().for_each(|(fold, chains)| {
        let first = fold * chains.len();
        chains.par_iter_mut().enumerate().for_each(|(number, (parameters, chain))| {
            let id = SweepId { chain: first + number, sweep: step };
            sweep(&objectives[fold], &hypers[fold], parameters, chain, seed, id);
        });
    });
}

/// Adds the predictions of the current draws.
fn add_predictions<T: Real>(arena: &Arena<'_, T>, spec: &ModelSpec, running: &mut Running<T>) {
    let folds = arena.folds.par_iter().zip(running.chains.par_iter().zip(&mut running.sums));
    folds.for_each(|(fold, (chains, sums))| {
        for (parameters, _) in chains {
            fold.held_out.add_predictions(spec, parameters, sums);
        }
    });
}

/// The held-out errors of the means so far, after this many steps.
fn errors<T: Real>(
    arena: &Arena<'_, T>,
    running: &Running<T>,
    plan: &Plan,
    steps: usize,
) -> super::arena::Errors {
    let draws = ((steps - plan.burn_in) * plan.chains) as f64;
    let mean = |sums: &Vec<f64>| sums.iter().map(|sum| sum / draws).collect();
    arena.errors(&running.sums.iter().map(mean).collect::<Vec<Vec<f64>>>())
}
