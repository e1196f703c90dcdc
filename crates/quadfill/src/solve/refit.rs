//! The refit of all data with the chosen settings, by as many sweeps as were best on held-out data.

use std::ops::ControlFlow;

use super::Status;
use super::events::Stage;
use super::fixed_penalty::{Way, approach};
use super::hold_out::finish_early;
use super::path;
use super::session::FitSession;
use super::state::{Approach, Best, Candidate, Descent, Finished, Next, Refit, State};
use crate::model::{Interaction, Parameters};
use quadfill_kernels::Real;

/// The fewest sweeps where the refit begins at a point that was fitted to the rest of the data.
const FEWEST_SWEEPS: usize = 5;

/// Begins a path on all data. A random start of CP may lead elsewhere, so CP continues from the best point on
/// held-out data.
pub(super) fn start<T: Real>(
    session: &FitSession<'_, T>,
    chosen: Candidate,
    best: Best<Parameters<T>>,
    sweep_budget: usize,
    validation_rmse: f64,
) -> State<Parameters<T>> {
    let (approach, sweep_budget) = if best.spec.interaction == Interaction::Cp {
        let parameters = best.parameters.clone();
        let descent = Descent::new(best.spec.clone(), chosen.penalty, parameters);
        (Approach::AtPenalty(descent), sweep_budget.max(FEWEST_SWEEPS))
    } else {
        let descent = session.path_start(session.problem.data(), &best.spec);
        (Approach::Down(descent), sweep_budget)
    };
    State::Refit(Refit { chosen, sweep_budget, validation_rmse, best, approach })
}

/// Decreases the penalty to the chosen one, and iterates there for the chosen number of sweeps.
pub(super) fn run<T: Real>(
    session: &mut FitSession<'_, T>,
    refit: Refit<Parameters<T>>,
) -> Next<T> {
    let way = Way {
        stage: Stage::Refit,
        penalty: refit.chosen.penalty,
        steps: path::best_point(&refit.chosen.path).map_or(1, |i| i + 1),
        sweeps: refit.sweep_budget,
    };
    let checkpoint = |approach: Approach<Parameters<T>>| {
        State::Refit(Refit {
            chosen: refit.chosen.clone(),
            best: refit.best.clone(),
            approach,
            ..refit
        })
    };
    let reached = approach(session, refit.approach.clone(), way, &checkpoint);
    let (ended_on_the_way, descent) = match reached.approach {
        Approach::Down(descent) => (true, descent),
        Approach::AtPenalty(descent) => (false, descent),
    };
    let status = match reached.status {
        status @ (Status::TimeLimit | Status::Interrupted) => status,
        status if ended_on_the_way => status,
        _ => Status::Validated,
    };
    if ended_on_the_way {
        return ControlFlow::Break(finish_early(refit.chosen, refit.best, status));
    }
    let finished = Finished::at(descent, refit.chosen.penalty, status);
    ControlFlow::Break(Finished {
        path: refit.chosen.path,
        validation_rmse: Some(refit.validation_rmse),
        ..finished
    })
}
