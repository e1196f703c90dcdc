//! What is done with a fitted model, one use per file: predict, evaluate, find the best labels,
//! explain, export, judge as word vectors, fold in new labels.

mod analogy;
mod best;
mod context;
mod draws;
mod embedding;
mod evaluate;
mod explain;
mod export;
mod fold_in;
mod interval;
mod predict;
mod ranking;
mod similarity;
mod top;
mod update;

pub use analogy::{AnalogyScore, AnalogySection};
pub use best::Scored;
pub use context::Context;
pub use draws::DrawIntervals;
pub use embedding::Embeddings;
pub use evaluate::Evaluation;
pub use explain::{Influence, Part, influences};
pub use export::{Export, Recipe};
pub use fold_in::fold_in;
pub use interval::Intervals;
pub use predict::{Predictor, UNKNOWN};
pub use ranking::{KnownCells, Ranking};
pub use similarity::{SimilarityScore, SimilaritySet, spearman};
pub use top::{Order, Ranker};
pub use update::update;
