//! Planted tensors: standard normal factors, a training set of cells and a disjoint test set.

mod coverage;
mod shape;

pub use shape::Shape;

use quadfill::model::{ModelSpec, Parameters, Predictor};
use quadfill::{Labels, Mode, Observations, OnDuplicate};
use quadfill_kernels::{streams, sum};

use crate::error::Result;

/// Random streams, one per purpose.
mod purpose {
    pub(super) const FACTORS: u64 = 0x66_6163_746f;
    pub(super) const CELLS: u64 = 0x63_656c_6c73;
    pub(super) const TEST: u64 = 0x74_6573_7473;
    pub(super) const NOISE: u64 = 0x6e_6f69_7365;
}

/// The minimum number of observations per label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// The rank, or less if a moderate number of draws is unlikely to reach that.
    Aim,
    /// This number: the cells are redrawn until every label has as many.
    AtLeast(usize),
    /// This number. If redrawing would take too long, one draw is mended: cells of labels with more than
    /// enough observations are replaced by cells of labels with too few.
    Mended(usize),
}

/// How to generate a planted tensor.
///
/// ```
/// use quadfill::model::{Kernel, ModelSpec};
/// use quadfill_lab::planted::{Coverage, Recipe, Shape};
/// let recipe = Recipe {
///     spec: ModelSpec::quadratic(Kernel::pairwise(3), 2),
///     shape: Shape::new(&[20, 20, 20])?,
///     observations: 400,
///     test_observations: Some(100),
///     noise: 0.0,
///     coverage: Coverage::Aim,
///     seed: 1,
/// };
/// let planted = recipe.make()?;
/// assert_eq!((planted.train.values.len(), planted.min_per_label), (400, 2));
/// # Ok::<(), quadfill_lab::LabError>(())
/// ```
#[derive(Debug)]
pub struct Recipe {
    /// The model that generates the values.
    pub spec: ModelSpec,
    /// The sizes of the modes.
    pub shape: Shape,
    /// The number of training cells.
    pub observations: usize,
    /// The number of test cells.
    pub test_observations: Option<usize>,
    /// Standard deviation of the noise relative to the root mean square of the values.
    pub noise: f64,
    /// The minimum number of observations per label.
    pub coverage: Coverage,
    /// The random seed.
    pub seed: u64,
}

/// Cells with their values.
#[derive(Debug, Clone)]
pub struct Cells {
    /// One column of 0-based labels per mode.
    pub columns: Vec<Vec<u32>>,
    /// One value per cell.
    pub values: Vec<f64>,
}

impl Cells {
    /// The cells as observations, with labels counted from 0.
    pub fn observations(&self, sizes: &[usize]) -> Result<Observations> {
        let modes = sizes
            .iter()
            .enumerate()
            .map(|(place, &size)| Mode::new(format!("mode{}", place + 1), Labels::range(size)))
            .collect();
        let (columns, values) = (self.columns.clone(), self.values.clone());
        Ok(Observations::new(modes, columns, values, None, OnDuplicate::Error)?)
    }
}

/// A planted tensor.
#[derive(Debug)]
pub struct Planted {
    /// The training cells, with noise.
    pub train: Cells,
    /// The test cells, without noise.
    pub test: Option<Cells>,
    /// The number of draws until every label had enough observations.
    pub draws: usize,
    /// The number of cells replaced to get there.
    pub mended: usize,
    /// The minimum number of observations per label.
    pub min_per_label: usize,
}

impl Recipe {
    /// Draws factors and cells. The same recipe gives the same tensor.
    pub fn make(&self) -> Result<Planted> {
        let sizes = self.shape.sizes();
        let factors = self.factors();
        let truth = Predictor::new(&self.spec, &factors);
        let valued = |columns: Vec<Vec<u32>>| {
            let borrowed: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
            let values = truth.cells(&borrowed);
            Cells { columns, values }
        };

        let attainable = |wanted| coverage::attainable(sizes, self.observations, wanted);
        let stream = |draw| streams::stream(self.seed, purpose::CELLS, draw);
        let (min_per_label, drawn) = match self.coverage {
            Coverage::Mended(least) if attainable(least) < least => {
                self.shape.check_coverage(self.observations, least)?;
                (
                    least,
                    coverage::draw_and_mend(&self.shape, self.observations, least, &mut stream(1)),
                )
            }
            wanted => {
                let least = match wanted {
                    Coverage::Aim => attainable(self.spec.rank),
                    Coverage::AtLeast(least) | Coverage::Mended(least) => least,
                };
                (least, coverage::draw(&self.shape, self.observations, least, stream)?)
            }
        };
        let test = self.test_observations.map(|count| {
            let mut rng = streams::stream(self.seed, purpose::TEST, 0);
            valued(self.shape.draw_excluding(&drawn.columns, count, &mut rng))
        });
        let mut train = valued(drawn.columns);
        self.add_noise(&mut train.values);
        Ok(Planted { train, test, draws: drawn.draws, mended: drawn.mended, min_per_label })
    }

    /// The factors that generate the values. Their random stream differs from that of the solvers, which
    /// would otherwise start at the truth.
    pub fn factors(&self) -> Parameters<f64> {
        let mut factors = Parameters::zeros(&self.spec, self.shape.sizes());
        for group in 0..self.spec.group_count() {
            let mut rng = streams::stream(self.seed, purpose::FACTORS, group as u64);
            for label in 0..factors.layout().rows()[group] {
                streams::fill_normal(factors.row_mut(group, label), &mut rng);
            }
        }
        factors
    }

    fn add_noise(&self, values: &mut [f64]) {
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
            shape: Shape::new(dims).expect("valid"),
            observations,
            test_observations: Some(test),
            noise: 0.0,
            coverage: Coverage::Aim,
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
        // Sparse, dense, nearly full, and a full tensor split in two.
        for (observations, test) in [(100, 50), (500, 200), (990, 10), (10, 990), (250, 750)] {
            let planted = recipe(&[10, 10, 10], observations, test).make().expect("valid");
            let train = cells(&planted.train);
            let test_cells = cells(&planted.test.expect("valid"));
            assert_eq!((train.len(), test_cells.len()), (observations, test));
            assert!(train.is_disjoint(&test_cells));
        }
    }

    #[test]
    fn a_test_file_does_not_change_the_training_data() {
        let with = recipe(&[10, 10, 10], 100, 50).make().expect("valid");
        let without = Recipe { test_observations: None, ..recipe(&[10, 10, 10], 100, 50) };
        assert_eq!(with.train.columns, without.make().expect("valid").train.columns);
    }

    #[test]
    fn noise_has_the_size_that_was_asked_for() {
        let clean = recipe(&[50, 50, 50], 20_000, 1).make().expect("valid").train.values;
        let noisy = Recipe { noise: 0.1, ..recipe(&[50, 50, 50], 20_000, 1) };
        let noisy = noisy.make().expect("valid").train.values;
        let wrong: f64 = clean.iter().zip(&noisy).map(|(c, n)| (c - n).powi(2)).sum();
        let size: f64 = clean.iter().map(|c| c * c).sum();
        assert!(((wrong / size).sqrt() - 0.1).abs() < 0.003);
    }
}
