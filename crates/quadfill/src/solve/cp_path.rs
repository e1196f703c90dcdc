//! The paths of CP on held-out data: where they begin, how they go down, and which of them are tried.
//!
//! Zero is a strict local minimum of CP under any penalty, so a column that has vanished does not come back, and there
//! is no largest penalty to begin at. A path begins at a random point and holds its first penalty until the data term
//! hardly changes: of more columns than the data have, those remain that the data support. Then the penalty decreases,
//! and with it the bias that it causes. Which columns remain depends on the first penalty more than on anything else, so
//! it is chosen on held-out data like the rank.
//!
//! With `s` the deviation of the data, `m` their number and `N` the modes, a penalty of `lambda s^(2 - 2/N) / m` does to
//! these data what `lambda` does to data of deviation 1 whose squared residuals are summed. First penalties are
//! `10^(quarter/4)` in that unit.

use super::centred;
use super::config::Choice;
use super::events::PathPoint;
use super::hold_out::spec_with;
use super::path;
use super::race::{operations_for, sweep_cost};
use super::session::FitSession;
use super::start;
use super::state::{Beginning, Candidate, Descent, Trial};
use crate::model::{Biases, ModelSpec, Parameters};
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
/// The ranks that are tried, and the first of them. The penalty removes columns that are drawn to zero, and none that
/// are drawn to a centre.
const LADDER: [usize; 9] = [1, 2, 3, 5, 10, 20, 30, 60, 100];
const PILOT_RANKS: [usize; 2] = [30, 10];
const PILOT_RANKS_CENTRED: [usize; 3] = [10, 30, 5];
/// The first quarter that is tried where rows are drawn to zero, to their centre, and the largest distance from it.
const QUARTER: i32 = 0;
const QUARTER_CENTRED: i32 = 4;
const MOST_QUARTERS: i32 = 12;
/// Random starts of the best choice.
const STARTS: u64 = 3;

fn pilot_ranks(centred: bool) -> &'static [usize] {
    if centred { &PILOT_RANKS_CENTRED } else { &PILOT_RANKS }
}

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
    pub(super) fn new<T: Real>(session: &FitSession<'_, T>, centred: bool, first: f64) -> Self {
        let data = session.problem.training();
        let spec = session.base.clone().with_rank(pilot_ranks(centred)[0].min(session.base.rank));
        let each = budget(session) / TRIALS / cost(session, &spec);
        let sweeps = match session.config().path_steps {
            Choice::Auto => each.clamp(SWEEPS.0, SWEEPS.1),
            Choice::Fixed(steps) => steps as f64,
        };
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
        match path.last() {
            None => self.first,
            Some(now) if now.penalty >= self.first && self.holds(path) => self.first,
            Some(now) => (now.penalty * self.decrease).max(self.last),
        }
    }

    fn holds(&self, path: &[PathPoint]) -> bool {
        let error = |back: usize| path[path.len() - back].train_rmse;
        let is_settled = path.len() > SETTLING
            && (error(1) - error(1 + SETTLING)).abs() < SETTLED * error(1 + SETTLING);
        path.len() < self.hold && !is_settled
    }

    /// Whether the path is at its end, or past the smallest held-out error.
    pub(super) fn is_over(&self, path: &[PathPoint]) -> bool {
        let (Some(now), Some(best)) = (path.last(), path::best_point(path)) else { return false };
        let goes_down = now.penalty < self.first;
        let patience = (self.down / 8).max(3);
        goes_down && (now.penalty <= self.last || path.len() > best + patience)
    }
}

/// Where the path of a trial begins.
pub(super) fn start<T: Real>(
    session: &FitSession<'_, T>,
    trial: Trial,
    beginning: Beginning,
) -> Descent<Parameters<T>> {
    let data = session.problem.training();
    let spec = spec_with(session, trial.biases, trial.rank).with_centre(trial.centred);
    let first = unit(data) * 10f64.powf(0.25 * f64::from(beginning.quarter));
    let seed = session.config().seed.wrapping_add(beginning.start);
    Descent::new(spec.clone(), first, start::random(&spec, data, seed))
}

/// The penalty that corresponds to 1 for data of deviation 1.
fn unit<T: Real>(data: Selection<'_, T>) -> f64 {
    let (mean, deviation) = centred::moments(data);
    let scale = deviation.max(1e-6 * mean.abs());
    scale.powf(2.0 - 2.0 / data.sizes().len() as f64) / data.len() as f64
}

