//! One vector of unit length per label, made of its rows in all modes.

use crate::error::{Error, Result};
use crate::fitted::{Model, with_numbers};
use crate::model::Predictor;
use crate::observations::{Labels, Mode, TextLabels};
use quadfill_kernels::Real;

/// Labelled vectors of unit length, such as those of words.
///
/// ```
/// use quadfill::Labels;
/// use quadfill::apply::Embeddings;
/// let words = Labels::from_names(["up", "down", "north"]);
/// let vectors = Embeddings::new(words, 2, vec![0.0, 2.0, 0.0, -1.0, 3.0, 4.0])?;
/// assert_eq!(vectors.vector(2), [0.6, 0.8]);
/// assert_eq!(vectors.cosine(0, 2), 0.8);
/// assert_eq!(vectors.find("Down"), Some(1));
/// # Ok::<(), quadfill::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Embeddings {
    labels: Labels,
    width: usize,
    vectors: Vec<f64>,
}

impl Embeddings {
    /// Normalises vectors, given one after the other. Zero vectors stay as they are.
    pub fn new(labels: Labels, width: usize, mut vectors: Vec<f64>) -> Result<Self> {
        if width == 0 || vectors.len() != labels.len() * width {
            return Err(Error::ColumnLength {
                column: "vectors".to_owned(),
                expected: labels.len() * width,
                got: vectors.len(),
            });
        }
        for vector in vectors.chunks_exact_mut(width) {
            let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
            if length > 0.0 {
                for x in vector {
                    *x /= length;
                }
            }
        }
        Ok(Self { labels, width, vectors })
    }

    /// The labels.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Entries of a vector.
    pub fn width(&self) -> usize {
        self.width
    }

    /// All vectors, one after the other.
    pub fn vectors(&self) -> &[f64] {
        &self.vectors
    }

    /// The vector of a label.
    ///
    /// # Panics
    /// If there is no such label.
    pub fn vector(&self, label: u32) -> &[f64] {
        &self.vectors[label as usize * self.width..][..self.width]
    }

    /// The cosine of the angle between the vectors of two labels.
    ///
    /// # Panics
    /// If there is no such label.
    pub fn cosine(&self, first: u32, second: u32) -> f64 {
        dot(self.vector(first), self.vector(second))
    }

    /// The index of a word, as it is written or in lower case.
    pub fn find(&self, word: &str) -> Option<u32> {
        self.labels.find(word).or_else(|| self.labels.find(&word.to_lowercase()))
    }
}

pub(super) fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

impl<T: Real> Predictor<'_, T> {
    /// For each label that any mode has, its rows in all modes one after the other, with zeros for
    /// modes that do not have it, normalised. Modes that share factors give their rows once.
    ///
    /// ```
    /// use quadfill::model::{Kernel, ModelSpec, Parameters, Predictor};
    /// use quadfill::{Labels, Mode};
    /// let spec = ModelSpec::quadratic(Kernel::pairwise(2), 5);
    /// let parameters = Parameters::<f64>::random(&spec, &[2, 2], 1.0, 7);
    /// let modes = [
    ///     Mode::new("first", Labels::from_names(["a", "b"])),
    ///     Mode::new("second", Labels::from_names(["b", "c"])),
    /// ];
    /// let words = Predictor::new(&spec, &parameters).embeddings(&modes)?;
    /// assert_eq!((words.labels().len(), words.width()), (3, 10));
    /// assert_eq!(words.vector(0)[5..], [0.0; 5]); // `a` is not a label of the second mode
    /// # Ok::<(), quadfill::Error>(())
    /// ```
    pub fn embeddings(&self, modes: &[Mode]) -> Result<Embeddings> {
        let mut all = TextLabels::default();
        for mode in modes {
            for label in 0..mode.labels.len() {
                all.intern(&mode.labels.name(label));
            }
        }
        let rank = self.spec.rank;
        let width = rank * self.spec.group_count();
        let mut vectors = vec![0.0; all.len() * width];
        for (mode, &group) in modes.iter().zip(&self.spec.groups) {
            for label in 0..mode.labels.len() {
                let at = all.intern(&mode.labels.name(label)) as usize * width + group * rank;
                let row = self.parameters.row(group, label);
                for (x, u) in vectors[at..at + rank].iter_mut().zip(row) {
                    *x = u.to_f64();
                }
            }
        }
        Embeddings::new(Labels::Text(all), width, vectors)
    }
}

impl Model {
    /// For each label that any mode has, its rows in all modes one after the other, normalised; see
    /// [`Predictor::embeddings`].
    pub fn embeddings(&self) -> Result<Embeddings> {
        with_numbers!(&self.numbers, fitted => {
            fitted.predictor(&self.spec).embeddings(&self.modes)
        })
    }
}
