//! The labels of one mode with the best predictions: exact, by a scan of all of them.

use std::borrow::Cow;

use rayon::prelude::*;
use serde::Serialize;

use super::best::{Best, Scored};
use super::context::Context;
use crate::model::Interaction;
use crate::model::Predictor;
use quadfill_kernels::scan::{QueryBatch, RowPanels, ScoreSink};
use quadfill_kernels::{AlignedVec, Backend, Real};

/// Rows that one thread scans at a time, and rows whose scores are buffered.
const UNIT: usize = 16 * 1024;
const BLOCK: usize = 512;
/// The fewest and the most queries of a batch that are scored together: rows are rearranged once for each of them, and
/// its lists should stay in the cache.
const MIN_QUERIES: usize = 96;
const MAX_QUERIES: usize = 512;
/// Labels kept besides those asked for: the last digits of a scan in the model's precision may
/// order close ones wrongly, so a few more are compared in double precision.
const SPARE: usize = 8;

/// Which predictions are best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The largest ones.
    Highest,
    /// The smallest ones, as for distances.
    Lowest,
}

impl Order {
    /// Lowest for models of distances (`transe`), highest for all others.
    pub fn of(interaction: &Interaction) -> Self {
        if interaction.predicts_distances() { Self::Lowest } else { Self::Highest }
    }

    fn sign(self) -> f64 {
        match self {
            Self::Highest => 1.0,
            Self::Lowest => -1.0,
        }
    }
}

/// Finds the best labels of one mode.
///
/// With all other labels given a prediction is linear in the wanted row (plus its squared length
/// for kernels with a diagonal), so one pass over the factor matrix finds the best; several queries
/// share it as a product of matrices. Ties go to the label that comes first.
///
/// ```
/// use quadfill::apply::Ranker;
/// use quadfill::model::{Kernel, ModelSpec, Parameters, Predictor};
/// let spec = ModelSpec::quadratic(Kernel::pairwise(3), 4);
/// let parameters = Parameters::<f32>::random(&spec, &[10, 1000, 5], 1.0, 7);
/// let predictor = Predictor::new(&spec, &parameters);
/// let ranker = Ranker::new(predictor, 1);
/// let best = ranker.top(&[3, 0, 2], 5, &[]);
/// assert_eq!(best.len(), 5);
/// assert_eq!(best[0].score, predictor.cell(&[3, best[0].label, 2]));
/// let without = ranker.top(&[3, 0, 2], 5, &[best[0].label]);
/// assert_eq!(without[0], best[1]);
/// ```
#[derive(Debug, Clone)]
pub struct Ranker<'a, T: Real> {
    predictor: Predictor<'a, T>,
    mode: usize,
    order: Order,
    /// The labels to choose from, ascending; all labels if there is no list.
    candidates: Option<Vec<u32>>,
    rows: Cow<'a, [T]>,
    /// What each row adds to its scores, sign of the order included.
    offsets: Option<Vec<T>>,
    backend: Backend,
}

impl<'a, T: Real> Ranker<'a, T> {
    /// Ranks all labels of `mode` in the [natural order](Order::of) of the model.
    pub fn new(predictor: Predictor<'a, T>, mode: usize) -> Self {
        let rows = Cow::Borrowed(predictor.parameters.mode_factors(mode));
        let order = Order::of(&predictor.spec.interaction);
        let backend = Backend::detect();
        let mut ranker =
            Self { predictor, mode, order, candidates: None, rows, offsets: None, backend };
        ranker.weigh();
        ranker
    }

    /// The same in another order.
    #[must_use]
    pub fn with_order(mut self, order: Order) -> Self {
        self.order = order;
        self.weigh();
        self
    }

    /// The same among some labels only; repeats count once.
    #[must_use]
    pub fn among(mut self, candidates: &[u32]) -> Self {
        let mut candidates = candidates.to_vec();
        candidates.sort_unstable();
        candidates.dedup();
        let stride = self.predictor.parameters.layout().stride();
        let all = self.predictor.parameters.mode_factors(self.mode);
        let mut rows = Vec::with_capacity(candidates.len() * stride);
        for &label in &candidates {
            rows.extend_from_slice(&all[label as usize * stride..][..stride]);
        }
        self.rows = Cow::Owned(rows);
        self.candidates = Some(candidates);
        self.weigh();
        self
    }

