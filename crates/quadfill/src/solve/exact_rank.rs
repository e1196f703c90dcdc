//! The smallest rank with which data without noise are fitted exactly.

use super::automatic::Outcome;
use super::config::RankChoice;
use super::events::{Fit, Stage, Status};
use super::exact::spare_columns;
use super::progress::{Progress, RankTrial, TrialResult};
use super::runner::Runner;
use crate::error::Result;
use crate::model::{Offsets, Parameters};
use crate::views::Views;
use quadfill_kernels::Real;

/// The largest rank that is tried.
const MOST: usize = 24;
/// The most work, in observations times squared rank.
const MOST_WORK: f64 = 2e9;
/// Observations for each free parameter without which no rank is tried: tensors are not found again from fewer,
/// and noise is fitted almost away, which takes many steps to see.
const LEAST_PER_PARAMETER: f64 = 1.1;
/// A path with columns to spare vanishes a few ranks early; so many ranks are tried from there.
const CLOSE: usize = 4;

impl<T: Real> Runner<'_, T> {
    /// Fits exactly at the given rank, or finds the smallest one at which that works.
    pub(super) fn exact_at_some_rank(
        &mut self,
        views: &Views<T>,
        mut progress: Option<Progress<T>>,
    ) -> Result<Outcome<T>> {
        if self.config.rank == RankChoice::Given {
            return self.exact(views, self.config.model.rank, progress);
        }
        let most = self.largest_exact_rank(views);
        loop {
            let trials = progress.as_ref().map_or(&[][..], |p| &p.notes.trials);
            let under_way = progress.as_ref().filter(|p| p.notes.step > 0);
            let rank = match under_way {
                Some(progress) => exact_rank(progress),
                None => match next(trials, most) {
                    Some(rank) => rank,
                    None => break,
                },
            };
            let trials = trials.to_vec();
            let seen = progress.as_ref().and_then(|p| p.best.clone());
            progress =
                Some(match self.exact(views, rank, progress.filter(|p| p.notes.step > 0))? {
                    Outcome::Fitted(fit) if fit.status == Status::Exact => {
                        self.note_exact(fit, trials)
                    }
                    Outcome::Fitted(fit) => return Ok(Outcome::Fitted(fit)),
                    Outcome::Left(left) => self.note_failure(&left, rank, trials, seen),
                });
        }
        let progress = progress.expect("at least one rank was tried");
        self.smallest_exact(views, progress)
    }

    /// The largest rank with clearly fewer free parameters than observations, within reason.
    fn largest_exact_rank(&self, views: &Views<T>) -> usize {
        let (sizes, m) = (views.sizes(), views.len());
        let spec = self.config.model.clone().with_offsets(Offsets::None);
        let fits = |rank: usize| {
            let work = m as f64 * (rank * rank) as f64;
            let free = spec.clone().with_rank(rank).degrees_of_freedom(&sizes);
            work <= MOST_WORK && LEAST_PER_PARAMETER * free as f64 <= m as f64
        };
        (1..=MOST.min(spec.rank)).take_while(|&rank| fits(rank)).last().unwrap_or(1)
    }

    /// Remembers a rank that was enough.
    fn note_exact(&self, fit: Fit<T>, mut trials: Vec<RankTrial>) -> Progress<T> {
        let rank = fit.spec.rank;
        trials.push(RankTrial { rank, result: TrialResult::Exact, path: fit.path });
        let mut next = self.begin(Stage::Exact, &fit.spec, 0.0, fit.parameters.clone(), None);
        // Ranks are halved, so the last one that was enough is the smallest.
        next.best = Some(fit.parameters);
        next.notes.sweeps = fit.sweeps;
        next.notes.trials = trials;
        next
    }

    /// Remembers a rank that was not.
    fn note_failure(
        &self,
        left: &Progress<T>,
        rank: usize,
        mut trials: Vec<RankTrial>,
        seen: Option<Parameters<T>>,
    ) -> Progress<T> {
        let result = match left.notes.stage {
            Stage::Polish => TrialResult::Close,
            _ => TrialResult::Noisy,
        };
        trials.push(RankTrial { rank, result, path: Vec::new() });
        let spec = left.notes.spec.clone();
        let mut next = self.begin(Stage::Exact, &spec, 0.0, left.parameters.clone(), Some(left));
        next.best = seen;
        next.notes.trials = trials;
        next
    }

    /// The exact fit of the smallest rank, if there is one.
    fn smallest_exact(&self, views: &Views<T>, mut progress: Progress<T>) -> Result<Outcome<T>> {
        let exact = progress.notes.trials.iter().filter(|t| t.result == TrialResult::Exact);
        let Some(trial) = exact.min_by_key(|t| t.rank).cloned() else {
            progress.best = None;
            return Ok(Outcome::Left(progress));
        };
        if let Some(best) = progress.best.take() {
            progress.parameters = best;
        }
        let objective = self.objective(views, &self.exact_spec(trial.rank), 0.0)?;
        Ok(Outcome::Fitted(self.finish(&objective, progress, Status::Exact, trial.path, None)))
    }
}

/// The rank that a trial under way is about.
fn exact_rank<T: Real>(progress: &Progress<T>) -> usize {
    let spec = &progress.notes.spec;
    match progress.notes.stage {
        Stage::Exact => spec.rank - spare_columns(spec),
        _ => spec.rank,
    }
}

/// The rank to try next, if any is left.
///
/// At the largest one noise shows soonest. Below it, halving finds where a path with columns to
/// spare begins to vanish; the rank itself is there or just above.
fn next(trials: &[RankTrial], most: usize) -> Option<usize> {
    let result = |rank: usize| trials.iter().find(|t| t.rank == rank).map(|t| t.result);
    match result(most) {
        None => return Some(most),
        Some(TrialResult::Noisy) => return None,
        Some(_) => {}
    }
    let ranks_of = |noisy: bool| {
        let of_kind = move |t: &&RankTrial| (t.result == TrialResult::Noisy) == noisy;
        trials.iter().filter(of_kind).map(|t| t.rank)
    };
    let (low, high) = (ranks_of(true).max().unwrap_or(0), ranks_of(false).min()?);
    if high - low > 1 {
        return Some(usize::midpoint(low, high));
    }
    for rank in high..(high + CLOSE).min(most + 1) {
        match result(rank) {
            None => return Some(rank),
            Some(TrialResult::Exact) => return None,
            Some(_) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ranks tried on data of rank `truth`, where so many columns to spare hide too small a rank.
    fn tried(truth: usize, most: usize) -> Vec<RankTrial> {
        let mut trials = Vec::new();
        while let Some(rank) = next(&trials, most) {
            let result = match rank {
                _ if rank >= truth => TrialResult::Exact,
                _ if rank + 2 >= truth => TrialResult::Close,
                _ => TrialResult::Noisy,
            };
            trials.push(RankTrial { rank, result, path: Vec::new() });
            assert!(trials.len() < 20, "{trials:?}");
        }
        trials
    }

    #[test]
    fn the_smallest_rank_is_the_last_that_is_exact() {
        for truth in 1..=24 {
            let trials = tried(truth, 24);
            let exact = |t: &&RankTrial| t.result == TrialResult::Exact;
            let last = trials.iter().rev().find(exact).map(|t| t.rank);
            assert_eq!(last, Some(truth), "{trials:?}");
        }
        let noisy = tried(100, 24);
        assert_eq!(noisy.len(), 1, "noise shows at the largest rank");
    }
}
