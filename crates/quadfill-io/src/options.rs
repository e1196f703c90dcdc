//! What a caller can say about a file before it is read.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use quadfill::OnDuplicate;
use quadfill::observations::{ColumnPositions, Source};

use crate::bins::BinSpec;
use crate::error::ReadError;

/// How the bytes of a file are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Rows of text with a delimiter: CSV, TSV, `::` and the like.
    Delimited,
    /// FROSTT: 1-based indices and a value, separated by blanks.
    Tns,
    /// One array of `NumPy`.
    Npy,
    /// Several arrays of `NumPy` in a zip archive.
    Npz,
    /// Apache Parquet.
    Parquet,
    /// MATLAB version 5.
    Mat,
}

impl FromStr for Format {
    type Err = ReadError;

    /// ```
    /// use quadfill_io::Format;
    /// assert_eq!("tns".parse::<Format>()?, Format::Tns);
    /// assert!("xlsx".parse::<Format>().is_err());
    /// # Ok::<(), quadfill_io::ReadError>(())
    /// ```
    fn from_str(name: &str) -> Result<Self, ReadError> {
        match name {
            "delimited" | "csv" | "tsv" => Ok(Self::Delimited),
            "tns" => Ok(Self::Tns),
            "npy" => Ok(Self::Npy),
            "npz" => Ok(Self::Npz),
            "parquet" => Ok(Self::Parquet),
            "mat" => Ok(Self::Mat),
            _ => Err(ReadError::UnknownFormat { name: name.to_owned() }),
        }
    }
}

impl Format {
    /// The format that a file name promises, `.gz` and `.zst` aside; names without an ending are
    /// delimited text. `Err` holds an ending that is not known.
    pub(crate) fn of_name(path: &Path) -> Result<Self, String> {
        let ending = |path: &Path| {
            path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase())
        };
        let inner = match ending(path).as_deref() {
            Some("gz" | "zst") => path.file_stem().map(PathBuf::from).unwrap_or_default(),
            _ => path.to_owned(),
        };
        match ending(&inner).as_deref() {
            None | Some("csv" | "tsv" | "txt" | "dat" | "data" | "tab" | "psv" | "text") => {
                Ok(Self::Delimited)
            }
            Some("tns") => Ok(Self::Tns),
            Some("npy") => Ok(Self::Npy),
            Some("npz") => Ok(Self::Npz),
            Some("parquet" | "pq") => Ok(Self::Parquet),
            Some("mat") => Ok(Self::Mat),
            Some(other) => Err(other.to_owned()),
        }
    }

    /// The format asked for, or the one that a name promises.
    pub(crate) fn for_name(name: &str, options: &ReadOptions) -> Result<Self, ReadError> {
        match options.format {
            Some(format) => Ok(format),
            None => Self::of_name(Path::new(name))
                .map_err(|ending| ReadError::UnknownEnding { file: name.to_owned(), ending }),
        }
    }

    /// The format that the first bytes show; text unless a binary mark is there.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        match bytes {
            [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Self::Npy,
            [b'P', b'K', 3 | 5, 4 | 6, ..] => Self::Npz,
            [b'P', b'A', b'R', b'1', ..] => Self::Parquet,
            _ if bytes.starts_with(b"MATLAB ") => Self::Mat,
            _ => Self::Delimited,
        }
    }
}

/// A column by its name, or by its number from 1.
///
/// A text that is all digits is a number, unless a header has that very name.
///
/// ```
/// use quadfill_io::ColumnRef;
/// assert_eq!(ColumnRef::from("3").number(), Some(3));
/// assert_eq!(ColumnRef::from("rating").number(), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnRef(String);

impl ColumnRef {
    /// The text as it was given.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The number it spells, if it is all digits.
    pub fn number(&self) -> Option<usize> {
        if self.0.bytes().all(|byte| byte.is_ascii_digit()) { self.0.parse().ok() } else { None }
    }
}

impl From<&str> for ColumnRef {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for ColumnRef {
    fn from(text: String) -> Self {
        Self(text)
    }
}

/// How to read a file; everything left at its default is detected from the file.
///
/// ```
/// use quadfill_io::{ReadOptions, read_bytes};
/// let text = b"user,film,stars\nann,Heat,4\nbob,Heat,5\n";
/// let options = ReadOptions { value: Some("stars".into()), ..ReadOptions::default() };
/// let data = read_bytes("films.csv", text, &options)?;
/// assert_eq!(data.sizes(), vec![2, 1]);
/// # Ok::<(), quadfill_io::ReadError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The format; by the ending of the file's name if not given.
    pub format: Option<Format>,
    /// What separates fields: any text, or `tab`, `\t`, `space` or `whitespace` (runs of blanks).
    /// Detected among tab, `,` `;` `|` `::` and blanks if not given.
    pub delimiter: Option<String>,
    /// Whether the first row holds names; by default it does if its value field is neither a
    /// number nor a date.
    pub header: Option<bool>,
    /// The columns that are modes, in order; all but value and weight by default, and without a column
    /// of numbers that is called a weight. Times are cut into bins, see [`bins`](Self::bins).
    pub modes: Option<Vec<ColumnRef>>,
    /// The column of the values. By default one that is called so (`rating`, `score`, `count` and the
    /// like), or else the last one that is not a mode. Times and identifiers are passed over where there is
    /// another column of numbers; [`ColumnRoles`](crate::ColumnRoles) tells which one was taken.
    pub value: Option<ColumnRef>,
    /// For queries without names, where the columns of the model stood: used for modes and values
    /// that are not asked for, if the query has that many columns.
    pub positions: Option<ColumnPositions>,
    /// Rows have no value: each one says that its cell was seen, and counts 1.
    pub values_are_ones: bool,
    /// The column of the weights; none by default.
    pub weight: Option<ColumnRef>,
    /// Columns of times that are cut into bins. Other columns that have the name and the fields of times
    /// (numbers of seconds or milliseconds since 1970, or dates) are cut into bins that suit their span, unless
    /// `modes` lists them and their times come up often enough to be labels.
    pub bins: Vec<BinSpec>,
    /// What to do when a cell is given more than once.
    pub on_duplicate: OnDuplicate,
    /// An `.npy` array of the same shape as a dense one: cells where it is zero are missing.
    pub mask: Option<PathBuf>,
    /// Cells of a dense array with this value are missing, as those that are NaN always are.
    pub missing: Option<f64>,
    /// The variable of a `.mat` file; the only numeric array by default.
    pub variable: Option<String>,
}

impl ReadOptions {
    /// The same with the positions of columns that a model knows, where none are given.
    pub(crate) fn with_positions_of(&self, source: &Source) -> Self {
        let positions = self.positions.as_ref().or(source.positions.as_ref()).cloned();
        Self { positions, ..self.clone() }
    }
}
