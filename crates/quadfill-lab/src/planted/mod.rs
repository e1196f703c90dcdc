//! Made-up data with a known truth: factors with standard normal entries, some cells to learn from
//! and others to judge by.

mod coverage;
mod shape;

pub use shape::Shape;

use quadfill::apply::Predictor;
use quadfill::model::{ModelSpec, Parameters};
use quadfill::{Labels, Mode, Observations, OnDuplicate};
use quadfill_kernels::{streams, sum};

use crate::error::Result;

/// Streams of different purposes never share numbers.
mod purpose {
    pub(super) const FACTORS: u64 = 0x66_6163_746f;
    pub(super) const CELLS: u64 = 0x63_656c_6c73;
    pub(super) const TEST: u64 = 0x74_6573_7473;
    pub(super) const NOISE: u64 = 0x6e_6f69_7365;
}

/// How many observations every label has at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// As many as the rank, or fewer where that is out of reach of a moderate number of draws.
    Aim,
    /// So many: the cells are drawn until they have them.
    AtLeast(usize),
    /// So many; where draws alone would take too long, the last one is mended: cells of labels that
    /// have plenty are exchanged for cells of those that have too few.
    Mended(usize),
}

/// What to make.
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
    /// The model that makes the values.
    pub spec: ModelSpec,
    /// The sizes of the modes.
    pub shape: Shape,
    /// How many cells to learn from.
    pub observations: usize,
    /// How many other cells to judge by.
    pub test_observations: Option<usize>,
    /// Deviation of the noise over the root mean square of the values.
    pub noise: f64,
    /// Observations that every label has at least.
    pub coverage: Coverage,
    /// Decides everything that is drawn.
    pub seed: u64,
}

/// Cells and their values.
#[derive(Debug, Clone)]
pub struct Cells {
    /// One column of 0-based labels per mode.
    pub columns: Vec<Vec<u32>>,
    /// One value per cell.
    pub values: Vec<f64>,
}

impl Cells {
    /// As data to fit, labels counted from 0.
    pub fn observations(&self, sizes: &[usize]) -> Result<Observations<f64>> {
        let modes = sizes
            .iter()
            .enumerate()
            .map(|(place, &size)| Mode::new(format!("mode{}", place + 1), Labels::range(size)))
            .collect();
        let (columns, values) = (self.columns.clone(), self.values.clone());
        Ok(Observations::new(modes, columns, values, None, OnDuplicate::Error)?)
    }
}

/// What was made.
#[derive(Debug)]
pub struct Planted {
    /// To learn from, with the noise that was asked for.
    pub train: Cells,
    /// Other cells to judge by, without noise.
    pub test: Option<Cells>,
    /// How often the cells were drawn until every label had enough.
    pub draws: usize,
    /// How many cells were exchanged to get there.
    pub mended: usize,
    /// Observations that every label has at least.
    pub min_per_label: usize,
}

impl Recipe {
    /// Draws factors and cells, the same ones for the same recipe.
    pub fn make(&self) -> Result<Planted> {
        let sizes = self.shape.sizes();
        let factors = self.factors();
        let truth = Predictor::new(&self.spec, &factors);
        let valued = |columns: Vec<Vec<u32>>| {
            let borrowed: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
            let values = truth.cells(&borrowed);
            Cells { columns, values }
        };

        let within_reach = |wanted| coverage::within_reach(sizes, self.observations, wanted);
        let stream = |draw| streams::stream(self.seed, purpose::CELLS, draw);
        let (min_per_label, drawn) = match self.coverage {
            Coverage::Mended(least) if within_reach(least) < least => {
                self.shape.check_coverage(self.observations, least)?;
                (
                    least,
                    coverage::draw_and_mend(&self.shape, self.observations, least, &mut stream(1)),
                )
            }
            wanted => {
                let least = match wanted {
                    Coverage::Aim => within_reach(self.spec.rank),
                    Coverage::AtLeast(least) | Coverage::Mended(least) => least,
                };
                (least, coverage::draw(&self.shape, self.observations, least, stream)?)
            }
        };
        let test = self.test_observations.map(|count| {
            let mut rng = streams::stream(self.seed, purpose::TEST, 0);
            valued(self.shape.draw_besides(&drawn.columns, count, &mut rng))
        });
        let mut train = valued(drawn.columns);
        self.disturb(&mut train.values);
        Ok(Planted { train, test, draws: drawn.draws, mended: drawn.mended, min_per_label })
    }

    /// The factors that make the values. They are not drawn as a solver draws its random start: that
    /// would begin at the truth.
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
