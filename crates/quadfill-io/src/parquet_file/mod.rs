//! Parquet: labels, times and values by the names of their columns.

mod claims;
mod fields;
mod guard;
mod hybrid;
mod numbers;
mod page_header;
mod pages;
mod query;
mod thrift;
mod unpack;

use bytes::Bytes;
use quadfill::Observations;

pub(crate) use fields::ParquetFile;
pub(crate) use query::read_columns;

use crate::column_roles::ColumnRoles;
use crate::error::Result;
use crate::fields::{observe, pieces_for_modes};
use crate::options::ReadOptions;
use crate::query::Wanted;
use crate::table::Piece;

/// Reads observations, one piece per group of rows.
pub(crate) fn read_parquet(
    file: &str,
    bytes: Bytes,
    options: &ReadOptions,
) -> Result<(Observations, Option<ColumnRoles>)> {
    observe(&ParquetFile::open(file, bytes)?, options)
}

/// Reads the rows of a file that are for the modes of a model.
pub(crate) fn read_parquet_for_modes(
    file: &str,
    bytes: Bytes,
    options: &ReadOptions,
    wanted: &Wanted<'_>,
) -> Result<Vec<Piece>> {
    pieces_for_modes(&ParquetFile::open(file, bytes)?, options, wanted)
}
