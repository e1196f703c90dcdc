//! Fills in the cells that a file asks for.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use quadfill::apply::{DrawIntervals, Intervals};
use quadfill::file::Model;
use quadfill::objective::Objective;
use quadfill::views::Views;
use quadfill_io::{Predictions, QueryValues, ReadOptions, read_query, write_predictions};
use rayon::prelude::*;
use serde::Serialize;

use super::observed;
use crate::flags::PredictFlags;
use crate::output::Output;
use crate::report::grouped;
use crate::{interrupt, places};

#[derive(Debug, Serialize)]
struct PredictReport {
    output: PathBuf,
    count: usize,
    unknown: usize,
}

pub(super) fn run(flags: &PredictFlags, output: Output) -> Result<()> {
    let to_stdout = flags.output.as_os_str() == "-";
    if to_stdout && output.is_json() {
        bail!("with --json the predictions cannot go to standard output, too: name a file with -o");
    }
    let mut options = flags.reading.resolve()?;
    places::check_input(&flags.query)?;
    if let Some(data) = &flags.data {
        places::check_input(data)?;
    }
    if !to_stdout {
        places::check_file(&flags.output)?;
    }
    let model = Model::load(&flags.model)?;
    options.places.clone_from(&model.notes.places);
    let query =
        read_query(&flags.query, &options, &model.modes, &model.notes.bins, QueryValues::Ignored)?;
    let columns: Vec<&[u32]> = query.indices.iter().map(Vec::as_slice).collect();
    let values = model.predictor().cells(&columns);
    let unknown = query.unknown();
    let half_widths = match (flags.interval, &model.posterior, &flags.data) {
        (None, ..) => None,
        (Some(_), Some(_), Some(_)) => {
            bail!("a model of --solver gibbs has its draws for --interval: leave --data out")
        }
        (Some(level), Some(posterior), None) => {
            let intervals = DrawIntervals::new(model.predictor(), posterior);
            Some(each_cell(&columns, |cell| intervals.half_width(cell, level)))
        }
        (Some(level), None, Some(data)) => {
            Some(half_widths(&model, data, &options, level, &columns)?)
        }
        (Some(_), None, None) => {
            bail!("--interval needs the data that the model was fitted to: name them with --data")
        }
    };
    let predictions = Predictions {
        values: &values,
        half_widths: half_widths.as_deref(),
        mark_unknown: unknown > 0,
    };
    let whole = (!to_stdout).then(interrupt::writing);
    write_predictions(&flags.output, &query, predictions)?;
    drop(whole);
    let report = PredictReport { output: flags.output.clone(), count: values.len(), unknown };
    if unknown > 0 {
        output.note(format_args!(
            "warning: {} of {} rows have labels that the model does not know: column `unknown` marks them",
            grouped(unknown),
            grouped(report.count)
        ));
    }
    if to_stdout {
        return Ok(());
    }
    let text = format!("{} predictions -> {}", grouped(report.count), flags.output.display());
    output.outcome(text, &report)
}

/// Half the width of each prediction's interval.
fn half_widths(
    model: &Model<f64>,
    data: &Path,
    options: &ReadOptions,
    level: f64,
    columns: &[&[u32]],
) -> Result<Vec<f64>> {
    if model.notes.config.implicit.is_some() {
        bail!("there are no intervals for a model fitted with --implicit: leave --interval out");
    }
    let views = Views::new(observed::read_known(data, options, model)?);
    let notes = &model.notes;
    let objective = Objective::new(&views, &model.spec, notes.penalty, notes.config.penalty_scale);
    let intervals = Intervals::new(&objective, model.predictor())?;
    Ok(each_cell(columns, |cell| intervals.half_width(cell, level)))
}

fn each_cell(columns: &[&[u32]], width: impl Fn(&[u32]) -> f64 + Sync) -> Vec<f64> {
    let rows = 0..columns.first().map_or(0, |column| column.len());
    rows.into_par_iter()
        .map(|row| {
            let cell: Vec<u32> = columns.iter().map(|column| column[row]).collect();
            width(&cell)
        })
        .collect()
}
