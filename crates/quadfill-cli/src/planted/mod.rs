//! Made-up data with a known truth: factors with standard normal entries, some cells to learn from
//! and others to judge by.

mod coverage;
mod shape;

pub(crate) use shape::Shape;

use anyhow::Result;
use quadfill::apply::Predictor;
use quadfill::model::{ModelSpec, Parameters};
use quadfill_kernels::{streams, sum};

/// Streams of different purposes never share numbers.
mod purpose {
    pub(super) const FACTORS: u64 = 0x66_6163_746f;
    pub(super) const CELLS: u64 = 0x63_656c_6c73;
    pub(super) const TEST: u64 = 0x74_6573_7473;
    pub(super) const NOISE: u64 = 0x6e_6f69_7365;
}

/// What to make.
#[derive(Debug)]
pub(crate) struct Recipe {
    pub(crate) spec: ModelSpec,
    pub(crate) shape: Shape,
    pub(crate) observations: usize,
    pub(crate) test_observations: Option<usize>,
    /// Deviation of the noise over the root mean square of the values.
    pub(crate) noise: f64,
    /// Observations that every label has at least, or nothing to aim for the rank.
    pub(crate) min_per_label: Option<usize>,
    pub(crate) seed: u64,
}

/// Cells and their values.
#[derive(Debug)]
pub(crate) struct Cells {
    /// One column of 0-based labels per mode.
    pub(crate) columns: Vec<Vec<u32>>,
    pub(crate) values: Vec<f64>,
}

/// What was made.
#[derive(Debug)]
pub(crate) struct Planted {
    pub(crate) train: Cells,
    pub(crate) test: Option<Cells>,
    /// How often the cells were drawn until every label had enough.
    pub(crate) draws: usize,
    pub(crate) min_per_label: usize,
}

impl Recipe {
    pub(crate) fn make(&self) -> Result<Planted> {
        let sizes = self.shape.sizes();
        let factors = self.factors();
        let truth = Predictor::new(&self.spec, &factors);
        let valued = |columns: Vec<Vec<u32>>| {
            let borrowed: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
            let values = truth.cells(&borrowed);
            Cells { columns, values }
        };

        let min_per_label = self
            .min_per_label
            .unwrap_or_else(|| coverage::within_reach(sizes, self.observations, self.spec.rank));
        let drawn = coverage::draw(&self.shape, self.observations, min_per_label, |draw| {
            streams::stream(self.seed, purpose::CELLS, draw)
        })?;
        let test = self.test_observations.map(|count| {
            let mut rng = streams::stream(self.seed, purpose::TEST, 0);
            valued(self.shape.draw_besides(&drawn.columns, count, &mut rng))
        });
        let mut train = valued(drawn.columns);
        self.disturb(&mut train.values);
        Ok(Planted { train, test, draws: drawn.draws, min_per_label })
    }

    /// Not drawn as a solver draws its random start: that would begin at the truth.
    fn factors(&self) -> Parameters<f64> {
        let mut factors = Parameters::zeros(&self.spec, self.shape.sizes());
        for group in 0..self.spec.group_count() {
            let mut rng = streams::stream(self.seed, purpose::FACTORS, group as u64);
            for label in 0..factors.layout().rows()[group] {
                streams::fill_normal(factors.row_mut(group, label), &mut rng);
            }
        }
        factors
    }

    fn disturb(&self, values: &mut [f64]) {
        if self.noise == 0.0 {
            return;
        }
        let size = (sum::dot(values, values) / values.len() as f64).sqrt();
        let mut noise = vec![0.0; values.len()];
        streams::fill_normal(&mut noise, &mut streams::stream(self.seed, purpose::NOISE, 0));
        for (value, draw) in values.iter_mut().zip(noise) {
            *value += self.noise * size * draw;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadfill::model::Kernel;
    use std::collections::HashSet;

    fn recipe(dims: &[usize], observations: usize, test: usize) -> Recipe {
        Recipe {
            spec: ModelSpec::quadratic(Kernel::pairwise(dims.len()), 2),
            shape: Shape::new(dims).expect("sound"),
            observations,
            test_observations: Some(test),
            noise: 0.0,
            min_per_label: None,
            seed: 3,
        }
    }

    fn cells(cells: &Cells) -> HashSet<Vec<u32>> {
        (0..cells.values.len())
            .map(|row| cells.columns.iter().map(|column| column[row]).collect())
            .collect()
    }

    #[test]
    fn cells_are_distinct_and_test_cells_are_others() {
        // Sparse, dense, nearly full, and a full tensor cut in two.
        for (observations, test) in [(100, 50), (500, 200), (990, 10), (10, 990), (250, 750)] {
            let planted = recipe(&[10, 10, 10], observations, test).make().expect("sound");
            let train = cells(&planted.train);
            let test_cells = cells(&planted.test.expect("sound"));
            assert_eq!((train.len(), test_cells.len()), (observations, test));
            assert!(train.is_disjoint(&test_cells));
        }
    }

    #[test]
    fn a_test_file_does_not_change_the_training_data() {
        let with = recipe(&[10, 10, 10], 100, 50).make().expect("sound");
        let without = Recipe { test_observations: None, ..recipe(&[10, 10, 10], 100, 50) };
        assert_eq!(with.train.columns, without.make().expect("sound").train.columns);
    }

    #[test]
    fn noise_has_the_size_that_was_asked_for() {
        let clean = recipe(&[50, 50, 50], 20_000, 1).make().expect("sound").train.values;
        let noisy = Recipe { noise: 0.1, ..recipe(&[50, 50, 50], 20_000, 1) };
        let noisy = noisy.make().expect("sound").train.values;
        let wrong: f64 = clean.iter().zip(&noisy).map(|(c, n)| (c - n).powi(2)).sum();
        let size: f64 = clean.iter().map(|c| c * c).sum();
        assert!(((wrong / size).sqrt() - 0.1).abs() < 0.003);
    }
}
