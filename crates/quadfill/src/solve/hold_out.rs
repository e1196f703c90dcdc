//! Which rank, penalty and biases predict held-out data best: one path of decreasing penalties for
//! each choice of rank and biases.

use std::ops::ControlFlow;

use super::Status;
use super::config::Choice;
use super::cp_path::{self, Way};
use super::early_stopping;
use super::events::{PathPoint, Stage};
use super::hold_out_ranks::{self, Pick};
use super::path::{self, PATH_DEPTH, Schedule};
use super::session::{FitSession, Iteration};
use super::state::{Best, Candidate, Descent, Finished, HoldOutSearch, Next, State, Trial};
use super::step::{Als, Step};
use crate::model::{Biases, Interaction, ModelSpec, Parameters};
use quadfill_kernels::Real;

/// Evaluates one path after the other, then continues from the best point.
pub(super) fn run<T: Real>(
    session: &mut FitSession<'_, T>,
    mut search: HoldOutSearch<Parameters<T>>,
) -> Next<T> {
    loop {
        let (trial, mut descent) = match search.descent.take() {
            Some(under_way) => under_way,
            None => match next_trial(session, &search.candidates) {
                Some(trial) => (trial, start_of(session, trial)),
                None => break,
            },
        };
        let limit = evaluate_path(session, &mut search, trial, &mut descent);
        if let Some(best) = path::best_point(&descent.trace.path) {
            let path = descent.trace.path;
            search.candidates.push(Candidate {
                trial,
                penalty: path[best].penalty,
                validation_rmse: path[best].validation_rmse.unwrap_or(f64::INFINITY),
                path,
            });
        }
        if let Some(status) = limit {
            return ControlFlow::Break(best_so_far(session, search, status));
        }
    }
    let chosen = best_candidate(&search.candidates).expect("there is at least one trial").clone();
    let best = search.best.expect("the best candidate has a point");
    ControlFlow::Continue(early_stopping::start(session, chosen, best))
}

/// Where the path of a trial begins.
fn start_of<T: Real>(session: &FitSession<'_, T>, trial: Trial) -> Descent<Parameters<T>> {
    if let Some(beginning) = trial.beginning {
        return cp_path::start(session, trial, beginning);
    }
    let spec = spec_with(session, trial.biases, trial.rank);
    session.path_start(session.problem.training(), &spec)
}

/// The penalties of a path.
enum Penalties {
    /// They decrease by a constant factor.
    Quadratic(Schedule),
    /// The first is held for a while.
    Cp(Way),
}

impl Penalties {
    fn new<T: Real>(session: &FitSession<'_, T>, trial: Trial, first: f64) -> Self {
        if let Some(beginning) = trial.beginning {
            return Self::Cp(Way::new(session, trial.centred, beginning));
        }
        let steps = steps_of(session);
        Self::Quadratic(Schedule { first, last: first * PATH_DEPTH, steps })
    }

    fn count(&self) -> usize {
        match self {
            Self::Quadratic(schedule) => schedule.steps,
            Self::Cp(way) => way.sweeps(),
        }
    }

    /// The penalty of the step after these.
    fn next(&self, path: &[PathPoint]) -> f64 {
        match self {
            Self::Quadratic(schedule) => schedule.penalty(path.len()),
            Self::Cp(way) => way.penalty(path),
        }
    }

    /// Whether it is not worth to go on.
    fn is_over(&self, path: &[PathPoint]) -> bool {
        match self {
            Self::Quadratic(schedule) => path::is_past_best(path, schedule.steps_per_decade()),
            Self::Cp(way) => way.is_over(path),
        }
    }
}

/// Runs one path and records the held-out error of every point. Returns the limit that ended it,
/// if one did.
fn evaluate_path<T: Real>(
    session: &mut FitSession<'_, T>,
    search: &mut HoldOutSearch<Parameters<T>>,
    trial: Trial,
    descent: &mut Descent<Parameters<T>>,
) -> Option<Status> {
    let problem = session.problem;
    let first = descent.first_penalty;
    let penalties = Penalties::new(session, trial, first);
    let count = penalties.count();
    let early = session.may_stop_early();
    let mut objective = problem.training_objective(&descent.spec, first);
    // The stop rule changes what is best, and a checkpoint has it.
    let shared = std::cell::RefCell::new(std::mem::take(search));
    let stage = Stage::HoldOut(shared.borrow().candidates.len());
    let iteration = Iteration {
        stage,
        count,
        advance: &mut |objective, descent: &mut Descent<_>| {
            objective.set_penalty(penalties.next(&descent.trace.path));
            Als.step(objective, &mut descent.parameters)
        },
        checkpoint: Some(&|descent: &Descent<_>| {
            let descent = Some((trial, descent.clone()));
            State::HoldOut(HoldOutSearch { descent, ..shared.borrow().clone() })
        }),
        sweeps_before: None,
    };
    let ending = session.iterate(&mut objective, descent, iteration, |descent, _| {
        let rmse = problem.held_out_rmse(&descent.spec, &descent.parameters);
        let mut search = shared.borrow_mut();
        if search.best.as_ref().is_none_or(|best| rmse < best.rmse) {
            search.best = Some(Best {
                spec: descent.spec.clone(),
                parameters: descent.parameters.clone(),
                penalty: descent.trace.last_penalty().unwrap_or(first),
                rmse,
            });
        }
        descent.trace.note_held_out(rmse);
        early && penalties.is_over(&descent.trace.path)
    });
    *search = shared.into_inner();
    ending.limit()
}

