//! `quadfill predict`.

use std::path::PathBuf;

use clap::Args;

use super::reading::ReadingFlags;
use super::values;

/// Fill in the cells that a file asks for
///
/// Writes the query's columns and a column `prediction`. Where a row has a label that the model does
/// not know, the rest of the row is used; a column `unknown` then marks such rows with 1.
///
/// With --interval columns `lower` and `upper` bound what a new observation would be, with that
/// probability: from the normal equations of the rows, assuming that the noise is independent,
/// homoscedastic and about normal, that the model is right, and that the fit is at its optimum. A model
/// of --solver gibbs needs no --data: its bounds come from its draws.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  quadfill predict model wanted.csv -o filled.csv
  quadfill predict model wanted.csv -o filled.parquet   (.jsonl, .tsv too)
  quadfill predict model wanted.csv -o filled.csv --interval 0.9 --data ratings.csv
  quadfill predict drawn wanted.csv -o filled.csv --interval 0.9      (a model of --solver gibbs)
  cut -d, -f1,2 wanted.csv | quadfill predict model - | head")]
pub(crate) struct PredictFlags {
    /// The model
    pub(crate) model: PathBuf,
    /// The file with the cells, `-` for standard input
    pub(crate) query: PathBuf,
    /// The file to write, standard output by default
    #[arg(short, long, value_name = "OUT", default_value = "-", hide_default_value = true)]
    pub(crate) output: PathBuf,
    /// Bound each prediction with this probability: 0.9
    #[arg(long, value_name = "LEVEL", value_parser = values::level, allow_negative_numbers = true)]
    pub(crate) interval: Option<f64>,
    /// The data that the model was fitted to, for --interval
    #[arg(long, value_name = "FILE", requires = "interval")]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: ReadingFlags,
}
