//! One start of the search: a short path, and how well it predicts what is held out.

use super::diagonal::biases_to_diagonal;
use super::kernel_step::learned_sweep;
use crate::model::{
    Biases, Kernel, ModelSpec, Parameters, keep_principal, rotate_to_principal_axes,
};
use crate::objective::{KernelEntry, Objective};
use crate::solve::events::{PathPoint, Stage, Status};
use crate::solve::exact::{SPARE_COLUMNS, TRIM_FIRST, TRIM_LAST};
use crate::solve::path::{self, PATH_DEPTH, Schedule};
use crate::solve::session::{Ending, FitSession, Iteration, STALLED_STEPS};
use crate::solve::state::{Descent, State};
use crate::solve::step::StepReport;
use quadfill_kernels::Real;

/// The share of a whole path's steps that a short one takes.
const SHORT: usize = 3;
/// The maximum number of sweeps at the best penalty of a start.
const MAX_SWEEPS: usize = 60;
/// Columns with a squared norm below this share of the largest are dropped, where the rank is not given.
const VANISHED: f64 = 1e-3;

/// A model that the search has found.
#[derive(Clone)]
pub(super) struct Found<T: Real> {
    pub(super) spec: ModelSpec,
    pub(super) parameters: Parameters<T>,
    pub(super) penalty: f64,
    pub(super) lambda_max: f64,
    /// The error on what is held out.
    pub(super) rmse: f64,
    /// The limit that was reached, if any.
    pub(super) limit: Option<Status>,
    /// The path of the descent.
    pub(super) path: Vec<PathPoint>,
}

impl<T: Real> Found<T> {
    pub(super) fn kernel(&self) -> &Kernel {
        self.spec.kernel().expect("only quadratic models are learned")
    }

    /// The model with a diagonal in the place of biases, if there is one.
    pub(super) fn with_diagonal(
        &self,
        session: &FitSession<'_, T>,
        biases: Biases,
    ) -> Option<Self> {
        let data = session.problem.training();
        let (spec, parameters) =
            biases_to_diagonal(&self.spec, self.kernel(), &self.parameters, data, biases)?;
        let rmse = session.problem.held_out_rmse(&spec, &parameters);
        Some(Self { spec, parameters, rmse, ..self.clone() })
    }
}

/// The entries of a kernel that are learned: a diagonal only where there is one already.
pub(super) fn entries_of(kernel: &Kernel) -> Vec<KernelEntry> {
    let diagonal = kernel.has_diagonal();
    kernel.distinct_entries().into_iter().filter(|(a, b)| diagonal || a != b).collect()
}

/// When a short path begins to change its kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moves {
    /// At its end where the sizes of the entries are scales of the factors, as with three modes.
    Signs,
    /// After its first quarter: before that the factors are too small.
    Sizes,
}

impl Moves {
    fn kernel_early(self, modes: usize) -> bool {
        self == Self::Sizes || modes > 3
    }
}

/// Learned sweeps with the penalty of each step.
pub(super) struct LearnedSteps<'s> {
    pub(super) count: usize,
    /// The first step after which the kernel is changed too.
    pub(super) from: usize,
    pub(super) penalty: &'s dyn Fn(usize) -> f64,
}

