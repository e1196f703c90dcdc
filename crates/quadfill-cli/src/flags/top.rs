//! `quadfill top`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::reading::ReadingFlags;
use super::values;

/// Find the labels with the best predictions
///
/// All labels of --mode are scored, so the answer is exact; ties go to the label that comes first.
/// The best predictions are the highest ones, and for the model transe, which predicts distances,
/// the lowest.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  quadfill top model --given user=42,week=7 --mode movie -k 20
  quadfill top model --given user=42,time=2003-05 --mode movie      (times in bins)
  quadfill top model --given user=42,week=7 --mode movie --exclude ratings.csv --exclude-by user
  quadfill top model --given head=france,relation=borders --mode tail --exclude train.tsv
  quadfill top model --batch users.csv --mode movie --json")]
pub(crate) struct TopFlags {
    /// The model
    pub(crate) model: PathBuf,
    /// The mode whose labels are ranked
    #[arg(long, value_name = "MODE")]
    pub(crate) mode: String,
    /// The labels of all other modes: user=42,week=7; for times in bins a date, 2003-05 or 2003-05-17
    #[arg(long, value_name = "LABELS", required_unless_present = "batch")]
    pub(crate) given: Vec<String>,
    /// A file with the labels of all other modes, one query per row
    #[arg(long, value_name = "FILE", conflicts_with = "given")]
    pub(crate) batch: Option<PathBuf>,
    /// How many labels to find; 10 by default, or all if there are fewer
    #[arg(short, value_name = "K", value_parser = values::count, allow_negative_numbers = true)]
    pub(crate) k: Option<usize>,
    /// Leave out labels that this file has together with the given ones
    #[arg(long, value_name = "FILE")]
    pub(crate) exclude: Option<PathBuf>,
    /// The modes that a row of --exclude must share with the query; all other modes by default
    #[arg(long, value_name = "MODES", requires = "exclude")]
    pub(crate) exclude_by: Option<String>,
    /// Choose among the labels in this file only, one per line
    #[arg(long, value_name = "FILE")]
    pub(crate) candidates: Option<PathBuf>,
    /// Which predictions are best
    #[arg(long, value_name = "WHICH", value_enum)]
    pub(crate) order: Option<OrderName>,
    #[command(flatten)]
    pub(crate) reading: ReadingFlags,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderName {
    Highest,
    Lowest,
}
