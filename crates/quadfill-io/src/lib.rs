//! Readers and writers.
//!
//! [`read`] turns a file into [`Observations`](quadfill::Observations) to fit a model to.
//! [`read_for_modes`] reads more rows for the modes of a model, and [`read_query`] finds the rows of a
//! file among the labels that a model knows. The `write` functions leave either a whole file or none.
//!
//! ```
//! use quadfill_io::{ReadOptions, read_bytes};
//! let text = b"1::122::5.0\n1::185::4.5\n2::122::3\n";
//! let data = read_bytes("ratings.dat", text, &ReadOptions::default())?;
//! assert_eq!(data.len(), 3);
//! assert_eq!(data.sizes(), vec![2, 2]);
//! # Ok::<(), quadfill_io::ReadError>(())
//! ```

mod arrays;
mod bins;
mod chunk;
mod column_roles;
mod columns;
pub mod corpus;
mod delimited;
mod error;
mod escape;
mod fields;
mod frame;
mod number;
mod options;
mod parquet_file;
mod query;
mod query_lookup;
mod query_rows;
mod read;
mod read_for_modes;
mod recognise;
mod roles;
mod source;
mod stream;
mod table;
mod text;
mod time_column;
mod times;
mod word_vectors;
mod write;

pub use bins::{BinSize, BinSpec};
pub use chunk::{Chunk, Texts};
pub use column_roles::{ColumnRoles, ColumnWarning, ModeRole};
pub use error::{ReadError, Result};
pub use frame::{Frame, FrameColumn};
pub use options::{ColumnRef, Format, ReadOptions};
pub use query::{Query, QueryValues, UNKNOWN, read_query, read_query_bytes, read_query_values};
pub use read::{read, read_bytes, read_bytes_with_roles, read_with_roles};
pub use read_for_modes::read_for_modes;
pub use stream::{ReadProgress, ReadStage, data_files, read_data};
pub use text::read_text;
pub use word_vectors::read_vectors;
pub use write::{
    NpyNumber, Predictions, VectorFormat, Vectors, WriteError, write_atomically, write_npy,
    write_predictions, write_vectors,
};
