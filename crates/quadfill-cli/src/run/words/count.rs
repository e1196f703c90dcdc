//! Counts triples of consecutive words.

use std::path::PathBuf;

use anyhow::{Result, bail};
use quadfill_io::corpus::{CorpusOptions, TripleFormat, count_triples, write_triples};
use serde::Serialize;

use crate::clock::Clock;
use crate::flags::WordsCountFlags;
use crate::output::Output;
use crate::report::{Lines, grouped, number};
use crate::{interrupt, paths};

#[derive(Debug, Serialize)]
struct CountReport {
    output: PathBuf,
    words: u64,
    distinct_words: usize,
    vocabulary: usize,
    /// The share of all words that are in the vocabulary.
    coverage: f64,
    triples: usize,
    windows: u64,
    all_orders: bool,
    /// Seconds to count, without writing the file.
    count_seconds: f64,
    words_per_second: f64,
    seconds: f64,
    cpu_seconds: Option<f64>,
}

pub(super) fn run(flags: &WordsCountFlags, output: Output) -> Result<()> {
    if TripleFormat::of_name(&flags.output).is_none() {
        bail!(
            "{}: triples are written as .tsv, .csv or .parquet: choose one of these endings",
            flags.output.display()
        );
    }
    paths::check_file(&flags.output)?;
    for file in &flags.corpus {
        if file.as_os_str() == "-" {
            bail!("a corpus is read twice, standard input only once: name a file");
        }
        paths::check_input(file)?;
    }
    let clock = Clock::start();
    let options = CorpusOptions { vocabulary: flags.vocabulary, all_orders: flags.all_orders };
    let counts = count_triples(&flags.corpus, &options)?;
    let count_seconds = clock.seconds();
    let whole = interrupt::writing();
    write_triples(&flags.output, &counts, flags.log)?;
    drop(whole);
    let known: u64 = counts.word_counts.iter().sum();
    let report = CountReport {
        output: flags.output.clone(),
        words: counts.total_words,
        distinct_words: counts.distinct_words,
        vocabulary: counts.words.len(),
        coverage: known as f64 / counts.total_words as f64,
        triples: counts.len(),
        windows: counts.windows(),
        all_orders: flags.all_orders,
        count_seconds,
        words_per_second: counts.total_words as f64 / count_seconds,
        seconds: clock.seconds(),
        cpu_seconds: clock.cpu_seconds(),
    };
    output.outcome(report.text(), &report)
}

impl CountReport {
    fn text(&self) -> Lines {
        let mut lines = Lines::default();
        lines.add(
            "words",
            format!("{}, {} different", grouped(self.words as usize), grouped(self.distinct_words)),
        );
        lines.add(
            "vocabulary",
            format!(
                "{} words, {} % of the text",
                grouped(self.vocabulary),
                number(100.0 * self.coverage)
            ),
        );
        lines.add(
            "triples",
            format!(
                "{} from {} windows -> {}",
                grouped(self.triples),
                grouped(self.windows as usize),
                self.output.display()
            ),
        );
        lines.add(
            "time",
            format!(
                "{} s to count, {} million words per second",
                number(self.count_seconds),
                number(self.words_per_second / 1e6)
            ),
        );
        lines
    }
}
