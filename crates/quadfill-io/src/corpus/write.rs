//! Triples as a table that `read` takes.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use parquet::basic::Type as Physical;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use quadfill::write_whole_file;

use super::triples::{MODES, TripleCounts};
use crate::write::{WriteError, column, write_atomically, write_table};

/// How many fields are handed over at a time.
const BATCH: usize = 1 << 16;

/// The formats of [`write_triples`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TripleFormat {
    /// Tab-separated text with a header.
    Tsv,
    /// Comma-separated text with a header.
    Csv,
    /// Parquet.
    Parquet,
}

impl TripleFormat {
    /// The format that the ending of a name asks for.
    ///
    /// ```
    /// use quadfill_io::corpus::TripleFormat;
    /// assert_eq!(TripleFormat::of_name("triples.tsv".as_ref()), Some(TripleFormat::Tsv));
    /// assert_eq!(TripleFormat::of_name("triples.npy".as_ref()), None);
    /// ```
    pub fn of_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "tsv" => Some(Self::Tsv),
            "csv" => Some(Self::Csv),
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }
}

/// Writes triples with the columns `word1`, `word2`, `word3` and `count`, or with `log_count`, the
/// logarithm of 1 plus the count, instead of the last.
///
/// # Errors
/// If the system cannot write, or the ending is none of [`TripleFormat::of_name`].
///
/// ```
/// use quadfill_io::corpus::{CorpusOptions, count_triples, write_triples};
/// # let folder = std::env::temp_dir().join(format!("quadfill-triples-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let (text, table) = (folder.join("text.txt"), folder.join("triples.csv"));
/// # std::fs::write(&text, "so so so so")?;
/// let counts = count_triples(&[text], &CorpusOptions { vocabulary: 1, all_orders: false })?;
/// write_triples(&table, &counts, false)?;
/// assert_eq!(std::fs::read_to_string(&table)?, "word1,word2,word3,count\nso,so,so,2\n");
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_triples(path: &Path, counts: &TripleCounts, log: bool) -> Result<(), WriteError> {
    let refuse = |source: io::Error| WriteError { path: path.to_owned(), source };
    match TripleFormat::of_name(path) {
        Some(TripleFormat::Tsv) => {
            write_atomically(path, |out| write_text(out, counts, log, b'\t'))
        }
        Some(TripleFormat::Csv) => write_atomically(path, |out| write_text(out, counts, log, b',')),
        Some(TripleFormat::Parquet) => write_whole_file(path, |file| {
            write_parquet(file, counts, log).map_err(io::Error::other)
        })
        .map_err(refuse),
        None => Err(refuse(io::Error::other(
            "the ending is not that of a format for triples: use .tsv, .csv or .parquet",
        ))),
    }
}

fn value_name(log: bool) -> &'static str {
    if log { "log_count" } else { "count" }
}

/// Words are letters only, so nothing needs quotes.
fn write_text(
    out: &mut dyn Write,
    counts: &TripleCounts,
    log: bool,
    separator: u8,
) -> io::Result<()> {
    let mut line = Vec::new();
    for name in MODES {
        line.extend_from_slice(name.as_bytes());
        line.push(separator);
    }
    writeln!(line, "{}", value_name(log))?;
    out.write_all(&line)?;
    for triple in counts.triples() {
        line.clear();
        for word in triple.words {
            line.extend_from_slice(counts.words[word as usize].as_bytes());
            line.push(separator);
        }
        if log {
            writeln!(line, "{}", (triple.count as f64).ln_1p())?;
        } else {
            writeln!(line, "{}", triple.count)?;
        }
        out.write_all(&line)?;
    }
    Ok(())
}

fn write_parquet(file: &mut File, counts: &TripleCounts, log: bool) -> Result<(), ParquetError> {
    let mut columns = Vec::new();
    for name in MODES {
        columns.push(column(name, Physical::BYTE_ARRAY)?);
    }
    let kind = if log { Physical::DOUBLE } else { Physical::INT64 };
    columns.push(column(value_name(log), kind)?);
    let words: Vec<ByteArray> =
        counts.words.iter().map(|word| ByteArray::from(word.as_str())).collect();
    let values: Vec<u64> = counts.triples().map(|triple| triple.count).collect();
    write_table(file, "triples", columns, |position, column| {
        if position < MODES.len() {
            let labels: Vec<u32> = counts.triples().map(|triple| triple.words[position]).collect();
            for batch in labels.chunks(BATCH) {
                let fields: Vec<ByteArray> =
                    batch.iter().map(|&word| words[word as usize].clone()).collect();
                column.typed::<ByteArrayType>().write_batch(&fields, None, None)?;
            }
            return Ok(());
        }
        for batch in values.chunks(BATCH) {
            if log {
                let fields: Vec<f64> = batch.iter().map(|&count| (count as f64).ln_1p()).collect();
                column.typed::<DoubleType>().write_batch(&fields, None, None)?;
            } else {
                let fields: Vec<i64> = batch.iter().map(|&count| count as i64).collect();
                column.typed::<Int64Type>().write_batch(&fields, None, None)?;
            }
        }
        Ok(())
    })
}
