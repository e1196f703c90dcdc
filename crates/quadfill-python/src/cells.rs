//! Cells and queries by the labels that Python gives.

use std::collections::HashMap;

use pyo3::prelude::*;
use quadfill::model::UNKNOWN;
use quadfill::{Mode, Model};
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
    let modes = model.modes().iter().enumerate();
    let others: Vec<Mode> =
        modes.filter(|&(other, _)| other != mode).map(|(_, mode)| mode.clone()).collect();
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
            // Only the columns that count are looked up.
            let counts: Vec<usize> = shared.iter().copied().chain([mode]).collect();
            let modes: Vec<Mode> = counts.iter().map(|&at| model.modes()[at].clone()).collect();
            let (mut columns, _) = source.look_up(model, &modes, QueryValues::Ignored)?;
            let wanted = columns.pop().unwrap_or_default();
            py.detach(|| excluded_labels(&wanted, &columns, &shared, queries))
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

/// For each query the `wanted` labels that come together with its labels of the `shared` modes in some row, ascending.
/// `columns` has the rows' labels of the shared modes.
fn excluded_labels(
    wanted: &[u32],
    columns: &[Vec<u32>],
    shared: &[usize],
    queries: &[Vec<u32>],
) -> Vec<Vec<u32>> {
    // A label is known by its number among the labels of the queries, and several by one number in mixed radix: rows
    // are many, and hashing whole keys would take longer than the search for the best labels.
    let numbers: Vec<Numbers> = shared.iter().map(|&other| Numbers::new(queries, other)).collect();
    let key_of = |label: &dyn Fn(usize) -> u32| {
        numbers.iter().enumerate().try_fold(0u128, |key, (at, numbers)| {
            Some(key * numbers.count as u128 + u128::from(numbers.of(label(at))?))
        })
    };
    // Queries with the same labels share a group. Of a single mode the numbers are groups already.
    let mut groups: HashMap<u128, usize, foldhash::fast::RandomState> = HashMap::default();
    let group_of: Vec<usize> = queries
        .iter()
        .map(|query| {
            let next = groups.len();
            let key = key_of(&|at| query[shared[at]]).expect("a label of a query");
            *groups.entry(key).or_insert(next)
        })
        .collect();
    let mut labels: Vec<Vec<u32>> = vec![Vec::new(); groups.len()];
    for (row, &label) in wanted.iter().enumerate() {
        let Some(key) = key_of(&|at| columns[at][row]) else { continue };
        let group = if shared.len() == 1 { Some(key as usize) } else { groups.get(&key).copied() };
        if let Some(group) = group.filter(|_| label != UNKNOWN) {
            labels[group].push(label);
        }
    }
    for labels in &mut labels {
        labels.sort_unstable();
        labels.dedup();
    }
    group_of.into_iter().map(|group| labels[group].clone()).collect()
}

/// The labels of a mode that queries have, numbered in the order of the queries.
struct Numbers {
    count: usize,
    /// By label; [`UNKNOWN`] where no query has it.
    numbers: Vec<u32>,
}

impl Numbers {
    fn new(queries: &[Vec<u32>], mode: usize) -> Self {
        let most = queries.iter().map(|query| query[mode] as usize).max();
        let mut numbers = vec![UNKNOWN; most.map_or(0, |most| most + 1)];
        let mut count = 0;
        for query in queries {
            let number = &mut numbers[query[mode] as usize];
            if *number == UNKNOWN {
                *number = count as u32;
                count += 1;
            }
        }
        Self { count, numbers }
    }

    fn of(&self, label: u32) -> Option<u32> {
        self.numbers.get(label as usize).copied().filter(|&number| number != UNKNOWN)
    }
}
