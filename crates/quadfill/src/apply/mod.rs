//! What is done with a fitted model: predict and evaluate.

mod evaluate;
mod predict;

pub use evaluate::Evaluation;
pub use predict::{Predictor, UNKNOWN};