    /// How many labels there are to choose from.
    pub fn len(&self) -> usize {
        self.rows.len() / self.predictor.parameters.layout().stride()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn label(&self, row: usize) -> u32 {
        self.candidates.as_ref().map_or(row as u32, |candidates| candidates[row])
    }

    fn weigh(&mut self) {
        self.offsets = self.predictor.has_row_offsets(self.mode).then(|| {
            let sign = self.order.sign();
            (0..self.len())
                .map(|row| {
                    T::from_f64(sign * self.predictor.row_offset(self.mode, self.label(row)))
                })
                .collect()
        });
    }

    fn query(&self, given: &[u32]) -> Context<T> {
        let mut context = self.predictor.context(self.mode, given);
        if self.order == Order::Lowest {
            for s in context.jacobian.iter_mut() {
                *s = -*s;
            }
        }
        context
    }

    /// The `k` best labels for a cell whose other labels are `given` (that of the wanted mode is not
    /// used), but none of `excluded`, which must be ascending. Fewer if there are no more.
    pub fn top(&self, given: &[u32], k: usize, excluded: &[u32]) -> Vec<Scored> {
        let query = self.query(given).jacobian;
        let keep = k.saturating_add(SPARE).min(self.len());
        let parts: Vec<Best> = (0..self.len().div_ceil(UNIT))
            .into_par_iter()
            .map(|unit| {
                let mut best = Best::new(keep);
                let mut floor = best.floor();
                let end = self.len().min((unit + 1) * UNIT);
                self.for_each_score(&query, unit * UNIT..end, |row, score| {
                    if score > floor {
                        let label = self.label(row);
                        if excluded.binary_search(&label).is_err() {
                            best.offer(label, score);
                            floor = best.floor();
                        }
                    }
                });
                best
            })
            .collect();
        self.finish(given, k, keep, parts.into_iter())
    }

    /// Calls `see` with the scores of some rows in the precision of the model, without the constant; higher
    /// ones are better.
    fn for_each_score(
        &self,
        query: &[T],
        rows: std::ops::Range<usize>,
        mut see: impl FnMut(usize, f64),
    ) {
        let stride = query.len();
        let mut scores = [T::ZERO; BLOCK];
        let end = rows.end;
        for first in rows.step_by(BLOCK) {
            let scores = &mut scores[..BLOCK.min(end - first)];
            let block = &self.rows[first * stride..(first + scores.len()) * stride];
            self.backend.row_scores(block, stride, query, T::ZERO, scores);
            match &self.offsets {
                Some(offsets) => {
                    for (i, (score, offset)) in scores.iter().zip(&offsets[first..]).enumerate() {
                        see(first + i, (*score + *offset).to_f64());
                    }
                }
                None => {
                    for (i, score) in scores.iter().enumerate() {
                        see(first + i, score.to_f64());
                    }
                }
            }
        }
    }

    /// [`top`](Self::top) for many queries at once, with a list of excluded labels for each.
    ///
    /// # Panics
    /// Unless there is one list of excluded labels per query.
    pub fn top_batch(
        &self,
        given: &[Vec<u32>],
        k: usize,
        excluded: &[Vec<u32>],
    ) -> Vec<Vec<Scored>> {
        assert_eq!(given.len(), excluded.len(), "one list of excluded labels per query");
        let stride = self.predictor.parameters.layout().stride();
        let rank = self.predictor.spec.rank;
        let mut queries = AlignedVec::zeros(given.len() * rank);
        for (query, given) in queries.chunks_exact_mut(rank).zip(given) {
            query.copy_from_slice(&self.query(given).jacobian[..rank]);
        }
        let keep = k.saturating_add(SPARE).min(self.len());
        // Threads take some queries each, for all rows if there are enough queries: the more rows one list has seen,
        // the fewer scores are above its floor. How the work is cut makes no difference to the answer.
        let tasks = rayon::current_num_threads();
        let chunk = given.len().div_ceil(tasks).clamp(MIN_QUERIES, MAX_QUERIES);
        let row_units = tasks.div_ceil(given.len().div_ceil(chunk).max(1));
        let unit = UNIT.max(self.len().div_ceil(row_units)).max(1);
        let batches: Vec<(usize, QueryBatch<T>)> = queries
            .chunks(chunk * rank)
            .enumerate()
            .map(|(at, queries)| (at * chunk, QueryBatch::new(queries, rank)))
            .collect();
        let units: Vec<usize> = (0..self.len()).step_by(unit).collect();
        let tasks: Vec<(&(usize, QueryBatch<T>), usize)> =
            batches.iter().flat_map(|batch| units.iter().map(move |&row| (batch, row))).collect();
        let parts: Vec<(usize, Vec<Best>)> = tasks
            .into_par_iter()
            .with_max_len(1)
            .map(|((query, batch), first)| {
                let end = self.len().min(first + unit);
                let mut sieve = Sieve {
                    ranker: self,
                    first,
                    excluded: &excluded[*query..query + batch.len()],
                    floors: vec![T::from_f64(Best::new(keep).floor()); batch.len()],
                    best: vec![Best::new(keep); batch.len()],
                };
                let panels = RowPanels {
                    rows: &self.rows[first * stride..end * stride],
                    stride,
                    offsets: self.offsets.as_ref().map(|offsets| &offsets[first..end]),
                };
                self.backend.scan_batch(batch, panels, &mut sieve);
                (*query, sieve.best)
            })
            .collect();
        let mut by_query: Vec<Vec<Best>> = given.iter().map(|_| Vec::new()).collect();
        for (query, part) in parts {
            for (all, best) in by_query[query..].iter_mut().zip(part) {
                all.push(best);
            }
        }
        given
            .par_iter()
            .zip(by_query)
            .map(|(given, parts)| self.finish(given, k, keep, parts.into_iter()))
            .collect()
    }

    /// Merges what the units kept and compares the best in double precision.
    fn finish(
        &self,
        given: &[u32],
        k: usize,
        keep: usize,
        parts: impl Iterator<Item = Best>,
    ) -> Vec<Scored> {
        let mut merged = Best::new(keep);
        for scored in parts.flat_map(Best::into_sorted) {
            merged.offer(scored.label, scored.score);
        }
        let sign = self.order.sign();
        let mut exact = Best::new(k.min(keep));
        let mut cell = given.to_vec();
        for Scored { label, .. } in merged.into_sorted() {
            cell[self.mode] = label;
            exact.offer(label, sign * self.predictor.cell(&cell));
        }
        let mut best = exact.into_sorted();
        for scored in &mut best {
            scored.score *= sign;
        }
        best
    }

    /// The rank of a label among all but the `excluded` ones (which must be ascending; the label itself is
    /// never excluded): 1 is the best, and labels with equal scores share the mean of their ranks.
    ///
    /// ```
    /// use quadfill::apply::Ranker;
    /// use quadfill::model::{ModelSpec, Parameters, Predictor};
    /// let spec = ModelSpec::cp(2, 1);
    /// let mut parameters = Parameters::<f64>::zeros(&spec, &[1, 4]);
    /// parameters.row_mut(0, 0)[0] = 1.0;
    /// for (label, score) in [5.0, 3.0, 3.0, 1.0].into_iter().enumerate() {
    ///     parameters.row_mut(1, label)[0] = score;
    /// }
    /// let ranker = Ranker::new(Predictor::new(&spec, &parameters), 1);
    /// assert_eq!(ranker.rank_of(&[0, 0], 2, &[]), 2.5);
    /// assert_eq!(ranker.rank_of(&[0, 0], 2, &[0]), 1.5);
    /// ```
    ///
    /// # Panics
    /// If the label is not one of the candidates.
    pub fn rank_of(&self, given: &[u32], label: u32, excluded: &[u32]) -> f64 {
        self.ranks_of(given, &[label], excluded)[0]
    }

    /// The ranks of several labels; excluded ones do not affect the others.
    pub(super) fn ranks_of(&self, given: &[u32], labels: &[u32], excluded: &[u32]) -> Vec<f64> {
        let query = self.query(given).jacobian;
        let mut scores = Vec::with_capacity(self.len());
        self.for_each_score(&query, 0..self.len(), |_, score| scores.push(score));
        let row_of = |label: u32| match &self.candidates {
            Some(candidates) => candidates.binary_search(&label).ok(),
            None => Some(label as usize),
        };
        let left_out: Vec<f64> =
            excluded.iter().filter_map(|&label| row_of(label)).map(|row| scores[row]).collect();
        labels
            .iter()
            .map(|&label| {
                let score = scores[row_of(label).expect("a candidate")];
                let count = |scores: &[f64], is: &dyn Fn(f64) -> bool| {
                    scores.iter().filter(|&&other| is(other)).count() as f64
                };
                let among = |is: &dyn Fn(f64) -> bool| count(&scores, is) - count(&left_out, is);
                let above = among(&|other| other > score);
                let itself = f64::from(u8::from(excluded.binary_search(&label).is_err()));
                let equal = among(&|other| other == score) - itself;
                1.0 + above + 0.5 * equal
            })
            .collect()
    }

    /// The mode whose labels are ranked.
    pub fn mode(&self) -> usize {
        self.mode
    }
}

/// What one unit keeps for every query of a batch.
struct Sieve<'r, 'a, T: Real> {
    ranker: &'r Ranker<'a, T>,
    first: usize,
    excluded: &'r [Vec<u32>],
    floors: Vec<T>,
    best: Vec<Best>,
}

impl<T: Real> ScoreSink<T> for Sieve<'_, '_, T> {
    #[inline]
    fn threshold(&self, query: usize) -> T {
        self.floors[query]
    }

    fn push(&mut self, query: usize, row: usize, score: T) {
        let label = self.ranker.label(self.first + row);
        if self.excluded[query].binary_search(&label).is_ok() {
            return;
        }
        self.best[query].offer(label, score.to_f64());
        self.floors[query] = T::from_f64(self.best[query].floor());
    }
}
