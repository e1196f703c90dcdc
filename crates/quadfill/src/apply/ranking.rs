//! The ranks of correct labels: link prediction and recommendation.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;
use serde::Serialize;

use super::top::Ranker;
use crate::model::UNKNOWN;
use quadfill_kernels::{Real, sum};

/// The ranks of known labels among all labels of a mode.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ranking {
    /// The mean of one over the rank.
    pub mrr: f64,
    /// The mean rank; labels with equal scores share the mean of their ranks.
    pub mean_rank: f64,
    /// The share of ranks that are 1.
    pub hits_at_1: f64,
    /// The share of ranks up to 3.
    pub hits_at_3: f64,
    /// The share of ranks up to 10.
    pub hits_at_10: f64,
    /// The mean over queries of the share of their labels that are among the best 10.
    pub recall_at_10: f64,
    /// The mean over queries of the normalised discounted cumulative gain of the best 10.
    pub ndcg_at_10: f64,
    /// How many cells were ranked.
    pub count: usize,
    /// How many different queries they make: cells that agree in all other modes are one.
    pub queries: usize,
    /// How many cells have a label that the model does not know; they are not ranked.
    pub unknown: usize,
}

/// The length of a list of recommendations.
const BEST: usize = 10;

impl Ranking {
    /// Several rankings as one; means over cells or queries are weighted accordingly.
    pub fn together(all: &[Self]) -> Self {
        let mean = |weight: &dyn Fn(&Self) -> usize, value: &dyn Fn(&Self) -> f64| {
            let total: usize = all.iter().map(weight).sum();
            let sum: f64 = all.iter().map(|ranking| weight(ranking) as f64 * value(ranking)).sum();
            sum / total.max(1) as f64
        };
        let (cells, queries) = (|r: &Self| r.count, |r: &Self| r.queries);
        Self {
            mrr: mean(&cells, &|r| r.mrr),
            mean_rank: mean(&cells, &|r| r.mean_rank),
            hits_at_1: mean(&cells, &|r| r.hits_at_1),
            hits_at_3: mean(&cells, &|r| r.hits_at_3),
            hits_at_10: mean(&cells, &|r| r.hits_at_10),
            recall_at_10: mean(&queries, &|r| r.recall_at_10),
            ndcg_at_10: mean(&queries, &|r| r.ndcg_at_10),
            count: all.iter().map(cells).sum(),
            queries: all.iter().map(queries).sum(),
            unknown: all.iter().map(|r| r.unknown).sum(),
        }
    }
}

/// The known labels of one mode for each query.
#[derive(Debug, Clone, Default)]
pub struct KnownCells {
    mode: usize,
    by_query: HashMap<Vec<u32>, Vec<u32>>,
}

impl KnownCells {
    /// Without any cells.
    pub fn new(mode: usize) -> Self {
        Self { mode, by_query: HashMap::new() }
    }

    /// Adds cells given as one column per mode; those with [`UNKNOWN`] labels are left out.
    pub fn add(&mut self, columns: &[&[u32]]) {
        let rows = columns.first().map_or(0, |column| column.len());
        for row in 0..rows {
            let cell: Vec<u32> = columns.iter().map(|column| column[row]).collect();
            if !cell.contains(&UNKNOWN) {
                let label = cell[self.mode];
                self.by_query.entry(query_of(cell, self.mode)).or_default().push(label);
            }
        }
    }

    fn of(&self, query: &[u32]) -> Vec<u32> {
        let mut labels = self.by_query.get(query).cloned().unwrap_or_default();
        labels.sort_unstable();
        labels.dedup();
        labels
    }
}

fn query_of(mut cell: Vec<u32>, mode: usize) -> Vec<u32> {
    cell[mode] = UNKNOWN;
    cell
}

