//! Fills in the cells that a file asks for.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use quadfill::apply::Intervals;
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
    let half_widths = match (flags.interval, &flags.data) {
        (Some(level), Some(data)) => Some(half_widths(&model, data, &options, level, &columns)?),
        _ => None,
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
    let rows = 0..columns.first().map_or(0, |column| column.len());
    Ok(rows
        .into_par_iter()
        .map(|row| {
            let cell: Vec<u32> = columns.iter().map(|column| column[row]).collect();
            intervals.half_width(&cell, level)
        })
        .collect())
}
