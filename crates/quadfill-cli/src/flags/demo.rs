//! `quadfill demo`.

use std::path::PathBuf;

use clap::Args;

/// See it work on synthetic data
///
/// Makes a tensor of 200 x 200 x 200 cells from known factors, fits 4000 of its cells, and compares
/// the predictions of other cells with the truth. Leaves the data, the model and a summary in a
/// folder.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  quadfill demo
  quadfill demo --out /tmp/demo --seed 7 && cat /tmp/demo/summary.txt")]
pub(crate) struct DemoFlags {
    /// The folder to write everything to
    #[arg(long, value_name = "FOLDER", default_value = "demo")]
    pub(crate) out: PathBuf,
}
