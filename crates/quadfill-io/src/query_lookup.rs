//! Labels of rows looked up in the modes of a model.

use quadfill::Labels;

use crate::columns::concat;
use crate::delimited::{PIECE, Problem, RowSink, TextLayout, finite, finite_time, read_rows};
use crate::error::{ReadError, Result};
use crate::escape::escape;
use crate::number::{Number, canonical_u32, trim};
use crate::options::ReadOptions;
use crate::query::{FoundColumns, Query, UNKNOWN, Wanted};
use crate::query_rows::{NamedColumns, QueryColumn, QueryRows, TextRows};
use crate::roles::{Columns, Role};
use crate::source::Bytes;
use crate::table::find_label;
use quadfill::observations::Binning;

/// Reads delimited text or `.tns`.
pub(crate) fn look_up_text(
    file: &str,
    bytes: Bytes,
    options: &ReadOptions,
    is_tns: bool,
    wanted: &Wanted<'_>,
) -> Result<Query> {
    let layout = TextLayout::find(file, &bytes, options, is_tns, |first| {
        wanted.looks_like_header(first, options)
    })?;
    let columns = Columns { file, names: layout.header.as_deref(), count: layout.fields };
    let FoundColumns { modes, value, .. } = wanted.columns(columns, options)?;
    let mut roles = vec![Role::Unused; layout.fields];
    for (mode, &column) in modes.iter().enumerate() {
        roles[column] = if wanted.binning(mode).is_some() {
            Role::Time(mode)
        } else if is_tns {
            Role::Index(mode)
        } else {
            Role::Label(mode)
        };
    }
    if let Some(value) = value {
        roles[value] = Role::Value;
    }
    let pieces = read_rows(&bytes, &layout, PIECE, |rows| QuerySink {
        wanted,
        roles: &roles,
        indices: wanted.modes.iter().map(|_| Vec::with_capacity(rows)).collect(),
        values: Vec::with_capacity(if value.is_some() { rows } else { 0 }),
    })
    .map_err(|problem| layout.explain(file, &bytes, problem))?;
    let mut pieces = pieces;
    let values = concat(pieces.iter_mut().map(|sink| std::mem::take(&mut sink.values)).collect());
    let indices: Vec<Vec<u32>> = (0..wanted.modes.len())
        .map(|mode| {
            concat(pieces.iter_mut().map(|sink| std::mem::take(&mut sink.indices[mode])).collect())
        })
        .collect();
    if indices.iter().all(Vec::is_empty) {
        return Err(layout.no_rows(file));
    }
    let names = names_of_columns(&layout, wanted, &modes, value);
    drop(pieces);
    let rows = QueryRows::Text(TextRows { names, bytes, layout });
    Ok(Query { rows, indices, values: value.map(|_| values) })
}

/// The header, or what the columns would be called if there were one.
fn names_of_columns(
    layout: &TextLayout,
    wanted: &Wanted<'_>,
    modes: &[usize],
    value: Option<usize>,
) -> Vec<String> {
    if let Some(header) = &layout.header {
        return header.clone();
    }
    (0..layout.fields)
        .map(|column| match modes.iter().position(|&mode| mode == column) {
            Some(mode) => wanted.modes[mode].name.clone(),
            None if value == Some(column) => "value".to_owned(),
            None => format!("column{}", column + 1),
        })
        .collect()
}

struct QuerySink<'a> {
    wanted: &'a Wanted<'a>,
    roles: &'a [Role],
    indices: Vec<Vec<u32>>,
    values: Vec<f64>,
}

impl RowSink for QuerySink<'_> {
    fn field(&mut self, column: usize, text: &[u8]) -> std::result::Result<(), Problem> {
        let text = trim(text);
        let found = match self.roles.get(column) {
            Some(&Role::Time(mode)) => {
                let binning = self.wanted.binning(mode);
                let unit = binning.map(|binning| binning.unit).unwrap_or_default();
                let time = finite_time(text, unit)?;
                (mode, find_time(&self.wanted.modes[mode].labels, binning, time))
            }
            Some(&Role::Index(mode)) => {
                if canonical_u32(text).is_none_or(|index| index == 0) {
                    return Err(Problem::BadIndex);
                }
                (mode, find_label(&self.wanted.modes[mode].labels, text))
            }
            Some(&Role::Label(mode)) => (mode, find_label(&self.wanted.modes[mode].labels, text)),
            Some(Role::Value) => {
                self.values.push(finite(text)?);
                return Ok(());
            }
            None | Some(Role::Unused | Role::Weight) => return Ok(()),
        };
        self.indices[found.0].push(found.1.unwrap_or(UNKNOWN));
        Ok(())
    }
}

/// The label of the bin that a time falls into.
fn find_time(labels: &Labels, binning: Option<&Binning>, time: f64) -> Option<u32> {
    labels.find_integer(i64::from(binning?.bin(time)?))
}

/// Looks up columns that are in memory.
pub(crate) fn look_up_columns(
    file: &str,
    table: NamedColumns,
    options: &ReadOptions,
    wanted: &Wanted<'_>,
) -> Result<Query> {
    let NamedColumns { names, columns, seconds_per_unit } = table;
    let about = Columns { file, names: Some(&names), count: names.len() };
    let FoundColumns { modes, value, .. } = wanted.columns(about, options)?;
    let rows = columns.first().map_or(0, QueryColumn::len);
    if rows == 0 {
        return Err(ReadError::Empty { file: file.to_owned() });
    }
    let checked = |number: Number, is_time: bool, column: usize, row: usize| {
        if let Number::Finite(number) = number {
            return Ok(number);
        }
        let (file, at) = (file.to_owned(), format!("row {}", row + 1));
        let text = escape(columns[column].text(row).as_bytes());
        let column = format!("`{}`", escape(names[column].as_bytes()));
        Err(match number {
            Number::NotFinite => ReadError::NotFinite { file, at, column, text },
            _ if is_time => ReadError::NotATime { file, at, column, text },
            _ => ReadError::NotANumber { file, at, column, text },
        })
    };
    let mut indices = Vec::with_capacity(modes.len());
    for (mode, &column) in modes.iter().enumerate() {
        let labels = &wanted.modes[mode].labels;
        let found = (0..rows).map(|row| {
            let found = match (wanted.binning(mode), &columns[column]) {
                (Some(binning), _) => {
                    let time = columns[column].time(row, seconds_per_unit[column], binning.unit);
                    find_time(labels, Some(binning), checked(time, true, column, row)?)
                }
                (None, QueryColumn::Integers(fields)) => labels.find_integer(fields[row]),
                (None, other) => find_label(labels, other.text(row).as_bytes()),
            };
            Ok(found.unwrap_or(UNKNOWN))
        });
        indices.push(found.collect::<Result<Vec<u32>>>()?);
    }
    let values = value
        .map(|column| {
            let value = |row| checked(columns[column].number(row), false, column, row);
            (0..rows).map(value).collect::<Result<Vec<f64>>>()
        })
        .transpose()?;
    let rows = QueryRows::Columns { names, columns };
    Ok(Query { rows, indices, values })
}
