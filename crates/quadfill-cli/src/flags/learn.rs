//! `quadfill fold-in` and `quadfill update`.

use std::path::PathBuf;

use clap::Args;

use super::reading::ObservedFlags;

/// Compute vectors for new labels without a new fit
///
/// Labels in NEW that the model does not know get vectors from their observations, by the same
/// equations as in a fit. Nothing else changes, and rows of NEW without a new label are ignored.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  quadfill fold-in model new-users.csv -o model2
  quadfill fold-in model new-entities.tsv -o model2 && quadfill top model2 --given ...")]
pub(crate) struct FoldInFlags {
    /// The model
    pub(crate) model: PathBuf,
    /// Observations of the new labels
    pub(crate) new: PathBuf,
    /// The model to write
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) reading: ObservedFlags,
}

/// Continue the fit of a model with more data
///
/// Continues from the model on all of DATA, old and new, with the same penalty and biases, until the
/// objective stops decreasing. New labels are folded in first.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  quadfill update model ratings.csv new-ratings.csv -o model2")]
pub(crate) struct UpdateFlags {
    /// The model
    pub(crate) model: PathBuf,
    /// All data to fit, including the old data
    #[arg(required = true)]
    pub(crate) data: Vec<PathBuf>,
    /// The model to write
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) reading: ObservedFlags,
}
