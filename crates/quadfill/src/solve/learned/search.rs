//! The search for the kernel: every start evaluated on held-out data, the best one fitted to the end.

use std::ops::ControlFlow;

use super::joint::JointStep;
use super::short_path::{
    Found, LearnedSteps, Moves, entries_of, iterate_at_best_penalty, run_learned, short_path,
};
use super::starts::sign_patterns;
use crate::model::{Biases, Interaction, Kernel, ModelSpec, Parameters};
use crate::objective::Objective;
use crate::solve::events::{Stage, Status};
use crate::solve::exact::{POLISH_STEPS, TRIM_FIRST, TRIM_LAST, is_worth_trying};
use crate::solve::fit::first_state;
use crate::solve::hold_out::largest_rank;
use crate::solve::path::Schedule;
use crate::solve::session::{Ending, FitSession, Iteration};
use crate::solve::state::{Descent, Finished, Next, State, Trace};
use crate::views::Selection;
use quadfill_kernels::Real;

/// Biases must predict better than a diagonal by this factor, because they have far more parameters.
const BIASES_BETTER: f64 = 0.98;
/// A held-out error below this share of the deviation may be that of exact data.
const MAYBE_EXACT: f64 = 0.3;
/// The maximum number of models that are kept for comparison.
const KEPT: usize = 4;
/// How many of the best kernels get a path of their own, and how often.
const IMPROVED: usize = 2;
const ROUNDS: usize = 3;
/// A new path that lowers the error by less than this factor is the last.
const ROUND_BETTER: f64 = 0.98;
/// A held-out error below this share of the deviation leaves little to be improved.
const CLOSE: f64 = 1e-2;
/// The maximum number of models that are polished to working precision.
const POLISHED: usize = 3;
/// Doubling the rank must lower the error by this factor.
const RANK_BETTER: f64 = 0.95;

/// Finds the kernel that predicts held-out data best, and the whole model where the data are exact.
/// Otherwise the fit continues as if the kernel had been given.
pub(in crate::solve) fn run<T: Real>(session: &mut FitSession<'_, T>) -> Next<T> {
    let (found, limit) = search(session);
    if let Some(status) = limit {
        return ControlFlow::Break(cut_short(&found[0], status));
    }
    if is_worth_trying(session)
        && let Some(exact) = exact_of(session, &found)
    {
        return ControlFlow::Break(exact);
    }
    let (kernel, _) = balanced(found[0].kernel(), &found[0].parameters);
    session.base.interaction = Interaction::Quadratic(kernel);
    ControlFlow::Continue(first_state(session))
}

/// The best models, the best first, and the status where a limit of the whole fit came first. Where
/// the rank is not given, it is doubled and then lowered as long as that helps.
fn search<T: Real>(session: &mut FitSession<'_, T>) -> (Vec<Found<T>>, Option<Status>) {
    let mut found = Vec::new();
    if !session.checked.finds_rank {
        let limit = try_starts(session, session.base.rank, &mut found);
        return (found, limit);
    }
    let most = largest_rank(session);
    let doubled = std::iter::successors(Some(1), |rank| Some(rank * 2));
    for rank in doubled.take_while(|&rank| rank <= most) {
        let before = best_rmse(&found);
        let limit = try_starts(session, rank, &mut found);
        if limit.is_some() {
            return (found, limit);
        }
        if best_rmse(&found) > RANK_BETTER * before {
            break;
        }
    }
    for rank in (1..found[0].spec.rank).rev() {
        let before = best_rmse(&found);
        let limit = try_starts(session, rank, &mut found);
        if limit.is_some() || best_rmse(&found) >= before {
            return (found, limit);
        }
    }
    (found, None)
}