/// What is tried next, given the candidates so far that are centred, or that are not.
pub(super) fn next_trial<T: Real>(
    session: &FitSession<'_, T>,
    candidates: &[Candidate],
    centred: bool,
) -> Option<Trial> {
    let of_trial = |trial: &Trial| {
        let spec = spec_with(session, trial.biases, trial.rank);
        cost(session, &spec)
    };
    let spent: f64 = candidates.iter().map(|c| c.path.len() as f64 * of_trial(&c.trial)).sum();
    let grid = Grid::new(session, centred);
    let trial = grid.next(candidates)?;
    let first = trial.beginning.map_or(1.0, |b| 10f64.powf(0.25 * f64::from(b.quarter)));
    let way = Way::new(session, centred, first * unit(session.problem.training()));
    // Most paths end before they are at their last penalty.
    let expected = 0.6 * way.sweeps() as f64 * of_trial(&trial);
    (candidates.is_empty() || spent + expected <= budget(session)).then_some(trial)
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

/// Biases, ranks and first penalties to choose among.
struct Grid {
    centred: bool,
    biases: Vec<Biases>,
    ladder: Vec<usize>,
    /// The ranks that are tried first.
    pilots: Vec<usize>,
    quarter: i32,
}

impl Grid {
    fn new<T: Real>(session: &FitSession<'_, T>, centred: bool) -> Self {
        let data = session.problem.training();
        let biases = match session.config().biases.fixed() {
            Some(biases) => vec![biases],
            // The rows of a centred model have a mean and biases of their own, if they are not near zero.
            None if centred && centred::has_mean(data) => vec![Biases::None],
            None if centred => vec![Biases::Mean, Biases::Modes],
            None => vec![Biases::None, Biases::Mean, Biases::Modes],
        };
        let most = session.base.rank;
        let (sizes, len) = (data.sizes(), data.len());
        let free = |rank| session.base.clone().with_rank(rank).degrees_of_freedom(&sizes);
        // The penalty makes up for what few observations do not determine.
        let is_supported = |rank| rank <= PILOT_RANKS[0] || free(rank) <= len;
        let mut ladder = vec![most];
        if session.checked.finds_rank {
            let ranks = LADDER.into_iter().filter(|&rank| rank < most).chain([most]);
            ladder = ranks.filter(|&rank| is_supported(rank)).collect();
        }
        let nearest = |&pilot: &usize| ladder.iter().copied().rfind(|&rank| rank <= pilot);
        let mut pilots: Vec<usize> = pilot_ranks(centred).iter().filter_map(nearest).collect();
        if pilots.is_empty() {
            // A given rank above all of them.
            pilots = vec![ladder[0]];
        }
        let quarter = if centred { QUARTER_CENTRED } else { QUARTER };
        Self { centred, biases, ladder, pilots, quarter }
    }

    /// All biases at one rank and penalty, and with the best of them some other ranks; then from the best choice so far
    /// to its neighbours, as long as one of them is better; then other random starts.
    fn next(&self, candidates: &[Candidate]) -> Option<Trial> {
        let trial = |biases, rank, quarter, start| {
            let beginning = Some(Beginning { quarter, start });
            Trial { biases, rank, centred: self.centred, beginning }
        };
        let is_new = |trial: &Trial| !candidates.iter().any(|c| c.trial == *trial);
        let first = self.pilots[0];
        let mut pilots = self.biases.iter().map(|&biases| trial(biases, first, self.quarter, 0));
        if let Some(pilot) = pilots.find(is_new) {
            return Some(pilot);
        }
        let best =
            candidates.iter().min_by(|x, y| x.validation_rmse.total_cmp(&y.validation_rmse))?;
        let Trial { biases, rank, beginning, .. } = best.trial;
        let Beginning { quarter, start } = beginning?;
        let mut pilots = self.pilots.iter().map(|&rank| trial(biases, rank, self.quarter, 0));
        if let Some(pilot) = pilots.find(is_new) {
            return Some(pilot);
        }
        let at = self.ladder.iter().position(|&other| other == rank)?;
        let above = self.ladder.get(at + 1);
        let below = at.checked_sub(1).map(|below| &self.ladder[below]);
        let quarters = |distances: [i32; 2]| {
            let near = distances.into_iter().map(move |distance| quarter + distance);
            near.filter(|other| (other - self.quarter).abs() <= MOST_QUARTERS)
        };
        // Half a decade at a time, and half of that in the end.
        let coarse = quarters([-2, 2]).filter(|_| (quarter - self.quarter) % 2 == 0);
        let coarse = coarse.map(|other| trial(biases, rank, other, start));
        let ranks = [above, below].into_iter().flatten();
        let ranks = ranks.map(|&other| trial(biases, other, quarter, start));
        let others = self.biases.iter().map(|&other| trial(other, rank, quarter, start));
        let fine = quarters([-1, 1]).map(|other| trial(biases, rank, other, start));
        let starts = (0..STARTS).map(|other| trial(biases, rank, quarter, other));
        coarse.chain(ranks).chain(others).chain(fine).chain(starts).find(is_new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(grid: &Grid, error: impl Fn(&Trial) -> f64) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        while let Some(trial) = grid.next(&candidates) {
            candidates.push(Candidate {
                trial,
                penalty: 1.0,
                validation_rmse: error(&trial),
                path: Vec::new(),
            });
        }
        candidates
    }

    #[test]
    fn the_best_choice_is_found_where_the_error_has_one_valley() {
        let grid = Grid {
            centred: false,
            biases: vec![Biases::None, Biases::Modes],
            ladder: LADDER.to_vec(),
            pilots: vec![30, 10],
            quarter: 0,
        };
        for (rank, quarter) in [(30, 0), (5, 3), (100, -8), (60, 12)] {
            let error = |trial: &Trial| {
                let beginning = trial.beginning.expect("a path of CP");
                let far = (trial.rank as f64 / f64::from(rank)).ln().abs();
                let off = 0.3 * f64::from((beginning.quarter - quarter).abs());
                let biased = if trial.biases == Biases::Modes { 0.0 } else { 0.1 };
                far + off + biased - 0.01 * beginning.start as f64
            };
            let tried = search(&grid, error);
            let best = tried.iter().min_by(|x, y| x.validation_rmse.total_cmp(&y.validation_rmse));
            let best = best.expect("something is tried").trial;
            let beginning = Beginning { quarter, start: STARTS - 1 };
            assert_eq!((best.biases, best.rank), (Biases::Modes, rank as usize));
            assert_eq!(best.beginning, Some(beginning));
            assert!(tried.len() < 32, "{} trials", tried.len());
        }
    }

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
}
