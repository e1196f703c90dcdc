//! What can go wrong with what a user hands in. Broken internal contracts panic instead.

use std::path::PathBuf;

/// The result of anything that looks at user input.
pub type Result<T> = std::result::Result<T, Error>;

/// An input that cannot be used, with the numbers that say why.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No observation at all.
    #[error("there are no observations: give at least one row with a value")]
    Empty,
    /// Fewer than 2 or more than 8 modes.
    #[error("the data have {got} modes: Quadfill works with 2 to 8")]
    ModeCount {
        /// How many modes there were.
        got: usize,
    },
    /// More than 32-bit positions can count.
    #[error("the data have {got} observations: Quadfill works with at most 4,294,967,295")]
    TooMany {
        /// How many observations there were.
        got: usize,
    },
    /// Columns of different lengths.
    #[error("column {column} has {got} entries where {expected} were expected")]
    ColumnLength {
        /// Which column.
        column: String,
        /// The length of the values column.
        expected: usize,
        /// Its own length.
        got: usize,
    },
    /// An index at or past the number of labels.
    #[error("row {row}: index {index} of mode `{mode}` is past its {labels} labels")]
    IndexOutOfRange {
        /// 0-based observation.
        row: usize,
        /// Name of the mode.
        mode: String,
        /// The offending index.
        index: u32,
        /// How many labels the mode has.
        labels: usize,
    },
    /// A value that is not a finite number.
    #[error("row {row}: the value is {value}: values must be finite numbers")]
    NotFinite {
        /// 0-based observation.
        row: usize,
        /// The value.
        value: f64,
    },
    /// A weight that is negative or not finite.
    #[error("row {row}: the weight is {weight}: weights must be finite and not negative")]
    BadWeight {
        /// 0-based observation.
        row: usize,
        /// The weight.
        weight: f64,
    },
    /// The same cell twice while duplicates are errors.
    #[error(
        "cell ({cell}) is given more than once: choose what to do with --on-duplicate mean, last or sum"
    )]
    DuplicateCell {
        /// The labels of the cell, separated by commas.
        cell: String,
        /// 0-based observation that had it first.
        first: usize,
        /// 0-based observation that repeats it.
        second: usize,
    },
    /// A setting that makes no sense, in words.
    #[error("{0}")]
    Setting(String),
    /// A model file that cannot be read.
    #[error("{}: {reason}", path.display())]
    ModelFile {
        /// The file.
        path: PathBuf,
        /// What is wrong and what to do.
        reason: String,
    },
    /// The operating system said no.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}
