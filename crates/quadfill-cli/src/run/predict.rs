//! Fills in the cells that a file asks for.

use std::path::PathBuf;

use anyhow::{Result, bail};
use quadfill::file::Model;
use quadfill_io::{Predictions, QueryValues, read_query, write_predictions};
use serde::Serialize;

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
    let predictions = Predictions { values: &values, mark_unknown: unknown > 0 };
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
