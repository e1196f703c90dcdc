//! Predictions for given cells.

use rayon::prelude::*;

use super::{Interaction, ModelSpec, Parameters, UnknownLabelRows, each_row};
use quadfill_kernels::Real;

/// Stands for a label that the model does not know.
pub const UNKNOWN: u32 = u32::MAX;

/// Predictions of a fitted model, one cell at a time or many in parallel.
#[derive(Debug, Clone, Copy)]
pub struct Predictor<'a, T: Real> {
    pub(crate) spec: &'a ModelSpec,
    pub(crate) parameters: &'a Parameters<T>,
    pub(crate) unknown_rows: Option<&'a UnknownLabelRows<T>>,
}

impl<'a, T: Real> Predictor<'a, T> {
    /// Predicts with these parameters.
    pub fn new(spec: &'a ModelSpec, parameters: &'a Parameters<T>) -> Self {
        Self { spec, parameters, unknown_rows: None }
    }

    /// The same with rows for [`UNKNOWN`] labels.
    #[must_use]
    pub(crate) fn with_unknown_rows(self, unknown_rows: Option<&'a UnknownLabelRows<T>>) -> Self {
        Self { unknown_rows, ..self }
    }

    /// An upper bound on the absolute prediction for known labels: infinite where products may overflow.
    pub(crate) fn largest(&self) -> f64 {
        let (groups, layout) = (&self.spec.groups, self.parameters.layout());
        let mut factors = vec![0.0f64; layout.rows().len()];
        let mut biases = factors.clone();
        for (group, label) in each_row(layout.rows()) {
            let row = self.parameters.row(group, label).iter();
            factors[group] = row.fold(factors[group], |most, x| most.max(x.to_f64().abs()));
            let bias = self.parameters.bias(group, label).to_f64().abs();
            biases[group] = biases[group].max(bias);
        }
        let rank = self.spec.rank as f64;
        let interaction = match &self.spec.interaction {
            Interaction::Quadratic(kernel) => {
                let pairs = (0..groups.len()).flat_map(|a| (0..groups.len()).map(move |b| (a, b)));
                let sizes = pairs
                    .map(|(a, b)| kernel.get(a, b).abs() * factors[groups[a]] * factors[groups[b]]);
                rank * sizes.sum::<f64>()
            }
            Interaction::Cp => rank * groups.iter().map(|&group| factors[group]).product::<f64>(),
        };
        let biases: f64 = groups.iter().map(|&group| biases[group]).sum();
        self.parameters.mean.abs() + biases + interaction
    }

    /// The prediction for one cell. Terms of an [`UNKNOWN`] label are left out: its bias and its pairs
    /// for quadratic models, the whole product for CP. Where there are rows for unknown labels, these are
    /// used.
    pub fn cell(&self, labels: &[u32]) -> f64 {
        self.cell_without(labels, None)
    }

    /// The same, the terms of one mode left out.
    pub(crate) fn cell_without(&self, labels: &[u32], left_out: Option<usize>) -> f64 {
        let row = |mode: usize| {
            if left_out == Some(mode) { None } else { self.row(mode, labels[mode]) }
        };
        let mut prediction = self.parameters.mean;
        for (mode, &label) in labels.iter().enumerate() {
            if left_out != Some(mode) {
                prediction += self.bias(mode, label);
            }
        }
        prediction
            + match &self.spec.interaction {
                Interaction::Quadratic(kernel) => {
                    let mut sum = 0.0;
                    for a in 0..labels.len() {
                        for b in 0..=a {
                            let entry = kernel.get(a, b);
                            if entry == 0.0 {
                                continue;
                            }
                            if let (Some(x), Some(y)) = (row(a), row(b)) {
                                sum += if a == b { entry } else { 2.0 * entry } * inner(x, y);
                            }
                        }
                    }
                    sum
                }
                Interaction::Cp => {
                    let mut rows: [&[T]; 8] = [&[]; 8];
                    for mode in 0..labels.len() {
                        let Some(row) = row(mode) else { return prediction };
                        rows[mode] = row;
                    }
                    column_products(&rows[..labels.len()])
                }
            }
    }

    /// The row of a label, or that for unknown labels.
    pub(crate) fn row(&self, mode: usize, label: u32) -> Option<&'a [T]> {
        let group = self.spec.groups[mode];
        if label == UNKNOWN {
            return self.unknown_rows.map(|unknown_rows| unknown_rows.row(group));
        }
        Some(self.parameters.row(group, label as usize))
    }

    /// The bias of a label, or that for unknown labels.
    fn bias(&self, mode: usize, label: u32) -> f64 {
        let group = self.spec.groups[mode];
        if label == UNKNOWN {
            return self.unknown_rows.map_or(0.0, |unknown_rows| unknown_rows.bias(group));
        }
        self.parameters.bias(group, label as usize).to_f64()
    }

    /// The predictions for cells given as one column of labels per mode.
    pub fn cells(&self, columns: &[&[u32]]) -> Vec<f64> {
        let len = columns.first().map_or(0, |column| column.len());
        (0..len)
            .into_par_iter()
            .with_min_len(1024)
            .map(|at| {
                let mut labels = [0u32; 8];
                for (label, column) in labels.iter_mut().zip(columns) {
                    *label = column[at];
                }
                self.cell(&labels[..columns.len()])
            })
            .collect()
    }
}

/// The sum over columns of the products over rows.
fn column_products<T: Real>(rows: &[&[T]]) -> f64 {
    let [first, rest @ ..] = rows else { return 0.0 };
    if let [second, third] = rest {
        // By far the most frequent case.
        let columns = first.iter().zip(*second).zip(*third);
        return columns.map(|((x, y), z)| x.to_f64() * y.to_f64() * z.to_f64()).sum();
    }
    let product = |l: usize| rest.iter().map(|row| row[l].to_f64()).product::<f64>();
    first.iter().enumerate().map(|(l, x)| x.to_f64() * product(l)).sum()
}

pub(crate) fn inner<T: Real>(x: &[T], y: &[T]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x.to_f64() * y.to_f64()).sum()
}
