//! `quadfill explain`.

use std::path::PathBuf;

use clap::Args;

use super::reading::ObservedFlags;
use super::values;

/// Show where a prediction comes from
///
/// The summands of the prediction, which add up to it exactly. With --data, for each label also the
/// observations with the largest effect on the prediction: by how much it is higher than if the label
/// had been fitted without that observation, all other labels unchanged.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  quadfill explain model user=42 movie=Heat week=7
  quadfill explain model user=42 movie=Heat week=7 --data ratings.csv --most 3")]
pub(crate) struct ExplainFlags {
    /// The model
    pub(crate) model: PathBuf,
    /// One label for every mode
    #[arg(required = true, value_name = "MODE=LABEL")]
    pub(crate) cell: Vec<String>,
    /// The data that the model was fitted to
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,
    /// How many observations to show for each label
    #[arg(long, value_name = "N", default_value = "5", value_parser = values::count, allow_negative_numbers = true)]
    pub(crate) most: usize,
    #[command(flatten)]
    pub(crate) reading: ObservedFlags,
}
