//! The scores of many rows: for one query in one pass over memory, for a batch of queries as a
//! product of matrices.
//!
//! With all other labels of a cell fixed, its prediction is `<u, q> + own <u, u>` plus something
//! that depends on the row `u` alone or not at all.

mod batch;
mod single;

pub use batch::{QueryBatch, RowPanels, Sift};
