//! `quadfill words`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::values;

/// Count consecutive words, and evaluate the vectors learned from them
///
/// From a text to word vectors: count, fit, export, evaluate.
#[derive(Debug, Args)]
#[command(
    after_help = "\
Examples:
  quadfill words count text.txt.zst -o triples.parquet --log
  quadfill fit triples.parquet -o words --rank 100 --solver als --penalty 1e-6
  quadfill export words --all-modes -o words.vec
  quadfill words evaluate words --analogies google.txt --similarity men.txt",
    disable_help_subcommand = true
)]
pub(crate) struct WordsFlags {
    #[command(subcommand)]
    pub(crate) command: WordsCommand,
}

/// What to do with words.
#[derive(Debug, Subcommand)]
pub(crate) enum WordsCommand {
    Count(WordsCountFlags),
    Evaluate(WordsEvaluateFlags),
}

/// Count the triples of consecutive words in texts
///
/// A word is a run of letters, lower-cased; everything else separates words. A window of three
/// slides over the words of each file, and counts where all three are in the vocabulary; other words
/// break it. Texts are read twice, and memory grows with the number of different words and triples only.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  quadfill words count wiki.txt.zst -o triples.tsv
  quadfill words count a.txt b.txt.gz -o triples.parquet --vocabulary 10000 --all-orders --log")]
pub(crate) struct WordsCountFlags {
    /// Plain texts, which may be compressed as .gz or .zst
    #[arg(value_name = "CORPUS", required = true)]
    pub(crate) corpus: Vec<PathBuf>,
    /// The file to write, .tsv, .csv or .parquet, with the columns word1, word2, word3 and count
    #[arg(short, long, value_name = "TRIPLES")]
    pub(crate) output: PathBuf,
    /// Size of the vocabulary: this many of the most frequent words
    #[arg(long, value_name = "V", default_value = "2000", value_parser = values::count, allow_negative_numbers = true)]
    pub(crate) vocabulary: usize,
    /// Count a window for every order of its three words
    #[arg(long)]
    pub(crate) all_orders: bool,
    /// Write the logarithm of 1 plus the count, which is easier to fit, as the column `log_count`
    #[arg(long)]
    pub(crate) log: bool,
}

/// Evaluate word vectors by analogies and similarities
///
/// The vectors of a model are those that `export --all-modes` writes. An analogy a : b = c : d is
/// answered with the word whose vector is closest to b - a + c, other than a, b and c. Similarities are
/// compared with human ratings by Spearman's rank correlation. Questions with words that have
/// no vector are skipped and counted.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  quadfill words evaluate model --analogies google.txt msr.txt --similarity wordsim.txt men.txt
  quadfill words evaluate glove.txt --similarity simlex.txt --json")]
pub(crate) struct WordsEvaluateFlags {
    /// A model, or vectors in the word2vec text format
    pub(crate) vectors: PathBuf,
    /// Files of questions: four words per line, in sections that begin with `: name`
    #[arg(long, value_name = "FILE", num_args = 1.., required_unless_present = "similarity")]
    pub(crate) analogies: Vec<PathBuf>,
    /// Files of pairs: two words and a number per line
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) similarity: Vec<PathBuf>,
}
