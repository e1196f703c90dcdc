//! Word vectors and what they are judged by, as plain text that may be packed as `.gz` or `.zst`.

mod analogies;
mod similarity;
mod vectors;

pub use analogies::{parse_analogies, read_analogies};
pub use similarity::{parse_similarity, read_similarity};
pub use vectors::{parse_vectors, read_vectors};

use std::path::Path;

use crate::error::{ReadError, Result};
use crate::options::{Format, ReadOptions};
use crate::source::Source;

/// A file as text, and the name that messages give it.
fn read_text(path: &Path) -> Result<(String, String)> {
    let options = ReadOptions { format: Some(Format::Delimited), ..ReadOptions::default() };
    let source = Source::open(path, &options)?;
    match std::str::from_utf8(&source.bytes) {
        Ok(text) => Ok((source.name, text.to_owned())),
        Err(error) => {
            let before = &source.bytes[..error.valid_up_to()];
            let line = 1 + memchr::memchr_iter(b'\n', before).count();
            Err(ReadError::NotUtf8 { file: source.name, line })
        }
    }
}

/// The lines that are not empty, with their numbers from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(at, line)| (at + 1, line.trim())).filter(|(_, l)| !l.is_empty())
}

/// The name of a set: that of its file without folder and endings.
fn set_name(file: &str) -> String {
    let name = Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or(file);
    name.split('.').next().unwrap_or(name).to_owned()
}

fn ragged(file: &str, line: usize, expected: usize, got: usize) -> ReadError {
    ReadError::Ragged { file: file.to_owned(), line, expected, got, delimiter: "blanks".to_owned() }
}

fn not_a_number(file: &str, line: usize, column: usize, text: &str) -> ReadError {
    ReadError::NotANumber {
        file: file.to_owned(),
        at: format!("line {line}"),
        column: column.to_string(),
        text: text.to_owned(),
    }
}
