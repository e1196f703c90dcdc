//! The scores of many rows: for one query in a single pass over memory, for a batch of queries as a
//! matrix product.
//!
//! With all other labels of a cell fixed, its prediction is `<u, q> + own <u, u>` plus the bias of
//! the row `u` and a constant.

mod batch;
mod screen;
mod single;
mod vnni;

pub use batch::{QueryBatch, RowPanels, ScoreSink};
