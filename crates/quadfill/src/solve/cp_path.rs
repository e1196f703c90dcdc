//! The paths of CP on held-out data: where they begin, how they go down, and which of them are tried.
//!
//! Zero is a strict local minimum of CP under any penalty, so a column that has vanished does not come back, and there
//! is no largest penalty to begin at. A path begins at a random point and holds its first penalty until the data term
//! hardly changes: of more columns than the data have, those remain that the data support. Then the penalty decreases,
//! and with it the bias that it causes. Which columns remain depends on the first penalty more than on anything else, so
//! it is chosen on held-out data like the rank (`cp_search.rs`).
//!
//! With few data the better way is often to stay: all sweeps at one penalty, until nothing changes any more. So the
//! search ends with ways that rest where the best of the others was.
//!
//! With `s` the deviation of the data, `m` their number and `N` the modes, a penalty of `lambda s^(2 - 2/N) / m` does to
//! these data what `lambda` does to data of deviation 1 whose squared residuals are summed. First penalties are
//! `10^(quarter/4)` in that unit.

use super::centred;
use super::config::Choice;
use super::cp_search::{Grid, pilot_ranks};
use super::events::PathPoint;
use super::hold_out::spec_with;
use super::path;
use super::race::{operations_for, sweep_cost};
use super::session::FitSession;
use super::start;
use super::state::{Beginning, Candidate, Descent, Trial};
use crate::model::{ModelSpec, Parameters};
use crate::views::Selection;
use quadfill_kernels::Real;

/// The last penalty of a path, in the unit of the data.
const LAST_PENALTY: f64 = 1e-4;
/// The fewest and the most sweeps of a path, which are as many as let about [`TRIALS`] paths be tried.
const SWEEPS: (f64, f64) = (50.0, 240.0);
const TRIALS: f64 = 12.0;
/// The largest share of the sweeps at the first penalty. A centred path begins near a constant, where penalties that
/// are held for long make all columns alike.
const HELD: f64 = 0.45;
const HELD_CENTRED: f64 = 0.1;
/// The first penalty is held while the training error changes by more than this share in [`SETTLING`] sweeps.
const SETTLED: f64 = 2e-3;
const SETTLING: usize = 5;
/// The same of a way that rests, and the most sweeps of it, as a multiple of those of a path.
const RESTED: f64 = 2e-4;
const RESTING: f64 = 1.5;
/// The sweeps after the smallest held-out error after which a way that rests ends.
const PATIENCE: usize = 30;
/// The operations of all ways over those of the paths among them.
const WITH_RESTING: f64 = 1.6;

/// How the penalty of a path decreases.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Way {
    first: f64,
    last: f64,
    /// The maximum number of sweeps at the first penalty.
    hold: usize,
    /// Sweeps from the first penalty to the last.
    down: usize,
    /// The factor from sweep to sweep.
    decrease: f64,
}

impl Way {
    pub(super) fn new<T: Real>(
        session: &FitSession<'_, T>,
        centred: bool,
        beginning: Beginning,
    ) -> Self {
        let data = session.problem.training();
        let first = first_penalty(data, beginning);
        let spec = session.base.clone().with_rank(pilot_ranks(centred)[0].min(session.base.rank));
        let each = budget(session) / TRIALS / cost(session, &spec);
        let sweeps = match session.config().path_steps {
            Choice::Auto => each.clamp(SWEEPS.0, SWEEPS.1),
            Choice::Fixed(steps) => steps as f64,
        };
        if beginning.rests {
            let hold = (RESTING * sweeps) as usize;
            return Self { first, last: first, hold, down: 0, decrease: 1.0 };
        }
        let hold = sweeps * if centred { HELD_CENTRED } else { HELD };
        let last = (LAST_PENALTY * unit(data)).min(0.1 * first);
        // As many sweeps for each factor whatever the first penalty is.
        let decades = (first / last).log10();
        let four_decades = sweeps - hold;
        let decrease = 10f64.powf(-4.0 / four_decades);
        let down = (0.25 * decades * four_decades).ceil() as usize;
        Self { first, last, hold: hold as usize, down, decrease }
    }

    /// The maximum number of sweeps.
    pub(super) fn sweeps(&self) -> usize {
        self.hold + self.down
    }

    /// The penalty of the next sweep.
    pub(super) fn penalty(&self, path: &[PathPoint]) -> f64 {
        let may_hold = path.len() < self.hold && !has_settled(path, SETTLED);
        match path.last() {
            None => self.first,
            Some(now) if now.penalty >= self.first && may_hold => self.first,
            Some(now) => (now.penalty * self.decrease).max(self.last),
        }
    }

    /// Whether the path is at its end, or past the smallest held-out error.
    pub(super) fn is_over(&self, path: &[PathPoint]) -> bool {
        let (Some(now), Some(best)) = (path.last(), path::best_point(path)) else { return false };
        if self.last == self.first {
            return has_settled(path, RESTED) || path.len() > best + PATIENCE;
        }
        let goes_down = now.penalty < self.first;
        let patience = (self.down / 8).max(3);
        goes_down && (now.penalty <= self.last || path.len() > best + patience)
    }
}

/// Whether the training error changed by less than this share in the last sweeps.
fn has_settled(path: &[PathPoint], share: f64) -> bool {
    let error = |back: usize| path[path.len() - back].train_rmse;
    path.len() > SETTLING && (error(1) - error(1 + SETTLING)).abs() < share * error(1 + SETTLING)
}

