//! The next rank to try for an exact fit.

use super::session::FitSession;
use super::state::{RankTrial, TrialResult};
use crate::views::Selection;
use quadfill_kernels::Real;

/// The largest rank that is tried.
const MAX_RANK: usize = 24;
/// The maximum work, in observations times squared rank.
const MAX_WORK: f64 = 2e9;
/// The minimum number of observations per free parameter: tensors are not recovered from fewer, and
/// noise is fitted almost exactly, which takes many steps to detect.
const MIN_PER_PARAMETER: f64 = 1.1;
/// The residual of a path with extra columns vanishes a few ranks early; this many are tried from there.
const CLOSE: usize = 4;

/// Values with few distinct ones among them, such as ratings, counts or bytes, are not a tensor of low rank unless that
/// is very low: the largest rank that is tried for them.
const QUANTISED_RANK: usize = 6;
/// Such values are found in a sample of at most so many, where there are more observations than the second number.
const SAMPLE: usize = 10_000;
const FEW: usize = 2_000;
/// The sample over its distinct values.
const REPEATS: usize = 20;

/// The rank to try next: the given one once, or the next on the way to the smallest exact one.
pub(super) fn next<T: Real>(session: &FitSession<'_, T>, trials: &[RankTrial]) -> Option<usize> {
    if !session.checked.finds_rank {
        return trials.is_empty().then_some(session.base.rank);
    }
    bisect(trials, largest(session))
}

/// The given rank, or the largest that is tried: with clearly fewer free parameters than observations, within reason.
pub(super) fn largest<T: Real>(session: &FitSession<'_, T>) -> usize {
    if !session.checked.finds_rank {
        return session.base.rank;
    }
    let data = session.problem.data();
    let (sizes, m) = (data.sizes(), data.len());
    let fits = |rank: usize| {
        let work = m as f64 * (rank * rank) as f64;
        let free = session.base.clone().with_rank(rank).degrees_of_freedom(&sizes);
        work <= MAX_WORK && MIN_PER_PARAMETER * free as f64 <= m as f64
    };
    let most = if is_quantised(data) { QUANTISED_RANK } else { MAX_RANK };
    (1..=most.min(session.base.rank)).take_while(|&rank| fits(rank)).last().unwrap_or(1)
}

/// Whether the values repeat a few distinct ones.
fn is_quantised<T: Real>(data: Selection<'_, T>) -> bool {
    let stride = data.len().div_ceil(SAMPLE).max(1);
    let (mut position, mut sample) = (0, Vec::with_capacity(SAMPLE));
    data.for_each(|_, value, _| {
        if position % stride == 0 {
            sample.push(value.to_f64());
        }
        position += 1;
    });
    let taken = sample.len();
    sample.sort_unstable_by(f64::total_cmp);
    sample.dedup();
    data.len() > FEW && sample.len() * REPEATS < taken
}

/// The rank to try next, if any is left.
///
/// Noise is detected soonest at the largest rank. Below it, bisection finds where the residual of a path
/// with extra columns begins to vanish; the rank itself is there or just above.
fn bisect(trials: &[RankTrial], most: usize) -> Option<usize> {
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

    /// The ranks tried on data of rank `truth`, where this many extra columns hide too small a rank.
    fn tried(truth: usize, most: usize) -> Vec<RankTrial> {
        let mut trials = Vec::new();
        while let Some(rank) = bisect(&trials, most) {
            let result = match rank {
                _ if rank >= truth => TrialResult::Exact,
                _ if rank + 2 >= truth => TrialResult::Close,
                _ => TrialResult::Noisy,
            };
            trials.push(RankTrial { rank, result });
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
