//! Word pairs with human similarity ratings.

use std::path::Path;

use quadfill::apply::SimilaritySet;
use quadfill_io::{ReadError, read_text};

use super::{Result, lines, ragged, set_name};

/// Reads rated word pairs from a file; see [`parse_similarity`].
pub fn read_similarity(path: &Path) -> Result<SimilaritySet> {
    let (file, text) = read_text(path)?;
    parse_similarity(&file, &text)
}

/// Parses rated word pairs: two words and a number on each line.
///
/// ```
/// let set = quadfill_lab::word_tasks::parse_similarity("data/men.txt", "sun\tsunlight\t50.0\n")?;
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
            _ => {
                return Err(ReadError::NotANumber {
                    file: file.to_owned(),
                    at: format!("line {line}"),
                    column: "3".to_owned(),
                    text: number.to_owned(),
                });
            }
        }
    }
    if pairs.is_empty() {
        return Err(ReadError::Empty { file: file.to_owned() });
    }
    Ok(SimilaritySet { name: set_name(file), pairs })
}
