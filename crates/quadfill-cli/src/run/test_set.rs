//! Test data, with their labels looked up in a model.

use std::path::Path;

use anyhow::Result;
use quadfill::model::Evaluation;
use quadfill::observations::Source;
use quadfill::{Mode, Model, Observations};
use quadfill_io::{Query, ReadOptions, read_query_values};
use quadfill_report::KnownCells;

use crate::report::{counted, number};

/// Cells whose values are known.
#[derive(Debug)]
pub(super) struct TestSet {
    columns: Vec<Vec<u32>>,
    values: Vec<f64>,
}

impl TestSet {
    /// Reads a file. The column of values is looked for under the name that it had in the data, where
    /// no other column is asked for.
    pub(super) fn read(
        path: &Path,
        options: &ReadOptions,
        modes: &[Mode],
        source: &Source,
    ) -> Result<Self> {
        let Query { indices, values, .. } = read_query_values(path, options, modes, source)?;
        Ok(Self { columns: indices, values: values.expect("values were required") })
    }

    /// The values of observations with the same modes.
    pub(super) fn of(data: &Observations) -> Self {
        Self {
            columns: data.columns().iter().map(|column| column.to_vec()).collect(),
            values: data.values().to_vec(),
        }
    }

    /// The cells, one column of labels per mode.
    pub(super) fn columns(&self) -> &[Vec<u32>] {
        &self.columns
    }

    /// The cells with their values, for the report.
    pub(super) fn known_cells(&self) -> KnownCells<'_> {
        KnownCells { columns: &self.columns, values: &self.values }
    }

    /// Compares a model's predictions. Where a sampler has tracked these cells, its predictions are
    /// means over all draws, not only over those that are kept.
    pub(super) fn evaluate(&self, model: &Model) -> Evaluation {
        let columns: Vec<&[u32]> = self.columns.iter().map(Vec::as_slice).collect();
        match model.tracked_means() {
            Some(means) => Evaluation::of(means, &columns, &self.values),
            None => model.evaluate_cells(&columns, &self.values),
        }
    }
}

/// An evaluation in one line.
pub(super) fn in_words(evaluation: &Evaluation) -> String {
    let unknown = match evaluation.unknown {
        0 => String::new(),
        n => format!(", {} with unknown labels", counted(n, "cell")),
    };
    format!(
        "rmse {}, mae {}, relative error {} on {}{unknown}",
        number(evaluation.rmse),
        number(evaluation.mae),
        number(evaluation.relative_error),
        counted(evaluation.count, "cell")
    )
}
