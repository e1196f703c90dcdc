//! What is done with a fitted model, one use per file: predict, evaluate, find the best labels,
//! explain, certify, export, evaluate as word vectors, fold in new labels, update with more data.

mod analogy;
mod best;
mod certify;
mod context;
mod draws;
mod embedding;
mod explain;
mod export;
mod fold_in;
mod fold_in_draws;
mod interval;
mod predict;
mod ranking;
mod recommend;
mod similar;
mod similarity;
mod top;
mod update;

pub use analogy::{AnalogyScore, AnalogySection};
pub use best::Scored;
pub use context::Context;
pub use draws::DrawIntervals;
pub use embedding::Embeddings;
pub use explain::{Explanation, Influence, Part};
pub use export::{Export, Recipe};
pub use interval::Intervals;
pub use ranking::{KnownCells, Ranking};
pub use recommend::{ModelRanker, Recommendation};
pub use similarity::{SimilarityScore, SimilaritySet, spearman};
pub use top::{Order, Ranker};
