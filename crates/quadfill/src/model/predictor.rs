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

    /// The predictions for cells given as one column of labels per mode; each is that of [`cell`](Self::cell), to
    /// the last bit.
    pub fn cells(&self, columns: &[&[u32]]) -> Vec<f64> {
        let len = columns.first().map_or(0, |column| column.len());
        let terms = QuadraticTerms::new(self);
        (0..len)
            .into_par_iter()
            .with_min_len(1024)
            .map(|at| {
                let mut labels = [0u32; 8];
                for (label, column) in labels.iter_mut().zip(columns) {
                    *label = column[at];
                }
                let labels = &labels[..columns.len()];
                match &terms {
                    Some(terms) if !labels.contains(&UNKNOWN) => terms.cell(labels),
                    _ => self.cell(labels),
                }
            })
            .collect()
    }
}

/// What the prediction of a quadratic model is made of, laid out for many cells.
struct QuadraticTerms<'a, T: Real> {
    mean: f64,
    rank: usize,
    stride: usize,
    /// The factors of each mode.
    factors: Vec<&'a [T]>,
    /// The biases of each mode; empty if there are none.
    biases: Vec<&'a [T]>,
    /// Two modes and what their inner product is multiplied with, in the order in which they are added.
    pairs: Vec<(usize, usize, f64)>,
}

impl<'a, T: Real> QuadraticTerms<'a, T> {
    fn new(predictor: &Predictor<'a, T>) -> Option<Self> {
        let parameters = predictor.parameters;
        let Interaction::Quadratic(kernel) = &predictor.spec.interaction else {
            return None;
        };
        let modes = kernel.modes();
        let pairs = (0..modes).flat_map(|a| (0..=a).map(move |b| (a, b)));
        let weighted = pairs.filter_map(|(a, b)| {
            let entry = kernel.get(a, b);
            let weight = if a == b { entry } else { 2.0 * entry };
            (entry != 0.0).then_some((a, b, weight))
        });
        Some(Self {
            mean: parameters.mean,
            rank: predictor.spec.rank,
            stride: parameters.layout().stride(),
            factors: (0..modes).map(|mode| parameters.mode_factors(mode)).collect(),
            biases: (0..modes).filter_map(|mode| parameters.mode_biases(mode)).collect(),
            pairs: weighted.collect(),
        })
    }

    #[inline]
    fn cell(&self, labels: &[u32]) -> f64 {
        let mut rows: [&[T]; 8] = [&[]; 8];
        for ((row, factors), &label) in rows.iter_mut().zip(&self.factors).zip(labels) {
            *row = &factors[label as usize * self.stride..][..self.rank];
        }
        let mut prediction = self.mean;
        for (biases, &label) in self.biases.iter().zip(labels) {
            prediction += biases[label as usize].to_f64();
        }
        let products = self.pairs.iter().map(|&(a, b, weight)| weight * inner(rows[a], rows[b]));
        prediction + products.fold(0.0, |sum, product| sum + product)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Biases, Kernel};

    #[test]
    fn many_cells_are_predicted_as_each_of_them() {
        let sizes = [5, 6, 7];
        let kernel = Kernel::parse("1 .5 -2; .5 0 .25; -2 .25 0").expect("a kernel");
        let specs = [
            ModelSpec::quadratic(Kernel::pairwise(3), 3),
            ModelSpec::quadratic(kernel, 5).with_biases(Biases::Modes),
            ModelSpec::cp(3, 4),
        ];
        for spec in &specs {
            let mut parameters = Parameters::<f32>::random(spec, &sizes, 1.0, 7);
            parameters.mean = 0.3;
            if parameters.layout().has_biases() {
                for label in 0..5 {
                    parameters.set_bias(0, label, 0.1 * label as f32);
                }
            }
            let predictor = Predictor::new(spec, &parameters);
            let mut columns: Vec<Vec<u32>> = vec![Vec::new(); 3];
            for cell in 0..5 * 6 * 7 {
                for (column, label) in columns.iter_mut().zip([cell / 42, cell / 7 % 6, cell % 7]) {
                    column.push(label);
                }
            }
            columns[1][3] = UNKNOWN;
            let columns: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
            for (row, prediction) in predictor.cells(&columns).into_iter().enumerate() {
                let cell: Vec<u32> = columns.iter().map(|column| column[row]).collect();
                assert_eq!(prediction.to_bits(), predictor.cell(&cell).to_bits(), "{cell:?}");
            }
        }
    }
}
