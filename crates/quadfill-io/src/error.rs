//! What can be wrong with a file, each in one sentence that says where and what to do.

use std::io;

use quadfill::Setting;
use quadfill::observations::span_in_words;

use crate::corpus::MAX_VOCABULARY;

/// An input that cannot be read.
///
/// `file` is the path as it was given, or `standard input`; lines and columns count from 1. Messages
/// name options in backticks by the names of [`Setting`]; a program or a binding replaces them by its
/// own words for the [settings](ReadError::settings) that a message mentions.
///
/// ```
/// use quadfill::Setting;
/// use quadfill_io::{ReadOptions, read_bytes};
/// let error = read_bytes("a.csv", b"1,2,3\n1,2,4\n", &ReadOptions::default()).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "a.csv, line 2: cell (1, 2) was given before on line 1: set `on_duplicate` to mean, last or sum"
/// );
/// assert_eq!(error.settings(), [Setting::OnDuplicate]);
/// ```
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
    /// The ending of the name is not known.
    #[error(
        "{file}: `.{ending}` is not an ending that Quadfill knows: set `format` to delimited, tns, npy, npz, parquet or mat"
    )]
    UnknownEnding {
        /// The file.
        file: String,
        /// What follows the last dot.
        ending: String,
    },
    /// A format name that does not exist.
    #[error("`format` is {name}: it must be delimited, tns, npy, npz, parquet or mat")]
    UnknownFormat {
        /// What was asked for.
        name: String,
    },
    /// A pattern or a folder without files.
    #[error(
        "{pattern}: {reason}: name a file, a folder of files, or a pattern such as 'part-*.parquet'"
    )]
    NoFiles {
        /// What was given.
        pattern: String,
        /// Why there are none.
        reason: String,
    },
    /// A part of the data without a column that the first part has.
    #[error(
        "{file}: there is no column `{column}`, which {first} has: give files with the same columns"
    )]
    OtherColumns {
        /// The part.
        file: String,
        /// The column.
        column: String,
        /// The first part.
        first: String,
    },
    /// Labels of different types in parts of the data.
    #[error(
        "{file}: column `{column}` holds {got}, but {expected} in {first}: write all files with the same types"
    )]
    OtherType {
        /// The part.
        file: String,
        /// The column.
        column: String,
        /// What it holds.
        got: &'static str,
        /// The first part.
        first: String,
        /// What it holds there.
        expected: &'static str,
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
        "{file}, {at}: column {column} holds `{text}`, which is not a number: correct it or choose another column"
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
    /// Text where a time must stand.
    #[error(
        "{file}, {at}: column {column} holds `{text}`, which is not a time: write seconds since 1970 or a date such as 2003-05-17"
    )]
    NotATime {
        /// The file.
        file: String,
        /// Line or row in words.
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
    /// A time in none of the bins of a model.
    #[error(
        "{file}, {at}: column {column} holds the time {text}, which is outside the bins of the model: leave the row out"
    )]
    OutsideBins {
        /// The file.
        file: String,
        /// Line or row in words.
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
    /// An index of a `.tns` file that is not a whole number above zero.
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
    #[error("{file}: column `{column}` is used twice: use each column once")]
    ColumnUsedTwice {
        /// The file.
        file: String,
        /// Name or number of the column.
        column: String,
    },
    /// Too few or too many columns to make modes of.
    #[error("{file}: {} {}", counts(*columns, *modes), mode_count_advice(*modes))]
    ModeCount {
        /// The file.
        file: String,
        /// How many columns the file has.
        columns: usize,
        /// How many of them would be modes.
        modes: usize,
    },
    /// Another number of columns than a model has modes.
    #[error(
        "{file}: there {} for the modes of the model, which has {expected}: name one column for each with `modes`, in order",
        if *got == 1 { "is 1 column".to_owned() } else { format!("are {got} columns") }
    )]
    OtherModes {
        /// The file.
        file: String,
        /// The modes of the model.
        expected: usize,
        /// The columns for them.
        got: usize,
    },
    /// Another number of names for modes than an array has dimensions.
    #[error(
        "{file}: `modes` gives {named} where the array has {dimensions}: name every dimension, in order"
    )]
    ArrayModes {
        /// The file.
        file: String,
        /// How many are named.
        named: usize,
        /// How many there are.
        dimensions: usize,
    },
    /// No column is left to hold the value.
    #[error("{file}: no column is left for the value: name it with `value`")]
    NoValueColumn {
        /// The file.
        file: String,
    },
    /// The same cell on two lines.
    #[error(
        "{file}, {second}: cell ({cell}) was given before on {first}: set `on_duplicate` to mean, last or sum"
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
    #[error("{file}: this is not a valid {format} file: {reason}: write or fetch the file again")]
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
    /// A delimiter without a character.
    #[error("{file}: `delimiter` is empty: give a text such as , or :: or tab")]
    EmptyDelimiter {
        /// The file.
        file: String,
    },
    /// Several arrays, of which any could be meant.
    #[error("{file}: there are several arrays, {available}: name one with `variable`")]
    SeveralArrays {
        /// The file.
        file: String,
        /// Their names.
        available: String,
    },
    /// An array that is not there.
    #[error("{file}: there is no numeric array `{name}`: the arrays are {available}")]
    NoSuchArray {
        /// The file.
        file: String,
        /// What was asked for.
        name: String,
        /// Their names.
        available: String,
    },
    /// Bins that cannot be parsed.
    #[error(
        "`bins` is {text}: {reason}: write COLUMN=WIDTH with a unit s, m, h, d or w, COLUMN=COUNT, COLUMN=auto or COLUMN=none"
    )]
    InvalidBins {
        /// What was asked for.
        text: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Bins for a column that has no use for them.
    #[error(
        "{file}: `bins` names column {column}, which is not among `modes`, or is named twice: name a mode, once"
    )]
    BinsOfNoMode {
        /// The file.
        file: String,
        /// The column.
        column: String,
    },
    /// Bins for an array.
    #[error("{file}: an array has no column of times: leave out `bins`")]
    BinsOfArray {
        /// The file.
        file: String,
    },
    /// More bins than 32-bit numbers can count.
    #[error(
        "{file}: the times from {first} to {last} fall into too many bins of {}: make `bins` wider",
        span_in_words(*width)
    )]
    TooManyBins {
        /// The file.
        file: String,
        /// The first time.
        first: f64,
        /// The last one.
        last: f64,
        /// The width of a bin.
        width: f64,
    },
    /// A vocabulary without words, or of too many.
    #[error("`vocabulary` is {words}: it must be 1 to {MAX_VOCABULARY}")]
    BadVocabulary {
        /// How many words were asked for.
        words: usize,
    },
    /// A corpus with fewer words than the vocabulary should have.
    #[error(
        "the corpus has {distinct} different words, fewer than the {asked} of `vocabulary`: lower it"
    )]
    TooFewWords {
        /// The words there are.
        distinct: usize,
        /// The words that were asked for.
        asked: usize,
    },
    /// A corpus without words.
    #[error("{files}: there are no words: give plain text")]
    NoWords {
        /// The files.
        files: String,
    },
    /// A corpus in which no three words of the vocabulary are neighbours.
    #[error(
        "no three words of the vocabulary follow one another: give more text or raise `vocabulary`"
    )]
    NoTriples,
    /// Whatever else the library finds wrong with the data.
    #[error("{file}: {source}")]
    Data {
        /// The file.
        file: String,
        /// What it is.
        source: quadfill::Error,
    },
}

