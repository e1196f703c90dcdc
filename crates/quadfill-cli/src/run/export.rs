//! Writes the vectors of a mode for other programs.

use std::path::PathBuf;

use anyhow::{Result, bail};
use quadfill::Model;
use quadfill::apply::{Order, Recipe};
use quadfill_io::{VectorFormat, Vectors, write_vectors};
use serde::Serialize;

use crate::flags::ExportFlags;
use crate::output::Output;
use crate::report::{grouped, number};
use crate::{interrupt, paths};

#[derive(Debug, Serialize)]
struct ExportReport {
    output: PathBuf,
    mode: String,
    labels: usize,
    width: usize,
    /// Entries that are factors; where vectors are longer, queries end with a 1.
    rank: usize,
    metric: &'static str,
    best: Order,
    /// How a query is made of the vectors of the other modes.
    query: String,
}

pub(super) fn run(flags: &ExportFlags, output: Output) -> Result<()> {
    if VectorFormat::of_name(&flags.output).is_none() {
        bail!(
            "{}: vectors are written as .npy, .csv, .parquet, .vec or .txt: choose one of these endings",
            flags.output.display()
        );
    }
    paths::check_file(&flags.output)?;
    let model = Model::load(&flags.model)?;
    let Some(mode) = &flags.mode else {
        return all_modes(&model, flags, output);
    };
    let at = model.mode_position(mode)?;
    let mode = &model.modes()[at];
    let (export, labels) = (model.export(at), mode.shown_labels());
    let mut columns: Vec<String> = (1..=export.rank).map(|column| format!("v{column}")).collect();
    columns.resize(export.width, "offset".to_owned());
    let vectors =
        Vectors { name: &mode.name, labels: &labels, columns: &columns, numbers: &export.vectors };
    let whole = interrupt::writing();
    write_vectors(&flags.output, vectors)?;
    drop(whole);
    let name = |mode: usize| format!("vector({})", model.modes()[mode].name);
    let mut query = match &export.recipe {
        Recipe::Sum { weights } => weights
            .iter()
            .map(|&(mode, weight)| match weight {
                1.0 => name(mode),
                _ => format!("{} * {}", number(weight), name(mode)),
            })
            .collect::<Vec<_>>()
            .join(" + "),
        Recipe::Product { modes } => {
            modes.iter().map(|&mode| name(mode)).collect::<Vec<_>>().join(" * ")
        }
    };
    if query.is_empty() {
        query.push_str("zeros");
    }
    if export.width > export.rank {
        query = format!("the first {} entries of {query}, then a 1", export.rank);
    }
    let report = ExportReport {
        output: flags.output.clone(),
        mode: mode.name.clone(),
        labels: mode.labels.len(),
        width: export.width,
        rank: export.rank,
        metric: "inner product",
        best: export.order,
        query,
    };
    let best = match report.best {
        Order::Highest => "largest",
        Order::Lowest => "smallest",
    };
    let text = format!(
        "{} vectors of {} numbers -> {}\nquery: {}\nbest: the {best} inner product with the query",
        grouped(report.labels),
        report.width,
        report.output.display(),
        report.query
    );
    output.outcome(text, &report)
}

#[derive(Debug, Serialize)]
struct JoinedReport {
    output: PathBuf,
    labels: usize,
    width: usize,
    metric: &'static str,
}

/// Writes the rows of all modes side by side.
fn all_modes(model: &Model, flags: &ExportFlags, output: Output) -> Result<()> {
    let joined = model.embeddings()?;
    let columns: Vec<String> = (1..=joined.width()).map(|column| format!("v{column}")).collect();
    let vectors = Vectors {
        name: "label",
        labels: joined.labels(),
        columns: &columns,
        numbers: joined.vectors(),
    };
    let whole = interrupt::writing();
    write_vectors(&flags.output, vectors)?;
    drop(whole);
    let report = JoinedReport {
        output: flags.output.clone(),
        labels: joined.labels().len(),
        width: joined.width(),
        metric: "cosine",
    };
    let text = format!(
        "{} vectors of {} numbers -> {}\nsimilar labels: small angles",
        grouped(report.labels),
        report.width,
        report.output.display()
    );
    output.outcome(text, &report)
}
