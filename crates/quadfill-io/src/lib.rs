//! Readers and writers.
//!
//! [`read`] turns a file into [`Observations`](quadfill::Observations), [`read_query`] finds the
//! rows of a file in the modes of a model, and the `write` functions leave either a whole file or
//! none.
//!
//! ```
//! use quadfill_io::{ReadOptions, read_bytes};
//! let text = b"1::122::5.0\n1::185::4.5\n2::122::3\n";
//! let data = read_bytes::<f32>("ratings.dat", text, &ReadOptions::default())?;
//! assert_eq!(data.observations.len(), 3);
//! assert_eq!(data.observations.sizes(), vec![2, 2]);
//! # Ok::<(), quadfill_io::ReadError>(())
//! ```

mod arrays;
mod bins;
mod columns;
pub mod corpus;
mod delimited;
mod error;
mod number;
mod options;
mod parquet_file;
mod query;
mod query_lookup;
mod query_rows;
mod read;
mod roles;
mod shown;
mod source;
mod table;
mod word_tasks;
mod write;

pub use bins::{BinSize, BinSpec};
pub use delimited::Delimiter;
pub use error::{ReadError, Result};
pub use options::{ColumnRef, Format, ReadOptions};
pub use quadfill::observations::{Binning, ColumnPlaces};
pub use query::{Query, QueryValues, UNKNOWN, read_query, read_query_bytes};
pub use query_rows::{QueryColumn, QueryRows, TextRows};
pub use read::{ReadData, read, read_bytes};
pub use word_tasks::{
    parse_analogies, parse_similarity, parse_vectors, read_analogies, read_similarity, read_vectors,
};
pub use write::{
    NpyNumber, Predictions, VectorFormat, Vectors, WriteError, write_atomically, write_npy,
    write_predictions, write_tns, write_vectors,
};
