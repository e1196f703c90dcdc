//! Data without noise: recovered to working precision from few more observations than free parameters.

use std::ops::ControlFlow;

use super::events::{Stage, Status};
use super::exact_rank;
use super::gauss_newton::GaussNewton;
use super::path::{self, PATH_DEPTH, Schedule};
use super::race::Race;
use super::session::{Ending, FitSession, Iteration, steps};
use super::state::{
    Descent, ExactAttempt, ExactSearch, Finished, HoldOutSearch, Next, RankTrial, State,
    TrialResult,
};
use super::step::Als;
use crate::model::{Biases, Interaction, ModelSpec, Parameters, keep_principal};
use crate::objective::Objective;
use quadfill_kernels::Real;

/// Extra columns of the first path.
pub(super) const SPARE_COLUMNS: usize = 2;
/// Where the second path begins and ends, as shares of the first one's start.
pub(super) const TRIM_FIRST: f64 = 1e-2;
pub(super) const TRIM_LAST: f64 = 1e-8;
/// The maximum number of Gauss-Newton steps of a polish.
pub(super) const POLISH_STEPS: usize = 30;
/// A polish that starts below this share of the data's deviation has all its steps: exact data with columns of very
/// different sizes begin to improve after several. Polishes that recovered data started at 0.0025 and less; noise of 5 %
/// leaves more than this.
const NOISE_LEVEL: f64 = 4e-3;
/// Above it, the first polish continues if its first step leaves at most this share of the residual. Paths leave exact
/// data with errors in flat directions, which the step removes, and noisy data near a minimum (0.947 and more remained).
const PROBE_SHARE: f64 = 0.93;
/// The work of that step, in observations times columns times inner steps, and the least number of inner steps: enough
/// to tell, and little because most data are noisy.
const PROBE_WORK: usize = 30_000_000;
const PROBE_INNER: usize = 100;
/// Where there are this many observations for each free parameter, a path of [`SHORT_PATH`] steps recovers what a
/// longer one does.
const MANY_PER_PARAMETER: usize = 8;
const SHORT_PATH: usize = 100;

/// Whether to try an exact fit: enough data, but not so many that only a sample of them is raced on, and no setting
/// that rules it out.
pub(super) fn is_worth_trying<T: Real>(session: &FitSession<'_, T>) -> bool {
    let (config, data) = (session.config(), session.problem.data());
    let least = if session.checked.finds_rank { 1 } else { session.base.rank };
    let spec = session.base.clone().with_rank(least);
    let enough = data.len() > spec.degrees_of_freedom(&data.sizes());
    let plain = config.row_norm_penalty.is_none() && !config.perturb && !session.base.centred;
    let few = !session.races_on_sample();
    enough && few && plain && config.biases.unwrap_or(Biases::None) == Biases::None
}

/// Fits exactly at the given rank, or finds the smallest one at which that works. Where there is none
/// the data are noisy, and hold-out comes next.
pub(super) fn run<T: Real>(
    session: &mut FitSession<'_, T>,
    mut search: ExactSearch<Parameters<T>>,
) -> Next<T> {
    loop {
        let attempt = match search.attempt.take() {
            Some(attempt) => attempt,
            None => match exact_rank::next(session, &search.trials) {
                Some(rank) => ExactAttempt::Wide(wide_start(session, rank)),
                None => break,
            },
        };
        let rank = rank_of(&attempt);
        let result = match try_exact(session, &search, attempt) {
            Attempt::Exact(descent) => {
                // Ranks are halved, so the last one that was enough is the smallest.
                search.smallest = Some(descent);
                TrialResult::Exact
            }
            Attempt::Close => TrialResult::Close,
            Attempt::Noisy => TrialResult::Noisy,
            Attempt::Stopped(finished) => {
                // An exact fit is better than one that a limit ended.
                return ControlFlow::Break(match search.smallest {
                    Some(exact) => Finished::at(exact, 0.0, finished.status),
                    None => finished,
                });
            }
        };
        search.trials.push(RankTrial { rank, result });
    }
    match search.smallest {
        Some(descent) => ControlFlow::Break(Finished::at(descent, 0.0, Status::Exact)),
        None => ControlFlow::Continue(choose(session)),
    }
}

