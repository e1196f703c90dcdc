//! `quadfill evaluate`.

use std::path::PathBuf;

use clap::Args;

use super::reading::ReadingFlags;

/// Compare predictions with known values
///
/// Rows with labels that the model does not know count too: their other labels are used.
///
/// With --rank-mode every row is a right answer, whatever its value: its label in that mode is ranked
/// among all labels. Labels that are right answers to the same question, in TEST or in the files of
/// --filter, are left out of the ranking.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  quadfill evaluate model test.csv
  quadfill evaluate model test.dat --modes 1,2,4 --value 3 --json
  quadfill evaluate model test.tsv --rank-mode head,tail --filter train.tsv,valid.tsv")]
pub(crate) struct EvaluateFlags {
    /// The model
    pub(crate) model: PathBuf,
    /// The file with the values, `-` for standard input
    pub(crate) test: PathBuf,
    /// Rank the labels of these modes instead of comparing values
    #[arg(long, value_name = "MODES")]
    pub(crate) rank_mode: Option<String>,
    /// Files with more right answers, separated by commas
    #[arg(long, value_name = "FILES", requires = "rank_mode", value_delimiter = ',')]
    pub(crate) filter: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: ReadingFlags,
}
