//! Evaluates word vectors.

use std::path::{Path, PathBuf};

use anyhow::Result;
use quadfill::apply::{AnalogyScore, Embeddings, SimilarityScore};
use quadfill::{Model, is_model};
use quadfill_io::read_vectors;
use quadfill_lab::word_tasks::{read_analogies, read_similarity};
use serde::Serialize;

use crate::flags::WordsEvaluateFlags;
use crate::output::Output;
use crate::paths;
use crate::report::{Lines, grouped, number};

#[derive(Debug, Serialize)]
struct EvaluateReport {
    vectors: PathBuf,
    words: usize,
    width: usize,
    /// Section by section, file by file.
    analogies: Vec<AnalogyScore>,
    /// All sections together.
    all_analogies: Option<AnalogyScore>,
    accuracy: Option<f64>,
    similarity: Vec<SimilarityScore>,
}

pub(super) fn run(flags: &WordsEvaluateFlags, output: Output) -> Result<()> {
    for file in flags.analogies.iter().chain(&flags.similarity).chain([&flags.vectors]) {
        paths::check_input(file)?;
    }
    let vectors = load(&flags.vectors)?;
    let mut analogies = Vec::new();
    for file in &flags.analogies {
        analogies.extend(read_analogies(file)?.iter().map(|section| vectors.answer(section)));
    }
    let mut similarity = Vec::new();
    for file in &flags.similarity {
        similarity.push(vectors.compare(&read_similarity(file)?));
    }
    let all = (!analogies.is_empty()).then(|| AnalogyScore::total("all", &analogies));
    let report = EvaluateReport {
        vectors: flags.vectors.clone(),
        words: vectors.labels().len(),
        width: vectors.width(),
        accuracy: all.as_ref().and_then(AnalogyScore::accuracy),
        all_analogies: all,
        analogies,
        similarity,
    };
    output.answer(report.text(), &report)
}

fn load(path: &Path) -> Result<Embeddings> {
    if path.is_dir() || is_model(path) {
        return Ok(Model::load(path)?.embeddings()?);
    }
    Ok(read_vectors(path)?)
}

impl EvaluateReport {
    fn text(&self) -> Lines {
        let mut lines = Lines::default();
        lines.add(
            "vectors",
            format!("{} words, {} numbers each", grouped(self.words), grouped(self.width)),
        );
        for score in self.analogies.iter().chain(&self.all_analogies) {
            lines.add(&score.name, answered(score));
        }
        for score in &self.similarity {
            let found = match score.spearman {
                Some(rho) => format!("rank correlation {}", number(rho)),
                None => "too few pairs".to_owned(),
            };
            lines.add(
                &score.name,
                format!("{found} ({} of {} pairs)", grouped(score.known), grouped(score.pairs)),
            );
        }
        lines
    }
}

fn answered(score: &AnalogyScore) -> String {
    let known = format!("{} of {} questions", grouped(score.known), grouped(score.questions));
    match score.accuracy() {
        Some(share) => format!("{} % right ({known})", number(100.0 * share)),
        None => format!("no words known ({known})"),
    }
}
