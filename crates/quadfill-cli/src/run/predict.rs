//! Fills in the cells that a file asks for.

use std::path::PathBuf;

use anyhow::{Result, bail};
use quadfill::Model;
use quadfill_io::{Predictions, QueryValues, read_for_modes, read_query, write_predictions};
use serde::Serialize;

use crate::flags::PredictFlags;
use crate::output::Output;
use crate::report::grouped;
use crate::{interrupt, paths};

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
    paths::check_input(&flags.query)?;
    if let Some(data) = &flags.data {
        paths::check_input(data)?;
    }
    if !to_stdout {
        paths::check_file(&flags.output)?;
    }
    let model = Model::load(&flags.model)?;
    options.positions.clone_from(&model.source().positions);
    let query = read_query(&flags.query, &options, model.modes(), QueryValues::Ignored)?;
    let columns: Vec<&[u32]> = query.indices.iter().map(Vec::as_slice).collect();
    let values = model.predict_cells(&columns);
    let unknown = query.unknown();
    let half_widths = match (flags.interval, &flags.data) {
        (None, _) => None,
        (Some(_), Some(_)) if model.is_sampled() => {
            bail!("a model of --solver gibbs has its draws for --interval: leave --data out")
        }
        (Some(_), None) if !model.is_sampled() => {
            bail!("--interval needs the data that the model was fitted to: name them with --data")
        }
        (Some(level), data) => {
            let data = data.as_ref().map(|data| {
                let data = std::slice::from_ref(data);
                read_for_modes(data, &options, model.modes(), model.source())
            });
            Some(model.half_widths(&columns, level, data.transpose()?)?)
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