/// Tries every start at one rank and adds what was found, the best first. Returns a status where a
/// limit of the whole fit came first.
fn try_starts<T: Real>(
    session: &mut FitSession<'_, T>,
    rank: usize,
    found: &mut Vec<Found<T>>,
) -> Option<Status> {
    let given = session.config().biases;
    let plain = given.unwrap_or(Biases::None);
    let mut starts: Vec<(Kernel, Biases)> = Vec::new();
    for kernel in sign_patterns(session.base.modes()) {
        if plain != Biases::Modes {
            starts.push((kernel.clone(), plain));
        }
        starts.push((kernel, Biases::Modes));
    }
    let (mut here, mut limit) = (Vec::new(), None);
    for (number, (kernel, biases)) in starts.into_iter().enumerate() {
        let spec = ModelSpec::quadratic(kernel, rank).with_biases(biases);
        let first = short_path(session, &spec, number, Moves::Signs);
        limit = first.limit;
        if biases == plain {
            here.push(first);
        } else {
            if let Some(mut diagonal) = first.with_diagonal(session, plain) {
                if limit.is_none() {
                    diagonal = iterate_at_best_penalty(session, diagonal, number);
                    limit = diagonal.limit;
                }
                here.push(diagonal);
            }
            if given.is_auto() {
                here.push(first);
            }
        }
        if limit.is_some() {
            break;
        }
    }
    sort(&mut here);
    if limit.is_none() {
        limit = improve(session, &mut here);
    }
    found.append(&mut here);
    sort(found);
    found.truncate(KEPT);
    limit
}

/// New paths from the best kernels as long as they predict better.
fn improve<T: Real>(session: &mut FitSession<'_, T>, found: &mut [Found<T>]) -> Option<Status> {
    let deviation = deviation(session, session.problem.training(), &found[0]);
    let with_kernel = found.iter_mut().filter(|found| found.spec.biases != Biases::Modes);
    for (number, found) in with_kernel.take(IMPROVED).enumerate() {
        for _ in 0..ROUNDS {
            if found.rmse < CLOSE * deviation {
                return None;
            }
            let (kernel, _) = balanced(found.kernel(), &found.parameters);
            let interaction = Interaction::Quadratic(kernel);
            let spec = ModelSpec { interaction, ..found.spec.clone() };
            let next = short_path(session, &spec, number, Moves::Sizes);
            let (limit, ratio) = (next.limit, next.rmse / found.rmse);
            if ratio < 1.0 {
                *found = next;
            }
            if limit.is_some() {
                return limit;
            }
            if ratio > ROUND_BETTER {
                break;
            }
        }
    }
    None
}

fn deviation<T: Real>(
    session: &FitSession<'_, T>,
    data: Selection<'_, T>,
    found: &Found<T>,
) -> f64 {
    let objective = session.problem.objective_on(data, &found.spec, 0.0);
    objective.data_value(&found.parameters.zeros_like()).sqrt()
}

fn descent_at<T: Real>(found: &Found<T>) -> Descent<Parameters<T>> {
    Descent::new(found.spec.clone(), found.lambda_max, found.parameters.clone())
}

/// A model of the search, where a limit of the whole fit came first.
fn cut_short<T: Real>(found: &Found<T>, status: Status) -> Finished<T> {
    let finished = Finished::at(descent_at(found), found.penalty, status);
    Finished { path: found.path.clone(), validation_rmse: Some(found.rmse), ..finished }
}

