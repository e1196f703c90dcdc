//! Word vectors in the text format of word2vec.

use std::path::Path;

use quadfill::apply::Embeddings;
use quadfill::observations::{Labels, TextLabels};

use crate::error::{ReadError, Result};
use crate::text::read_text;

/// Reads vectors from a file, or from standard input for `-`: a word and its components on each line,
/// with or without a header line that gives the number of words and components.
///
/// Vectors are normalised to unit length; if a word occurs more than once, its first vector is used.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("quadfill-vectors-{}.vec", std::process::id()));
/// # std::fs::write(&path, "2 2\nup 0 2\ndown 0 -1\n")?;
/// let vectors = quadfill_io::read_vectors(&path)?;
/// assert_eq!(vectors.vector(0), [0.0, 1.0]);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_vectors(path: impl AsRef<Path>) -> Result<Embeddings> {
    let (file, text) = read_text(path.as_ref())?;
    parse_vectors(&file, &text)
}

fn parse_vectors(file: &str, text: &str) -> Result<Embeddings> {
    let mut words = TextLabels::default();
    let mut numbers = Vec::new();
    let mut width = None;
    for (index, content) in text.lines().enumerate() {
        let line = index + 1;
        let fields: Vec<&str> = content.split_whitespace().collect();
        if fields.is_empty() {
            continue;
        }
        if line == 1 && fields.len() == 2 && fields.iter().all(|f| f.parse::<usize>().is_ok()) {
            continue;
        }
        let expected = *width.get_or_insert(fields.len());
        if fields.len() != expected || expected < 2 {
            return Err(ReadError::Ragged {
                file: file.to_owned(),
                line,
                expected: expected.max(2),
                got: fields.len(),
                delimiter: "blanks".to_owned(),
            });
        }
        if words.find(fields[0]).is_some() {
            continue;
        }
        words.intern(fields[0]);
        for (at, field) in fields.iter().enumerate().skip(1) {
            match field.parse::<f64>() {
                Ok(number) if number.is_finite() => numbers.push(number),
                _ => {
                    return Err(ReadError::NotANumber {
                        file: file.to_owned(),
                        at: format!("line {line}"),
                        column: (at + 1).to_string(),
                        text: (*field).to_owned(),
                    });
                }
            }
        }
    }
    let Some(width) = width else {
        return Err(ReadError::Empty { file: file.to_owned() });
    };
    Embeddings::new(Labels::Text(words), width - 1, numbers)
        .map_err(|source| ReadError::Data { file: file.to_owned(), source })
}
