//! Writers; every file they leave is whole.

mod atomic;
mod json;
mod npy;
mod parquet;
mod parquet_table;
mod predictions;
mod vectors;

pub use atomic::{WriteError, write_atomically};
pub use npy::{NpyNumber, write_npy};
pub(crate) use parquet_table::{column, write_table};
pub use predictions::{Predictions, write_predictions};
pub use vectors::{VectorFormat, Vectors, write_vectors};