/// The first of the best models whose residual on all data vanishes: at decreasing penalties, and then
/// by joint steps without any. Where a limit of the whole fit comes first, the model that was tried.
fn exact_of<T: Real>(session: &mut FitSession<'_, T>, found: &[Found<T>]) -> Option<Finished<T>> {
    let data = session.problem.data();
    let plain = found.iter().filter(|found| found.spec.biases == Biases::None);
    for found in plain.take(POLISHED) {
        let deviation = deviation(session, data, found);
        if found.rmse > MAYBE_EXACT * deviation {
            break;
        }
        let first = found.lambda_max;
        let steps = (session.path_steps(data) / 3).max(10);
        let schedule = Schedule { first: first * TRIM_FIRST, last: first * TRIM_LAST, steps };
        let mut descent = descent_at(found);
        let mut objective = session.problem.objective(&found.spec, schedule.first);
        let sweeps =
            LearnedSteps { count: steps, from: 0, penalty: &|step| schedule.penalty(step) };
        let stage = Stage::Trim;
        let ending =
            run_learned(session, stage, &mut objective, &mut descent, &sweeps, |_, _| false);
        if let Some(status) = ending.limit() {
            return Some(cut_short(found, status));
        }
        let path = [&found.path[..], &descent.trace.path].concat();
        descent.trace = Trace::default();
        objective.set_penalty(0.0);
        let ending = joint_polish(session, &mut objective, &mut descent, deviation);
        if let Some(status) = ending.limit() {
            return Some(cut_short(found, status));
        }
        let vanished = deviation * T::EPSILON.sqrt().min(1e-5);
        if objective.data_value(&descent.parameters).sqrt() <= vanished {
            let (kernel, parameters) =
                balanced(objective.kernel().expect("a kernel"), &descent.parameters);
            descent.spec.interaction = Interaction::Quadratic(kernel);
            descent.parameters = parameters;
            return Some(Finished { path, ..Finished::at(descent, 0.0, Status::Exact) });
        }
    }
    None
}

fn joint_polish<T: Real>(
    session: &mut FitSession<'_, T>,
    objective: &mut Objective<'_, T>,
    descent: &mut Descent<Parameters<T>>,
    deviation: f64,
) -> Ending {
    let entries = entries_of(objective.kernel().expect("a kernel"));
    let mut solver = JointStep::default();
    let (mut slow, mut before) = (0, f64::INFINITY);
    let iteration = Iteration {
        stage: Stage::Polish,
        count: POLISH_STEPS,
        advance: &mut |objective: &mut Objective<'_, T>, descent: &mut Descent<Parameters<T>>| {
            solver.step(objective, &mut descent.parameters, &entries)
        },
        checkpoint: Some(&|_: &Descent<_>| State::LearnKernel),
        sweeps_before: Some(0),
    };
    session.iterate(objective, descent, iteration, |_, report| {
        let now = report.data.max(0.0).sqrt();
        slow = if now > 0.7 * before { slow + 1 } else { 0 };
        before = now;
        let done = now < 4.0 * T::EPSILON * deviation;
        slow >= 5 || done
    })
}

fn best_rmse<T: Real>(found: &[Found<T>]) -> f64 {
    found.first().map_or(f64::INFINITY, |found| found.rmse)
}

fn sort<T: Real>(found: &mut [Found<T>]) {
    found.sort_by(|x, y| handicapped(x).total_cmp(&handicapped(y)));
}

fn handicapped<T: Real>(found: &Found<T>) -> f64 {
    let free = if found.spec.biases == Biases::Modes { 1.0 } else { BIASES_BETTER };
    free * found.rmse
}

/// The same model with rows that are equally long in all modes, and a kernel of the norm of the
/// pairwise one.
fn balanced<T: Real>(kernel: &Kernel, parameters: &Parameters<T>) -> (Kernel, Parameters<T>) {
    let modes = kernel.modes();
    let lengths: Vec<f64> = (0..modes)
        .map(|mode| {
            let rows = parameters.layout().rows()[mode];
            let squares = parameters.factors(mode).iter().map(|u| u.to_f64() * u.to_f64());
            (squares.sum::<f64>() / rows.max(1) as f64).sqrt()
        })
        .collect();
    let longest = lengths.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let lengths: Vec<f64> = lengths.into_iter().map(|length| length.max(1e-3 * longest)).collect();
    let shrink = (Kernel::pairwise(modes).norm() / kernel.scaled(&lengths).norm()).sqrt();
    let scales: Vec<f64> = lengths.iter().map(|length| length * shrink).collect();
    let mut scaled = parameters.clone();
    for (mode, scale) in scales.iter().enumerate() {
        for label in 0..parameters.layout().rows()[mode] {
            for u in scaled.row_mut(mode, label) {
                *u = T::from_f64(u.to_f64() / scale);
            }
        }
    }
    (kernel.scaled(&scales), scaled)
}