impl ReadError {
    /// The settings that the message mentions, as options and not as columns that are called so.
    pub fn settings(&self) -> Vec<Setting> {
        match self {
            Self::UnknownEnding { .. } | Self::UnknownFormat { .. } => vec![Setting::Format],
            Self::ModeCount { modes: 0 | 1, .. } => vec![Setting::Delimiter, Setting::Modes],
            Self::ModeCount { .. } | Self::OtherModes { .. } | Self::ArrayModes { .. } => {
                vec![Setting::Modes]
            }
            Self::NoValueColumn { .. } => vec![Setting::Value],
            Self::DuplicateCell { .. } => vec![Setting::OnDuplicate],
            Self::EmptyDelimiter { .. } => vec![Setting::Delimiter],
            Self::SeveralArrays { .. } => vec![Setting::Variable],
            Self::InvalidBins { .. } | Self::BinsOfArray { .. } | Self::TooManyBins { .. } => {
                vec![Setting::Bins]
            }
            Self::BinsOfNoMode { .. } => vec![Setting::Bins, Setting::Modes],
            Self::BadVocabulary { .. } | Self::TooFewWords { .. } | Self::NoTriples => {
                vec![Setting::Vocabulary]
            }
            Self::Data { source, .. } => source.settings(),
            _ => Vec::new(),
        }
    }
}