/// Where the path of a trial begins.
pub(super) fn start<T: Real>(
    session: &FitSession<'_, T>,
    trial: Trial,
    beginning: Beginning,
) -> Descent<Parameters<T>> {
    let data = session.problem.training();
    let spec = spec_with(session, trial.biases, trial.rank).with_centre(trial.centred);
    let first = first_penalty(data, beginning);
    let seed = session.config().seed.wrapping_add(beginning.start);
    Descent::new(spec.clone(), first, start::random(&spec, data, seed))
}

fn first_penalty<T: Real>(data: Selection<'_, T>, beginning: Beginning) -> f64 {
    unit(data) * 10f64.powf(0.25 * f64::from(beginning.quarter))
}

/// The penalty that corresponds to 1 for data of deviation 1.
fn unit<T: Real>(data: Selection<'_, T>) -> f64 {
    let (mean, deviation) = centred::moments(data);
    let scale = deviation.max(1e-6 * mean.abs());
    scale.powf(2.0 - 2.0 / data.sizes().len() as f64) / data.len() as f64
}

/// What is tried next, given the candidates so far that are centred, or that are not: paths, and in the end ways that
/// rest.
pub(super) fn next_trial<T: Real>(
    session: &FitSession<'_, T>,
    candidates: &[Candidate],
    centred: bool,
) -> Option<Trial> {
    let of_trial = |trial: &Trial| cost(session, &spec_with(session, trial.biases, trial.rank));
    let spent: f64 = candidates.iter().map(|c| c.path.len() as f64 * of_trial(&c.trial)).sum();
    let is_within = |trial: &Trial, share: f64| {
        let Some(beginning) = trial.beginning else { return true };
        // Most ways end before their last sweep.
        let sweeps = 0.6 * Way::new(session, centred, beginning).sweeps() as f64;
        spent + sweeps * of_trial(trial) <= share * budget(session)
    };
    let grid = Grid::new(session, centred, unit(session.problem.training()));
    let path = grid.next_path(candidates);
    let path = path.filter(|trial| candidates.is_empty() || is_within(trial, 1.0));
    path.or_else(|| grid.next_rest(candidates).filter(|trial| is_within(trial, WITH_RESTING)))
}

/// The operations that may be spent on centred paths, or on others.
fn budget<T: Real>(session: &FitSession<'_, T>) -> f64 {
    let is_one = session.base.centred || !session.config().centre.is_auto();
    let share = if is_one { 1.0 } else { 0.5 };
    share * operations_for(session.problem.data().len(), session.config().effort)
}

/// The operations of one sweep.
fn cost<T: Real>(session: &FitSession<'_, T>, spec: &ModelSpec) -> f64 {
    let data = session.problem.training();
    let rows: usize = spec.group_sizes(&data.sizes()).iter().sum();
    sweep_cost(spec, (spec.modes() * data.len()) as f64, rows as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(penalty: f64, train_rmse: f64, validation: f64) -> PathPoint {
        PathPoint { penalty, train_rmse, validation_rmse: Some(validation), seconds: 0.0 }
    }

    #[test]
    fn a_penalty_is_held_until_the_error_settles() {
        let way = Way { first: 1.0, last: 0.01, hold: 30, down: 20, decrease: 0.8 };
        let falling: Vec<_> = (0..20).map(|i| point(1.0, 0.9f64.powi(i), 1.0)).collect();
        assert_eq!(way.penalty(&[]), 1.0);
        assert_eq!(way.penalty(&falling), 1.0);
        let mut level = falling.clone();
        level.extend([point(1.0, 0.1, 1.0); SETTLING + 1]);
        assert_eq!(way.penalty(&level), 0.8);
        level.push(point(0.8, 0.01, 1.0));
        assert!((way.penalty(&level) - 0.64).abs() < 1e-12, "it does not go up again");
        let long: Vec<_> = (0..30).map(|i| point(1.0, 0.9f64.powi(i), 1.0)).collect();
        assert_eq!(way.penalty(&long), 0.8);
    }

    #[test]
    fn a_path_ends_after_its_best_point_and_not_while_it_holds() {
        let way = Way { first: 1.0, last: 0.01, hold: 30, down: 40, decrease: 0.9 };
        let held: Vec<_> = (0..20).map(|i| point(1.0, 1.0, 1.0 + f64::from(i))).collect();
        assert!(!way.is_over(&held));
        let mut path = vec![point(1.0, 1.0, 1.0)];
        path.extend([point(0.9, 1.0, 2.0); 4]);
        assert!(!way.is_over(&path));
        path.push(point(0.9, 1.0, 2.0));
        assert!(way.is_over(&path));
        assert!(way.is_over(&[point(0.01, 1.0, 1.0)]));
    }

    #[test]
    fn a_way_that_rests_ends_where_nothing_changes_or_the_held_out_error_rises() {
        let way = Way { first: 1.0, last: 1.0, hold: 300, down: 0, decrease: 1.0 };
        let falling: Vec<_> = (0..40).map(|i| point(1.0, 0.9f64.powi(i), 0.9f64.powi(i))).collect();
        assert_eq!(way.penalty(&falling), 1.0);
        assert!(!way.is_over(&falling));
        let mut level = falling.clone();
        level.extend([point(1.0, 0.01, 0.01); SETTLING + 1]);
        assert!(way.is_over(&level));
        let mut rising = vec![point(1.0, 1.0, 0.1)];
        rising.extend((1..PATIENCE as i32).map(|i| point(1.0, 0.9f64.powi(i), 0.2)));
        assert!(!way.is_over(&rising));
        rising.push(point(1.0, 0.01, 0.2));
        assert!(way.is_over(&rising));
    }
}
