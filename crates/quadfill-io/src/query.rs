//! Rows whose labels are looked up in the modes of a model.

use std::borrow::Cow;
use std::path::Path;

use quadfill::Mode;

use crate::arrays::read_cells;
use crate::delimited::is_a_name;
use crate::error::{ReadError, Result};
use crate::options::{ColumnRef, Format, ReadOptions};
use crate::parquet_file::read_columns;
use crate::query_lookup::{look_up_columns, look_up_text};
use crate::query_rows::{NamedColumns, QueryColumn, QueryRows};
use crate::roles::Columns;
use crate::source::{Bytes, Source};
use quadfill::observations::Binning;

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
    pub(crate) rows: QueryRows,
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

    /// The names of the columns of the file; those of the model where it has none.
    pub fn names(&self) -> &[String] {
        self.rows.names()
    }

    /// Hands the fields of each row to `row`, in order, until it returns an error.
    pub fn for_each_row<E>(
        &self,
        row: impl FnMut(&[Cow<'_, str>]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.rows.for_each(row)
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
/// Columns are matched by the names of the modes where the file has a header, else by position
/// (`options.positions`, or the first ones); `options.modes` overrides both. Modes that have bins hold times.
///
/// ```
/// use quadfill::{Labels, Mode};
/// use quadfill_io::{QueryValues, ReadOptions, read_query};
/// # let path = std::env::temp_dir().join(format!("quadfill-query-{}.csv", std::process::id()));
/// # std::fs::write(&path, "3::7\n1::9\n")?;
/// let modes = [Mode::new("user", Labels::range(5)), Mode::new("film", Labels::range(8))];
/// let query = read_query(&path, &ReadOptions::default(), &modes, QueryValues::Ignored)?;
/// assert_eq!((query.len(), query.unknown()), (2, 1));
/// assert!(query.is_unknown(1));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_query(
    source: impl AsRef<Path>,
    options: &ReadOptions,
    modes: &[Mode],
    values: QueryValues,
) -> Result<Query> {
    let Source { name, bytes, format } = Source::open(source.as_ref(), options)?;
    read_query_as(&name, bytes, format, options, &Wanted { modes, values, value_name: None })
}

/// Reads rows with values and finds them in a model. The column of values is looked for under the name
/// or the position that it had in the model's data, where `options` names no other.
///
/// ```
/// use quadfill::{Labels, Mode, observations::Source};
/// use quadfill_io::{ReadOptions, read_query_values};
/// # let path = std::env::temp_dir().join(format!("quadfill-values-{}.csv", std::process::id()));
/// # std::fs::write(&path, "user,stars,film,seen\nann,4,Up,7\n")?;
/// let modes = [
///     Mode::new("user", Labels::from_names(["ann", "bob"])),
///     Mode::new("film", Labels::from_names(["Heat", "Up"])),
/// ];
/// let source = Source { value: "stars".to_owned(), positions: None };
/// let query = read_query_values(&path, &ReadOptions::default(), &modes, &source)?;
/// assert_eq!(query.values, Some(vec![4.0]));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_query_values(
    path: impl AsRef<Path>,
    options: &ReadOptions,
    modes: &[Mode],
    source: &quadfill::observations::Source,
) -> Result<Query> {
    let options = &options.with_positions_of(source);
    let Source { name, bytes, format } = Source::open(path.as_ref(), options)?;
    let wanted = Wanted { modes, values: QueryValues::Required, value_name: Some(&source.value) };
    read_query_as(&name, bytes, format, options, &wanted)
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
/// let query = read_query_bytes("q.csv", text, &options, &modes, QueryValues::Ignored)?;
/// assert_eq!(query.indices, vec![vec![0, 1], vec![1, UNKNOWN]]);
/// # Ok::<(), quadfill_io::ReadError>(())
/// ```
pub fn read_query_bytes(
    name: &str,
    bytes: Vec<u8>,
    options: &ReadOptions,
    modes: &[Mode],
    values: QueryValues,
) -> Result<Query> {
    let format = Format::for_name(name, options)?;
    let wanted = Wanted { modes, values, value_name: None };
    read_query_as(name, Bytes::Owned(bytes), format, options, &wanted)
}

/// What a query is read against.
pub(crate) struct Wanted<'a> {
    pub modes: &'a [Mode],
    pub values: QueryValues,
    /// What the column of values was called when the model was fitted: it is looked for under this
    /// name where no other column is asked for.
    pub value_name: Option<&'a str>,
}

/// Where in a file the parts of a query are.
pub(crate) struct FoundColumns {
    /// In the order of the modes.
    pub modes: Vec<usize>,
    pub value: Option<usize>,
    pub weight: Option<usize>,
}

impl Wanted<'_> {
    pub(crate) fn binning(&self, mode: usize) -> Option<&Binning> {
        self.modes[mode].bins.as_ref()
    }

    /// The columns that hold the modes, the value and the weight.
    pub(crate) fn columns(
        &self,
        columns: Columns<'_>,
        options: &ReadOptions,
    ) -> Result<FoundColumns> {
        let has = |name: &String| columns.names.is_some_and(|names| names.contains(name));
        let by_name = self.modes.iter().any(|mode| has(&mode.name));
        // A model made from a file without a header has no names of its own to look for.
        let nameless =
            self.modes.iter().enumerate().all(|(m, mode)| mode.name == format!("mode{}", m + 1));
        let positions = options.positions.as_ref().filter(|known| known.fit(columns.count));
        let modes: Vec<usize> = match &options.modes {
            Some(asked) => {
                asked.iter().map(|column| columns.resolve(column)).collect::<Result<_>>()?
            }
            None if columns.names.is_some() && (by_name || !nameless) => self
                .modes
                .iter()
                .map(|mode| columns.resolve(&mode.name.as_str().into()))
                .collect::<Result<_>>()?,
            None => match positions {
                Some(known) => known.modes.clone(),
                // Rows of another layout would be taken for something that they are not.
                None if self.value_name.is_some() && options.value.is_none() => {
                    let others = usize::from(self.values == QueryValues::Required)
                        + usize::from(options.weight.is_some());
                    (0..columns.count.saturating_sub(others)).collect()
                }
                None => (0..self.modes.len().min(columns.count)).collect(),
            },
        };
        if modes.len() != self.modes.len() {
            return Err(ReadError::OtherModes {
                file: columns.file.to_owned(),
                expected: self.modes.len(),
                got: modes.len(),
            });
        }
        let mut taken = vec![false; columns.count];
        let weight = options.weight.as_ref().map(|weight| columns.resolve(weight)).transpose()?;
        columns.take(&mut taken, modes.iter().copied().chain(weight))?;
        let value = match self.values {
            QueryValues::Ignored => None,
            QueryValues::Required => {
                let by_position = positions.map(|known| known.value).filter(|&value| {
                    columns.names.is_none() && options.modes.is_none() && value < columns.count
                });
                let by_name = columns
                    .names
                    .zip(self.value_name)
                    .and_then(|(names, known)| names.iter().position(|name| name == known))
                    .filter(|&value| !taken[value]);
                let known = by_position.or(by_name).filter(|_| options.value.is_none());
                let value = match known {
                    Some(value) => value,
                    None => columns.value(options, &taken)?,
                };
                columns.take(&mut taken, [value])?;
                Some(value)
            }
        };
        Ok(FoundColumns { modes, value, weight })
    }

    /// Whether the first row holds names: one of a mode of the model, or text for a value.
    pub(crate) fn looks_like_header(&self, first: &[&[u8]], options: &ReadOptions) -> bool {
        let asked = options.modes.iter().flatten().chain(&options.value);
        if asked.into_iter().any(|column| column.number().is_none()) {
            return true;
        }
        let names = self.modes.iter().map(|mode| mode.name.as_str()).chain(self.value_name);
        if names.into_iter().any(|name| first.contains(&name.as_bytes())) {
            return true;
        }
        self.values == QueryValues::Required
            && match options.value.as_ref().and_then(ColumnRef::number) {
                Some(number) => number.checked_sub(1).and_then(|value| first.get(value)),
                None => match &options.positions {
                    Some(known) => first.get(known.value),
                    None => first.last(),
                },
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
            look_up_text(file, bytes, options, format == Format::Tns, wanted)
        }
        Format::Parquet => {
            let table = read_columns(file, bytes::Bytes::from_owner(bytes))?;
            look_up_columns(file, table, options, wanted)
        }
        Format::Npy | Format::Npz | Format::Mat => {
            let cells = read_cells(file, &bytes, format, options)?;
            drop(bytes);
            let mut names: Vec<String> =
                (1..=cells.indices.len()).map(|mode| format!("mode{mode}")).collect();
            names.push("value".to_owned());
            let mut columns: Vec<QueryColumn> = cells
                .indices
                .into_iter()
                .map(|column| QueryColumn::Integers(column.into_iter().map(i64::from).collect()))
                .collect();
            columns.push(QueryColumn::Reals(cells.values));
            // Dimensions go by their order, whatever the modes are called.
            let by_position = ReadOptions {
                modes: Some((1..columns.len()).map(|mode| mode.to_string().into()).collect()),
                value: Some("value".into()),
                ..ReadOptions::default()
            };
            let seconds_per_unit = vec![None; columns.len()];
            let table = NamedColumns { names, columns, seconds_per_unit };
            look_up_columns(file, table, &by_position, wanted)
        }
    }
}
