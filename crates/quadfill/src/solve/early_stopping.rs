//! The number of sweeps at the chosen penalty.
//!
//! A path takes one sweep at each penalty, and what it has not fitted yet is often noise: iterating to
//! the minimum of the objective can increase the held-out error again. So the number of sweeps is chosen
//! on held-out data too.

use std::ops::ControlFlow;

use super::events::{PathPoint, Stage};
use super::hold_out::finish_early;
use super::path;
use super::refit;
use super::session::{FitSession, Iteration, STALLED_STEPS, steps};
use super::start::term_sizes;
use super::state::{Best, Candidate, Descent, EarlyStopping, Next, State};
use super::step::Als;
use crate::model::{Interaction, Parameters, each_row, with_columns};
use quadfill_kernels::Real;

/// The maximum number of sweeps at the chosen penalty.
pub(super) const MAX_SWEEPS: usize = 50;
/// A minimum of the objective can be certified, so a held-out error larger by this factor is accepted.
const GAP_SLACK: f64 = 1.001;
/// A term of CP that is smaller than this share of the largest has vanished.
const VANISHED: f64 = 1e-5;
/// Sweeps without improvement after the best one.
const PATIENCE: usize = 10;

/// Continues from the best point of all paths, for CP without the columns that the penalty has removed.
pub(super) fn start<T: Real>(
    session: &FitSession<'_, T>,
    chosen: Candidate,
    best: Best<Parameters<T>>,
) -> State<Parameters<T>> {
    let best =
        if session.checked.finds_rank { without_vanished_columns(session, best) } else { best };
    let descent = Descent::new(best.spec.clone(), chosen.penalty, best.parameters.clone());
    State::EarlyStopping(EarlyStopping { chosen, best, descent })
}

/// The same point of CP with fewer columns where some have vanished.
fn without_vanished_columns<T: Real>(
    session: &FitSession<'_, T>,
    best: Best<Parameters<T>>,
) -> Best<Parameters<T>> {
    if best.spec.interaction != Interaction::Cp {
        return best;
    }
    let sizes = term_sizes(&best.parameters).into_iter().enumerate();
    let kept: Vec<usize> =
        sizes.filter(|&(_, size)| size > VANISHED).map(|(column, _)| column).collect();
    let spec = best.spec.clone().with_rank(kept.len().max(1));
    let mut parameters = with_columns(&best.parameters, &spec, &session.problem.data().sizes());
    for (group, label) in each_row(best.parameters.layout().rows()) {
        let from = best.parameters.row(group, label);
        let to = parameters.row_mut(group, label);
        for (to, &column) in to.iter_mut().zip(&kept) {
            *to = from[column];
        }
    }
    Best { spec, parameters, ..best }
}

/// Iterates at the chosen penalty and records for how long the held-out error does not increase.
pub(super) fn run<T: Real>(
    session: &mut FitSession<'_, T>,
    trial: EarlyStopping<Parameters<T>>,
) -> Next<T> {
    let EarlyStopping { chosen, best, mut descent } = trial;
    let problem = session.problem;
    let mut objective = problem.training_objective(&descent.spec, chosen.penalty);
    let (early, penalty) = (session.may_stop_early(), chosen.penalty);
    let iteration = Iteration {
        stage: Stage::EarlyStopping,
        count: MAX_SWEEPS,
        advance: &mut steps(Als, |_| penalty),
        checkpoint: Some(&|descent: &Descent<_>| {
            let (chosen, best, descent) = (chosen.clone(), best.clone(), descent.clone());
            State::EarlyStopping(EarlyStopping { chosen, best, descent })
        }),
        sweeps_before: None,
    };
    let ending = session.iterate(&mut objective, &mut descent, iteration, |descent, _| {
        descent.trace.note_held_out(problem.held_out_rmse(&descent.spec, &descent.parameters));
        let trace = &descent.trace;
        let converged = trace.stalled >= STALLED_STEPS;
        early && (converged || is_overfitting(chosen.validation_rmse, &trace.path))
    });
    if let Some(status) = ending.limit() {
        return ControlFlow::Break(finish_early(chosen, best, status));
    }
    let (sweeps, rmse) = sweep_budget(chosen.validation_rmse, &descent.trace.path);
    ControlFlow::Continue(refit::start(session, chosen, best, sweeps, rmse))
}

/// Whether the held-out error has been larger than at its best for long enough.
fn is_overfitting(before: f64, path: &[PathPoint]) -> bool {
    let (best, rmse) = best_sweep(before, path);
    let last = path.last().and_then(|point| point.validation_rmse);
    path.len() >= best + PATIENCE && last.is_some_and(|last| last > GAP_SLACK * rmse)
}

/// The maximum number of sweeps, and the held-out error after them: all if the final error is about the
/// smallest, else the number with the smallest error.
fn sweep_budget(before: f64, path: &[PathPoint]) -> (usize, f64) {
    let (sweeps, smallest) = best_sweep(before, path);
    match path.last().and_then(|point| point.validation_rmse) {
        Some(last) if last <= GAP_SLACK * smallest => (MAX_SWEEPS, last),
        _ => (sweeps, smallest),
    }
}

/// The number of sweeps with the smallest held-out error, which is `before` without any, and that error.
fn best_sweep(before: f64, path: &[PathPoint]) -> (usize, f64) {
    let best = path::best_point(path).and_then(|i| Some((i + 1, path[i].validation_rmse?)));
    best.filter(|&(_, rmse)| rmse < before).unwrap_or((0, before))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(errors: &[f64]) -> Vec<PathPoint> {
        let point = |&rmse: &f64| PathPoint {
            penalty: 1.0,
            train_rmse: 1.0,
            validation_rmse: Some(rmse),
            seconds: 0.0,
        };
        errors.iter().map(point).collect()
    }

    fn sweeps(before: f64, errors: &[f64]) -> usize {
        sweep_budget(before, &path(errors)).0
    }

    #[test]
    fn the_budget_ends_where_the_held_out_error_is_smallest() {
        assert_eq!(sweeps(1.0, &[0.99, 0.98, 0.97]), MAX_SWEEPS);
        assert_eq!(sweeps(1.0, &[1.0, 1.0005]), MAX_SWEEPS);
        assert_eq!(sweeps(1.0, &[1.01, 1.02]), 0);
        assert_eq!(sweeps(1.0, &[0.99, 0.95, 0.97, 1.02]), 2);
        assert_eq!(sweeps(1.0, &[]), 0);
    }

    #[test]
    fn overfitting_shows_some_sweeps_after_the_best() {
        let mut errors = vec![0.9, 0.8];
        errors.extend([0.85; PATIENCE - 1]);
        assert!(!is_overfitting(1.0, &path(&errors)));
        errors.push(0.85);
        assert!(is_overfitting(1.0, &path(&errors)));
        errors.push(0.8);
        assert!(!is_overfitting(1.0, &path(&errors)), "about as good as the best");
    }
}
