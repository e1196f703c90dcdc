//! Rows whose labels are looked up in the modes of a model.

use std::path::Path;

use quadfill::{Labels, Mode};

use crate::bins::Binning;
use crate::columns::concat;
use crate::delimited::{PIECE, Problem, RowSink, TextLayout, finite, is_a_name, read_rows};
use crate::error::{ReadError, Result};
use crate::number::{canonical_u32, trim};
use crate::options::{Format, ReadOptions};
use crate::query_rows::TextRows;
use crate::roles::{Columns, Role};
use crate::source::{Bytes, Source};
use crate::table::find_label;

pub use crate::query_rows::QueryRows;

/// The index of a label that the model does not know.
pub const UNKNOWN: u32 = u32::MAX;

/// Whether the rows of a query carry values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryValues {
    /// There may be a column of values or not; it is not looked at.
    Ignored,
    /// Every row has a value.
    Required,
}

/// Rows to predict, or to compare predictions with.
#[derive(Debug)]
pub struct Query {
    /// The rows as they stand in the file, to be written out again.
    pub rows: QueryRows,
    /// One column per mode of the model, with [`UNKNOWN`] for labels it does not know.
    pub indices: Vec<Vec<u32>>,
    /// The values, if they were required.
    pub values: Option<Vec<f64>>,
}

impl Query {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.indices.first().map_or(0, Vec::len)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the model lacks some label of this row.
    pub fn is_unknown(&self, row: usize) -> bool {
        self.indices.iter().any(|column| column[row] == UNKNOWN)
    }

    /// How many rows have a label that the model lacks.
    pub fn unknown(&self) -> usize {
        (0..self.len()).filter(|&row| self.is_unknown(row)).count()
    }
}

/// Reads the rows of a file, or of standard input for `-`, and finds them in a model.
///
/// Columns are matched by the names of the modes where the file has a header, else by position;
/// `options.modes` overrides both. Modes with a name in `bins` hold times.
pub fn read_query(
    source: &Path,
    options: &ReadOptions,
    modes: &[Mode],
    bins: &[Binning],
    values: QueryValues,
) -> Result<Query> {
    let source = Source::open(source, options)?;
    read_query_as(
        &source.name,
        source.bytes,
        source.format,
        options,
        &Wanted {
            modes,
            bins,
            values,
        },
    )
}

/// Reads a query from bytes that are in memory already; `name` stands in messages and tells the
/// format.
///
/// ```
/// use quadfill::{Labels, Mode};
/// use quadfill_io::{QueryValues, ReadOptions, UNKNOWN, read_query_bytes};
/// let modes = [
///     Mode::new("user", Labels::from_names(["ann", "bob"])),
///     Mode::new("film", Labels::from_names(["Heat", "Up"])),
/// ];
/// let text = b"film,user\nUp,ann\nJaws,bob\n".to_vec();
/// let options = ReadOptions::default();
/// let query = read_query_bytes("q.csv", text, &options, &modes, &[], QueryValues::Ignored)?;
/// assert_eq!(query.indices, vec![vec![0, 1], vec![1, UNKNOWN]]);
/// # Ok::<(), quadfill_io::ReadError>(())
/// ```
pub fn read_query_bytes(
    name: &str,
    bytes: Vec<u8>,
    options: &ReadOptions,
    modes: &[Mode],
    bins: &[Binning],
    values: QueryValues,
) -> Result<Query> {
    let format = match options.format {
        Some(format) => format,
        None => Format::of_name(Path::new(name)).map_err(|ending| ReadError::UnknownEnding {
            file: name.to_owned(),
            ending,
        })?,
    };
    read_query_as(
        name,
        Bytes::Owned(bytes),
        format,
        options,
        &Wanted {
            modes,
            bins,
            values,
        },
    )
}

/// What a query is read against.
pub(crate) struct Wanted<'a> {
    pub modes: &'a [Mode],
    pub bins: &'a [Binning],
    pub values: QueryValues,
}