/// The number of steps of a path on held-out data. Where many ranks are tried, few steps are enough to
/// compare them.
fn steps_of<T: Real>(session: &FitSession<'_, T>) -> usize {
    let whole = session.path_steps(session.problem.training());
    let few = session.checked.finds_rank && session.config().path_steps.is_auto();
    if few { whole / 3 } else { whole }
}

/// What is tried next, which follows from what has been found: for CP first the centred models.
fn next_trial<T: Real>(session: &FitSession<'_, T>, candidates: &[Candidate]) -> Option<Trial> {
    if session.base.interaction != Interaction::Cp {
        return next_quadratic_trial(session, candidates);
    }
    let (centred, plain) = candidates.split_at(candidates.partition_point(|c| c.trial.centred));
    // A race may have chosen the centre.
    let centre = if session.base.centred { Choice::Fixed(true) } else { session.config().centre };
    let mut next = None;
    if centre != Choice::Fixed(false) && plain.is_empty() {
        next = cp_path::next_trial(session, centred, true);
    }
    if next.is_none() && centre != Choice::Fixed(true) {
        next = cp_path::next_trial(session, plain, false);
    }
    next
}

/// The next biases and rank of a quadratic model.
fn next_quadratic_trial<T: Real>(
    session: &FitSession<'_, T>,
    candidates: &[Candidate],
) -> Option<Trial> {
    let biases = match session.config().biases.fixed() {
        Some(biases) => vec![biases],
        None => vec![Biases::None, Biases::Mean, Biases::Modes],
    };
    let pick = if session.checked.finds_rank {
        hold_out_ranks::next(candidates, &biases, largest_rank(session))
    } else {
        let tried = |biases| candidates.iter().any(|c| c.trial.biases == biases);
        let next = biases.iter().find(|&&biases| !tried(biases));
        next.map(|&biases| Pick { biases, rank: session.base.rank })
    };
    pick.map(|Pick { biases, rank }| Trial { biases, rank, centred: false, beginning: None })
}

/// The largest rank that the number of observations can support.
pub(super) fn largest_rank<T: Real>(session: &FitSession<'_, T>) -> usize {
    let data = session.problem.training();
    let (sizes, len) = (data.sizes(), data.len());
    let free = |rank| session.base.clone().with_rank(rank).degrees_of_freedom(&sizes);
    (1..=session.base.rank).take_while(|&rank| free(rank) <= len).last().unwrap_or(1)
}

/// The model with the biases and the rank of a trial.
pub(super) fn spec_with<T: Real>(
    session: &FitSession<'_, T>,
    biases: Biases,
    rank: usize,
) -> ModelSpec {
    session.base.clone().with_biases(biases).with_rank(rank)
}

/// The candidate with the smallest held-out error.
fn best_candidate(candidates: &[Candidate]) -> Option<&Candidate> {
    candidates.iter().min_by(|x, y| x.validation_rmse.total_cmp(&y.validation_rmse))
}

/// What has done best on the held-out part, as it was fitted to the rest; where a limit came before
/// the first step, the start of a path.
fn best_so_far<T: Real>(
    session: &FitSession<'_, T>,
    search: HoldOutSearch<Parameters<T>>,
    status: Status,
) -> Finished<T> {
    let chosen = best_candidate(&search.candidates).cloned();
    if let (Some(chosen), Some(best)) = (chosen, search.best) {
        return finish_early(chosen, best, status);
    }
    let data = session.problem.training();
    let descent = session.path_start(data, &spec_with(session, Biases::None, 1));
    let penalty = descent.first_penalty;
    Finished::at(descent, penalty, status)
}

/// A fit that a limit ended before all data were fitted: the point that did best on held-out data.
pub(super) fn finish_early<T: Real>(
    chosen: Candidate,
    best: Best<Parameters<T>>,
    status: Status,
) -> Finished<T> {
    let Best { spec, parameters, penalty, rmse } = best;
    let finished = Finished::at(Descent::new(spec, chosen.penalty, parameters), penalty, status);
    Finished { path: chosen.path, validation_rmse: Some(rmse), ..finished }
}