/// Where the choice of a model for noisy data begins.
pub(super) fn choose<T: Real>(session: &FitSession<'_, T>) -> State<Parameters<T>> {
    if session.checked.races {
        State::Race(Race::default())
    } else {
        State::HoldOut(HoldOutSearch::default())
    }
}

/// How an attempt ended.
enum Attempt<T: Real> {
    /// The residual vanished.
    Exact(Descent<Parameters<T>>),
    /// It vanished with extra columns, but not without them.
    Close,
    /// It stopped decreasing.
    Noisy,
    /// A limit of the whole fit was reached.
    Stopped(Finished<T>),
}

/// The extra columns of a model's first path; CP has none.
fn spare_columns(spec: &ModelSpec) -> usize {
    if spec.interaction == Interaction::Cp { 0 } else { SPARE_COLUMNS }
}

/// The rank that an attempt is about.
fn rank_of<P>(attempt: &ExactAttempt<P>) -> usize {
    match attempt {
        ExactAttempt::Wide(descent) => descent.spec.rank - spare_columns(&descent.spec),
        ExactAttempt::Trimmed(descent) | ExactAttempt::Polish(descent) => descent.spec.rank,
    }
}

fn wide_start<T: Real>(session: &FitSession<'_, T>, rank: usize) -> Descent<Parameters<T>> {
    let spec = session.base.clone().with_rank(rank + spare_columns(&session.base));
    session.path_start(session.problem.data(), &spec)
}

/// A path with extra columns, a second one with the principal columns, and a polish without penalty.
/// Gives up as soon as the data turn out not to be exact.
fn try_exact<T: Real>(
    session: &mut FitSession<'_, T>,
    search: &ExactSearch<Parameters<T>>,
    attempt: ExactAttempt<Parameters<T>>,
) -> Attempt<T> {
    let data = session.problem.data();
    let spec = session.base.clone().with_rank(rank_of(&attempt));
    let mut objective = session.problem.objective(&spec, 0.0);
    let zero = Parameters::zeros(&spec, &data.sizes());
    let deviation = objective.data_value(&zero).sqrt();
    let mut attempt = attempt;
    loop {
        attempt = match attempt {
            ExactAttempt::Wide(mut descent) => {
                let ending = wide_path(session, search, &mut descent, deviation);
                let penalty = descent.trace.last_penalty().unwrap_or(descent.first_penalty);
                let kept = keep_principal(descent.parameters, &spec, &data.sizes());
                let first = descent.first_penalty * TRIM_FIRST;
                let trimmed = Descent::new(spec.clone(), first, kept);
                if let Some(limit) = ending.limit() {
                    let finished = Finished::at(trimmed, penalty, limit);
                    return Attempt::Stopped(Finished { path: descent.trace.path, ..finished });
                }
                if ending != Ending::Done {
                    return Attempt::Noisy;
                }
                ExactAttempt::Trimmed(trimmed)
            }
            ExactAttempt::Trimmed(mut descent) => {
                let ending = trimmed_path(session, search, &mut objective, &mut descent);
                if let Some(limit) = ending.limit() {
                    let penalty = objective.penalty();
                    return Attempt::Stopped(Finished::at(descent, penalty, limit));
                }
                ExactAttempt::Polish(descent)
            }
            ExactAttempt::Polish(mut descent) => {
                let path = descent.trace.path.clone();
                let ending = polish(session, search, &mut objective, &mut descent, deviation);
                descent.trace.path = path;
                if ending == Ending::Interrupted {
                    return Attempt::Stopped(Finished::at(descent, 0.0, Status::Interrupted));
                }
                let vanished = deviation * T::EPSILON.sqrt().min(1e-5);
                let left = objective.data_value(&descent.parameters).sqrt();
                return match ending {
                    _ if left <= vanished => Attempt::Exact(descent),
                    Ending::StoppedByRule if descent.trace.step == 1 => Attempt::Noisy,
                    _ => Attempt::Close,
                };
            }
        };
    }
}

/// The state of the search during an attempt.
fn state<T: Real>(
    search: &ExactSearch<Parameters<T>>,
    attempt: ExactAttempt<Parameters<T>>,
) -> State<Parameters<T>> {
    State::Exact(ExactSearch { attempt: Some(attempt), ..search.clone() })
}

