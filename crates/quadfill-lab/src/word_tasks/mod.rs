//! Analogy questions and similarity ratings that word vectors are evaluated on, as plain text that may be
//! compressed as `.gz` or `.zst`.

mod analogies;
mod similarity;

pub use analogies::{parse_analogies, read_analogies};
pub use similarity::{parse_similarity, read_similarity};

use std::path::Path;

use quadfill_io::{ReadError, Result};

/// The non-empty lines, with their numbers from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(at, line)| (at + 1, line.trim())).filter(|(_, l)| !l.is_empty())
}

/// The name of a set: the name of its file without folder and extensions.
fn set_name(file: &str) -> String {
    let name = Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or(file);
    name.split('.').next().unwrap_or(name).to_owned()
}

fn ragged(file: &str, line: usize, expected: usize, got: usize) -> ReadError {
    ReadError::Ragged { file: file.to_owned(), line, expected, got, delimiter: "blanks".to_owned() }
}
