//! Watches a fit: a progress bar for people, checkpoints for the next run.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use quadfill::solve::{Checkpoint, Event, Observer};

use crate::interrupt;
use crate::output::Output;
use crate::report::number;

/// The default number of seconds between checkpoints.
const EVERY: f64 = 2.0;
/// The environment variable that overrides it; 0 saves after every step.
const EVERY_VARIABLE: &str = "QUADFILL_CHECKPOINT_SECONDS";

/// Where and how often the state of a fit is saved.
pub(super) struct Checkpoints {
    path: PathBuf,
    every: Duration,
    last: Instant,
    /// How long it took to save the last one.
    cost: Duration,
    has_failed: bool,
}

impl Checkpoints {
    pub(super) fn new(path: PathBuf, every: Duration) -> Self {
        interrupt::fit_begins(&path);
        Self { path, every, last: Instant::now(), cost: Duration::ZERO, has_failed: false }
    }

    /// Large checkpoints, such as those with many draws, must not slow the fit down.
    fn is_due(&self) -> bool {
        let rest = if self.every.is_zero() { Duration::ZERO } else { 10 * self.cost };
        self.last.elapsed() >= self.every.max(rest)
    }

    /// Writes one if it is due, or if it is the last.
    fn keep(&mut self, checkpoint: &Checkpoint<'_>) -> quadfill::Result<()> {
        if self.has_failed || !(checkpoint.is_last || self.is_due()) {
            return Ok(());
        }
        let begun = Instant::now();
        let _whole = interrupt::writing();
        let saved = checkpoint.save(&self.path);
        self.has_failed = saved.is_err();
        self.last = Instant::now();
        self.cost = self.last - begun;
        saved
    }

    /// Removes the checkpoint of a finished fit.
    pub(super) fn remove(path: &Path) {
        // A checkpoint that cannot be removed is replaced by the next fit.
        let _ = fs::remove_file(path);
    }
}

/// The time between two checkpoints.
pub(super) fn checkpoint_interval() -> Result<Duration> {
    let Ok(text) = std::env::var(EVERY_VARIABLE) else {
        return Ok(Duration::from_secs_f64(EVERY));
    };
    match text.parse().map(Duration::try_from_secs_f64) {
        Ok(Ok(every)) => Ok(every),
        _ => bail!("{EVERY_VARIABLE}={text}: give a number of seconds not below 0"),
    }
}

/// The observer of a fit.
pub(super) struct Watcher {
    output: Output,
    checkpoints: Checkpoints,
    bar: Option<ProgressBar>,
    /// The cells of the test data, whose predictions a sampler averages.
    cells: Vec<Vec<u32>>,
}

impl Watcher {
    pub(super) fn new(checkpoints: Checkpoints, output: Output, cells: Vec<Vec<u32>>) -> Self {
        Self { output, checkpoints, bar: output.shows_progress().then(bar), cells }
    }

    /// Clears the bar.
    pub(super) fn finish(self) {
        interrupt::fit_ends();
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix:>16} [{bar:30}] {pos}/{len} {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ");
    ProgressBar::new(0).with_style(style)
}

impl Observer for Watcher {
    fn tracked_cells(&self) -> &[Vec<u32>] {
        &self.cells
    }

    fn event(&mut self, event: Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Stage { stage, steps } => {
                if let Some(bar) = &self.bar {
                    bar.set_length(steps as u64);
                    bar.set_position(0);
                    bar.set_prefix(stage.name());
                    bar.set_message("");
                }
            }
            Event::Step { done, point } => {
                if let Some(bar) = &self.bar {
                    let held_out = point
                        .validation_rmse
                        .map_or(String::new(), |rmse| format!(", held out {}", number(rmse)));
                    bar.set_position(done as u64);
                    bar.set_message(format!(
                        "penalty {}, rmse {}{held_out}",
                        number(point.penalty),
                        number(point.train_rmse)
                    ));
                }
            }
            Event::Checkpoint(checkpoint) => {
                if let Err(error) = self.checkpoints.keep(&checkpoint) {
                    // A fit without checkpoints is better than no fit.
                    self.output.note(format_args!("warning: no checkpoints are kept: {error}"));
                }
            }
        }
        if interrupt::is_requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