impl Wanted<'_> {
    pub(crate) fn binning(&self, mode: usize) -> Option<&Binning> {
        self.bins
            .iter()
            .find(|binning| binning.mode == self.modes[mode].name)
    }

    /// The columns that hold the modes, in order, and the value.
    pub(crate) fn columns(
        &self,
        columns: Columns<'_>,
        options: &ReadOptions,
    ) -> Result<(Vec<usize>, Option<usize>)> {
        let has = |name: &String| columns.names.is_some_and(|names| names.contains(name));
        let by_name = self.modes.iter().any(|mode| has(&mode.name));
        // A model made from a file without a header has no names of its own to look for.
        let nameless = self
            .modes
            .iter()
            .enumerate()
            .all(|(m, mode)| mode.name == format!("mode{}", m + 1));
        let modes: Vec<usize> = match &options.modes {
            Some(asked) => asked
                .iter()
                .map(|column| columns.resolve(column))
                .collect::<Result<_>>()?,
            None if columns.names.is_some() && (by_name || !nameless) => self
                .modes
                .iter()
                .map(|mode| columns.resolve(&mode.name.as_str().into()))
                .collect::<Result<_>>()?,
            None => (0..self.modes.len().min(columns.count)).collect(),
        };
        if modes.len() != self.modes.len() {
            return Err(ReadError::Unsupported {
                file: columns.file.to_owned(),
                what: format!(
                    "{} columns for the modes where the model has {} modes",
                    modes.len(),
                    self.modes.len()
                ),
                hint: "give one column per mode of the model, in its order, with --modes"
                    .to_owned(),
            });
        }
        let mut taken = vec![false; columns.count];
        columns.take(&mut taken, modes.iter().copied())?;
        let value = match self.values {
            QueryValues::Ignored => None,
            QueryValues::Required => {
                let value = columns.value(options, &taken)?;
                columns.take(&mut taken, [value])?;
                Some(value)
            }
        };
        Ok((modes, value))
    }

    /// Whether the first row holds names: one of a mode of the model, or text for a value.
    fn looks_like_header(&self, first: &[&[u8]], options: &ReadOptions) -> bool {
        let asked = options.modes.iter().flatten().chain(&options.value);
        if asked.into_iter().any(|column| column.number().is_none()) {
            return true;
        }
        if self
            .modes
            .iter()
            .any(|mode| first.contains(&mode.name.as_bytes()))
        {
            return true;
        }
        self.values == QueryValues::Required
            && match options.value.as_ref().and_then(|value| value.number()) {
                Some(number) => number.checked_sub(1).and_then(|value| first.get(value)),
                None => first.last(),
            }
            .is_some_and(|text| is_a_name(text))
    }
}

fn read_query_as(
    file: &str,
    bytes: Bytes,
    format: Format,
    options: &ReadOptions,
    wanted: &Wanted<'_>,
) -> Result<Query> {
    match format {
        Format::Delimited | Format::Tns => {
            read_query_text(file, bytes, options, format == Format::Tns, wanted)
        }
        _ => Err(ReadError::Unsupported {
            file: file.to_owned(),
            what: "queries of this format are not read".to_owned(),
            hint: "give the rows as delimited text or .tns".to_owned(),
        }),
    }
}

fn read_query_text(
    file: &str,
    bytes: Bytes,
    options: &ReadOptions,
    is_tns: bool,
    wanted: &Wanted<'_>,
) -> Result<Query> {
    let layout = TextLayout::find(file, &bytes, options, is_tns, |first| {
        wanted.looks_like_header(first, options)
    })?;
    let columns = Columns {
        file,
        names: layout.header.as_deref(),
        count: layout.fields,
    };
    let (modes, value) = wanted.columns(columns, options)?;
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
        indices: wanted
            .modes
            .iter()
            .map(|_| Vec::with_capacity(rows))
            .collect(),
        values: Vec::with_capacity(if value.is_some() { rows } else { 0 }),
    })
    .map_err(|problem| layout.explain(file, &bytes, problem))?;
    let mut pieces: Vec<(Vec<Vec<u32>>, Vec<f64>)> = pieces
        .into_iter()
        .map(|sink| (sink.indices, sink.values))
        .collect();
    let values = concat(
        pieces
            .iter_mut()
            .map(|(_, values)| std::mem::take(values))
            .collect(),
    );
    let indices: Vec<Vec<u32>> = (0..wanted.modes.len())
        .map(|mode| {
            concat(
                pieces
                    .iter_mut()
                    .map(|(all, _)| std::mem::take(&mut all[mode]))
                    .collect(),
            )
        })
        .collect();
    if indices.iter().all(Vec::is_empty) {
        return Err(layout.no_rows(file));
    }
    let names = names_of_columns(&layout, wanted, &modes, value);
    let rows = QueryRows::Text(TextRows {
        names,
        bytes,
        layout,
    });
    Ok(Query {
        rows,
        indices,
        values: value.map(|_| values),
    })
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
        .map(
            |column| match modes.iter().position(|&mode| mode == column) {
                Some(mode) => wanted.modes[mode].name.clone(),
                None if value == Some(column) => "value".to_owned(),
                None => format!("column{}", column + 1),
            },
        )
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
            Some(&Role::Time(mode)) => (
                mode,
                find_time(
                    &self.wanted.modes[mode].labels,
                    self.wanted.binning(mode),
                    finite(text)?,
                ),
            ),
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
pub(crate) fn find_time(labels: &Labels, binning: Option<&Binning>, time: f64) -> Option<u32> {
    labels.find_integer(i64::from(binning?.bin(time)?))
}
