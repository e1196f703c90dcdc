//! Reads the data of a fit, with a bar where that takes a while.

use std::path::Path;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use quadfill::views::{Data, Storage};
use quadfill_io::{ColumnRoles, ReadOptions, read_data};

use crate::output::Output;

/// Positions of the bar.
const STEPS: f64 = 1000.0;

/// The data, and what their columns were taken for.
pub(super) fn read(
    path: &Path,
    options: &ReadOptions,
    storage: Option<Storage>,
    output: Output,
) -> Result<(Data, Option<ColumnRoles>)> {
    let mut bar: Option<ProgressBar> = None;
    let mut stage = None;
    let read = read_data(path, options, storage, &mut |progress| {
        if !output.shows_progress() {
            return;
        }
        let bar = bar.get_or_insert_with(new_bar);
        if stage.replace(progress.stage) != Some(progress.stage) {
            bar.set_prefix(progress.stage.name());
            // The time left is that of this stage.
            bar.reset();
        }
        bar.set_position((progress.done * STEPS) as u64);
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    Ok(read?)
}

fn new_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix:>16} [{bar:30}] {percent} %, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ");
    ProgressBar::new(STEPS as u64).with_style(style)
}
