//! `quadfill demo`.

use std::path::PathBuf;

use clap::Args;

/// See it work on made-up data
///
/// Makes a tensor of 200 x 200 x 200 cells from known factors, shows 4000 of its cells to a fit, and
/// compares the prediction of others with the truth. Leaves the data, the model and a summary in a
/// folder to look at.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  quadfill demo
  quadfill demo --out /tmp/demo --seed 7 && cat /tmp/demo/summary.txt")]
pub(crate) struct DemoFlags {
    /// The folder to leave everything in
    #[arg(long, value_name = "FOLDER", default_value = "demo")]
    pub(crate) out: PathBuf,
}
