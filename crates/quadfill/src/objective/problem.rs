//! A problem is built once: the data with their hold-out, and every term that does not change during a
//! fit. It builds the objectives for a model and a penalty.

use std::sync::Arc;

use rayon::prelude::*;

use super::{Objective, Perturbation, RowNormPenalty, implicit};
use crate::error::{Error, Result};
use crate::model::{ModelSpec, Parameters, Predictor};
use crate::observations::CellHash;
use crate::views::{Data, Selection, Storage, Views};
use quadfill_kernels::{Real, sum};

/// The terms of an objective besides the data and the penalty, whose scale belongs to the model.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Terms {
    /// The quartic penalty.
    pub row_norm_penalty: Option<RowNormPenalty>,
    /// The random seed of the perturbation `C`, where there is one.
    pub perturbation: Option<u64>,
    /// The weight of unobserved cells, where the data are implicit.
    pub implicit: Option<f64>,
}

/// What is held out: a share of the cells, by the hashes of their labels and a random seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HoldOut {
    /// The share.
    pub share: f64,
    /// The random seed.
    pub seed: u64,
}

/// Data and terms, from which objectives are built.
///
/// ```
/// use quadfill::model::{Kernel, ModelSpec};
/// use quadfill::objective::{Problem, Terms};
/// use quadfill::{Labels, Mode, Observations, OnDuplicate};
/// # let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(2))];
/// # let indices = vec![vec![0, 1, 1], vec![1, 0, 1]];
/// # let data = Observations::new(modes, indices, vec![1.0, 2.0, 3.0], None, OnDuplicate::Error)?;
/// let spec = ModelSpec::quadratic(Kernel::pairwise(2), 1);
/// let problem = Problem::<f64>::new(data, &spec, &Terms::default(), None)?;
/// let objective = problem.objective(&spec, 0.1);
/// assert_eq!(objective.penalty(), 0.1);
/// # Ok::<(), quadfill::Error>(())
/// ```
#[derive(Debug)]
pub struct Problem<T: Real> {
    views: Views<T>,
    terms: Terms,
    /// `C` for a penalty of 1.
    perturbation: Option<Arc<Perturbation>>,
    /// What decides which cells are held out, where some are.
    hash: Option<CellHash>,
}

impl<T: Real> Problem<T> {
    /// Groups the data and draws what is random. `spec` says which modes share their factors; its rank
    /// and its biases do not matter.
    pub fn new(
        data: impl Into<Data>,
        spec: &ModelSpec,
        terms: &Terms,
        hold_out: Option<HoldOut>,
    ) -> Result<Self> {
        Self::stored(data, spec, terms, hold_out, None)
    }

    /// The same with the data kept as told, instead of by their size and the free memory.
    pub fn stored(
        data: impl Into<Data>,
        spec: &ModelSpec,
        terms: &Terms,
        hold_out: Option<HoldOut>,
        storage: Option<Storage>,
    ) -> Result<Self> {
        let data = data.into();
        let data = match terms.implicit {
            Some(weight) => {
                implicit::with_implicit_weights(data.in_memory("`implicit`")?, weight)?.into()
            }
            None => data,
        };
        check_range::<T>(&data)?;
        if hold_out.is_some() && data.len() < 2 {
            return Err(Error::setting(
                "a single observation leaves nothing to choose on: give more data, or a `penalty`",
            ));
        }
        let rows = spec.group_sizes(&data.sizes()).iter().sum();
        let perturbation = terms.perturbation.map(|seed| Perturbation::random(rows, 1.0, seed));
        let hash = hold_out.map(|hold_out| CellHash::new(data.modes(), hold_out.seed));
        let mut views = Views::stored(data, storage)?;
        if let (Some(hold_out), Some(hash)) = (hold_out, &hash) {
            views.hold_out(hold_out.share, hash).map_err(Error::temporary_files)?;
        }
        let perturbation = perturbation.transpose()?.map(Arc::new);
        Ok(Self { views, terms: *terms, perturbation, hash })
    }

    /// All data.
    pub fn data(&self) -> Selection<'_, T> {
        self.views.all()
    }

    /// The training data: what is not held out.
    pub fn training(&self) -> Selection<'_, T> {
        self.views.training()
    }

    /// What is held out.
    pub(crate) fn held_out(&self) -> Selection<'_, T> {
        self.views.held_out()
    }

    /// Whether a held-out cell is among the third that nothing is chosen on.
    pub(crate) fn is_told(&self, cell: &[u32]) -> bool {
        // Which cells are held out depends on the leading bits.
        self.hash.as_ref().is_some_and(|hash| (hash.cell(cell) & 0xffff) % 3 == 0)
    }

    /// The objective on all data.
    pub fn objective(&self, spec: &ModelSpec, penalty: f64) -> Objective<'_, T> {
        self.objective_on(self.data(), spec, penalty)
    }

    /// The objective on the data that are not held out.
    pub fn training_objective(&self, spec: &ModelSpec, penalty: f64) -> Objective<'_, T> {
        self.objective_on(self.training(), spec, penalty)
    }

    /// The objective on some of the data.
    pub(crate) fn objective_on<'p>(
        &'p self,
        data: Selection<'p, T>,
        spec: &ModelSpec,
        penalty: f64,
    ) -> Objective<'p, T> {
        Objective::new(data, spec, penalty, spec.penalty_scale)
            .with_row_norm_penalty(self.terms.row_norm_penalty)
            .with_perturbation(self.perturbation.clone())
            .with_implicit(self.terms.implicit)
    }

    /// The root mean squared error on what is held out.
    ///
    /// # Panics
    /// If nothing is.
    pub(crate) fn held_out_rmse(&self, spec: &ModelSpec, parameters: &Parameters<T>) -> f64 {
        let held_out = self.views.held_out();
        let rows = held_out.mode(0);
        let predictor = Predictor::new(spec, parameters);
        // One sum per row, so that the result does not depend on the threads.
        let squares: Vec<(f64, usize)> = (0..rows.labels())
            .into_par_iter()
            .with_min_len(64)
            .map_init(
                || held_out.reader(),
                |reader, label| {
                    let (mut sum, mut count) = (0.0, 0);
                    reader.for_each_of_row(label, |cell, value, _| {
                        sum += (predictor.cell(cell) - value.to_f64()).powi(2);
                        count += 1;
                    });
                    (sum, count)
                },
            )
            .collect();
        let count: usize = squares.iter().map(|(_, count)| count).sum();
        assert!(count > 0, "some cells are held out");
        let sums: Vec<f64> = squares.iter().map(|(sum, _)| *sum).collect();
        (sum::ordered_sum(&sums) / count as f64).sqrt()
    }
}

/// Refuses numbers that would not be finite in the precision of the fit.
fn check_range<T: Real>(data: &Data) -> Result<()> {
    let mut beyond = None;
    data.each_number(|number| {
        if beyond.is_none() && !T::from_f64(number).is_finite() {
            beyond = Some(number);
        }
    });
    match beyond {
        Some(number) => Err(Error::BeyondSingle { number }),
        None => Ok(()),
    }
}
