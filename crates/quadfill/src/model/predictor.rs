//! Predictions for given cells.

use rayon::prelude::*;

use super::{Interaction, Kernel, ModelSpec, Parameters, UnknownLabelRows, each_row};
use quadfill_kernels::predict::{self, CellModel, LANES, MAX_MODES, sum_lanes};
use quadfill_kernels::{Backend, Real};

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
        let mut rows: [Option<&[T]>; MAX_MODES] = [None; MAX_MODES];
        for (mode, known) in rows.iter_mut().enumerate().take(labels.len()) {
            *known = row(mode);
        }
        let mut lanes = [0.0; LANES];
        match &self.spec.interaction {
            Interaction::Quadratic(kernel) => {
                for first in (0..self.spec.rank).step_by(LANES) {
                    for (a, b, weight) in weighted_pairs(kernel) {
                        if let (Some(x), Some(y)) = (rows[a], rows[b]) {
                            for (lane, (x, y)) in
                                lanes.iter_mut().zip(x[first..].iter().zip(&y[first..]))
                            {
                                *lane += weight * (x.to_f64() * y.to_f64());
                            }
                        }
                    }
                }
            }
            Interaction::Cp => {
                let rows = &rows[..labels.len()];
                if rows.contains(&None) {
                    return prediction;
                }
                for column in 0..self.spec.rank {
                    let mut entries = rows.iter().flatten().map(|row| row[column].to_f64());
                    let first = entries.next().unwrap_or(0.0);
                    lanes[column % LANES] += entries.fold(first, |product, entry| product * entry);
                }
            }
        }
        prediction + sum_lanes(lanes)
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
        let mut predictions = vec![0.0; columns.first().map_or(0, |column| column.len())];
        let blocks = predictions.par_chunks_mut(BLOCK).enumerate();
        blocks.for_each(|(block, predictions)| {
            let cells = block * BLOCK..block * BLOCK + predictions.len();
            let columns = columns.iter().map(|column| &column[cells.clone()]);
            self.cells_into(&columns.collect::<Vec<_>>(), predictions);
        });
        predictions
    }

    /// The same on this thread. Few cells at a time are best, so that their labels are still in the cache.
    ///
    /// # Panics
    /// Unless there is one column per mode, and all columns are as long as `predictions`.
    pub fn cells_into(&self, columns: &[&[u32]], predictions: &mut [f64]) {
        let modes = self.spec.groups.len();
        let factors: Vec<&[T]> =
            (0..modes).map(|mode| self.parameters.mode_factors(mode)).collect();
        let biases: Vec<&[T]> =
            (0..modes).filter_map(|mode| self.parameters.mode_biases(mode)).collect();
        let pairs;
        let interaction = match &self.spec.interaction {
            Interaction::Quadratic(kernel) => {
                pairs = weighted_pairs(kernel).collect::<Vec<_>>();
                predict::Interaction::Pairs(&pairs)
            }
            Interaction::Cp => predict::Interaction::Product,
        };
        let model = CellModel {
            mean: self.parameters.mean,
            rank: self.spec.rank,
            stride: self.parameters.layout().stride(),
            factors: &factors,
            biases: &biases,
            interaction,
        };
        let backend = Backend::detect();
        let is_unknown = |at: usize| columns.iter().any(|column| column[at] == UNKNOWN);
        if !columns.iter().any(|column| column.contains(&UNKNOWN)) {
            backend.predict_cells(&model, columns, predictions);
            return;
        }
        // Whichever row stands in for an unknown label: these cells are predicted again, one by one.
        let stand_in = |&label: &u32| if label == UNKNOWN { 0 } else { label };
        let known: Vec<Vec<u32>> =
            columns.iter().map(|column| column.iter().map(stand_in).collect()).collect();
        let known: Vec<&[u32]> = known.iter().map(Vec::as_slice).collect();
        backend.predict_cells(&model, &known, predictions);
        for (at, prediction) in predictions.iter_mut().enumerate().filter(|&(at, _)| is_unknown(at))
        {
            let cell: Vec<u32> = columns.iter().map(|column| column[at]).collect();
            *prediction = self.cell(&cell);
        }
    }
}

/// Cells that a thread predicts at a time.
const BLOCK: usize = 1 << 12;

/// Two modes and what their inner product is multiplied with, in the order in which they are added.
fn weighted_pairs(kernel: &Kernel) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
    let pairs = (0..kernel.modes()).flat_map(|a| (0..=a).map(move |b| (a, b)));
    let weighted = pairs.map(|(a, b)| {
        let entry = kernel.get(a, b);
        (a, b, if a == b { entry } else { 2.0 * entry })
    });
    weighted.filter(|&(_, _, weight)| weight != 0.0)
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