impl<T: Real> Ranker<'_, T> {
    /// Ranks the labels of cells, given as one column per mode, among all labels of the ranker's mode.
    ///
    /// The other labels that belong to the same query, among these cells or in `known`, are left out
    /// of the ranking ("filtered"), so that a correct answer never lowers the rank of another one.
    ///
    /// ```
    /// use quadfill::apply::{KnownCells, Ranker};
    /// use quadfill::model::{ModelSpec, Parameters, Predictor};
    /// let spec = ModelSpec::cp(2, 1);
    /// let mut parameters = Parameters::<f64>::zeros(&spec, &[1, 4]);
    /// parameters.row_mut(0, 0)[0] = 1.0;
    /// for (label, score) in [5.0, 4.0, 3.0, 1.0].into_iter().enumerate() {
    ///     parameters.row_mut(1, label)[0] = score;
    /// }
    /// let ranker = Ranker::new(Predictor::new(&spec, &parameters), 1);
    /// let mut known = KnownCells::new(1);
    /// known.add(&[&[0], &[0]]);
    /// // Labels 1 and 3 are right, label 0 is known: their ranks are 1 and 2.
    /// let ranking = ranker.ranking(&[&[0, 0], &[1, 3]], &known);
    /// assert_eq!(ranking.mrr, 0.75);
    /// ```
    pub fn ranking(&self, columns: &[&[u32]], known: &KnownCells) -> Ranking {
        let mode = self.mode();
        let rows = columns.first().map_or(0, |column| column.len());
        let mut wanted: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
        let mut unknown = 0;
        for row in 0..rows {
            let cell: Vec<u32> = columns.iter().map(|column| column[row]).collect();
            if cell.contains(&UNKNOWN) {
                unknown += 1;
            } else {
                let label = cell[mode];
                wanted.entry(query_of(cell, mode)).or_default().push(label);
            }
        }
        let mut queries: Vec<(Vec<u32>, Vec<u32>)> = wanted.into_iter().collect();
        for (_, right) in &mut queries {
            right.sort_unstable();
            right.dedup();
        }
        let per_query: Vec<(Vec<f64>, [f64; 2])> = queries
            .par_iter()
            .map(|(query, right)| {
                let seen = known.of(query);
                let mut filtered = [seen.as_slice(), right].concat();
                filtered.sort_unstable();
                filtered.dedup();
                let ranks = self.ranks_of(query, right, &filtered);
                // Labels that are both known and asked for stay in the list of the best.
                let others: Vec<u32> =
                    seen.into_iter().filter(|label| !right.contains(label)).collect();
                let best = self.top(query, BEST, &others);
                let gain = |place: usize| 1.0 / (place as f64 + 2.0).log2();
                let hits = best.iter().enumerate().filter(|(_, s)| right.contains(&s.label));
                let (mut count, mut gains) = (0usize, 0.0);
                for (place, _) in hits {
                    count += 1;
                    gains += gain(place);
                }
                let ideal: f64 = (0..right.len().min(BEST)).map(gain).sum();
                (ranks, [count as f64 / right.len() as f64, gains / ideal])
            })
            .collect();
        let ranks: Vec<f64> =
            per_query.iter().flat_map(|(ranks, _)| ranks.iter().copied()).collect();
        let mean = |terms: Vec<f64>| sum::ordered_sum(&terms) / terms.len().max(1) as f64;
        let over_ranks = |f: &dyn Fn(f64) -> f64| mean(ranks.iter().map(|&rank| f(rank)).collect());
        let up_to = |most: f64| over_ranks(&|rank| f64::from(u8::from(rank <= most)));
        Ranking {
            mrr: over_ranks(&|rank| 1.0 / rank),
            mean_rank: over_ranks(&|rank| rank),
            hits_at_1: up_to(1.0),
            hits_at_3: up_to(3.0),
            hits_at_10: up_to(10.0),
            recall_at_10: mean(per_query.iter().map(|(_, list)| list[0]).collect()),
            ndcg_at_10: mean(per_query.iter().map(|(_, list)| list[1]).collect()),
            count: ranks.len(),
            queries: queries.len(),
            unknown,
        }
    }
}
