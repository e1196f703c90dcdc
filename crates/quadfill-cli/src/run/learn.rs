//! Folds new labels into a model, or continues its fit with more data.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use quadfill::{Model, Observations};
use quadfill_io::{ReadOptions, read_for_modes};
use serde::Serialize;

use crate::clock::Clock;
use crate::flags::{FoldInFlags, UpdateFlags};
use crate::output::Output;
use crate::report::{counted, number};
use crate::{interrupt, paths};

#[derive(Debug, Serialize)]
struct LearnReport {
    output: PathBuf,
    observations: usize,
    new_labels: Vec<NewLabels>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sweeps: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    train_rmse: Option<f64>,
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct NewLabels {
    mode: String,
    count: usize,
}

pub(super) fn fold_in(flags: &FoldInFlags, output: Output) -> Result<()> {
    let data = std::slice::from_ref(&flags.new);
    let (model, observed) = load(&flags.model, data, flags.reading.resolve()?, &flags.output)?;
    let clock = Clock::start();
    let observations = observed.len();
    let folded = model.fold_in(observed)?;
    let report = LearnReport {
        output: flags.output.clone(),
        observations,
        new_labels: new_labels(&model, &folded),
        sweeps: None,
        train_rmse: None,
        seconds: clock.seconds(),
    };
    save(&folded, &report, output)
}

pub(super) fn update(flags: &UpdateFlags, output: Output) -> Result<()> {
    let options = flags.reading.resolve()?;
    let (model, observed) = load(&flags.model, &flags.data, options, &flags.output)?;
    let clock = Clock::start();
    let observations = observed.len();
    let updated = model.update(observed)?;
    let report = LearnReport {
        output: flags.output.clone(),
        observations,
        new_labels: new_labels(&model, &updated),
        sweeps: Some(updated.summary().sweeps),
        train_rmse: Some(updated.summary().train_rmse),
        seconds: clock.seconds(),
    };
    save(&updated, &report, output)
}

/// The model, and the rows of some files for it.
fn load(
    model: &Path,
    data: &[PathBuf],
    mut options: ReadOptions,
    output: &Path,
) -> Result<(Model, Observations)> {
    data.iter().try_for_each(|data| paths::check_input(data))?;
    if data.iter().filter(|data| data.as_os_str() == "-").count() > 1 {
        bail!("standard input can be read only once: name files for the others");
    }
    paths::check_model(output)?;
    let model = Model::load(model)?;
    options.positions.clone_from(&model.source().positions);
    // A model of implicit data takes rows without values, as its fit did.
    options.values_are_ones = model.summary().config.implicit.is_some() && options.value.is_none();
    let observed = read_for_modes(data, &options, model.modes(), model.source())?;
    Ok((model, observed))
}

/// How many labels each mode has gained.
fn new_labels(before: &Model, after: &Model) -> Vec<NewLabels> {
    let modes = before.modes().iter().zip(after.modes());
    modes
        .map(|(before, after)| NewLabels {
            mode: after.name.clone(),
            count: after.labels.len() - before.labels.len(),
        })
        .filter(|labels| labels.count > 0)
        .collect()
}

fn save(model: &Model, report: &LearnReport, output: Output) -> Result<()> {
    let whole = interrupt::writing();
    model.save(&report.output)?;
    drop(whole);
    let labels: Vec<String> = report
        .new_labels
        .iter()
        .map(|labels| format!("{} of {}", counted(labels.count, "new label"), labels.mode))
        .collect();
    let labels = if labels.is_empty() { "no new labels".to_owned() } else { labels.join(", ") };
    let text = format!(
        "{labels} from {} in {} s -> {}",
        counted(report.observations, "observation"),
        number(report.seconds),
        report.output.display()
    );
    output.outcome(text, report)
}
