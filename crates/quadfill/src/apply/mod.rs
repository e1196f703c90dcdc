//! What is done with a fitted model, one use per file: predict, evaluate, find the best labels,
//! explain, export.

mod best;
mod context;
mod evaluate;
mod explain;
mod export;
mod predict;
mod top;

pub use best::Scored;
pub use context::Context;
pub use evaluate::Evaluation;
pub use explain::{Influence, Part, influences};
pub use export::{Export, Recipe};
pub use predict::{Predictor, UNKNOWN};
pub use top::{Order, Ranker};
