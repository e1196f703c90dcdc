//! Experiments on quadratic tensors.
//!
//! [`planted`] generates tensors with known factors, [`experiment`] measures on them and on real data,
//! stores the results and reports them, and [`word_tasks`] reads what word vectors are evaluated on.

mod error;
pub mod experiment;
pub mod planted;
pub mod word_tasks;

pub use error::{LabError, Result};
