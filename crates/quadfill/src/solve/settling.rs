//! How long a fit stays at the penalty that hold-out chose.
//!
//! A path takes one sweep at each penalty, and what it has not had the time to fit is often noise: the
//! point that did best on held-out data can be spoilt by going on until the objective is at its minimum.
//! So held-out data are asked about that as well.

use super::automatic::Outcome;
use super::events::{PathPoint, Stage, Status};
use super::path;
use super::progress::{Progress, Settling};
use super::runner::{QUIET_STEPS, Runner, Steps};
use super::step::Als;
use crate::error::Result;
use crate::model::Interaction;
use crate::views::Views;
use quadfill_kernels::Real;

/// The most sweeps at the chosen penalty.
pub(super) const MOST: usize = 50;
/// A minimum of the objective can be certified, so it is worth a held-out error that is so much larger.
const WORTH: f64 = 1.001;
/// Sweeps after the best one that are looked at.
const PATIENCE: usize = 10;

impl<T: Real> Runner<'_, T> {
    /// Goes on from the best point of all paths, at its penalty, and notes for how long held-out data
    /// bear it.
    pub(super) fn choose_settling(
        &mut self,
        train: &Views<T>,
        judge: &dyn Fn(&Progress<T>) -> f64,
        progress: Progress<T>,
    ) -> Result<Outcome<T>> {
        let Some(number) = progress.notes.best_number() else {
            return Ok(Outcome::Left(progress));
        };
        let best = progress.notes.candidates[number].clone();
        let spec = self.spec_with(best.offsets, best.rank);
        let (Interaction::Quadratic(_), Some(parameters), None) =
            (&spec.interaction, &progress.best, &best.settling)
        else {
            return Ok(Outcome::Left(progress));
        };
        let mut state = if progress.notes.stage == Stage::Settle {
            progress
        } else {
            let parameters = parameters.clone();
            self.begin(Stage::Settle, &spec, best.lambda_max, parameters, Some(&progress))
        };
        let mut objective = self.objective(train, &spec, best.penalty)?;
        let early = self.config.tolerance > 0.0;
        let mut steps = Steps { count: MOST, solver: &mut Als, penalty: &|_| best.penalty };
        let end = self.run(&mut objective, &mut state, &mut steps, |progress, _| {
            let rmse = judge(progress);
            let notes = &mut progress.notes;
            notes.note_held_out(rmse);
            let settled = notes.quiet >= QUIET_STEPS;
            early && (settled || is_spoilt(best.validation_rmse, &notes.path))
        });
        if end.is_limit() {
            let status = end.status(Status::SweepLimit);
            return Ok(Outcome::Fitted(self.best_so_far(train, state, status)?));
        }
        let settling = bearable(best.validation_rmse, &state.notes.path);
        state.notes.candidates[number].settling = Some(settling);
        Ok(Outcome::Left(state))
    }
}

/// Whether the held-out error has been larger than at its best for long enough.
fn is_spoilt(before: f64, path: &[PathPoint]) -> bool {
    let (best, rmse) = best_sweep(before, path);
    let last = path.last().and_then(|point| point.validation_rmse);
    path.len() >= best + PATIENCE && last.is_some_and(|last| last > WORTH * rmse)
}

/// All sweeps if the error in the end is about the smallest, else as many as led to the smallest.
fn bearable(before: f64, path: &[PathPoint]) -> Settling {
    let (sweeps, validation_rmse) = best_sweep(before, path);
    match path.last().and_then(|point| point.validation_rmse) {
        Some(last) if last <= WORTH * validation_rmse => {
            Settling { sweeps: MOST, validation_rmse: last }
        }
        _ => Settling { sweeps, validation_rmse },
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
        bearable(before, &path(errors)).sweeps
    }

    #[test]
    fn a_fit_settles_for_as_long_as_held_out_data_bear_it() {
        assert_eq!(sweeps(1.0, &[0.99, 0.98, 0.97]), MOST);
        assert_eq!(sweeps(1.0, &[1.0, 1.0005]), MOST);
        assert_eq!(sweeps(1.0, &[1.01, 1.02]), 0);
        assert_eq!(sweeps(1.0, &[0.99, 0.95, 0.97, 1.02]), 2);
        assert_eq!(sweeps(1.0, &[]), 0);
    }

    #[test]
    fn looking_on_ends_some_sweeps_after_the_best() {
        let mut errors = vec![0.9, 0.8];
        errors.extend([0.85; PATIENCE - 1]);
        assert!(!is_spoilt(1.0, &path(&errors)));
        errors.push(0.85);
        assert!(is_spoilt(1.0, &path(&errors)));
        errors.push(0.8);
        assert!(!is_spoilt(1.0, &path(&errors)), "about as good as the best");
    }
}
