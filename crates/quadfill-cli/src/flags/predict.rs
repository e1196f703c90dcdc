//! `quadfill predict`.

use std::path::PathBuf;

use clap::Args;

use super::reading::ReadingFlags;

/// Fill in the cells that a file asks for
///
/// Writes the query's columns and a column `prediction`. Where a row has a label that the model does
/// not know, the rest of the row is used; a column `unknown` then marks such rows with 1.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  quadfill predict model wanted.csv -o filled.csv
  quadfill predict model wanted.csv -o filled.parquet   (.jsonl, .tsv too)
  cut -d, -f1,2 wanted.csv | quadfill predict model - | head")]
pub(crate) struct PredictFlags {
    /// The model
    pub(crate) model: PathBuf,
    /// The file with the cells, `-` for standard input
    pub(crate) query: PathBuf,
    /// The file to write, standard output by default
    #[arg(short, long, value_name = "OUT", default_value = "-", hide_default_value = true)]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) reading: ReadingFlags,
}