fn counts(columns: usize, modes: usize) -> String {
    let some = |number: usize, what: &str| match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    };
    let give = if columns == 1 { "gives" } else { "give" };
    format!("{} {give} {}:", some(columns, "column"), some(modes, "mode"))
}

fn mode_count_advice(modes: usize) -> &'static str {
    if modes < 2 {
        "two or more modes and a value are needed, check `delimiter` and `modes`"
    } else {
        "choose 2 to 8 columns with `modes`"
    }
}

/// The result of reading.
pub type Result<T> = std::result::Result<T, ReadError>;

#[cfg(test)]
mod tests {
    use super::*;

    /// One error of each kind; fields are `x` or 3.
    fn every_error() -> Vec<ReadError> {
        use ReadError as E;
        let x = || "x".to_owned();
        let mode_count = |modes| E::ModeCount { file: x(), columns: modes + 1, modes };
        let data = quadfill::Error::DuplicateCell { cell: x(), first: 1, second: 2 };
        vec![
            E::Io { file: x(), source: io::Error::other("x") },
            E::UnknownEnding { file: x(), ending: x() },
            E::UnknownFormat { name: x() },
            E::Empty { file: x() },
            E::OnlyHeader { file: x() },
            E::NotUtf8 { file: x(), line: 3 },
            E::Ragged { file: x(), line: 3, expected: 3, got: 3, delimiter: x() },
            E::OpenQuote { file: x(), line: 3 },
            E::NotANumber { file: x(), at: x(), column: x(), text: x() },
            E::NotATime { file: x(), at: x(), column: x(), text: x() },
            E::NotFinite { file: x(), at: x(), column: x(), text: x() },
            E::OutsideBins { file: x(), at: x(), column: x(), text: x() },
            E::NegativeWeight { file: x(), at: x(), text: x() },
            E::NoLabel { file: x(), at: x(), column: x() },
            E::BadIndex { file: x(), line: 3, column: x(), text: x() },
            E::NoSuchColumn { file: x(), column: x(), available: x() },
            E::ColumnUsedTwice { file: x(), column: x() },
            mode_count(0),
            mode_count(1),
            mode_count(9),
            E::OtherModes { file: x(), expected: 3, got: 3 },
            E::ArrayModes { file: x(), named: 3, dimensions: 3 },
            E::NoValueColumn { file: x() },
            E::DuplicateCell { file: x(), cell: x(), first: x(), second: x() },
            E::BrokenArchive { file: x(), kind: "x", reason: x() },
            E::Malformed { file: x(), format: "x", reason: x() },
            E::Unsupported { file: x(), what: x(), hint: x() },
            E::Null { file: x(), row: 3, column: x() },
            E::EmptyDelimiter { file: x() },
            E::SeveralArrays { file: x(), available: x() },
            E::NoSuchArray { file: x(), name: x(), available: x() },
            E::InvalidBins { text: x(), reason: "x" },
            E::BinsOfNoMode { file: x(), column: x() },
            E::BinsOfArray { file: x() },
            E::TooManyBins { file: x(), first: 3.0, last: 3.0, width: 3.0 },
            E::BadVocabulary { words: 3 },
            E::TooFewWords { distinct: 3, asked: 3 },
            E::NoWords { files: x() },
            E::NoTriples,
            E::Data { file: x(), source: data },
        ]
    }

    #[test]
    fn settings_are_those_that_the_message_names() {
        for error in every_error() {
            let message = error.to_string();
            let named = message.split('`').skip(1).step_by(2).filter_map(Setting::from_name);
            let mut named: Vec<Setting> = named.collect();
            let mut settings = error.settings();
            named.sort_unstable_by_key(|setting| setting.name());
            settings.sort_unstable_by_key(|setting| setting.name());
            assert_eq!(settings, named, "{message}");
            assert!(!message.contains("--"), "{message}");
        }
    }

    #[test]
    fn columns_that_are_called_like_settings_are_not_settings() {
        let (file, available) = ("x".to_owned(), "`modes`".to_owned());
        let error = ReadError::NoSuchColumn { file, column: "value".to_owned(), available };
        assert_eq!(error.settings(), []);
    }

    #[test]
    fn counts_have_the_right_number() {
        assert_eq!(counts(1, 0), "1 column gives 0 modes:");
        assert_eq!(counts(2, 1), "2 columns give 1 mode:");
    }
}
