//! What was counted.

use quadfill::{Labels, Mode, Observations, OnDuplicate};
use rayon::prelude::*;

use super::key;
use super::runs::Run;

/// Three words, by their positions in the vocabulary, and how often they follow one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Triple {
    /// First, second and third word.
    pub words: [u32; 3],
    /// How many windows hold them.
    pub count: u64,
}

/// The names of the three modes.
pub(super) const MODES: [&str; 3] = ["word1", "word2", "word3"];

/// A vocabulary and the triples of its words that were found.
#[derive(Debug, Clone)]
pub struct TripleCounts {
    /// The vocabulary, the most frequent word first.
    pub words: Vec<String>,
    /// How often each word of the vocabulary occurs.
    pub word_counts: Vec<u64>,
    /// All words of the text.
    pub total_words: u64,
    /// How many of them are different.
    pub distinct_words: usize,
    counts: Run,
}

impl TripleCounts {
    pub(super) fn new(
        words: Vec<String>,
        word_counts: Vec<u64>,
        total_words: u64,
        distinct_words: usize,
        counts: Run,
    ) -> Self {
        Self { words, word_counts, total_words, distinct_words, counts }
    }

    /// How many different triples there are.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there is none, which [`count_triples`](super::count_triples) refuses.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// All windows that were counted, once for each order that they count for.
    pub fn windows(&self) -> u64 {
        self.counts.iter().map(|&(_, count)| count).sum()
    }

    /// The triples in the order of their words in the vocabulary.
    pub fn triples(&self) -> impl Iterator<Item = Triple> + '_ {
        let vocabulary = self.words.len() as u64;
        self.counts
            .iter()
            .map(move |&(key, count)| Triple { words: words_of(key, vocabulary), count })
    }

    /// The triples as cells of a tensor with the vocabulary in all three modes, each with the value
    /// that `value` makes of its count.
    ///
    /// ```
    /// # use quadfill_io::corpus::{CorpusOptions, count_triples};
    /// # let path = std::env::temp_dir().join(format!("quadfill-cells-{}.txt", std::process::id()));
    /// # std::fs::write(&path, "to be or not to be")?;
    /// # let options = CorpusOptions { vocabulary: 4, all_orders: false };
    /// # let counts = count_triples(&[path.clone()], &options)?;
    /// let cells = counts.observations(|count| (count as f64).ln_1p())?;
    /// assert_eq!((cells.sizes(), cells.len()), (vec![4, 4, 4], 4));
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn observations(&self, value: impl Fn(u64) -> f64) -> quadfill::Result<Observations> {
        let labels = Labels::from_names(&self.words);
        let modes = MODES.iter().map(|name| Mode::new(*name, labels.clone())).collect();
        let columns =
            (0..3).map(|mode| self.triples().map(|triple| triple.words[mode]).collect()).collect();
        let values = self.triples().map(|triple| value(triple.count)).collect();
        Observations::new(modes, columns, values, None, OnDuplicate::Error)
    }
}

fn words_of(key: u64, vocabulary: u64) -> [u32; 3] {
    let (rest, third) = (key / vocabulary, key % vocabulary);
    [(rest / vocabulary) as u32, (rest % vocabulary) as u32, third as u32]
}

/// Every order of triples that are given with their words sorted. An order that is the same as another
/// one, because a word stands there twice, counts once.
pub(super) fn in_all_orders(counts: &[(u64, u64)], vocabulary: u64) -> Run {
    const ORDERS: [[usize; 3]; 6] =
        [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let mut all: Run = counts
        .par_iter()
        .flat_map_iter(|&(sorted, count)| {
            let words = words_of(sorted, vocabulary).map(u64::from);
            let mut keys = ORDERS.map(|order| key(order.map(|at| words[at]), vocabulary));
            keys.sort_unstable();
            let is_new = move |at: &usize| *at == 0 || keys[*at] != keys[*at - 1];
            (0..6).filter(is_new).map(move |at| (keys[at], count))
        })
        .collect();
    all.par_sort_unstable();
    all
}
