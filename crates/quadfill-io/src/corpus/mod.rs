//! Plain text: which words follow one another, and how often.
//!
//! A word is a run of letters, lower-cased: `[a-z]+` in ASCII text, and any Unicode letters elsewhere.
//! Everything else, line ends too, stands between words. A window of three slides over the words of
//! each file, and is counted where all three are among the most frequent words; a word that is not
//! breaks the windows that hold it.
//!
//! The text is read twice, once for the vocabulary and once for the windows, in blocks that are
//! unpacked on one thread while the others work on those before. So memory does not grow with the
//! text: about 60 bytes per distinct word, 32 bytes per distinct triple, both times the number of
//! threads, and 40 MB per thread.

mod blocks;
mod dictionary;
mod runs;
mod triples;
mod words;
mod write;

use std::path::PathBuf;

use crate::error::{ReadError, Result};
use blocks::{BLOCK, for_each_block};
use dictionary::Dictionary;
use runs::KeyCounter;
use words::for_each_word;

pub use triples::{Triple, TripleCounts};
pub use write::{TripleFormat, write_triples};

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CorpusOptions {
    /// How many of the most frequent words take part; of words that are as frequent, those that come
    /// first in the alphabet.
    pub vocabulary: usize,
    /// Whether a window counts for every order of its three words instead of the one in the text.
    pub all_orders: bool,
}

/// Larger vocabularies do not fit the keys of triples.
pub(crate) const MAX_VOCABULARY: usize = 1 << 21;

/// Counts the triples of consecutive words in some files, which may be packed as `.gz` or `.zst`.
///
/// The result does not depend on the number of threads.
///
/// ```
/// use quadfill_io::corpus::{CorpusOptions, count_triples};
/// # let path = std::env::temp_dir().join(format!("quadfill-corpus-{}.txt", std::process::id()));
/// # std::fs::write(&path, "The cat sat. The cat sat, the dog too.")?;
/// let counts = count_triples(&[path.clone()], &CorpusOptions { vocabulary: 3, all_orders: false })?;
/// assert_eq!(counts.words, ["the", "cat", "sat"]);
/// let first = counts.triples().next().expect("one");
/// assert_eq!((first.words, first.count), ([0, 1, 2], 2)); // the cat sat
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn count_triples(files: &[PathBuf], options: &CorpusOptions) -> Result<TripleCounts> {
    count_in_blocks(files, options, BLOCK)
}

fn count_in_blocks(
    files: &[PathBuf],
    options: &CorpusOptions,
    block: usize,
) -> Result<TripleCounts> {
    if options.vocabulary == 0 || options.vocabulary > MAX_VOCABULARY {
        return Err(ReadError::BadVocabulary { words: options.vocabulary });
    }
    let (dictionaries, _) = for_each_block(files, block, Dictionary::default, |seen, text| {
        for_each_word(text, |word| *seen.number_mut(word) += 1);
    })?;
    let seen = Dictionary::sum(dictionaries);
    let distinct_words = seen.len();
    let mut total_words = 0;
    seen.for_each(|_, count| total_words += count);
    if distinct_words < options.vocabulary {
        return Err(too_few_words(files, distinct_words, options.vocabulary));
    }
    let (words, word_counts) = seen.most_frequent(options.vocabulary);

    let ids = Dictionary::of_ids(&words);
    let count = options.vocabulary as u64;
    let (counters, edges) = for_each_block(files, block, KeyCounter::default, |counter, text| {
        let mut edge = Edge::default();
        for_each_word(text, |word| {
            let id = ids.number(word).unwrap_or(OTHER);
            if let Some(key) = edge.slide(id, count) {
                counter.add(sorted_if(options.all_orders, key, count));
            }
        });
        edge
    })?;
    let mut between = KeyCounter::default();
    for keys in Edge::stitch(&edges, count) {
        between.add(sorted_if(options.all_orders, keys, count));
    }
    let mut counts = KeyCounter::merge(counters.into_iter().chain([between]));
    if counts.is_empty() {
        return Err(ReadError::NoTriples);
    }
    if options.all_orders {
        counts = triples::in_all_orders(&counts, count);
    }
    Ok(TripleCounts::new(words, word_counts, total_words, distinct_words, counts))
}

fn too_few_words(files: &[PathBuf], distinct: usize, asked: usize) -> ReadError {
    if distinct > 0 {
        return ReadError::TooFewWords { distinct, asked };
    }
    let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    ReadError::NoWords { files: files.join(", ") }
}

/// Stands for all words outside the vocabulary, and for what is before the first word.
const OTHER: u64 = u64::MAX;

/// The number of a triple of word numbers, rising in the order of the words.
fn key(words: [u64; 3], vocabulary: u64) -> u64 {
    (words[0] * vocabulary + words[1]) * vocabulary + words[2]
}

fn sorted_if(sorted: bool, mut words: [u64; 3], vocabulary: u64) -> u64 {
    if sorted {
        words.sort_unstable();
    }
    key(words, vocabulary)
}

/// The first and the last two words of a block, which make windows with those of its neighbours.
#[derive(Debug, Clone, Copy)]
struct Edge {
    first: [u64; 2],
    last: [u64; 2],
    /// Words of the block, as far as that matters: 0, 1 or 2.
    words: usize,
}

impl Default for Edge {
    fn default() -> Self {
        Self { first: [OTHER; 2], last: [OTHER; 2], words: 0 }
    }
}

impl Edge {
    /// Moves on by one word, and returns the window that it ends, if that counts.
    fn slide(&mut self, id: u64, vocabulary: u64) -> Option<[u64; 3]> {
        if self.words < 2 {
            self.first[self.words] = id;
            self.words += 1;
        }
        let window = [self.last[0], self.last[1], id];
        self.last = [self.last[1], id];
        window.iter().all(|&id| id < vocabulary).then_some(window)
    }

    /// The windows that lie in more than one block of a file.
    fn stitch(blocks: &[(bool, Self)], vocabulary: u64) -> Vec<[u64; 3]> {
        let mut windows = Vec::new();
        let mut before = Self::default();
        for (begins_file, block) in blocks {
            if *begins_file {
                before = Self::default();
            }
            for &id in &block.first[..block.words] {
                windows.extend(before.slide(id, vocabulary));
            }
            if block.words == 2 {
                before.last = block.last;
            }
        }
        windows
    }
}

#[cfg(test)]
mod tests;
