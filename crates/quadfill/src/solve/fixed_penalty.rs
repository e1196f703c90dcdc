//! Fits at a given penalty: one solver from a random start, or the path down to it.

use std::ops::ControlFlow;

use super::Status;
use super::config::Solver;
use super::events::Stage;
use super::gauss_newton::GaussNewton;
use super::gradient::GradientDescent;
use super::lbfgs::Lbfgs;
use super::path::{PATH_DEPTH, Schedule};
use super::session::{FitSession, Iteration, STALLED_STEPS, steps};
use super::start;
use super::state::{Approach, Descent, Finished, Next, State};
use super::step::{Als, Step};
use crate::model::{Biases, ModelSpec, Parameters};
use quadfill_kernels::Real;

/// The default penalty of a single solver, relative to the one at which zero becomes optimal.
const SMALL_PENALTY: f64 = 1e-5;
/// The maximum number of sweeps at the end of a path to a given penalty.
const MAX_SWEEPS: usize = 1000;

/// A path down to a penalty, and the number of sweeps at its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    /// The stage that observers see on the way down.
    pub(super) stage: Stage,
    /// Where it ends.
    pub(super) penalty: f64,
    /// Sweeps on the way, one at each penalty.
    pub(super) steps: usize,
    /// The maximum number of sweeps at its end.
    pub(super) sweeps: usize,
}

/// Where a [`Way`] ended, and why.
pub(super) struct Reached<T: Real> {
    pub(super) approach: Approach<Parameters<T>>,
    pub(super) status: Status,
}

/// Where a fit with these settings begins: on the path, or at random.
pub(super) fn start<T: Real>(session: &FitSession<'_, T>) -> Approach<Parameters<T>> {
    let config = session.config();
    let spec = session.base.clone().with_biases(config.biases.unwrap_or(Biases::None));
    let data = session.problem.data();
    if config.solver == Solver::Path {
        return Approach::Down(session.path_start(data, &spec));
    }
    let penalty = match config.penalty.fixed() {
        Some(penalty) => penalty,
        None => SMALL_PENALTY * session.path_start(data, &spec).first_penalty,
    };
    let parameters = start::random(&spec, data, config.seed);
    Approach::AtPenalty(Descent::new(spec, penalty, parameters))
}

/// Where a fit begins that continues from known parameters.
pub(super) fn start_at<T: Real>(
    spec: &ModelSpec,
    penalty: f64,
    parameters: Parameters<T>,
) -> Approach<Parameters<T>> {
    Approach::AtPenalty(Descent::new(spec.clone(), penalty, parameters))
}

/// The path down to the penalty, or one solver at it.
pub(super) fn run<T: Real>(
    session: &mut FitSession<'_, T>,
    beginning: Approach<Parameters<T>>,
) -> Next<T> {
    let config = session.config();
    if config.solver != Solver::Path {
        return ControlFlow::Break(one_solver(session, beginning));
    }
    let penalty = config.penalty.fixed().expect("the path without a penalty chooses one");
    let (Approach::Down(descent) | Approach::AtPenalty(descent)) = &beginning;
    let decades = (descent.first_penalty / penalty).log10();
    let share = (decades / -PATH_DEPTH.log10()).clamp(0.0, 1.0);
    let count = session.path_steps(session.problem.data()) as f64;
    let steps = (count * share).ceil().max(1.0) as usize;
    let way = Way { stage: Stage::Refit, penalty, steps, sweeps: MAX_SWEEPS };
    let reached = approach(session, beginning, way, &State::FixedPenalty);
    let (Approach::Down(descent) | Approach::AtPenalty(descent)) = reached.approach;
    let penalty = descent.trace.last_penalty().unwrap_or(penalty);
    ControlFlow::Break(Finished::at(descent, penalty, reached.status))
}

