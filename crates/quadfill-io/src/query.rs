//! Rows whose labels are looked up in the modes of a model.

use std::path::Path;

use quadfill::Mode;

use crate::arrays::{Cells, read_cells};
use crate::delimited::is_a_name;
use crate::error::{ReadError, Result};
use crate::options::{ColumnRef, Format, ReadOptions};
use crate::parquet_file::read_columns;
use crate::query_lookup::{look_up_columns, look_up_text};
use crate::query_rows::{QueryColumn, QueryRows};
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
    pub rows: QueryRows,
    /// One column per mode of the model, with [`UNKNOWN`] for labels it does not know.
    pub indices: Vec<Vec<u32>>,
    /// The values, if they were required.
    pub values: Option<Vec<f64>>,
    /// The weights, where a column of them was asked for.
    pub weights: Option<Vec<f64>>,
    /// The column of the file that holds each mode.
    pub columns: Vec<usize>,
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
/// Columns are matched by the names of the modes where the file has a header, else by position
/// (`options.places`, or the first ones); `options.modes` overrides both. Modes with a name in `bins` hold times.
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
        &Wanted { modes, bins, values },
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
        None => Format::of_name(Path::new(name))
            .map_err(|ending| ReadError::UnknownEnding { file: name.to_owned(), ending })?,
    };
    read_query_as(name, Bytes::Owned(bytes), format, options, &Wanted { modes, bins, values })
}

/// What a query is read against.
pub(crate) struct Wanted<'a> {
    pub modes: &'a [Mode],
    pub bins: &'a [Binning],
    pub values: QueryValues,
}

/// Where in a file the parts of a query are.
pub(crate) struct WantedColumns {
    /// In the order of the modes.
    pub modes: Vec<usize>,
    pub value: Option<usize>,
    pub weight: Option<usize>,
}

impl Wanted<'_> {
    pub(crate) fn binning(&self, mode: usize) -> Option<&Binning> {
        self.bins.iter().find(|binning| binning.mode == self.modes[mode].name)
    }

    /// The columns that hold the modes, the value and the weight.
    pub(crate) fn columns(
        &self,
        columns: Columns<'_>,
        options: &ReadOptions,
    ) -> Result<WantedColumns> {
        let has = |name: &String| columns.names.is_some_and(|names| names.contains(name));
        let by_name = self.modes.iter().any(|mode| has(&mode.name));
        // A model made from a file without a header has no names of its own to look for.
        let nameless =
            self.modes.iter().enumerate().all(|(m, mode)| mode.name == format!("mode{}", m + 1));
        let places = options.places.as_ref().filter(|places| places.fit(columns.count));
        let modes: Vec<usize> = match &options.modes {
            Some(asked) => {
                asked.iter().map(|column| columns.resolve(column)).collect::<Result<_>>()?
            }
            None if columns.names.is_some() && (by_name || !nameless) => self
                .modes
                .iter()
                .map(|mode| columns.resolve(&mode.name.as_str().into()))
                .collect::<Result<_>>()?,
            None => match places {
                Some(places) => places.modes.clone(),
                None => (0..self.modes.len().min(columns.count)).collect(),
            },
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
        let weight = options.weight.as_ref().map(|weight| columns.resolve(weight)).transpose()?;
        columns.take(&mut taken, modes.iter().copied().chain(weight))?;
        let value = match self.values {
            QueryValues::Ignored => None,
            QueryValues::Required => {
                let known = places.map(|places| places.value).filter(|_| {
                    columns.names.is_none() && options.modes.is_none() && options.value.is_none()
                });
                let value = match known.filter(|&value| value < columns.count) {
                    Some(value) => value,
                    None => columns.value(options, &taken)?,
                };
                columns.take(&mut taken, [value])?;
                Some(value)
            }
        };
        Ok(WantedColumns { modes, value, weight })
    }

    /// Whether the first row holds names: one of a mode of the model, or text for a value.
    pub(crate) fn looks_like_header(&self, first: &[&[u8]], options: &ReadOptions) -> bool {
        let asked = options.modes.iter().flatten().chain(&options.value);
        if asked.into_iter().any(|column| column.number().is_none()) {
            return true;
        }
        if self.modes.iter().any(|mode| first.contains(&mode.name.as_bytes())) {
            return true;
        }
        self.values == QueryValues::Required
            && match options.value.as_ref().and_then(ColumnRef::number) {
                Some(number) => number.checked_sub(1).and_then(|value| first.get(value)),
                None => match &options.places {
                    Some(places) => first.get(places.value),
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
            let (names, columns) = read_columns(file, bytes::Bytes::from_owner(bytes))?;
            look_up_columns(file, names, columns, options, wanted)
        }
        Format::Npy | Format::Npz | Format::Mat => {
            let cells: Cells<f64> = read_cells(file, &bytes, format, options)?;
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
            look_up_columns(file, names, columns, &by_position, wanted)
        }
    }
}
