//! The biases and the rank that hold-out tries next, given what it has found so far.
//!
//! First every choice of biases at a small rank; then with the best biases up a ladder of ranks, until
//! two steps in a row do no better; then down; then between the best rank and its neighbours.
//! As all of it follows from the candidates evaluated so far, a resumed fit continues where it was.

use super::state::{Candidate, Trial};
use crate::model::Biases;

/// The ranks of the ladder.
const LADDER: [usize; 12] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];
/// The rank at which biases are chosen.
const PILOT_RANK: usize = 4;
/// Consecutive steps up the ladder that may fail.
const PATIENCE: usize = 2;
/// Ranks within one part in `RESOLUTION` of the best one are not distinguished.
const RESOLUTION: usize = 8;

/// Biases and rank of one path to be evaluated on held-out data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pick {
    pub(super) biases: Biases,
    pub(super) rank: usize,
}

/// What to try next with `biases` still to be chosen among, at ranks up to `most`.
pub(super) fn next(candidates: &[Candidate], biases: &[Biases], most: usize) -> Option<Pick> {
    let pilot = PILOT_RANK.min(most);
    let tried = |biases: Biases, rank| {
        candidates.iter().any(|c| c.trial.biases == biases && c.trial.rank == rank)
    };
    if let Some(&biases) = biases.iter().find(|&&biases| !tried(biases, pilot)) {
        return Some(Pick { biases, rank: pilot });
    }
    let best = candidates.iter().min_by(|x, y| x.validation_rmse.total_cmp(&y.validation_rmse))?;
    let Trial { biases, rank: best_rank, .. } = best.trial;
    let error = |rank: usize| {
        let same = candidates.iter().filter(|c| c.trial.biases == biases && c.trial.rank == rank);
        same.map(|c| c.validation_rmse).min_by(f64::total_cmp)
    };
    let mut ranks: Vec<usize> =
        candidates.iter().filter(|c| c.trial.biases == biases).map(|c| c.trial.rank).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let at = ranks.iter().position(|&rank| rank == best_rank)?;

    let trial = |rank| Some(Pick { biases, rank });
    let highest = ranks[ranks.len() - 1];
    let above = LADDER.into_iter().find(|&rank| rank > highest).map(|rank| rank.min(most));
    let worse_above = ranks[at + 1..].iter().filter(|&&rank| LADDER.contains(&rank)).count();
    if let Some(rank) = above.filter(|&rank| rank > highest && worse_above < PATIENCE) {
        return trial(rank);
    }
    if at == 0 {
        let below = LADDER.into_iter().rev().find(|&rank| rank < best_rank);
        return below.and_then(trial);
    }
    // Between the best and its neighbours, the wider gap first.
    let enough = (best_rank / RESOLUTION).max(1);
    let gaps = [Some(ranks[at - 1]), ranks.get(at + 1).copied()];
    let widest = gaps.into_iter().flatten().filter(|n| n.abs_diff(best_rank) > enough).max_by(
        |&x, &y| {
            let gap = x.abs_diff(best_rank).cmp(&y.abs_diff(best_rank));
            gap.then(error(y).unwrap_or(0.0).total_cmp(&error(x).unwrap_or(0.0)))
        },
    )?;
    trial(usize::midpoint(best_rank, widest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Biases; 3] = [Biases::None, Biases::Mean, Biases::Modes];

    /// Tries until there is nothing to try, with a given error for each choice.
    fn search(most: usize, error: impl Fn(Pick) -> f64) -> (Vec<Pick>, Pick) {
        let (mut candidates, mut trials) = (Vec::new(), Vec::new());
        while let Some(trial) = next(&candidates, &ALL, most) {
            assert!(!trials.contains(&trial), "{trial:?} again after {trials:?}");
            assert!((1..=most).contains(&trial.rank));
            trials.push(trial);
            candidates.push(Candidate {
                trial: Trial {
                    biases: trial.biases,
                    rank: trial.rank,
                    centred: false,
                    beginning: None,
                },
                penalty: 1.0,
                validation_rmse: error(trial),
                path: Vec::new(),
            });
        }
        let best = trials.iter().copied().min_by(|&x, &y| error(x).total_cmp(&error(y)));
        (trials, best.unwrap_or(Pick { biases: Biases::None, rank: 0 }))
    }

    #[test]
    fn the_best_rank_is_found_where_the_error_has_one_valley() {
        for truth in [1, 2, 3, 5, 7, 10, 13] {
            let error = |trial: Pick| {
                let biases = if trial.biases == Biases::Mean { 0.0 } else { 1.0 };
                biases + (trial.rank as f64 / truth as f64).ln().abs()
            };
            let (trials, best) = search(64, error);
            assert_eq!(best.biases, Biases::Mean);
            assert!(best.rank.abs_diff(truth) <= truth / RESOLUTION, "{best:?} for {truth}");
            assert!(trials.len() < 16, "{} trials", trials.len());
        }
    }

    #[test]
    fn ranks_end_at_the_largest_that_is_allowed() {
        let (trials, best) = search(10, |trial| 1.0 / trial.rank as f64);
        assert_eq!(best.rank, 10);
        assert!(trials.len() < 12);
        let (trials, best) = search(1, |_| 1.0);
        assert_eq!((trials.len(), best.rank), (3, 1));
    }
}
