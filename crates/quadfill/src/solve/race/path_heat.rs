//! One heat of a path: decreasing penalties on every fold, and the smallest held-out error on the way.

use super::Race;
use super::arena::{Arena, Errors};
use super::heat::Result;
use super::propose::Plan;
use super::report::{Heat, HeldOutError};
use crate::model::Parameters;
use crate::objective::Objective;
use crate::solve::events::Stage;
use crate::solve::path::{self, PATH_DEPTH, Schedule};
use crate::solve::session::{FitSession, Iterate, Iteration};
use crate::solve::state::{Descent, State, Trace};
use crate::solve::step::StepReport;
use crate::solve::{Status, als, centred};
use quadfill_kernels::Real;

/// A path in progress on every fold.
struct Running<T: Real> {
    descents: Vec<Descent<Parameters<T>>>,
    best: Option<Errors>,
    trace: Trace,
}

impl<T: Real> Iterate for Running<T> {
    fn trace(&mut self) -> &mut Trace {
        &mut self.trace
    }
}

/// Runs the paths of all folds side by side.
pub(super) fn run<T: Real>(
    session: &mut FitSession<'_, T>,
    arena: &Arena<'_, T>,
    race: &Race<Parameters<T>>,
    plan: &Plan,
) -> (Result<T>, Option<Status>) {
    let spec = plan.contender.spec(&session.base);
    let end = if spec.centred { centred::path_end(arena.folds[0].training) } else { PATH_DEPTH };
    let mut objectives: Vec<Objective<'_, T>> = arena
        .folds
        .iter()
        .map(|fold| fold.problem.objective_on(fold.training, &spec, 0.0))
        .collect();
    let descents: Vec<_> =
        arena.folds.iter().map(|fold| session.path_start(fold.training, &spec)).collect();
    let schedules: Vec<Schedule> = descents
        .iter()
        .map(|descent| Schedule {
            first: descent.first_penalty,
            last: descent.first_penalty * end,
            steps: plan.draws,
        })
        .collect();
    let mut running = Running { descents, best: None, trace: Trace::default() };
    let iteration = Iteration {
        stage: Stage::Race(race.heats.len()),
        count: plan.draws,
        advance: &mut |whole: &mut Objective<'_, T>, running: &mut Running<T>| {
            let step = running.trace.step;
            let mut data = 0.0;
            for (fold, descent) in running.descents.iter_mut().enumerate() {
                objectives[fold].set_penalty(schedules[fold].penalty(step));
                data += als::sweep(&objectives[fold], &mut descent.parameters);
            }
            whole.set_penalty(schedules[0].penalty(step));
            let data = data / schedules.len() as f64;
            StepReport { objective: data, data, stuck: false }
        },
        // A heat is short: it starts again when it is resumed.
        checkpoint: Some(&|_: &Running<T>| State::Race(race.clone())),
        sweeps_before: Some(session.sweeps()),
    };
    let mut objective = arena.folds[0].problem.objective_on(arena.folds[0].training, &spec, 0.0);
    let per_decade = schedules[0].steps_per_decade();
    let ending = session.iterate(&mut objective, &mut running, iteration, |running, _| {
        let found = errors(arena, &running.descents);
        if running.best.is_none_or(|best| found.chosen_on < best.chosen_on) {
            running.best = Some(found);
        }
        running.trace.note_held_out(found.chosen_on);
        path::is_past_best(&running.trace.path, per_decade)
    });
    if let Some(status) = ending.limit() {
        return (None, Some(status));
    }
    let best = running.best.expect("a path has steps");
    let heat = Heat {
        contender: plan.contender.clone(),
        spec,
        is_pilot: false,
        chains: 0,
        burn_in: 0,
        draws: running.trace.step,
        error: best.chosen_on,
        half_way: best.chosen_on,
        told: HeldOutError { rmse: best.told, standard_error: best.standard_error },
        operations: plan.operations,
    };
    (Some((heat, Vec::new())), None)
}

/// The held-out errors of the current points.
fn errors<T: Real>(arena: &Arena<'_, T>, descents: &[Descent<Parameters<T>>]) -> Errors {
    let predictions: Vec<Vec<f64>> = arena
        .folds
        .iter()
        .zip(descents)
        .map(|(fold, descent)| {
            let mut sums = vec![0.0; fold.held_out.len()];
            fold.held_out.add_predictions(&descent.spec, &descent.parameters, &mut sums);
            sums
        })
        .collect();
    arena.errors(&predictions)
}
