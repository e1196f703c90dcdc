//! Unobserved cells, drawn as negative examples.

use super::{Interaction, Kernel};
use crate::error::Result;
use crate::observations::{Observations, OnDuplicate};

impl Interaction {
    /// Whether predictions are distances, of which the smallest are best, as with `transe`.
    pub fn predicts_distances(&self) -> bool {
        match self {
            Self::Quadratic(kernel) => *kernel == Kernel::transe(kernel.modes()),
            Self::Cp => false,
        }
    }

    /// Adds `count` unobserved cells for every observation, each with one of its labels in `modes`
    /// replaced by another one drawn at random. They get the value 0; where predictions are
    /// distances, observed cells get 0 and those drawn 1.
    ///
    /// ```
    /// use quadfill::model::{Interaction, Kernel};
    /// use quadfill::{Labels, Mode, Observations, OnDuplicate};
    /// let modes = vec![Mode::new("head", Labels::range(9)), Mode::new("tail", Labels::range(9))];
    /// let cells = vec![(0..9).collect(), (0..9).rev().collect()];
    /// let data = Observations::new(modes, cells, vec![1.0; 9], None, OnDuplicate::Error)?;
    /// let distances = Interaction::Quadratic(Kernel::transe(2));
    /// let data = distances.draw_negatives(data, 2, &[0, 1], 7)?;
    /// assert_eq!(data.values().iter().sum::<f64>(), 18.0);
    /// # Ok::<(), quadfill::Error>(())
    /// ```
    pub fn draw_negatives(
        &self,
        data: Observations,
        count: usize,
        modes: &[usize],
        seed: u64,
    ) -> Result<Observations> {
        if !self.predicts_distances() {
            return data.with_negatives(count, 0.0, modes, seed);
        }
        let source = data.source().clone();
        let (all, indices, values, weights) = data.into_parts();
        let zeros = vec![0.0; values.len()];
        let data = Observations::new(all, indices, zeros, weights, OnDuplicate::Error)?;
        data.with_source(source).with_negatives(count, 1.0, modes, seed)
    }
}
