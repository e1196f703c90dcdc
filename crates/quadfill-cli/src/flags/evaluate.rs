//! `quadfill evaluate`.

use std::path::PathBuf;

use clap::Args;

use super::reading::ReadingFlags;

/// Compare predictions with known values
///
/// Rows with labels that the model does not know count, too: what is known of them is used.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  quadfill evaluate model test.csv
  quadfill evaluate model test.dat --modes 1,2,4 --value 3 --json")]
pub(crate) struct EvaluateFlags {
    /// The model
    pub(crate) model: PathBuf,
    /// The file with the values, `-` for standard input
    pub(crate) test: PathBuf,
    #[command(flatten)]
    pub(crate) reading: ReadingFlags,
}