/// One solver from a random start at one penalty.
fn one_solver<T: Real>(
    session: &mut FitSession<'_, T>,
    beginning: Approach<Parameters<T>>,
) -> Finished<T> {
    let config = session.config();
    let (Approach::Down(mut descent) | Approach::AtPenalty(mut descent)) = beginning;
    let penalty = descent.first_penalty;
    let (mut solver, most): (Box<dyn Step<T>>, usize) = match config.solver {
        Solver::Gd(step) => (Box::new(GradientDescent::new(step.fixed())), 20_000),
        Solver::Lbfgs => (Box::new(Lbfgs::new()), 5_000),
        Solver::GaussNewton => (Box::new(GaussNewton::new()), 200),
        Solver::Als => (Box::new(Als), 500),
        Solver::Auto | Solver::Path | Solver::Sdp(_) | Solver::Gibbs(_) => {
            unreachable!("these have states of their own")
        }
    };
    let checkpoint = |approach| State::FixedPenalty(approach);
    let count = config.sweeps.unwrap_or(most);
    let resumable = config.solver.keeps_checkpoints().then_some(&checkpoint as &Wrap<T>);
    let status =
        iterate_at_penalty(session, &mut descent, penalty, solver.as_mut(), count, resumable);
    Finished::at(descent, penalty, status)
}

/// The state of a fit that has come so far.
type Wrap<'w, T> = dyn Fn(Approach<Parameters<T>>) -> State<Parameters<T>> + 'w;

/// Decreases the penalty from the start of the path and iterates at its end until the objective stops
/// decreasing.
pub(super) fn approach<T: Real>(
    session: &mut FitSession<'_, T>,
    beginning: Approach<Parameters<T>>,
    way: Way,
    checkpoint: &Wrap<'_, T>,
) -> Reached<T> {
    let Way { stage, penalty, steps: count, sweeps } = way;
    let mut descent = match beginning {
        Approach::AtPenalty(descent) => descent,
        Approach::Down(mut descent) => {
            let first = descent.first_penalty;
            let last = penalty.max(first * PATH_DEPTH).min(first.max(penalty));
            let schedule = Schedule { first, last, steps: count };
            let mut objective = session.problem.objective(&descent.spec, first);
            let iteration = Iteration {
                stage,
                count,
                advance: &mut steps(Als, |step| schedule.penalty(step)),
                checkpoint: Some(&|descent: &Descent<_>| {
                    checkpoint(Approach::Down(descent.clone()))
                }),
                sweeps_before: None,
            };
            let ending = session.iterate(&mut objective, &mut descent, iteration, |_, _| false);
            if let Some(status) = ending.limit() {
                return Reached { approach: Approach::Down(descent), status };
            }
            descent.trace.step = 0;
            descent.trace.stalled = 0;
            descent
        }
    };
    let status =
        iterate_at_penalty(session, &mut descent, penalty, &mut Als, sweeps, Some(checkpoint));
    Reached { approach: Approach::AtPenalty(descent), status }
}

/// Steps at one penalty until the objective stops decreasing.
fn iterate_at_penalty<T: Real>(
    session: &mut FitSession<'_, T>,
    descent: &mut Descent<Parameters<T>>,
    penalty: f64,
    solver: &mut dyn Step<T>,
    count: usize,
    checkpoint: Option<&Wrap<'_, T>>,
) -> Status {
    let mut objective = session.problem.objective(&descent.spec, penalty);
    let early = session.may_stop_early();
    let state = checkpoint.map(|checkpoint| {
        move |descent: &Descent<Parameters<T>>| checkpoint(Approach::AtPenalty(descent.clone()))
    });
    let iteration = Iteration {
        stage: Stage::Solve,
        count,
        advance: &mut steps(solver, |_| penalty),
        checkpoint: state.as_ref().map(|state| state as &dyn Fn(&Descent<_>) -> State<_>),
        sweeps_before: None,
    };
    let ending = session.iterate(&mut objective, descent, iteration, |descent, _| {
        early && descent.trace.stalled >= STALLED_STEPS
    });
    ending.status(Status::SweepLimit)
}
