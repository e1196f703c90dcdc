//! Runs experiments and writes their results.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use quadfill_lab::LabError;
use quadfill_lab::experiment::{self, Effort, Experiment, Options, Progress};
use serde::Serialize;

use crate::clock::Clock;
use crate::flags::{ReproducePart, ReproducePlan};
use crate::interrupt;
use crate::output::Output;
use crate::report::{Lines, grouped, number};

/// The files that experiments write.
const RESULTS: &str = "results.json";
const REPORT: &str = "report.html";
const KEPT: &str = "cells.jsonl";

#[derive(Debug, Serialize)]
struct ReproduceReport {
    experiments: Vec<PartReport>,
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct PartReport {
    experiment: &'static str,
    folder: PathBuf,
    rows: usize,
    cells_measured: usize,
    cells_kept: usize,
    files: Vec<PathBuf>,
    seconds: f64,
}

pub(super) fn run(plan: &ReproducePlan, output: Output) -> Result<()> {
    let clock = Clock::start();
    let mut folders: Vec<&Path> = plan.parts.iter().map(|part| part.folder.as_path()).collect();
    folders.extend(plan.overview.iter().map(|(folder, _)| folder.as_path()));
    folders.into_iter().try_for_each(check_folder)?;
    let mut experiments = Vec::new();
    for part in &plan.parts {
        experiments.push(run_part(part, plan, output)?);
    }
    if let Some((folder, command)) = &plan.overview {
        let all: Vec<&dyn Experiment> =
            plan.parts.iter().map(|part| part.experiment.as_ref()).collect();
        let _whole = interrupt::writing();
        experiment::write_overview(&all, command, folder)?;
    }
    let report = ReproduceReport { experiments, seconds: clock.seconds() };
    output.outcome(report.text(plan), &report)
}

/// Refuses folders with files that no experiment writes.
fn check_folder(folder: &Path) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    if !folder.is_dir() {
        bail!("{}: this is a file: name a folder", folder.display());
    }
    let names: Vec<&str> =
        experiment::all().iter().map(|one| one.name()).chain(experiment::ON_DATA).collect();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let ending = path.extension().and_then(|ending| ending.to_str());
        let is_ours = if path.is_dir() {
            names.contains(&name)
        } else {
            matches!(name, RESULTS | REPORT | KEPT | "results.csv")
                || matches!(ending, Some("svg" | "png" | "npy"))
        };
        if !is_ours {
            bail!(
                "{}: this folder also has `{name}`, which no experiment leaves: choose another one",
                folder.display()
            );
        }
    }
    Ok(())
}

fn run_part(part: &ReproducePart, plan: &ReproducePlan, output: Output) -> Result<PartReport> {
    let experiment = part.experiment.as_ref();
    fs::create_dir_all(&part.folder)
        .map_err(|source| LabError::Io { path: part.folder.clone(), source })?;
    let keeps = plan.extent.effort != Effort::Quick;
    let options = Options {
        extent: plan.extent,
        keep_in: keeps.then(|| part.folder.clone()),
        threads: rayon::current_num_threads(),
    };
    if keeps {
        interrupt::set_kept(&part.folder.join(KEPT));
    }
    let bar = output.shows_progress().then(|| bar(experiment.name()));
    let measured = experiment::run(experiment, &options, |progress| {
        if let Some(bar) = &bar {
            show(bar, progress);
        }
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let measured = measured?;
    let _whole = interrupt::writing();
    let files = experiment::write(experiment, &measured, &part.command, &part.folder)?;
    Ok(PartReport {
        experiment: experiment.name(),
        folder: part.folder.clone(),
        rows: measured.rows.len(),
        cells_measured: measured.measured,
        cells_kept: measured.kept,
        files,
        seconds: measured.seconds,
    })
}

fn bar(name: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix:>14} [{bar:30}] {pos}/{len} {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ");
    ProgressBar::new(0).with_style(style).with_prefix(name)
}

fn show(bar: &ProgressBar, progress: Progress) {
    bar.set_length(progress.cells as u64);
    bar.set_position(progress.done as u64);
    let kept = match progress.kept {
        0 => String::new(),
        kept => format!("{} kept, ", grouped(kept)),
    };
    bar.set_message(match progress.seconds_left {
        Some(seconds) => format!("{kept}about {} left", duration(seconds)),
        None => kept.trim_end_matches(", ").to_owned(),
    });
}

/// A duration in seconds, minutes or hours.
fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..90 => format!("{whole} s"),
        90..5400 => format!("{} min", (whole + 30) / 60),
        _ => format!("{:.1} h", seconds / 3600.0),
    }
}

impl ReproduceReport {
    fn text(&self, plan: &ReproducePlan) -> Lines {
        let mut lines = Lines::default();
        for part in &self.experiments {
            let kept = match part.cells_kept {
                0 => String::new(),
                kept => format!(", {} of its cells from before", grouped(kept)),
            };
            lines.add(
                part.experiment,
                format!(
                    "{} rows in {} s{kept} -> {}",
                    grouped(part.rows),
                    number(part.seconds),
                    part.folder.join(REPORT).display()
                ),
            );
        }
        if let Some((folder, _)) = &plan.overview {
            lines.add(
                "all",
                format!("{} s -> {}", number(self.seconds), folder.join(REPORT).display()),
            );
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        assert_eq!(duration(3.4), "3 s");
        assert_eq!(duration(240.0), "4 min");
        assert_eq!(duration(9000.0), "2.5 h");
    }
}
