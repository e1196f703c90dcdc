//! Which ways of CP are tried on held-out data, one after the other: biases, ranks, first penalties, random starts.

use super::centred;
use super::session::FitSession;
use super::state::{Beginning, Candidate, Trial};
use crate::model::Biases;
use quadfill_kernels::Real;

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

/// The ranks that are tried first.
pub(super) fn pilot_ranks(centred: bool) -> &'static [usize] {
    if centred { &PILOT_RANKS_CENTRED } else { &PILOT_RANKS }
}

/// Biases, ranks and first penalties to choose among.
pub(super) struct Grid {
    centred: bool,
    biases: Vec<Biases>,
    ladder: Vec<usize>,
    /// The ranks that are tried first.
    pilots: Vec<usize>,
    quarter: i32,
    /// The penalty of quarter 0.
    unit: f64,
}

impl Grid {
    pub(super) fn new<T: Real>(session: &FitSession<'_, T>, centred: bool, unit: f64) -> Self {
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
        Self { centred, biases, ladder, pilots, quarter, unit }
    }

    fn trial(&self, biases: Biases, rank: usize, beginning: Beginning) -> Trial {
        Trial { biases, rank, centred: self.centred, beginning: Some(beginning) }
    }

    /// All biases at one rank and penalty, and with the best of them some other ranks; then from the best choice so far
    /// to its neighbours, as long as one of them is better; then other random starts.
    pub(super) fn next_path(&self, candidates: &[Candidate]) -> Option<Trial> {
        let beginning = Beginning { quarter: self.quarter, start: 0, rests: false };
        let is_new = |trial: &Trial| !candidates.iter().any(|c| c.trial == *trial);
        let first = self.pilots[0];
        let mut pilots = self.biases.iter().map(|&biases| self.trial(biases, first, beginning));
        if let Some(pilot) = pilots.find(is_new) {
            return Some(pilot);
        }
        let Trial { biases, .. } = best(candidates, false)?.trial;
        let mut pilots = self.pilots.iter().map(|&rank| self.trial(biases, rank, beginning));
        pilots.find(is_new).or_else(|| self.next_neighbour(candidates, false))
    }

    /// At one penalty: from where the best path was at its best, and all biases at one rank; then neighbours of the best
    /// of these, and other random starts.
    pub(super) fn next_rest(&self, candidates: &[Candidate]) -> Option<Trial> {
        let Candidate { trial, penalty, .. } = best(candidates, false)?;
        let quarter = (4.0 * (penalty / self.unit).log10()).round() as i32;
        let beginning = Beginning { quarter, rests: true, ..trial.beginning? };
        let near = self.trial(trial.biases, trial.rank, beginning);
        let pilot = Beginning { quarter: 0, start: 0, rests: true };
        let pilots = self.biases.iter().map(|&biases| self.trial(biases, self.pilots[0], pilot));
        let is_new = |trial: &Trial| !candidates.iter().any(|c| c.trial == *trial);
        let mut begins = std::iter::once(near).chain(pilots);
        begins.find(is_new).or_else(|| self.next_neighbour(candidates, true))
    }

    /// The first neighbour of the best choice that was not tried.
    fn next_neighbour(&self, candidates: &[Candidate], rests: bool) -> Option<Trial> {
        let is_new = |trial: &Trial| !candidates.iter().any(|c| c.trial == *trial);
        let Trial { biases, rank, beginning, .. } = best(candidates, rests)?.trial;
        let now = beginning?;
        let at = self.ladder.iter().position(|&other| other == rank)?;
        let above = self.ladder.get(at + 1);
        let below = at.checked_sub(1).map(|below| &self.ladder[below]);
        let quarters = |distances: [i32; 2]| {
            let near = distances.into_iter().map(|distance| now.quarter + distance);
            let near = near.filter(|other| rests || (other - self.quarter).abs() <= MOST_QUARTERS);
            near.map(|quarter| self.trial(biases, rank, Beginning { quarter, ..now }))
        };
        // Half a decade at a time, and half of that in the end. Where a way rests is off the grid of first penalties.
        let is_coarse = rests || (now.quarter - self.quarter) % 2 == 0;
        let coarse = quarters([-2, 2]).filter(|_| is_coarse);
        let ranks = [above, below].into_iter().flatten();
        let ranks = ranks.map(|&other| self.trial(biases, other, now));
        let others = self.biases.iter().map(|&other| self.trial(other, rank, now));
        let fine = quarters([-1, 1]);
        let starts = (0..STARTS).map(|start| self.trial(biases, rank, Beginning { start, ..now }));
        coarse.chain(ranks).chain(others).chain(fine).chain(starts).find(is_new)
    }
}

/// The best of the ways that rest, or of the others.
fn best(candidates: &[Candidate], rests: bool) -> Option<&Candidate> {
    let is_such = |c: &&Candidate| c.trial.beginning.is_some_and(|b| b.rests == rests);
    let such = candidates.iter().filter(is_such);
    such.min_by(|x, y| x.validation_rmse.total_cmp(&y.validation_rmse))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(grid: &Grid, rests: bool, error: impl Fn(&Trial) -> f64) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        let next = |c: &[Candidate]| {
            grid.next_path(c).or_else(|| rests.then(|| grid.next_rest(c)).flatten())
        };
        while let Some(trial) = next(&candidates) {
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
            unit: 10.0,
        };
        for rests in [false, true] {
            for (rank, quarter) in [(30, 0), (5, 3), (100, -8), (60, 12)] {
                let error = |trial: &Trial| {
                    let beginning = trial.beginning.expect("a path of CP");
                    let far = (trial.rank as f64 / f64::from(rank)).ln().abs();
                    let off = 0.3 * f64::from((beginning.quarter - quarter).abs());
                    let biased = if trial.biases == Biases::Modes { 0.0 } else { 0.1 };
                    let moving = if beginning.rests { 0.0 } else { 0.1 };
                    far + off + biased + moving - 0.01 * beginning.start as f64
                };
                let tried = search(&grid, rests, error);
                let by_error = |x: &&Candidate, y: &&Candidate| {
                    x.validation_rmse.total_cmp(&y.validation_rmse)
                };
                let best = tried.iter().min_by(by_error).expect("something is tried").trial;
                let beginning = Beginning { quarter, start: STARTS - 1, rests };
                assert_eq!((best.biases, best.rank), (Biases::Modes, rank as usize));
                assert_eq!(best.beginning, Some(beginning));
                assert!(tried.len() < if rests { 64 } else { 32 }, "{} trials", tried.len());
            }
        }
    }
}
