//! How far predictions are from the truth.

use serde::Serialize;

use super::{Predictor, UNKNOWN};
use crate::observations::Observations;
use quadfill_kernels::{Real, sum};

/// Errors of predictions over a test set.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Evaluation {
    /// Root mean squared error.
    pub rmse: f64,
    /// Mean squared error.
    pub mse: f64,
    /// Mean absolute error.
    pub mae: f64,
    /// Root of the summed squared errors over the summed squared values.
    pub relative_error: f64,
    /// The number of cells.
    pub count: usize,
    /// How many of them had a label that the model does not know.
    pub unknown: usize,
}

impl<T: Real> Predictor<'_, T> {
    /// Compares predictions with values; cells with unknown labels count too.
    pub fn evaluate(&self, columns: &[&[u32]], values: &[f64]) -> Evaluation {
        Evaluation::of(&self.cells(columns), columns, values)
    }

    /// Compares predictions with observations that have the modes of the model.
    ///
    /// ```
    /// use quadfill::model::{Kernel, ModelSpec, Parameters, Predictor};
    /// use quadfill::{Labels, Mode, Observations, OnDuplicate};
    /// let spec = ModelSpec::quadratic(Kernel::pairwise(2), 1);
    /// let zero = Parameters::<f64>::zeros(&spec, &[2, 2]);
    /// let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(2))];
    /// let indices = vec![vec![0, 1], vec![1, 0]];
    /// let cells = Observations::new(modes, indices, vec![3.0, 4.0], None, OnDuplicate::Error)?;
    /// assert_eq!(Predictor::new(&spec, &zero).evaluate_on(&cells).mse, 12.5);
    /// # Ok::<(), quadfill::Error>(())
    /// ```
    pub fn evaluate_on(&self, cells: &Observations) -> Evaluation {
        self.evaluate(&cells.columns(), cells.values())
    }
}

impl Evaluation {
    /// Compares given predictions with values.
    pub fn of(predictions: &[f64], columns: &[&[u32]], values: &[f64]) -> Self {
        let errors: Vec<f64> = predictions.iter().zip(values).map(|(p, y)| p - y).collect();
        let total = |f: &dyn Fn(usize) -> f64| {
            let terms: Vec<f64> = (0..errors.len()).map(f).collect();
            sum::ordered_sum(&terms)
        };
        let squares = total(&|i| errors[i] * errors[i]);
        let size = total(&|i| values[i] * values[i]);
        let count = values.len();
        let mean = |sum: f64| sum / count.max(1) as f64;
        Self {
            rmse: mean(squares).sqrt(),
            mse: mean(squares),
            mae: mean(total(&|i| errors[i].abs())),
            relative_error: (squares / size.max(f64::MIN_POSITIVE)).sqrt(),
            count,
            unknown: (0..count).filter(|&i| columns.iter().any(|c| c[i] == UNKNOWN)).count(),
        }
    }
}
