//! Labels of rows looked up in the modes of a model.

use quadfill::observations::{Binning, LabelLookup};
use quadfill::{Labels, Mode};
use rayon::prelude::*;

use crate::columns::concat;
use crate::delimited::{PIECE, Problem, RowSink, TextLayout, finite, finite_time, read_rows};
use crate::error::{ReadError, Result};
use crate::fields::{FieldSource, Fields, TakeFields, each_number, each_time, not_a_label, whole};
use crate::number::{canonical_u32, trim};
use crate::options::ReadOptions;
use crate::query::{FoundColumns, Query, UNKNOWN, Wanted};
use crate::query_rows::{NamedColumns, QueryColumn, QueryRows, TextRows};
use crate::roles::{Columns, Role};
use crate::source::Bytes;
use crate::table::find_label;

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
    let (indices, values) = look_up(&QueryTable { file, table: &table }, options, wanted)?;
    let NamedColumns { names, columns, .. } = table;
    Ok(Query { rows: QueryRows::Columns { names, columns }, indices, values })
}

/// A column whose fields are looked up among the labels of a mode.
pub(crate) struct LabelFinder<'a> {
    pub(crate) column: usize,
    lookup: LabelLookup<'a>,
    bins: Option<&'a Binning>,
}

impl<'a> LabelFinder<'a> {
    /// One for each mode, and the column of values if it is wanted.
    pub(crate) fn for_modes<S: FieldSource>(
        source: &S,
        options: &ReadOptions,
        wanted: &Wanted<'a>,
    ) -> Result<(Vec<Self>, Option<usize>)> {
        let file = source.file();
        let about = Columns { file, names: source.names(), count: source.column_count() };
        let FoundColumns { modes, value, .. } = wanted.columns(about, options)?;
        if (0..source.pieces()).all(|piece| source.rows(piece) == 0) {
            return Err(ReadError::Empty { file: file.to_owned() });
        }
        let finders = modes.iter().zip(wanted.modes).map(|(&column, mode)| {
            let Mode { labels, bins, .. } = mode;
            Self { column, lookup: labels.lookup(), bins: bins.as_ref() }
        });
        Ok((finders.collect(), value))
    }

    /// Appends the label indices of fields, the first of which is in `row`.
    pub(crate) fn push<S: FieldSource>(
        &self,
        source: &S,
        fields: Fields<'_>,
        row: usize,
        found: &mut Vec<u32>,
    ) -> Result<()> {
        if let Some(binning) = self.bins {
            let labels = self.lookup.labels();
            return each_time(source, self.column, fields, row, binning.unit, |time| {
                found.push(find_time(labels, Some(binning), time).unwrap_or(UNKNOWN));
                Ok(())
            });
        }
        match push_found(&self.lookup, fields, found) {
            None => Ok(()),
            Some((position, label)) => Err(not_a_label(source, self.column, row + position, label)),
        }
    }
}

/// One column of label indices per mode, and the values if they are wanted.
pub(crate) type Found = (Vec<Vec<u32>>, Option<Vec<f64>>);

/// Looks up the rows of a table.
pub(crate) fn look_up<S: FieldSource>(
    source: &S,
    options: &ReadOptions,
    wanted: &Wanted<'_>,
) -> Result<Found> {
    let (finders, value) = LabelFinder::for_modes(source, options, wanted)?;
    let indices = finders.iter().map(|finder| {
        in_pieces(source, finder.column, |fields, row, found: &mut Vec<u32>| {
            finder.push(source, fields, row, found)
        })
    });
    let indices = indices.collect::<Result<_>>()?;
    let values = value.map(|column| {
        in_pieces(source, column, |fields, row, values: &mut Vec<f64>| {
            each_number(source, column, fields, row, |value| {
                values.push(value);
                Ok(())
            })
        })
    });
    Ok((indices, values.transpose()?))
}

/// Reads a column piece by piece, in parallel.
fn in_pieces<S: FieldSource, V: Copy + Default + Send + Sync>(
    source: &S,
    column: usize,
    take: impl Fn(Fields<'_>, usize, &mut Vec<V>) -> Result<()> + Sync,
) -> Result<Vec<V>> {
    let pieces: Vec<Result<Vec<V>>> = (0..source.pieces())
        .into_par_iter()
        .map(|piece| {
            let mut found = Vec::with_capacity(source.rows(piece));
            source.read_first(piece, column, usize::MAX, &mut |fields, row| {
                take(fields, row, &mut found)
            })?;
            Ok(found)
        })
        .collect();
    Ok(concat(pieces.into_iter().collect::<Result<_>>()?))
}

/// Looks up labels; the answer is the first number that cannot be one, and where it stands.
fn push_found(
    lookup: &LabelLookup<'_>,
    fields: Fields<'_>,
    found: &mut Vec<u32>,
) -> Option<(usize, f64)> {
    let known = |index: Option<u32>| index.unwrap_or(UNKNOWN);
    match fields {
        Fields::Integers(fields) => lookup.find_integers(fields, UNKNOWN, found),
        Fields::Reals(fields) => {
            if let Some(position) = fields.iter().position(|field| !field.is_finite()) {
                return Some((position, fields[position]));
            }
            found.extend(fields.iter().map(|&field| {
                known(match whole(field) {
                    Some(number) => lookup.find_integer(number),
                    None => find_label(lookup.labels(), field.to_string().as_bytes()),
                })
            }));
        }
        Fields::Texts(fields) => {
            let find = |field: &&[u8]| known(find_label(lookup.labels(), trim(field)));
            found.extend(fields.iter().map(find));
        }
    }
    None
}

/// How many rows of a query are looked up at a time.
const ROWS: usize = 1 << 16;

/// The columns of a query as a table.
struct QueryTable<'a> {
    file: &'a str,
    table: &'a NamedColumns,
}

impl QueryTable<'_> {
    fn len(&self) -> usize {
        self.table.columns.first().map_or(0, QueryColumn::len)
    }
}

impl FieldSource for QueryTable<'_> {
    fn file(&self) -> &str {
        self.file
    }

    fn names(&self) -> Option<&[String]> {
        Some(&self.table.names)
    }

    fn column_count(&self) -> usize {
        self.table.columns.len()
    }

    fn pieces(&self) -> usize {
        self.len().div_ceil(ROWS)
    }

    fn rows(&self, piece: usize) -> usize {
        ROWS.min(self.len() - piece * ROWS)
    }

    fn seconds_per_unit(&self, column: usize) -> Option<f64> {
        self.table.seconds_per_unit[column]
    }

    fn read_first(
        &self,
        piece: usize,
        column: usize,
        _wanted: usize,
        take: &mut TakeFields<'_>,
    ) -> Result<()> {
        let first = piece * ROWS;
        let rows = first..first + self.rows(piece);
        match &self.table.columns[column] {
            QueryColumn::Integers(fields) => take(Fields::Integers(&fields[rows]), first),
            QueryColumn::Reals(fields) => take(Fields::Reals(&fields[rows]), first),
            QueryColumn::Texts(fields) => {
                let texts: Vec<&[u8]> = fields[rows].iter().map(|text| text.as_bytes()).collect();
                take(Fields::Texts(&texts), first)
            }
        }
    }
}
