//! Predictions for given cells.

use rayon::prelude::*;

use crate::model::{Interaction, ModelSpec, Parameters, Strangers, each_row};
use quadfill_kernels::Real;

/// Stands for a label that the model does not know.
pub const UNKNOWN: u32 = u32::MAX;

/// Predictions of a fitted model, one cell at a time or many in parallel.
#[derive(Debug, Clone, Copy)]
pub struct Predictor<'a, T: Real> {
    pub(super) spec: &'a ModelSpec,
    pub(super) parameters: &'a Parameters<T>,
    pub(super) strangers: Option<&'a Strangers<T>>,
}

impl<'a, T: Real> Predictor<'a, T> {
    /// Predicts with these parameters.
    pub fn new(spec: &'a ModelSpec, parameters: &'a Parameters<T>) -> Self {
        Self { spec, parameters, strangers: None }
    }

    /// The same with rows that stand for [`UNKNOWN`] labels.
    #[must_use]
    pub fn with_strangers(self, strangers: Option<&'a Strangers<T>>) -> Self {
        Self { strangers, ..self }
    }

    /// No prediction for known labels is further from zero than this: infinite where numbers are so large
    /// that their products may be.
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
        let offsets: f64 = groups.iter().map(|&group| biases[group]).sum();
        self.parameters.mean.abs() + offsets + interaction
    }

    /// The prediction for one cell. Terms of an [`UNKNOWN`] label are left out: its bias and its pairs
    /// for quadratic models, the whole product for CP. Where rows stand for unknown labels, those are
    /// taken.
    pub fn cell(&self, labels: &[u32]) -> f64 {
        self.cell_without(labels, None)
    }

    /// The same, the terms of one mode left out.
    pub(super) fn cell_without(&self, labels: &[u32], left_out: Option<usize>) -> f64 {
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
                    let rows: Option<Vec<&[T]>> = (0..labels.len()).map(row).collect();
                    rows.map_or(0.0, |rows| {
                        (0..self.spec.rank)
                            .map(|l| rows.iter().map(|row| row[l].to_f64()).product::<f64>())
                            .sum()
                    })
                }
            }
    }

    /// The row of a label, or what stands for it.
    pub(super) fn row(&self, mode: usize, label: u32) -> Option<&'a [T]> {
        let group = self.spec.groups[mode];
        if label == UNKNOWN {
            return self.strangers.map(|strangers| strangers.row(group));
        }
        Some(self.parameters.row(group, label as usize))
    }

    /// The bias of a label, or what stands for it.
    fn bias(&self, mode: usize, label: u32) -> f64 {
        let group = self.spec.groups[mode];
        if label == UNKNOWN {
            return self.strangers.map_or(0.0, |strangers| strangers.bias(group));
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

pub(super) fn inner<T: Real>(x: &[T], y: &[T]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x.to_f64() * y.to_f64()).sum()
}