/// A short path from a kernel without a diagonal, down to where it predicts best.
pub(super) fn short_path<T: Real>(
    session: &mut FitSession<'_, T>,
    spec: &ModelSpec,
    number: usize,
    moves: Moves,
) -> Found<T> {
    let problem = session.problem;
    let wide = spec.clone().with_rank(spec.rank + SPARE_COLUMNS);
    let sizes = problem.training().sizes();
    let mut descent = session.path_start(problem.training(), &wide);
    let first = descent.first_penalty;
    let count = (session.path_steps(problem.training()) / SHORT).max(10);
    let schedule = Schedule { first, last: first * PATH_DEPTH, steps: count };
    let from = if moves.kernel_early(spec.modes()) { count / 4 } else { count };
    let mut objective = problem.training_objective(&wide, first);
    let mut best = (f64::INFINITY, first, wide.clone(), descent.parameters.clone());
    let per_decade = schedule.steps_per_decade();
    let steps = LearnedSteps { count, from, penalty: &|step| schedule.penalty(step) };
    let stage = Stage::Kernel(number);
    let ending = run_learned(session, stage, &mut objective, &mut descent, &steps, |descent, _| {
        let rmse = problem.held_out_rmse(&descent.spec, &descent.parameters);
        if rmse < best.0 {
            let penalty = descent.trace.last_penalty().unwrap_or(first);
            best = (rmse, penalty, descent.spec.clone(), descent.parameters.clone());
        }
        descent.trace.note_held_out(rmse);
        path::is_past_best(&descent.trace.path, per_decade)
    });
    let (_, penalty, mut spec, mut parameters) = best;
    spec.rank -= SPARE_COLUMNS;
    if session.checked.finds_rank {
        let squares = rotate_to_principal_axes(&mut parameters);
        let kept = squares.iter().filter(|&&s| s > VANISHED * squares[0]).count();
        spec.rank = kept.clamp(1, spec.rank);
    }
    let parameters = keep_principal(parameters, &spec, &sizes);
    let rmse = problem.held_out_rmse(&spec, &parameters);
    let (limit, path) = (ending.limit(), descent.trace.path);
    let found = Found { spec, parameters, penalty, lambda_max: first, rmse, limit, path };
    // As long as errors fall the penalty is not needed, as with data without noise.
    let still_falling = penalty <= first * PATH_DEPTH * 10.0;
    if still_falling && found.limit.is_none() {
        let schedule =
            Schedule { first: first * TRIM_FIRST, last: first * TRIM_LAST, steps: count };
        let trimmed = go_on(session, found.clone(), number, &schedule);
        if trimmed.rmse <= found.rmse {
            return trimmed;
        }
    }
    found
}

/// Iterates at the best penalty, the kernel being learned too.
pub(super) fn iterate_at_best_penalty<T: Real>(
    session: &mut FitSession<'_, T>,
    found: Found<T>,
    number: usize,
) -> Found<T> {
    let schedule = Schedule { first: found.penalty, last: found.penalty, steps: MAX_SWEEPS };
    go_on(session, found, number, &schedule)
}

fn go_on<T: Real>(
    session: &mut FitSession<'_, T>,
    found: Found<T>,
    number: usize,
    schedule: &Schedule,
) -> Found<T> {
    let problem = session.problem;
    let mut objective = problem.training_objective(&found.spec, schedule.first);
    let mut descent = Descent::new(found.spec, found.lambda_max, found.parameters);
    let steps =
        LearnedSteps { count: schedule.steps, from: 0, penalty: &|step| schedule.penalty(step) };
    let constant = schedule.first == schedule.last;
    let stage = Stage::Kernel(number);
    let ending = run_learned(session, stage, &mut objective, &mut descent, &steps, |descent, _| {
        constant && descent.trace.stalled >= STALLED_STEPS
    });
    let mut path = found.path;
    path.extend(descent.trace.path);
    Found {
        path,
        rmse: problem.held_out_rmse(&descent.spec, &descent.parameters),
        penalty: schedule.last,
        limit: ending.limit(),
        lambda_max: found.lambda_max,
        spec: descent.spec,
        parameters: descent.parameters,
    }
}

/// Runs learned sweeps; the descent has the kernel of every step.
pub(super) fn run_learned<T: Real>(
    session: &mut FitSession<'_, T>,
    stage: Stage,
    objective: &mut Objective<'_, T>,
    descent: &mut Descent<Parameters<T>>,
    steps: &LearnedSteps<'_>,
    stop_rule: impl FnMut(&mut Descent<Parameters<T>>, &StepReport) -> bool,
) -> Ending {
    let entries = entries_of(objective.kernel().expect("only quadratic models are learned"));
    let iteration = Iteration {
        stage,
        count: steps.count,
        advance: &mut |objective: &mut Objective<'_, T>, descent: &mut Descent<Parameters<T>>| {
            let step = descent.trace.step;
            objective.set_penalty((steps.penalty)(step));
            let learned = if step < steps.from { &[][..] } else { &entries };
            let report = learned_sweep(objective, &mut descent.parameters, learned);
            descent.spec = objective.spec().clone();
            report
        },
        checkpoint: Some(&|_: &Descent<_>| State::LearnKernel),
        sweeps_before: Some(0),
    };
    session.iterate(objective, descent, iteration, stop_rule)
}
