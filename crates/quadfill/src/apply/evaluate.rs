//! How far predictions are from the truth.

use serde::Serialize;

use super::predict::{Predictor, UNKNOWN};
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
    /// How many cells were judged.
    pub count: usize,
    /// How many of them had a label that the model does not know.
    pub unknown: usize,
}

impl<T: Real> Predictor<'_, T> {
    /// Compares predictions with values; cells with unknown labels count, too.
    pub fn evaluate(&self, columns: &[&[u32]], values: &[f64]) -> Evaluation {
        Evaluation::of(&self.cells(columns), columns, values)
    }
}

impl Evaluation {
    /// Compares predictions for cells with values, however they were made.
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
