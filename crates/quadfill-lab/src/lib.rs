//! The laboratory: tensors with a known truth, experiments on them, charts and reports.
//!
//! [`planted`] makes the data, [`experiment`] measures and keeps what was measured, [`chart`] draws
//! it, and [`report`] tells it on one page that needs nothing else.

pub mod chart;
mod error;
pub mod experiment;
pub mod planted;
pub mod report;

pub use error::{LabError, Result};
