//! Observations whose labels a model knows.

use std::path::Path;

use anyhow::{Result, bail};
use quadfill::Observations;
use quadfill::file::Model;
use quadfill_io::{Query, QueryValues, ReadError, ReadOptions, read_query};

/// Reads values for the modes of a model. The column of values is looked for under the name that it
/// had when the model was fitted, where no other one is asked for.
pub(super) fn read_values(path: &Path, options: &ReadOptions, model: &Model<f64>) -> Result<Query> {
    let read = |options: &ReadOptions| {
        read_query(path, options, &model.modes, &model.notes.bins, QueryValues::Required)
    };
    // Standard input can be read only once.
    if options.value.is_none() && path.as_os_str() != "-" {
        let named =
            ReadOptions { value: Some(model.notes.value.as_str().into()), ..options.clone() };
        match read(&named) {
            Err(ReadError::NoSuchColumn { .. }) => {}
            other => return Ok(other?),
        }
    }
    Ok(read(options)?)
}

/// The rows of a file whose labels are all known.
pub(super) fn read_known(
    path: &Path,
    options: &ReadOptions,
    model: &Model<f64>,
) -> Result<Observations<f64>> {
    let query = read_values(path, options, model)?;
    let known: Vec<usize> = (0..query.len()).filter(|&row| !query.is_unknown(row)).collect();
    if known.is_empty() {
        bail!(
            "{}: the model knows the labels of none of its rows: give the data it was fitted to",
            path.display()
        );
    }
    let pick = |column: &[f64]| known.iter().map(|&row| column[row]).collect::<Vec<f64>>();
    let indices =
        query.indices.iter().map(|column| known.iter().map(|&row| column[row]).collect()).collect();
    let values = pick(query.values.as_deref().expect("values were required"));
    let weights = query.weights.as_deref().map(pick);
    Ok(Observations::new(model.modes.clone(), indices, values, weights, options.on_duplicate)?)
}
