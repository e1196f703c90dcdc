//! The texts that vectors are trained on, and the tasks they are evaluated on.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use quadfill::apply::{AnalogyScore, AnalogySection, Embeddings, SimilaritySet};
use quadfill_io::corpus::{CorpusOptions, TripleCounts, count_triples};

use super::super::row::Row;
use crate::error::{LabError, Result};
use crate::word_tasks::{read_analogies, read_similarity};

/// Texts and tasks. Texts are counted once.
#[derive(Debug)]
pub(super) struct WordData {
    corpus: Vec<PathBuf>,
    /// Identifies the texts in rows, so that results of other texts are not reused.
    pub(super) name: String,
    /// Sections of analogy questions, with the name of their set.
    analogies: Vec<(String, AnalogySection)>,
    similarity: Vec<SimilaritySet>,
    counted: Mutex<HashMap<(usize, bool), Arc<TripleCounts>>>,
}

impl WordData {
    /// Texts are in `wikipedia/`, tasks in `word-eval/`: files with `analog` in their names contain
    /// analogies, all others similarity ratings.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let corpus = files(&folder.join("wikipedia"), &["txt", "gz", "zst"])?;
        let tasks = files(&folder.join("word-eval"), &["txt"])?;
        let (mut analogies, mut similarity) = (Vec::new(), Vec::new());
        for file in tasks {
            let name = file.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            if name.contains("analog") {
                let set = name.split('-').next().unwrap_or(name).to_owned();
                let sections = read_analogies(&file)?;
                analogies.extend(sections.into_iter().map(|section| (set.clone(), section)));
            } else {
                similarity.push(read_similarity(&file)?);
            }
        }
        let mut name = String::new();
        for file in &corpus {
            let about = std::fs::metadata(file).map_err(LabError::io(file))?;
            let text = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name = format!(
                "{name}{}{text} ({} bytes)",
                if name.is_empty() { "" } else { ", " },
                about.len()
            );
        }
        Ok(Self { corpus, name, analogies, similarity, counted: Mutex::default() })
    }

    /// The triples of the most frequent words.
    pub(super) fn counts(&self, vocabulary: usize, all_orders: bool) -> Result<Arc<TripleCounts>> {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(counts) = counted.get(&(vocabulary, all_orders)) {
            return Ok(Arc::clone(counts));
        }
        let counts =
            Arc::new(count_triples(&self.corpus, &CorpusOptions { vocabulary, all_orders })?);
        counted.insert((vocabulary, all_orders), Arc::clone(&counts));
        Ok(counts)
    }

    /// Adds the scores of vectors in all tasks to a row.
    pub(super) fn evaluate(&self, vectors: &Embeddings, row: &mut Row) {
        let scores: Vec<(&str, AnalogyScore)> = self
            .analogies
            .iter()
            .map(|(set, section)| (set.as_str(), vectors.answer(section)))
            .collect();
        let total = |name: &str, belongs: &dyn Fn(&str, &str) -> bool| {
            let chosen = scores.iter().filter(|(set, score)| belongs(set, &score.name));
            AnalogyScore::total(name, chosen.map(|(_, score)| score))
        };
        let is_syntactic = |set: &str, section: &str| set == "msr" || section.starts_with("gram");
        let mut totals = vec![
            total("syntactic", &is_syntactic),
            total("semantic", &|set, section| !is_syntactic(set, section)),
        ];
        let mut sets: Vec<&str> = scores.iter().map(|(set, _)| *set).collect();
        sets.dedup();
        totals.extend(sets.iter().map(|&one| total(one, &|set, _| set == one)));
        for score in totals.iter().chain(scores.iter().map(|(_, score)| score)) {
            let name = if score.name.contains("analog") { continue } else { &score.name };
            row.set(name, score.accuracy());
            row.set(&format!("{name}_questions"), score.known);
        }
        let mut correlations = Vec::new();
        for set in &self.similarity {
            let score = vectors.compare(set);
            row.set(&score.name, score.spearman);
            row.set(&format!("{}_pairs", score.name), score.known);
            correlations.extend(score.spearman);
        }
        let mean = correlations.iter().sum::<f64>() / correlations.len() as f64;
        row.set("similarity", (!correlations.is_empty()).then_some(mean));
    }

    /// The sections of analogy questions, as pairs of set and section name.
    pub(super) fn sections(&self) -> impl Iterator<Item = (&str, &str)> {
        self.analogies.iter().map(|(set, section)| (set.as_str(), section.name.as_str()))
    }

    /// The names of the sets of similarity ratings.
    pub(super) fn similarity_sets(&self) -> impl Iterator<Item = &str> {
        self.similarity.iter().map(|set| set.name.as_str())
    }
}

/// The files of a folder with one of these extensions, sorted by name.
fn files(folder: &Path, extensions: &'static [&'static str]) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)
        .map_err(|_| LabError::NoSuchFolder { folder: folder.to_owned() })?;
    let is_wanted = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        path.is_file() && extension.is_some_and(|extension| extensions.contains(&extension))
    };
    let mut found: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(is_wanted).collect();
    found.sort();
    if found.is_empty() {
        return Err(LabError::NoFiles { folder: folder.to_owned(), extensions });
    }
    Ok(found)
}
