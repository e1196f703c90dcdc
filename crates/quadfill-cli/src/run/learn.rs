//! Teaches a model new labels, or more of all.

use std::path::PathBuf;

use anyhow::{Result, bail};
use quadfill::file::Model;
use quadfill::solve::Silent;
use serde::Serialize;

use super::observed;
use crate::clock::Clock;
use crate::flags::{FoldInFlags, UpdateFlags};
use crate::output::Output;
use crate::report::{grouped, number};
use crate::{interrupt, places};

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
    let options = flags.reading.resolve()?;
    places::check_input(&flags.new)?;
    places::check_model(&flags.output)?;
    let model = Model::load(&flags.model)?;
    let (grown, data) = observed::read_growing(std::slice::from_ref(&flags.new), &options, &model)?;
    let is_new = grown.new_labels();
    let clock = Clock::start();
    let folded = quadfill::apply::fold_in(model.grown(&grown), &data, &is_new)?;
    let report = LearnReport {
        output: flags.output.clone(),
        observations: data.len(),
        new_labels: counted(&folded, &is_new),
        sweeps: None,
        train_rmse: None,
        seconds: clock.seconds(),
    };
    save(&folded, &report, output)
}

pub(super) fn update(flags: &UpdateFlags, output: Output) -> Result<()> {
    let options = flags.reading.resolve()?;
    for data in &flags.data {
        places::check_input(data)?;
    }
    if flags.data.iter().filter(|data| data.as_os_str() == "-").count() > 1 {
        bail!("standard input can be read only once: name files for the others");
    }
    places::check_model(&flags.output)?;
    let model = Model::load(&flags.model)?;
    let (grown, data) = observed::read_growing(&flags.data, &options, &model)?;
    let is_new = grown.new_labels();
    let clock = Clock::start();
    let observations = data.len();
    let updated = quadfill::apply::update(model.grown(&grown), data, &is_new, &mut Silent)?;
    let report = LearnReport {
        output: flags.output.clone(),
        observations,
        new_labels: counted(&updated, &is_new),
        sweeps: Some(updated.notes.sweeps),
        train_rmse: Some(updated.notes.train_rmse),
        seconds: clock.seconds(),
    };
    save(&updated, &report, output)
}

fn counted(model: &Model<f64>, is_new: &[Vec<bool>]) -> Vec<NewLabels> {
    let modes = model.modes.iter().zip(is_new);
    modes
        .map(|(mode, is_new)| NewLabels {
            mode: mode.name.clone(),
            count: is_new.iter().filter(|&&new| new).count(),
        })
        .filter(|labels| labels.count > 0)
        .collect()
}

fn save(model: &Model<f64>, report: &LearnReport, output: Output) -> Result<()> {
    let whole = interrupt::writing();
    model.save(&report.output)?;
    drop(whole);
    let labels: Vec<String> = report
        .new_labels
        .iter()
        .map(|labels| format!("{} new labels of {}", grouped(labels.count), labels.mode))
        .collect();
    let labels = if labels.is_empty() { "no new labels".to_owned() } else { labels.join(", ") };
    let text = format!(
        "{labels} from {} observations in {} s -> {}",
        grouped(report.observations),
        number(report.seconds),
        report.output.display()
    );
    output.outcome(text, report)
}
