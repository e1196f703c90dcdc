//! Test values, found in a model.

use std::path::Path;

use anyhow::Result;
use quadfill::apply::{Evaluation, Predictor};
use quadfill::{Mode, Observations, Real};
use quadfill_io::{Binning, Query, QueryValues, ReadError, ReadOptions, read_query};

use crate::report::{grouped, number};

/// Cells whose values are known.
#[derive(Debug)]
pub(super) struct TestSet {
    columns: Vec<Vec<u32>>,
    values: Vec<f64>,
}

impl TestSet {
    /// Reads a file. `value` is what the column of values was called in the data, to be looked for
    /// where no other column is asked for.
    pub(super) fn read(
        path: &Path,
        options: &ReadOptions,
        modes: &[Mode],
        bins: &[Binning],
        value: Option<&str>,
    ) -> Result<Self> {
        let read =
            |options: &ReadOptions| read_query(path, options, modes, bins, QueryValues::Required);
        // Standard input can be read only once.
        let named = value.filter(|_| options.value.is_none() && path.as_os_str() != "-");
        let query = match named {
            Some(name) => {
                let with_name = ReadOptions { value: Some(name.into()), ..options.clone() };
                match read(&with_name) {
                    Err(ReadError::NoSuchColumn { .. }) => read(options),
                    other => other,
                }
            }
            None => read(options),
        }?;
        let Query { indices, values, .. } = query;
        Ok(Self { columns: indices, values: values.expect("values were required") })
    }

    /// The values of observations with the same modes.
    pub(super) fn of<T: Real>(data: &Observations<T>) -> Self {
        Self {
            columns: (0..data.modes().len()).map(|mode| data.indices(mode).to_vec()).collect(),
            values: data.values().iter().map(|value| value.to_f64()).collect(),
        }
    }

    /// The cells, one column of labels per mode.
    pub(super) fn columns(&self) -> &[Vec<u32>] {
        &self.columns
    }

    /// Compares predictions that were made elsewhere.
    pub(super) fn judge_predictions(&self, predictions: &[f64]) -> Evaluation {
        let columns: Vec<&[u32]> = self.columns.iter().map(Vec::as_slice).collect();
        Evaluation::of(predictions, &columns, &self.values)
    }

    pub(super) fn judge<T: Real>(&self, predictor: Predictor<'_, T>) -> Evaluation {
        let columns: Vec<&[u32]> = self.columns.iter().map(Vec::as_slice).collect();
        predictor.evaluate(&columns, &self.values)
    }
}

/// An evaluation in one line.
pub(super) fn in_words(evaluation: &Evaluation) -> String {
    let unknown = match evaluation.unknown {
        0 => String::new(),
        n => format!(", {} of them with labels that are not known", grouped(n)),
    };
    format!(
        "rmse {}, mae {}, relative error {} on {} cells{unknown}",
        number(evaluation.rmse),
        number(evaluation.mae),
        number(evaluation.relative_error),
        grouped(evaluation.count)
    )
}
