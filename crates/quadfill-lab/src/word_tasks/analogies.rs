//! Analogy questions of four words.

use std::path::Path;

use quadfill::apply::AnalogySection;
use quadfill_io::{ReadError, read_text};

use super::{Result, lines, ragged, set_name};

/// Reads analogy questions from a file; see [`parse_analogies`].
pub fn read_analogies(path: &Path) -> Result<Vec<AnalogySection>> {
    let (file, text) = read_text(path)?;
    parse_analogies(&file, &text)
}

/// Parses analogy questions: four words on each line, in sections that start with `: name`. Questions
/// before the first section go into one named after the file.
///
/// ```
/// let text = ": family\nboy girl king queen\n";
/// let sections = quadfill_lab::word_tasks::parse_analogies("google.txt", text)?;
/// assert_eq!(sections[0].name, "family");
/// assert_eq!(sections[0].questions[0][3], "queen");
/// # Ok::<(), quadfill_io::ReadError>(())
/// ```
pub fn parse_analogies(file: &str, text: &str) -> Result<Vec<AnalogySection>> {
    let mut sections: Vec<AnalogySection> = Vec::new();
    let begin = |name: &str| AnalogySection { name: name.to_owned(), questions: Vec::new() };
    for (line, content) in lines(text) {
        if let Some(name) = content.strip_prefix(':') {
            sections.push(begin(name.trim()));
            continue;
        }
        let words: Vec<String> = content.split_whitespace().map(str::to_owned).collect();
        let question =
            <[String; 4]>::try_from(words).map_err(|words| ragged(file, line, 4, words.len()))?;
        if sections.is_empty() {
            sections.push(begin(&set_name(file)));
        }
        if let Some(section) = sections.last_mut() {
            section.questions.push(question);
        }
    }
    if sections.iter().all(|section| section.questions.is_empty()) {
        return Err(ReadError::Empty { file: file.to_owned() });
    }
    Ok(sections)
}
