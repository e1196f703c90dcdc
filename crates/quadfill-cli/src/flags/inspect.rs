//! `quadfill inspect`.

use std::path::PathBuf;

use clap::Args;

use super::fit::{Bias, names};
use super::model::ModelFlags;
use super::reading::DataFlags;
use super::values;

/// Show what a model or a data file holds
///
/// For data: sizes, density, observations per label; with --model or --rank also how many free
/// parameters such a model has and whether there are enough data for it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  quadfill inspect model
  quadfill inspect ratings.csv --rank 10
  quadfill inspect u.data --bin 4=20w")]
pub(crate) struct InspectFlags {
    /// A model, or a file of data
    pub(crate) what: PathBuf,
    #[command(flatten)]
    pub(crate) model: ModelFlags,
    /// Columns of the factors [default: 10 with --model, --kernel or --tie]
    #[arg(long, value_name = "R", value_parser = values::count, allow_negative_numbers = true)]
    pub(crate) rank: Option<usize>,
    /// The biases to count among the free parameters
    #[arg(long, value_name = "WHICH", value_enum, default_value = "none")]
    pub(crate) bias: Bias,
    /// Modes that share their factors: head,tail
    #[arg(long, value_name = "MODES")]
    pub(crate) tie: Vec<String>,
    #[command(flatten)]
    pub(crate) reading: DataFlags,
}

impl InspectFlags {
    /// The lists of modes that share their factors.
    pub(crate) fn ties(&self) -> Vec<Vec<String>> {
        self.tie.iter().map(|list| names(list)).collect()
    }
}
