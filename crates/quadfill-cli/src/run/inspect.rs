//! Shows what a model or a data file holds.

use std::path::Path;

use anyhow::Result;
use quadfill::model::Biases;
use quadfill::observations::{BinsSummary, Summary};
use quadfill::solve::{FitConfig, Precision, Rank, Status};
use quadfill::{Model, is_model};
use quadfill_io::ColumnRoles;
use serde::Serialize;

use super::read::read;
use super::summary;
use crate::flags::InspectFlags;
use crate::output::Output;
use crate::paths;
use crate::report::{Lines, biases_in_words, counted, number, status_in_words};

pub(super) fn run(flags: &InspectFlags, output: Output) -> Result<()> {
    if is_model(&flags.what) {
        let report = ModelReport::new(&Model::load(&flags.what)?);
        return output.answer(report.text(&flags.what), &report);
    }
    paths::check_data(&flags.what)?;
    let about = inspect_data(flags, output)?;
    let columns = about.columns.as_ref();
    let mut text = summary::lines(&about.summary, columns).to_string();
    for warning in summary::warnings(&about.summary, columns) {
        text.push('\n');
        text.push_str(&warning);
    }
    output.answer(text, &about)
}

#[derive(Debug, Serialize)]
struct DataReport {
    #[serde(flatten)]
    summary: Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    columns: Option<ColumnRoles>,
}

/// The rank of a model that is asked for without one.
const RANK: usize = 10;

fn inspect_data(flags: &InspectFlags, output: Output) -> Result<DataReport> {
    let options = flags.reading.resolve()?;
    let config = FitConfig {
        model: flags.model.resolve()?,
        rank: Rank::Fixed(flags.rank.unwrap_or(RANK)),
        biases: flags.bias.into(),
        ties: flags.ties(),
        ..FitConfig::default()
    };
    let asked = flags.model.is_given() || flags.rank.is_some() || !flags.tie.is_empty();
    let (data, columns) = read(&flags.what, &options, None, output)?;
    let summary =
        if asked { config.summarise(&config.share_labels(data)?)? } else { data.summary() };
    Ok(DataReport { summary, columns })
}

#[derive(Debug, Serialize)]
struct ModelReport {
    model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<Vec<Vec<f64>>>,
    rank: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    draws: Option<usize>,
    biases: Biases,
    modes: Vec<ModeReport>,
    value: String,
    precision: Precision,
    penalty: f64,
    status: Status,
    sweeps: usize,
    observations: usize,
    degrees_of_freedom: usize,
    train_rmse: f64,
    validation_rmse: Option<f64>,
    seed: u64,
}

#[derive(Debug, Serialize)]
struct ModeReport {
    name: String,
    labels: usize,
    /// The factor matrix it uses; modes with the same number share it.
    factors: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    bin_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bins: Option<BinsSummary>,
}

impl ModelReport {
    fn new(model: &Model) -> Self {
        let (spec, summary) = (model.spec(), model.summary());
        let modes = model.modes().iter().zip(&spec.groups).map(|(mode, &factors)| ModeReport {
            name: mode.name.clone(),
            labels: mode.labels.len(),
            factors,
            bin_seconds: mode.bins.map(|bins| bins.width),
            bins: mode.bins_summary(),
        });
        let sizes: Vec<usize> = model.modes().iter().map(|mode| mode.labels.len()).collect();
        Self {
            model: model.kind().to_string(),
            kernel: spec.kernel().cloned().map(Into::into),
            rank: model.rank(),
            draws: summary.draws,
            biases: spec.biases,
            modes: modes.collect(),
            value: model.source().value.clone(),
            precision: summary.precision,
            penalty: summary.penalty,
            status: summary.status,
            sweeps: summary.sweeps,
            observations: summary.observations,
            degrees_of_freedom: spec.clone().with_rank(model.rank()).degrees_of_freedom(&sizes),
            train_rmse: summary.train_rmse,
            validation_rmse: summary.validation_rmse,
            seed: summary.config.seed,
        }
    }

    fn text(&self, path: &Path) -> Lines {
        let mut lines = Lines::default();
        lines.add(
            "model",
            format!(
                "{}: {} of rank {} with {}, {}",
                path.display(),
                self.model,
                self.rank,
                biases_in_words(self.biases),
                precision_name(self.precision)
            ),
        );
        for mode in &self.modes {
            let bins = mode.bins.as_ref().map_or(String::new(), |bins| {
                format!(", bins of {} from {} to {}", bins.span, bins.first, bins.last)
            });
            let first = self.modes.iter().find(|other| other.factors == mode.factors);
            let shared = match first {
                Some(first) if first.name != mode.name => {
                    format!(", factors shared with {}", first.name)
                }
                _ => String::new(),
            };
            lines.add(
                format!("  {}", mode.name),
                format!("{}{bins}{shared}", counted(mode.labels, "label")),
            );
        }
        if let Some(draws) = self.draws {
            let what = if draws == 1 {
                "draws from the posterior, distilled".to_owned()
            } else {
                counted(draws, "draw")
            };
            lines.add("mean of", what);
        }
        lines.add("predicts", self.value.clone());
        lines.add(
            "learned from",
            format!(
                "{} for {}, penalty {}",
                counted(self.observations, "observation"),
                counted(self.degrees_of_freedom, "free parameter"),
                number(self.penalty)
            ),
        );
        lines.add(
            "status",
            format!("{} ({})", status_in_words(self.status), counted(self.sweeps, "sweep")),
        );
        lines.add("train", format!("rmse {}", number(self.train_rmse)));
        if let Some(rmse) = self.validation_rmse {
            lines.add("held out", format!("rmse {}", number(rmse)));
        }
        lines
    }
}

fn precision_name(precision: Precision) -> &'static str {
    match precision {
        Precision::F32 => "f32",
        Precision::F64 => "f64",
    }
}
