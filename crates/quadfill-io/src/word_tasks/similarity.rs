//! Pairs of words and how similar people find them.

use std::path::Path;

use quadfill::apply::SimilaritySet;

use super::{lines, not_a_number, ragged, read_text, set_name};
use crate::error::{ReadError, Result};

/// Reads pairs from a file; see [`parse_similarity`].
pub fn read_similarity(path: &Path) -> Result<SimilaritySet> {
    let (file, text) = read_text(path)?;
    parse_similarity(&file, &text)
}

/// Reads pairs: two words and a number per line.
///
/// ```
/// let set = quadfill_io::parse_similarity("data/men.txt", "sun\tsunlight\t50.0\n")?;
/// assert_eq!((set.name.as_str(), set.pairs[0].2), ("men", 50.0));
/// # Ok::<(), quadfill_io::ReadError>(())
/// ```
pub fn parse_similarity(file: &str, text: &str) -> Result<SimilaritySet> {
    let mut pairs = Vec::new();
    for (line, content) in lines(text) {
        let fields: Vec<&str> = content.split_whitespace().collect();
        let [first, second, number] = fields[..] else {
            return Err(ragged(file, line, 3, fields.len()));
        };
        match number.parse::<f64>() {
            Ok(value) if value.is_finite() => {
                pairs.push((first.to_owned(), second.to_owned(), value));
            }
            _ => return Err(not_a_number(file, line, 3, number)),
        }
    }
    if pairs.is_empty() {
        return Err(ReadError::Empty { file: file.to_owned() });
    }
    Ok(SimilaritySet { name: set_name(file), pairs })
}