/// The number of steps of the first path.
fn path_steps<T: Real>(session: &FitSession<'_, T>) -> usize {
    let data = session.problem.data();
    let largest = session.base.clone().with_rank(exact_rank::largest(session));
    let free = largest.degrees_of_freedom(&data.sizes());
    let whole = session.path_steps(data);
    let is_short = data.len() >= MANY_PER_PARAMETER * free && session.config().path_steps.is_auto();
    if is_short { whole.min(SHORT_PATH) } else { whole }
}

fn wide_path<T: Real>(
    session: &mut FitSession<'_, T>,
    search: &ExactSearch<Parameters<T>>,
    descent: &mut Descent<Parameters<T>>,
    deviation: f64,
) -> Ending {
    let first = descent.first_penalty;
    let count = path_steps(session);
    let schedule = Schedule { first, last: first * PATH_DEPTH, steps: count };
    let per_decade = schedule.steps_per_decade();
    let early = session.may_stop_early();
    let mut objective = session.problem.objective(&descent.spec, first);
    let iteration = Iteration {
        stage: Stage::Exact,
        count,
        advance: &mut steps(Als, |step| schedule.penalty(step)),
        checkpoint: Some(&|descent: &Descent<_>| {
            state(search, ExactAttempt::Wide(descent.clone()))
        }),
        sweeps_before: None,
    };
    session.iterate(&mut objective, descent, iteration, |descent, _| {
        early && path::has_levelled_off(&descent.trace.path, per_decade, deviation)
    })
}

fn trimmed_path<T: Real>(
    session: &mut FitSession<'_, T>,
    search: &ExactSearch<Parameters<T>>,
    objective: &mut Objective<'_, T>,
    descent: &mut Descent<Parameters<T>>,
) -> Ending {
    let first = descent.first_penalty;
    let count = (path_steps(session) / 3).max(10);
    let schedule = Schedule { first, last: first * (TRIM_LAST / TRIM_FIRST), steps: count };
    let iteration = Iteration {
        stage: Stage::Trim,
        count,
        advance: &mut steps(Als, |step| schedule.penalty(step)),
        checkpoint: Some(&|descent: &Descent<_>| {
            state(search, ExactAttempt::Trimmed(descent.clone()))
        }),
        sweeps_before: None,
    };
    session.iterate(objective, descent, iteration, |_, _| false)
}

/// Gauss-Newton without penalty. The first polish of all ends after one step where the residual is large and that
/// hardly changes it. Its damping is carried from step to step and not kept, so a checkpoint has the point where it
/// began.
fn polish<T: Real>(
    session: &mut FitSession<'_, T>,
    search: &ExactSearch<Parameters<T>>,
    objective: &mut Objective<'_, T>,
    descent: &mut Descent<Parameters<T>>,
    deviation: f64,
) -> Ending {
    descent.trace.step = 0;
    let beginning = descent.clone();
    objective.set_penalty(0.0);
    let start = objective.data_value(&descent.parameters).sqrt();
    // Noise shows at the largest rank, which comes first. After that a step that changes little says that the rank
    // is too small, or nothing.
    let may_be_noise = search.trials.is_empty() && start > NOISE_LEVEL * deviation;
    let solver = if may_be_noise {
        let work = objective.views().len() * descent.spec.rank;
        GaussNewton::new().with_first_inner((PROBE_WORK / work).max(PROBE_INNER))
    } else {
        GaussNewton::new()
    };
    let (mut slow, mut before) = (0, f64::INFINITY);
    let iteration = Iteration {
        stage: Stage::Polish,
        count: POLISH_STEPS,
        advance: &mut steps(solver, |_| 0.0),
        checkpoint: Some(&|_: &Descent<_>| state(search, ExactAttempt::Polish(beginning.clone()))),
        sweeps_before: Some(session.sweeps()),
    };
    session.iterate(objective, descent, iteration, |descent, report| {
        let now = report.data.max(0.0).sqrt();
        let hardly_changed = descent.trace.step == 1 && now > PROBE_SHARE * start;
        slow = if now > 0.7 * before { slow + 1 } else { 0 };
        before = now;
        let done = now < 4.0 * T::EPSILON * deviation;
        (may_be_noise && hardly_changed) || slow >= 3 || done
    })
}
