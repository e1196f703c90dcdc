//! What can be wrong with a file, each in one sentence that says where and what to do.

use std::io;

/// An input that cannot be read.
///
/// `file` is the path as it was given, or `standard input`; lines and columns count from 1.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The system could not open or read the file.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// The ending of the name is none that is known.
    #[error(
        "{file}: `.{ending}` is no ending Quadfill knows: name the format with --format (delimited, tns, npy, npz, parquet or mat)"
    )]
    UnknownEnding {
        /// The file.
        file: String,
        /// What follows the last dot.
        ending: String,
    },
    /// A format name that does not exist.
    #[error("`{name}` is no format: choose delimited, tns, npy, npz, parquet or mat")]
    UnknownFormat {
        /// What was asked for.
        name: String,
    },
    /// Nothing in the file.
    #[error("{file}: the file has no rows: give at least one row with a value")]
    Empty {
        /// The file.
        file: String,
    },
    /// A header and nothing below it.
    #[error("{file}: there is a header but no row below it: give at least one row with a value")]
    OnlyHeader {
        /// The file.
        file: String,
    },
    /// Text in another encoding.
    #[error("{file}, line {line}: the text is not UTF-8: save the file as UTF-8")]
    NotUtf8 {
        /// The file.
        file: String,
        /// The line.
        line: usize,
    },
    /// A row with more or fewer fields than the first one.
    #[error(
        "{file}, line {line}: expected {expected} fields, got {got}: every row needs as many fields as the first one (separated by {delimiter})"
    )]
    Ragged {
        /// The file.
        file: String,
        /// The line.
        line: usize,
        /// Fields of the first row.
        expected: usize,
        /// Fields of this row.
        got: usize,
        /// The delimiter in words.
        delimiter: String,
    },
    /// A quote that is never closed.
    #[error("{file}, line {line}: a quote opens here and is never closed: close it or double it")]
    OpenQuote {
        /// The file.
        file: String,
        /// The line.
        line: usize,
    },
    /// Text where a number must stand.
    #[error(
        "{file}, {at}: column {column} holds `{text}`, which is no number: correct it or choose another column"
    )]
    NotANumber {
        /// The file.
        file: String,
        /// Line, row or cell in words.
        at: String,
        /// Name or number of the column.
        column: String,
        /// What stands there.
        text: String,
    },
    /// A number that is infinite or NaN.
    #[error(
        "{file}, {at}: column {column} holds `{text}`: values must be finite numbers, leave out rows whose value is missing"
    )]
    NotFinite {
        /// The file.
        file: String,
        /// Line, row or cell in words.
        at: String,
        /// Name or number of the column.
        column: String,
        /// What stands there.
        text: String,
    },
    /// A weight below zero.
    #[error("{file}, {at}: the weight is {text}: weights must not be negative")]
    NegativeWeight {
        /// The file.
        file: String,
        /// Line or row in words.
        at: String,
        /// What stands there.
        text: String,
    },
    /// A field without a label.
    #[error("{file}, {at}: column {column} is empty: every row needs a label there")]
    NoLabel {
        /// The file.
        file: String,
        /// Line or row in words.
        at: String,
        /// Name or number of the column.
        column: String,
    },
    /// An index of a `.tns` file that is no whole number above zero.
    #[error(
        "{file}, line {line}: index `{text}` in column {column}: the indices of a .tns file are whole numbers that start at 1, up to 4294967295"
    )]
    BadIndex {
        /// The file.
        file: String,
        /// The line.
        line: usize,
        /// Number of the column.
        column: String,
        /// What stands there.
        text: String,
    },
    /// A column that is not there.
    #[error("{file}: there is no column `{column}`: the columns are {available}")]
    NoSuchColumn {
        /// The file.
        file: String,
        /// What was asked for.
        column: String,
        /// The names there are, or their number.
        available: String,
    },
    /// One column asked for two purposes.
    #[error("{file}: column `{column}` is asked for twice: use each column once")]
    ColumnUsedTwice {
        /// The file.
        file: String,
        /// Name or number of the column.
        column: String,
    },
    /// Too few or too many columns to make modes of.
    #[error("{file}: {columns} columns give {modes} modes: {hint}")]
    ModeCount {
        /// The file.
        file: String,
        /// How many columns the file has.
        columns: usize,
        /// How many of them would be modes.
        modes: usize,
        /// What to do.
        hint: &'static str,
    },
    /// No column is left to hold the value.
    #[error("{file}: no column is left for the value: name it with --value")]
    NoValueColumn {
        /// The file.
        file: String,
    },
    /// The same cell on two lines.
    #[error(
        "{file}, {second}: cell ({cell}) was given before on {first}: choose what to do with --on-duplicate mean, last or sum"
    )]
    DuplicateCell {
        /// The file.
        file: String,
        /// The labels of the cell.
        cell: String,
        /// Line or row that had it first, in words.
        first: String,
        /// Line or row that repeats it, in words.
        second: String,
    },
    /// An archive that ends too early or does not unpack.
    #[error(
        "{file}: the {kind} archive is cut short or damaged ({reason}): fetch or pack it again"
    )]
    BrokenArchive {
        /// The file.
        file: String,
        /// gzip, zstd or zip.
        kind: &'static str,
        /// What the unpacker said.
        reason: String,
    },
    /// A binary file that does not follow its format.
    #[error("{file}: this is no sound {format} file: {reason}: write or fetch the file again")]
    Malformed {
        /// The file.
        file: String,
        /// Name of the format.
        format: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// Something the format allows and Quadfill does not read.
    #[error("{file}: {what}: {hint}")]
    Unsupported {
        /// The file.
        file: String,
        /// What it is.
        what: String,
        /// What to do instead.
        hint: String,
    },
    /// A null of a Parquet column.
    #[error(
        "{file}, row {row}: column {column} is null: leave out rows whose label or value is missing"
    )]
    Null {
        /// The file.
        file: String,
        /// The row.
        row: usize,
        /// Name of the column.
        column: String,
    },
    /// A `--bin` that makes no sense.
    #[error("{0}")]
    Bin(String),
    /// A corpus in which there is nothing to count, in words.
    #[error("{0}")]
    Corpus(String),
    /// Whatever else the library finds wrong with the data.
    #[error("{file}: {source}")]
    Data {
        /// The file.
        file: String,
        /// What it is.
        source: quadfill::Error,
    },
}

/// The result of reading.
pub type Result<T> = std::result::Result<T, ReadError>;
