//! `quadfill export`.

use std::path::PathBuf;

use clap::Args;

/// Write the vectors of a mode for other programs
///
/// Prints how to query them: a prediction is the inner product of a label's vector with one made of
/// the vectors of the other labels, plus a constant that is the same for all labels. So one index for
/// inner products serves every context.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  quadfill export model --mode movie -o movies.npy      (and movies.labels.txt, one label per line)
  quadfill export model --mode movie -o movies.parquet  (.csv too)
  quadfill export model --mode word -o words.vec        the text form of word2vec
  quadfill export model --all-modes -o words.vec        the same with the rows of all modes")]
pub(crate) struct ExportFlags {
    /// The model
    pub(crate) model: PathBuf,
    /// The mode
    #[arg(long, value_name = "MODE", required_unless_present = "all_modes")]
    pub(crate) mode: Option<String>,
    /// For every label its rows in all modes, concatenated and normalised: vectors to compare by
    /// their angles, where modes have the same labels
    #[arg(long, conflicts_with = "mode")]
    pub(crate) all_modes: bool,
    /// The file to write: .npy, .csv, .parquet, or .vec or .txt for word2vec
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
}
