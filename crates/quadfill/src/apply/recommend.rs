//! The best labels of a mode, by name or by index, in the precision of the model.

use serde::Serialize;

use super::best::Scored;
use super::ranking::{KnownCells, Ranking};
use super::top::{Order, Ranker};
use crate::error::{Error, Result};
use crate::fitted::{Model, Numbers};
use crate::model::UNKNOWN;

/// A label with its prediction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recommendation {
    /// The label.
    pub label: String,
    /// The prediction.
    pub score: f64,
}

impl Model {
    /// The `k` labels of a mode with the best predictions, given a label for every other mode. Fewer
    /// if there are no more.
    pub fn top(&self, given: &[(&str, &str)], mode: &str, k: usize) -> Result<Vec<Recommendation>> {
        let mode = self.mode_position(mode)?;
        let cell = self.find_given(given)?;
        if cell[mode] != UNKNOWN {
            return Err(Error::RepeatedMode { mode: self.modes[mode].name.clone() });
        }
        self.require_labels(&cell, Some(mode))?;
        let best = self.ranker(mode).top(&cell, k, &[]);
        let named = best.into_iter().map(|Scored { label, score }| Recommendation {
            label: self.modes[mode].label(label as usize).into_owned(),
            score,
        });
        Ok(named.collect())
    }

    /// Finds the best labels of a mode for many queries, by label indices.
    pub fn ranker(&self, mode: usize) -> ModelRanker<'_> {
        match &self.numbers {
            Numbers::F32(fitted) => {
                ModelRanker::F32(Ranker::new(fitted.predictor(&self.spec), mode))
            }
            Numbers::F64(fitted) => {
                ModelRanker::F64(Ranker::new(fitted.predictor(&self.spec), mode))
            }
        }
    }
}

/// A [`Ranker`] in the precision of its model.
#[derive(Debug, Clone)]
pub enum ModelRanker<'a> {
    /// Single.
    F32(Ranker<'a, f32>),
    /// Double.
    F64(Ranker<'a, f64>),
}

macro_rules! in_either {
    ($self:expr, $ranker:ident => $body:expr) => {
        match $self {
            Self::F32($ranker) => $body,
            Self::F64($ranker) => $body,
        }
    };
}

impl ModelRanker<'_> {
    /// The same in another order.
    #[must_use]
    pub fn with_order(self, order: Order) -> Self {
        match self {
            Self::F32(ranker) => Self::F32(ranker.with_order(order)),
            Self::F64(ranker) => Self::F64(ranker.with_order(order)),
        }
    }

    /// The same among some labels only; duplicates count once.
    #[must_use]
    pub fn among(self, candidates: &[u32]) -> Self {
        match self {
            Self::F32(ranker) => Self::F32(ranker.among(candidates)),
            Self::F64(ranker) => Self::F64(ranker.among(candidates)),
        }
    }

    /// How many labels there are to choose from.
    pub fn len(&self) -> usize {
        in_either!(self, ranker => ranker.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// See [`Ranker::top`].
    pub fn top(&self, given: &[u32], k: usize, excluded: &[u32]) -> Vec<Scored> {
        in_either!(self, ranker => ranker.top(given, k, excluded))
    }

    /// See [`Ranker::top_batch`].
    pub fn top_batch(
        &self,
        given: &[Vec<u32>],
        k: usize,
        excluded: &[Vec<u32>],
    ) -> Vec<Vec<Scored>> {
        in_either!(self, ranker => ranker.top_batch(given, k, excluded))
    }

    /// See [`Ranker::ranking`].
    pub fn ranking(&self, columns: &[&[u32]], known: &KnownCells) -> Ranking {
        in_either!(self, ranker => ranker.ranking(columns, known))
    }
}
