//! Which rank, penalty and biases predict held-out data best: one path of decreasing penalties for
//! each choice of rank and biases.

use std::ops::ControlFlow;

use super::Status;
use super::centred;
use super::config::Choice;
use super::early_stopping;
use super::events::Stage;
use super::hold_out_ranks::{self, Pick};
use super::path::{self, PATH_DEPTH, Schedule};
use super::session::{FitSession, Iteration, steps};
use super::state::{Best, Candidate, Descent, Finished, HoldOutSearch, Next, State, Trial};
use super::step::Als;
use crate::model::{Biases, Interaction, ModelSpec, Parameters};
use quadfill_kernels::Real;

/// How far up the penalty of a CP model is tried.
const PATH_HEIGHT: f64 = 1e3;
/// The best penalty is near the start of a path if the start is smaller than this many times the penalty.
const NEAR_START: f64 = 4.0;
/// Where the start of a CP path is searched for, over the penalty at which the last one began.
const ABOVE: f64 = 4.0;

/// Evaluates one path after the other, then continues from the best point.
pub(super) fn run<T: Real>(
    session: &mut FitSession<'_, T>,
    mut search: HoldOutSearch<Parameters<T>>,
) -> Next<T> {
    loop {
        let (trial, mut descent) = match search.descent.take() {
            Some(under_way) => under_way,
            None => match next_trial(session, &search.candidates) {
                Some(trial) => (trial, start_of(session, &mut search, trial)),
                None => break,
            },
        };
        let limit = evaluate_path(session, &mut search, trial, &mut descent);
        if let Some(best) = path::best_point(&descent.trace.path) {
            let path = descent.trace.path;
            search.candidates.push(Candidate {
                biases: trial.biases,
                rank: trial.rank,
                centred: trial.centred,
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

/// Where the path of a trial begins. The way up of a CP model begins where the way down did.
fn start_of<T: Real>(
    session: &FitSession<'_, T>,
    search: &mut HoldOutSearch<Parameters<T>>,
    trial: Trial,
) -> Descent<Parameters<T>> {
    let kept = search.start.take();
    if let (Some(start), true) = (kept, trial.end > 1.0) {
        return start;
    }
    let spec = spec_with(session, trial.biases, trial.rank).with_centre(trial.centred);
    // Penalties at which no column vanishes are similar for all ranks and biases.
    let before = search.candidates.iter().rev().find(|c| !c.centred).map(|c| c.path[0].penalty);
    let above = before.map(|penalty| ABOVE * penalty);
    let start = session.path_start_below(session.problem.training(), &spec, above);
    if is_plain_cp(&spec) {
        search.start = Some(start.clone());
    }
    start
}

/// Whether a path begins at random, in the middle of all penalties.
fn is_plain_cp(spec: &ModelSpec) -> bool {
    spec.interaction == Interaction::Cp && !spec.centred
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
    let count = steps_of(session, trial);
    let schedule = Schedule { first, last: first * trial.end, steps: count };
    let early = session.may_stop_early();
    let mut objective = problem.training_objective(&descent.spec, first);
    // The stop rule changes what is best, and a checkpoint has it.
    let shared = std::cell::RefCell::new(std::mem::take(search));
    let stage = Stage::HoldOut(shared.borrow().candidates.len());
    let iteration = Iteration {
        stage,
        count,
        advance: &mut steps(Als, |step| schedule.penalty(step)),
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
        early && path::is_past_best(&descent.trace.path, schedule.steps_per_decade())
    });
    *search = shared.into_inner();
    ending.limit()
}

/// The number of steps of a path on held-out data. Where many ranks are tried, few steps are enough to
/// compare them.
fn steps_of<T: Real>(session: &FitSession<'_, T>, trial: Trial) -> usize {
    if trial.centred {
        return session.config().path_steps.unwrap_or(centred::path_steps(trial.end));
    }
    let whole = session.path_steps(session.problem.training());
    let few = session.checked.finds_rank && session.config().path_steps.is_auto();
    if few { whole / 3 } else { whole }
}

/// What is tried next, which follows from what has been found: for CP first the centred models.
fn next_trial<T: Real>(session: &FitSession<'_, T>, candidates: &[Candidate]) -> Option<Trial> {
    let (centred, plain) = candidates.split_at(candidates.partition_point(|c| c.centred));
    let is_cp = session.base.interaction == Interaction::Cp;
    let centre = if is_cp { session.config().centre } else { Choice::Fixed(false) };
    if centre.unwrap_or(true)
        && let Some(trial) = centred::next_trial(session, centred)
    {
        return Some(trial);
    }
    if centre == Choice::Fixed(true) { None } else { next_plain_trial(session, plain) }
}

/// The next model with rows drawn to zero: biases and rank, and for CP, which starts in the middle, the way up where
/// the way down was best near its start.
fn next_plain_trial<T: Real>(
    session: &FitSession<'_, T>,
    candidates: &[Candidate],
) -> Option<Trial> {
    let trial = |Pick { biases, rank }, end| Trial { biases, rank, centred: false, end };
    if let Some(&Candidate { biases, rank, .. }) = candidates.last().filter(|c| may_be_above(c))
        && is_plain_cp(&session.base)
    {
        return Some(trial(Pick { biases, rank }, PATH_HEIGHT));
    }
    let biases = match session.config().biases.fixed() {
        Some(biases) => vec![biases],
        None => vec![Biases::None, Biases::Mean, Biases::Modes],
    };
    let pick = if session.checked.finds_rank {
        hold_out_ranks::next(candidates, &biases, largest_rank(session))
    } else {
        let tried = |biases| candidates.iter().any(|c| c.biases == biases);
        let next = biases.iter().find(|&&biases| !tried(biases));
        next.map(|&biases| Pick { biases, rank: session.base.rank })
    };
    pick.map(|pick| trial(pick, PATH_DEPTH))
}

/// Whether a path went down from where its error was about smallest, so that larger penalties may be better.
fn may_be_above(candidate: &Candidate) -> bool {
    let path = &candidate.path;
    let goes_up = path[path.len() - 1].penalty > path[0].penalty;
    !goes_up && path[0].penalty < NEAR_START * candidate.penalty
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
