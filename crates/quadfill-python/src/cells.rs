//! Cells and queries by the labels that Python gives.

use std::collections::HashMap;

use pyo3::prelude::*;
use quadfill::Model;
use quadfill::model::UNKNOWN;
use quadfill_io::QueryValues;

use crate::errors::{Kind, exception, library_error};
use crate::queries::RowSource;

/// A mode and a label of it.
type Pair = (String, String);

fn find(py: Python<'_>, model: &Model, given: &[Pair]) -> PyResult<Vec<u32>> {
    let pairs: Vec<(&str, &str)> =
        given.iter().map(|(mode, label)| (mode.as_str(), label.as_str())).collect();
    model.find_given(&pairs).map_err(|error| library_error(py, &error))
}

/// The label indices of a cell that is given whole.
pub(crate) fn whole(py: Python<'_>, model: &Model, given: &[Pair]) -> PyResult<Vec<u32>> {
    let cell = find(py, model, given)?;
    model.require_labels(&cell, None).map_err(|error| library_error(py, &error))?;
    Ok(cell)
}

/// The label indices of a cell that lacks one mode.
pub(crate) fn query(
    py: Python<'_>,
    model: &Model,
    given: &[Pair],
    mode: usize,
) -> PyResult<Vec<u32>> {
    let cell = find(py, model, given)?;
    if cell[mode] != UNKNOWN {
        let name = &model.modes()[mode].name;
        let message = format!("mode `{name}` is both given and wanted: leave it out of `given`");
        return Err(exception(py, Kind::Label, message));
    }
    model.require_labels(&cell, Some(mode)).map_err(|error| library_error(py, &error))?;
    Ok(cell)
}

/// Queries from rows, which have all modes but the wanted one.
pub(crate) fn query_rows(
    model: &Model,
    source: &RowSource<'_, '_>,
    mode: usize,
) -> PyResult<Vec<Vec<u32>>> {
    let mut others = model.modes().to_vec();
    others.remove(mode);
    let (columns, _) = source.look_up(model, &others, QueryValues::Ignored)?;
    let rows = columns.first().map_or(0, Vec::len);
    let mut queries = Vec::with_capacity(rows);
    for row in 0..rows {
        let mut cell: Vec<u32> = columns.iter().map(|column| column[row]).collect();
        if let Some(at) = cell.iter().position(|&label| label == UNKNOWN) {
            let message = format!(
                "given, row {}: the model does not know this label of mode `{}`: leave the row out, or fold it in",
                row + 1,
                others[at].name
            );
            return Err(exception(source.py(), Kind::Label, message));
        }
        cell.insert(mode, UNKNOWN);
        queries.push(cell);
    }
    Ok(queries)
}

/// For each query the labels that are left out, ascending: those that come together with its labels among the
/// rows that were `seen`, and those that `always` are. Of a query the labels of the named modes count, or of all
/// but the wanted one.
pub(crate) fn excluded(
    model: &Model,
    queries: &[Vec<u32>],
    mode: usize,
    seen: Option<(&RowSource<'_, '_>, Option<&[String]>)>,
    always: &[u32],
) -> PyResult<Vec<Vec<u32>>> {
    let mut excluded = match seen {
        None => vec![Vec::new(); queries.len()],
        Some((source, by)) => {
            let py = source.py();
            let shared: Vec<usize> = match by {
                Some(names) => {
                    let position = |name: &String| model.mode_position(name);
                    let found = names.iter().map(position).collect::<quadfill::Result<_>>();
                    found.map_err(|error| library_error(py, &error))?
                }
                None => (0..model.modes().len()).filter(|&other| other != mode).collect(),
            };
            if shared.contains(&mode) {
                let name = &model.modes()[mode].name;
                let message =
                    format!("`exclude_by` names `{name}`, which is the wanted mode: name others");
                return Err(exception(py, Kind::Label, message));
            }
            let (cells, _) = source.look_up(model, model.modes(), QueryValues::Ignored)?;
            py.detach(|| excluded_labels(&cells, mode, &shared, queries))
        }
    };
    if !always.is_empty() {
        for labels in &mut excluded {
            labels.extend_from_slice(always);
            labels.sort_unstable();
        }
    }
    Ok(excluded)
}

/// For each query the labels of `mode` that some cells have together with the labels of the `shared` modes,
/// ascending.
fn excluded_labels(
    cells: &[Vec<u32>],
    mode: usize,
    shared: &[usize],
    queries: &[Vec<u32>],
) -> Vec<Vec<u32>> {
    let key_of = |label: &dyn Fn(usize) -> u32| {
        let mut key = [UNKNOWN; 8];
        for (part, &other) in key.iter_mut().zip(shared) {
            *part = label(other);
        }
        key
    };
    let mut labels: HashMap<[u32; 8], Vec<u32>> =
        queries.iter().map(|query| (key_of(&|other| query[other]), Vec::new())).collect();
    for (row, &label) in cells[mode].iter().enumerate() {
        if label != UNKNOWN
            && let Some(labels) = labels.get_mut(&key_of(&|other| cells[other][row]))
        {
            labels.push(label);
        }
    }
    for labels in labels.values_mut() {
        labels.sort_unstable();
        labels.dedup();
    }
    queries.iter().map(|query| labels[&key_of(&|other| query[other])].clone()).collect()
}
