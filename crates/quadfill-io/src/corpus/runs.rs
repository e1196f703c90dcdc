//! Counts of many keys in sorted runs.

use rayon::prelude::*;

/// Keys that are gathered before they are sorted: 32 MB of them.
const GATHERED: usize = 1 << 22;

/// Keys in rising order, each with how often it was added.
pub(super) type Run = Vec<(u64, u64)>;

/// Counts keys. Memory: 32 MB, and at most 32 bytes per distinct key.
#[derive(Debug, Default)]
pub(super) struct KeyCounter {
    keys: Vec<u64>,
    /// Each run is more than twice as long as the one after it.
    runs: Vec<Run>,
}

impl KeyCounter {
    pub(super) fn add(&mut self, key: u64) {
        self.keys.push(key);
        if self.keys.len() == GATHERED {
            self.flush();
        }
    }

    /// Makes a run of the keys gathered so far.
    fn flush(&mut self) {
        self.keys.sort_unstable();
        let run = self.keys.chunk_by(|x, y| x == y).map(|same| (same[0], same.len() as u64));
        let mut run: Run = run.collect();
        self.keys.clear();
        while self.runs.last().is_some_and(|last| last.len() <= 2 * run.len()) {
            run = merge(&self.runs.pop().unwrap_or_default(), &run);
        }
        self.runs.push(run);
    }

    fn into_run(mut self) -> Run {
        self.flush();
        let mut runs = self.runs.into_iter().rev();
        let last = runs.next().unwrap_or_default();
        runs.fold(last, |all, run| merge(&run, &all))
    }

    /// The counts of several counters together.
    pub(super) fn merge(counters: impl Iterator<Item = Self>) -> Run {
        let counters: Vec<Self> = counters.collect();
        let runs: Vec<Run> = counters.into_par_iter().map(Self::into_run).collect();
        runs.into_iter().reduce(|all, run| merge(&all, &run)).unwrap_or_default()
    }
}

/// Two runs as one, with the sums of the counts.
fn merge(x: &[(u64, u64)], y: &[(u64, u64)]) -> Run {
    let mut both = Vec::with_capacity(x.len().max(y.len()));
    let (mut i, mut j) = (0, 0);
    while let (Some(&a), Some(&b)) = (x.get(i), y.get(j)) {
        both.push(match a.0.cmp(&b.0) {
            std::cmp::Ordering::Less => a,
            std::cmp::Ordering::Greater => b,
            std::cmp::Ordering::Equal => (a.0, a.1 + b.1),
        });
        i += usize::from(a.0 <= b.0);
        j += usize::from(b.0 <= a.0);
    }
    both.extend_from_slice(&x[i..]);
    both.extend_from_slice(&y[j..]);
    both
}
