//! The scores of many rows: for one query in a single pass over memory, for a batch of queries as a
//! matrix product, of which most entries are bounded in 8-bit integers where the machine is good at those.
//!
//! With all other labels of a cell fixed, its prediction is `<u, q> + own <u, u>` plus the bias of
//! the row `u` and a constant.

mod batch;
mod screen;
mod single;
mod vnni;

pub use batch::{QueryBatch, RowPanels, ScoreSink};
