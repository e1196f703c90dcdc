//! The rows of a factor matrix for other programs.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use parquet::basic::Type as Physical;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use quadfill::{Labels, write_whole_file};

use super::atomic::{WriteError, write_atomically};
use super::npy::write_npy;
use super::parquet_table::{column, write_table};

/// Labelled vectors of the same length.
#[derive(Debug, Clone, Copy)]
pub struct Vectors<'a> {
    /// What the labels are labels of.
    pub name: &'a str,
    /// One per vector.
    pub labels: &'a Labels,
    /// One name per entry of a vector.
    pub columns: &'a [String],
    /// The vectors, one after the other.
    pub numbers: &'a [f64],
}

/// The formats of [`write_vectors`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VectorFormat {
    /// A matrix of 64-bit numbers as `.npy`; the labels go into a text file beside it, one per line.
    Npy,
    /// Delimited text with a header.
    Csv,
    /// Parquet, one column per entry.
    Parquet,
    /// The text form of word2vec: a line with count and length, then a label and its vector per
    /// line. Blanks in labels become `_`.
    Word2vec,
}

impl VectorFormat {
    /// The format that the ending of a name asks for: `.npy`, `.csv`, `.parquet`, or `.vec` and
    /// `.txt` for word2vec.
    ///
    /// ```
    /// use quadfill_io::VectorFormat;
    /// assert_eq!(VectorFormat::of_name("films.vec".as_ref()), Some(VectorFormat::Word2vec));
    /// assert_eq!(VectorFormat::of_name("films.pdf".as_ref()), None);
    /// ```
    pub fn of_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "npy" => Some(Self::Npy),
            "csv" => Some(Self::Csv),
            "parquet" => Some(Self::Parquet),
            "vec" | "txt" => Some(Self::Word2vec),
            _ => None,
        }
    }
}

/// Writes vectors in the format that the ending of the name asks for.
///
/// # Errors
/// If the system cannot write, or the ending is none of [`VectorFormat::of_name`].
///
/// ```
/// use quadfill::{Labels, write_whole_file};
/// use quadfill_io::{Vectors, write_vectors};
/// # let path = std::env::temp_dir().join(format!("quadfill-vectors-{}.vec", std::process::id()));
/// let labels = Labels::from_names(["Heat", "Up in the Air"]);
/// let columns = ["v1".to_owned(), "v2".to_owned()];
/// let numbers = [1.0, 0.5, -2.0, 0.25];
/// let films = Vectors { name: "film", labels: &labels, columns: &columns, numbers: &numbers };
/// write_vectors(&path, films)?;
/// assert_eq!(std::fs::read_to_string(&path)?, "2 2\nHeat 1 0.5\nUp_in_the_Air -2 0.25\n");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_vectors(path: &Path, vectors: Vectors<'_>) -> Result<(), WriteError> {
    let refuse = |source: io::Error| WriteError { path: path.to_owned(), source };
    match VectorFormat::of_name(path) {
        Some(VectorFormat::Npy) => {
            let labels = path.with_extension("labels.txt");
            write_atomically(&labels, |out| {
                for label in vectors.names() {
                    writeln!(out, "{}", label.replace(['\n', '\r'], " "))?;
                }
                Ok(())
            })?;
            let shape = [vectors.labels.len(), vectors.columns.len()];
            write_npy(path, &shape, vectors.numbers.iter().copied())
                .inspect_err(|_| drop(std::fs::remove_file(&labels)))
        }
        Some(VectorFormat::Csv) => write_atomically(path, |out| vectors.write_csv(out)),
        Some(VectorFormat::Word2vec) => write_atomically(path, |out| vectors.write_word2vec(out)),
        Some(VectorFormat::Parquet) => {
            write_whole_file(path, |file| vectors.write_parquet(file).map_err(io::Error::other))
                .map_err(refuse)
        }
        None => Err(refuse(io::Error::other(
            "the ending is not that of a format for vectors: use .npy, .csv, .parquet or .vec",
        ))),
    }
}

impl Vectors<'_> {
    fn names(&self) -> impl Iterator<Item = Cow<'_, str>> {
        (0..self.labels.len()).map(|label| self.labels.name(label))
    }

    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.numbers.chunks_exact(self.columns.len().max(1))
    }

    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = csv::Writer::from_writer(out);
        let header = std::iter::once(self.name).chain(self.columns.iter().map(String::as_str));
        out.write_record(header)?;
        for (label, row) in self.names().zip(self.rows()) {
            let numbers = row.iter().map(f64::to_string);
            out.write_record(std::iter::once(label.into_owned()).chain(numbers))?;
        }
        out.flush()
    }

    fn write_word2vec(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{} {}", self.labels.len(), self.columns.len())?;
        for (label, row) in self.names().zip(self.rows()) {
            write!(out, "{}", label.replace(char::is_whitespace, "_"))?;
            for number in row {
                write!(out, " {number}")?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    fn write_parquet(&self, file: &mut File) -> Result<(), ParquetError> {
        let mut fields = vec![match self.labels {
            Labels::Integers(_) => column(self.name, Physical::INT64)?,
            Labels::Text(_) => column(self.name, Physical::BYTE_ARRAY)?,
        }];
        for name in self.columns {
            fields.push(column(name, Physical::DOUBLE)?);
        }
        write_table(file, "vectors", fields, |position, column| {
            if position == 0 {
                match self.labels {
                    Labels::Integers(labels) => {
                        column.typed::<Int64Type>().write_batch(labels, None, None)?;
                    }
                    Labels::Text(_) => {
                        let labels: Vec<ByteArray> =
                            self.names().map(|label| ByteArray::from(&*label)).collect();
                        column.typed::<ByteArrayType>().write_batch(&labels, None, None)?;
                    }
                }
            } else {
                let entries: Vec<f64> = self.rows().map(|row| row[position - 1]).collect();
                column.typed::<DoubleType>().write_batch(&entries, None, None)?;
            }
            Ok(())
        })
    }
}
