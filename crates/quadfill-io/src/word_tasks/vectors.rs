//! Word vectors in the text form of word2vec.

use std::path::Path;

use quadfill::apply::Embeddings;
use quadfill::observations::{Labels, TextLabels};

use super::{lines, not_a_number, ragged, read_text};
use crate::error::{ReadError, Result};

/// Reads vectors from a file; see [`parse_vectors`].
pub fn read_vectors(path: &Path) -> Result<Embeddings> {
    let (file, text) = read_text(path)?;
    parse_vectors(&file, &text)
}

/// Reads vectors: a word and its numbers per line, with or without a first line that tells how many
/// words and numbers there are. They are brought to unit length; of a word that is there twice, the first
/// vector counts.
///
/// ```
/// let vectors = quadfill_io::parse_vectors("words.vec", "2 2\nup 0 2\ndown 0 -1\n")?;
/// assert_eq!(vectors.vector(0), [0.0, 1.0]);
/// # Ok::<(), quadfill_io::ReadError>(())
/// ```
pub fn parse_vectors(file: &str, text: &str) -> Result<Embeddings> {
    let mut words = TextLabels::default();
    let mut numbers = Vec::new();
    let mut width = None;
    for (line, content) in lines(text) {
        let fields: Vec<&str> = content.split_whitespace().collect();
        if line == 1 && fields.len() == 2 && fields.iter().all(|f| f.parse::<usize>().is_ok()) {
            continue;
        }
        let expected = *width.get_or_insert(fields.len());
        if fields.len() != expected || expected < 2 {
            return Err(ragged(file, line, expected.max(2), fields.len()));
        }
        if words.find(fields[0]).is_some() {
            continue;
        }
        words.intern(fields[0]);
        for (at, field) in fields.iter().enumerate().skip(1) {
            match field.parse::<f64>() {
                Ok(number) if number.is_finite() => numbers.push(number),
                _ => return Err(not_a_number(file, line, at + 1, field)),
            }
        }
    }
    let Some(width) = width else {
        return Err(ReadError::Empty { file: file.to_owned() });
    };
    Embeddings::new(Labels::Text(words), width - 1, numbers)
        .map_err(|source| ReadError::Data { file: file.to_owned(), source })
}
