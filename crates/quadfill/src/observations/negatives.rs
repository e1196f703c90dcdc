//! Unobserved cells, drawn as negative examples.

use std::collections::HashSet;

use rand::RngExt;

use super::{Observations, OnDuplicate};
use crate::error::{Error, Result};
use quadfill_kernels::streams;

/// Streams for different purposes are independent.
const NEGATIVE_STREAM: u64 = 0x006e_6567;
/// Attempts to draw one negative: in a nearly full tensor there may be none.
const TRIES: usize = 100;

impl Observations {
    /// Adds `count` cells for every observation, each with one of its labels in `modes` replaced by
    /// another one drawn at random and itself not observed, and the value `value`.
    ///
    /// ```
    /// use quadfill::{Labels, Mode, Observations, OnDuplicate};
    /// let modes = vec![Mode::new("head", Labels::range(50)), Mode::new("tail", Labels::range(50))];
    /// let cells = vec![(0..50).collect(), (0..50).rev().collect()];
    /// let data = Observations::new(modes, cells, vec![1.0; 50], None, OnDuplicate::Error)?;
    /// let data = data.with_negatives(3, 0.0, &[0, 1], 7)?;
    /// assert_eq!(data.values().iter().filter(|&&v| v == 0.0).count(), 150);
    /// # Ok::<(), quadfill::Error>(())
    /// ```
    pub fn with_negatives(
        self,
        count: usize,
        value: f64,
        modes: &[usize],
        seed: u64,
    ) -> Result<Self> {
        let sizes = self.sizes();
        let replaceable: Vec<usize> = modes.iter().copied().filter(|&m| sizes[m] > 1).collect();
        if replaceable.is_empty() {
            return Err(Error::setting(
                "no mode has a second label to draw from: leave `negatives` out",
            ));
        }
        let Self { modes: all_modes, mut indices, mut values, mut weights, source } = self;
        let observed = values.len();
        let mut known: HashSet<Vec<u32>> =
            (0..observed).map(|row| indices.iter().map(|column| column[row]).collect()).collect();
        let mut rng = streams::stream(seed, NEGATIVE_STREAM, 0);
        for row in 0..observed {
            for _ in 0..count {
                for _ in 0..TRIES {
                    let mut cell: Vec<u32> = indices.iter().map(|column| column[row]).collect();
                    let mode = replaceable[rng.random_range(0..replaceable.len())];
                    cell[mode] = rng.random_range(0..sizes[mode] as u32);
                    if known.contains(&cell) {
                        continue;
                    }
                    for (column, &label) in indices.iter_mut().zip(&cell) {
                        column.push(label);
                    }
                    values.push(value);
                    if let Some(weights) = &mut weights {
                        weights.push(1.0);
                    }
                    known.insert(cell);
                    break;
                }
            }
        }
        let data = Self::new(all_modes, indices, values, weights, OnDuplicate::Error)?;
        Ok(data.with_source(source))
    }
}
