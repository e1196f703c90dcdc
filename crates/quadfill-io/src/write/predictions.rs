//! The rows of a query with a prediction beside each.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use quadfill::write_whole_file;

use super::atomic::{WriteError, write_atomically};
use super::json::write_json_text;
use super::parquet::write_parquet;
use crate::delimited::Delimiter;
use crate::number::{Number, parse_number};
use crate::query::Query;

/// What goes beside the rows of a query.
#[derive(Debug, Clone, Copy)]
pub struct Predictions<'a> {
    /// One per row.
    pub values: &'a [f64],
    /// Half the width of an interval about each, to add columns `lower` and `upper`.
    pub half_widths: Option<&'a [f64]>,
    /// Whether to add a column `unknown`: 1 where the model lacks a label of the row, else 0.
    pub mark_unknown: bool,
}

impl Predictions<'_> {
    /// The bounds of the interval of a row.
    pub(crate) fn interval(&self, row: usize) -> Option<[f64; 2]> {
        let (value, half) = (self.values[row], self.half_widths?[row]);
        Some([value - half, value + half])
    }
}

/// Writes the columns of the query and a column `prediction`.
///
/// The ending of the name chooses: `.parquet`, `.jsonl` or `.ndjson` (one JSON object per line),
/// anything else is delimited text with a header and the delimiter of the query (`.tsv`: tabs; a
/// comma if the query was not text).
///
/// # Panics
/// If there are not as many predictions as rows.
///
/// ```
/// use quadfill::{Labels, Mode};
/// use quadfill_io::{Predictions, QueryValues, ReadOptions, read_query_bytes, write_predictions};
/// let modes = [Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(2))];
/// let text = b"a;b\n0;1\n1;7\n".to_vec();
/// let options = ReadOptions::default();
/// let query = read_query_bytes("q.csv", text, &options, &modes, QueryValues::Ignored)?;
/// # let path = std::env::temp_dir().join(format!("quadfill-predictions-{}.csv", std::process::id()));
/// let predictions = Predictions { values: &[0.5, 0.25], half_widths: None, mark_unknown: true };
/// write_predictions(&path, &query, predictions)?;
/// assert_eq!(
///     std::fs::read_to_string(&path)?,
///     "a;b;prediction;unknown\n0;1;0.5;0\n1;7;0.25;1\n"
/// );
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_predictions(
    path: &Path,
    query: &Query,
    predictions: Predictions<'_>,
) -> Result<(), WriteError> {
    assert_eq!(predictions.values.len(), query.len(), "one prediction per row");
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("parquet") => write_whole_file(path, |file| write_parquet(file, query, predictions))
            .map_err(|source| WriteError { path: path.to_owned(), source }),
        Some("jsonl" | "ndjson") => {
            write_atomically(path, |out| write_json_lines(out, query, predictions))
        }
        Some("tsv") => write_atomically(path, |out| write_text(out, query, predictions, b"\t")),
        _ => {
            let delimiter =
                query.rows.delimiter().map_or_else(|| b",".to_vec(), Delimiter::to_bytes);
            write_atomically(path, |out| write_text(out, query, predictions, &delimiter))
        }
    }
}

fn write_text(
    out: &mut dyn Write,
    query: &Query,
    predictions: Predictions<'_>,
    delimiter: &[u8],
) -> io::Result<()> {
    for name in query.rows.names() {
        write_field(out, name, delimiter)?;
        out.write_all(delimiter)?;
    }
    out.write_all(b"prediction")?;
    if predictions.half_widths.is_some() {
        for name in [&b"lower"[..], b"upper"] {
            out.write_all(delimiter)?;
            out.write_all(name)?;
        }
    }
    if predictions.mark_unknown {
        out.write_all(delimiter)?;
        out.write_all(b"unknown")?;
    }
    out.write_all(b"\n")?;
    let mut row = 0;
    query.rows.for_each(|fields| {
        for field in fields {
            write_field(out, field, delimiter)?;
            out.write_all(delimiter)?;
        }
        write!(out, "{}", predictions.values[row])?;
        for bound in predictions.interval(row).into_iter().flatten() {
            out.write_all(delimiter)?;
            write!(out, "{bound}")?;
        }
        if predictions.mark_unknown {
            out.write_all(delimiter)?;
            write!(out, "{}", u8::from(query.is_unknown(row)))?;
        }
        row += 1;
        out.write_all(b"\n")
    })
}

/// Quotes what would not be read back as one field; only single characters can be quoted around.
fn write_field(out: &mut dyn Write, field: &str, delimiter: &[u8]) -> io::Result<()> {
    let bytes = field.as_bytes();
    let plain = match delimiter {
        [delimiter] => !bytes.iter().any(|b| b == delimiter || matches!(b, b'"' | b'\n' | b'\r')),
        _ => true,
    };
    if plain { out.write_all(bytes) } else { write!(out, "\"{}\"", field.replace('"', "\"\"")) }
}

fn write_json_lines(
    out: &mut dyn Write,
    query: &Query,
    predictions: Predictions<'_>,
) -> io::Result<()> {
    let mut row = 0;
    query.rows.for_each(|fields| {
        out.write_all(b"{")?;
        for (name, field) in query.rows.names().iter().zip(fields) {
            write_json_text(out, name)?;
            out.write_all(b":")?;
            write_json_value(out, field)?;
            out.write_all(b",")?;
        }
        write!(out, "\"prediction\":{}", json_number(predictions.values[row]))?;
        if let Some([lower, upper]) = predictions.interval(row) {
            let (lower, upper) = (json_number(lower), json_number(upper));
            write!(out, ",\"lower\":{lower},\"upper\":{upper}")?;
        }
        if predictions.mark_unknown {
            write!(out, ",\"unknown\":{}", query.is_unknown(row))?;
        }
        row += 1;
        out.write_all(b"}\n")
    })
}

/// Numbers that JSON spells the same way stay numbers, all else is text.
fn write_json_value(out: &mut dyn Write, field: &str) -> io::Result<()> {
    let is_json = |value: f64| format!("{value}") == field;
    match parse_number(field.as_bytes()) {
        Number::Finite(value) if is_json(value) => out.write_all(field.as_bytes()),
        _ => write_json_text(out, field),
    }
}

fn json_number(value: f64) -> Cow<'static, str> {
    if value.is_finite() { Cow::Owned(format!("{value}")) } else { Cow::Borrowed("null") }
}
