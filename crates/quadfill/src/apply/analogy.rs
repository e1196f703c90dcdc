//! Analogies: man is to woman as king is to ...?

use rayon::prelude::*;
use serde::Serialize;

use super::embedding::{Embeddings, dot};

/// Questions of one kind: the first word is to the second as the third is to the fourth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnalogySection {
    /// What they have in common.
    pub name: String,
    /// The words.
    pub questions: Vec<[String; 4]>,
}

/// How many questions of a section were answered correctly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AnalogyScore {
    /// The section.
    pub name: String,
    /// All of its questions.
    pub questions: usize,
    /// Those whose four words have vectors.
    pub known: usize,
    /// Those of them that were answered correctly.
    pub right: usize,
}

impl AnalogyScore {
    /// The share of correct answers among the questions whose words are known.
    ///
    /// ```
    /// use quadfill::apply::AnalogyScore;
    /// let score = AnalogyScore { name: "family".into(), questions: 9, known: 4, right: 3 };
    /// assert_eq!(score.accuracy(), Some(0.75));
    /// ```
    pub fn accuracy(&self) -> Option<f64> {
        (self.known > 0).then(|| self.right as f64 / self.known as f64)
    }

    /// Several sections as one.
    pub fn total<'a>(name: &str, scores: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut all = Self { name: name.to_owned(), questions: 0, known: 0, right: 0 };
        for score in scores {
            all.questions += score.questions;
            all.known += score.known;
            all.right += score.right;
        }
        all
    }
}

impl Embeddings {
    /// The label, other than the three, whose vector makes the smallest angle with `b - a + c`. Ties go
    /// to the label that comes first.
    ///
    /// ```
    /// use quadfill::Labels;
    /// use quadfill::apply::Embeddings;
    /// let words = Labels::from_names(["man", "woman", "king", "queen", "stone"]);
    /// let numbers = [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 0.0, -1.0]];
    /// let vectors = Embeddings::new(words, 3, numbers.concat())?;
    /// assert_eq!(vectors.complete([0, 1, 2]), Some(3));
    /// # Ok::<(), quadfill::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such label.
    pub fn complete(&self, [a, b, c]: [u32; 3]) -> Option<u32> {
        let (from, to, of) = (self.vector(a), self.vector(b), self.vector(c));
        let wanted: Vec<f64> = (0..self.width()).map(|i| to[i] - from[i] + of[i]).collect();
        let mut best = None;
        for (label, vector) in self.vectors().chunks_exact(self.width()).enumerate() {
            let label = label as u32;
            let closeness = dot(vector, &wanted);
            if ![a, b, c].contains(&label) && best.is_none_or(|(most, _)| closeness > most) {
                best = Some((closeness, label));
            }
        }
        best.map(|(_, label)| label)
    }

    /// Answers the questions whose four words have vectors.
    ///
    /// ```
    /// use quadfill::Labels;
    /// use quadfill::apply::{AnalogySection, Embeddings};
    /// let words = Labels::from_names(["a", "b", "c", "d"]);
    /// let vectors = Embeddings::new(words, 2, vec![1.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, -1.0])?;
    /// let questions = [["a", "b", "c", "d"], ["a", "b", "c", "x"]];
    /// let questions = questions.map(|words| words.map(str::to_owned)).to_vec();
    /// let section = AnalogySection { name: "letters".into(), questions };
    /// let score = vectors.answer(&section);
    /// // b - a + c points away from a, between b and c: d is as far as it gets, and all that is left.
    /// assert_eq!((score.questions, score.known, score.right), (2, 1, 1));
    /// # Ok::<(), quadfill::Error>(())
    /// ```
    pub fn answer(&self, section: &AnalogySection) -> AnalogyScore {
        let known: Vec<[u32; 4]> = section
            .questions
            .iter()
            .filter_map(|[a, b, c, d]| {
                Some([self.find(a)?, self.find(b)?, self.find(c)?, self.find(d)?])
            })
            .collect();
        let right =
            known.par_iter().filter(|[a, b, c, d]| self.complete([*a, *b, *c]) == Some(*d)).count();
        AnalogyScore {
            name: section.name.clone(),
            questions: section.questions.len(),
            known: known.len(),
            right,
        }
    }
}
