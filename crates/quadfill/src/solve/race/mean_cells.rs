//! What the mean of all draws predicts for cells that it is distilled on: summed up draw by draw, as most draws
//! are not kept.

use std::collections::HashSet;

use rand::RngExt;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::model::{ModelSpec, Parameters, Predictor};
use crate::views::Selection;
use quadfill_kernels::{Real, streams};

/// At most so many observed cells are fitted, and as many that are not.
const OBSERVED: usize = 200_000;
/// The fewest cells of a row, for each of a draw's columns, and the weight of those that only serve for that: they
/// are unlike the data, and predictions for them are large.
const PER_COLUMN: usize = 3;
const LITTLE: f64 = 0.3;
/// All cells are fitted where there are no more of them than this for an observation, and no more than twice
/// [`OBSERVED`].
const PER_OBSERVATION: usize = 12;
/// The share of cells that are not fitted.
const COMPARED: f64 = 0.1;
const STREAM: u64 = 0x64_6973_7469_6c01;

/// The cells, by mode: observed ones and others like them, then some of rows that have few, so that no row is
/// left undetermined, and last those that are not fitted, on which predictions are compared. Of a small tensor
/// all cells are fitted, and compared.
pub(super) struct MeanCells {
    columns: Vec<Vec<u32>>,
    /// Where the second part begins, where it ends, and where what is compared begins.
    like_data: usize,
    fitted: usize,
    compared: usize,
}

/// The number of all cells of a tensor so small that all of them are fitted.
fn all_cells(sizes: &[usize], observations: usize) -> Option<usize> {
    let most = (2 * OBSERVED).min(PER_OBSERVATION.saturating_mul(observations));
    let count = sizes.iter().try_fold(1usize, |count, &size| count.checked_mul(size))?;
    (count <= most).then_some(count)
}

impl MeanCells {
    /// Cells for the mean of draws of this rank.
    pub(super) fn new<T: Real>(data: Selection<'_, T>, rank: usize, seed: u64) -> Self {
        let sizes = data.sizes();
        if let Some(count) = all_cells(&sizes, data.len()) {
            return Self::all(&sizes, count);
        }
        let rng = &mut streams::stream(seed, STREAM, 0);
        let columns = vec![Vec::new(); sizes.len()];
        let mut cells = Self { columns, like_data: 0, fitted: 0, compared: 0 };
        let share = (OBSERVED as f64 / data.len() as f64).min(1.0);
        let mut compared: Vec<Vec<u32>> = Vec::new();
        data.for_each(|cell, _, _| {
            if rng.random::<f64>() < share {
                if is_compared(cell) {
                    compared.push(cell.to_vec());
                } else {
                    cells.push(cell);
                }
            }
        });
        if cells.len() == 0 {
            for cell in compared.drain(..) {
                cells.push(&cell);
            }
        }
        let observed = cells.len();
        let mut unobserved = HashSet::new();
        for at in 0..observed {
            // An observed cell with another label in one mode, as often as that occurs.
            let mut cell: Vec<u32> = cells.columns.iter().map(|column| column[at]).collect();
            let mode = rng.random_range(0..sizes.len());
            cell[mode] = cells.columns[mode][rng.random_range(0..observed)];
            if is_compared(&cell) {
                unobserved.insert(cell);
            } else {
                cells.push(&cell);
            }
        }
        data.for_each(|cell, _, _| {
            unobserved.remove(cell);
        });
        cells.like_data = cells.len();
        for (mode, &labels) in sizes.iter().enumerate() {
            let mut counts = vec![0; labels];
            cells.columns[mode].iter().for_each(|&label| counts[label as usize] += 1);
            for (label, &count) in counts.iter().enumerate() {
                for _ in count..PER_COLUMN * rank {
                    let mut drawn = || rng.random_range(0..observed);
                    let mut cell: Vec<u32> =
                        cells.columns.iter().map(|column| column[drawn()]).collect();
                    cell[mode] = label as u32;
                    cells.push(&cell);
                }
            }
        }
        (cells.fitted, cells.compared) = (cells.len(), cells.len());
        // In an order that does not depend on the table's.
        let mut unobserved: Vec<Vec<u32>> = unobserved.into_iter().collect();
        unobserved.sort_unstable();
        compared.extend(unobserved);
        for cell in &compared {
            cells.push(cell);
        }
        cells
    }

    /// About how many are fitted for the mean of draws of this rank.
    pub(super) fn count<T: Real>(data: Selection<'_, T>, rank: usize) -> f64 {
        let sizes = data.sizes();
        let rows: usize = sizes.iter().sum();
        let some = || 2 * data.len().min(OBSERVED) + rows * PER_COLUMN * rank;
        all_cells(&sizes, data.len()).unwrap_or_else(some) as f64
    }

    fn all(sizes: &[usize], count: usize) -> Self {
        let mut each = count;
        let columns = sizes.iter().map(|&size| {
            each /= size;
            (0..count).map(|at| (at / each % size) as u32).collect()
        });
        Self { columns: columns.collect(), like_data: count, fitted: count, compared: 0 }
    }

    fn push(&mut self, cell: &[u32]) {
        for (column, &label) in self.columns.iter_mut().zip(cell) {
            column.push(label);
        }
    }

    fn len(&self) -> usize {
        self.columns[0].len()
    }

    /// The cells that are fitted.
    pub(super) fn fitted(&self) -> Vec<&[u32]> {
        self.columns.iter().map(|column| &column[..self.fitted]).collect()
    }

    /// Their weights.
    pub(super) fn weights(&self) -> Vec<f64> {
        (0..self.fitted).map(|at| if at < self.like_data { 1.0 } else { LITTLE }).collect()
    }

    /// The root mean square of what the predictions of a model differ by from those of the mean: on all cells, or
    /// on some that are not fitted, half of them observed.
    pub(super) fn difference<T: Real>(
        &self,
        sums: &MeanSums,
        spec: &ModelSpec,
        parameters: &Parameters<T>,
    ) -> f64 {
        let compared: Vec<&[u32]> =
            self.columns.iter().map(|column| &column[self.compared..]).collect();
        let predictions = Predictor::new(spec, parameters).cells(&compared);
        let of_mean = sums.predictions[self.compared..].iter().map(|sum| sum / sums.draws as f64);
        let squares: f64 = predictions.iter().zip(of_mean).map(|(x, y)| (x - y).powi(2)).sum();
        (squares / predictions.len().max(1) as f64).sqrt()
    }
}

/// Whether a cell is compared, and not fitted.
fn is_compared(cell: &[u32]) -> bool {
    let bytes: Vec<u8> = cell.iter().flat_map(|label| label.to_le_bytes()).collect();
    (xxh3_64(&bytes) as f64) < COMPARED * u64::MAX as f64
}

/// Sums over all draws.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct MeanSums {
    pub(super) draws: usize,
    /// Of the predictions for the cells.
    predictions: Vec<f64>,
    /// Of the mean of the data, and of the biases of every factor matrix.
    mean: f64,
    biases: Vec<Vec<f64>>,
}

impl MeanSums {
    /// Adds a draw.
    pub(super) fn add<T: Real>(
        &mut self,
        cells: &MeanCells,
        spec: &ModelSpec,
        draw: &Parameters<T>,
    ) {
        let columns: Vec<&[u32]> = cells.columns.iter().map(Vec::as_slice).collect();
        add_all(&mut self.predictions, Predictor::new(spec, draw).cells(&columns).into_iter());
        let groups = (0..spec.group_count()).map_while(|group| draw.biases(group));
        for (group, biases) in groups.enumerate() {
            if self.biases.len() == group {
                self.biases.push(Vec::new());
            }
            add_all(&mut self.biases[group], biases.iter().map(|bias| bias.to_f64()));
        }
        self.mean += draw.mean;
        self.draws += 1;
    }

    /// The mean's predictions for the cells that are fitted, without mean and biases.
    pub(super) fn interactions<T: Real>(
        &self,
        cells: &MeanCells,
        spec: &ModelSpec,
        sizes: &[usize],
    ) -> Vec<f64> {
        let mut only_biases = Parameters::<T>::zeros(spec, sizes);
        self.set_biases(&mut only_biases);
        let biases = Predictor::new(spec, &only_biases).cells(&cells.fitted());
        let sums = &self.predictions[..cells.fitted];
        sums.iter().zip(biases).map(|(sum, bias)| sum / self.draws as f64 - bias).collect()
    }

    /// Gives a model the mean and the biases of the mean of all draws.
    pub(super) fn set_biases<T: Real>(&self, model: &mut Parameters<T>) {
        let draws = self.draws as f64;
        model.mean = self.mean / draws;
        for (group, sums) in self.biases.iter().enumerate() {
            for (label, sum) in sums.iter().enumerate() {
                model.set_bias(group, label, T::from_f64(sum / draws));
            }
        }
    }
}

fn add_all(sums: &mut Vec<f64>, terms: impl ExactSizeIterator<Item = f64>) {
    sums.resize(terms.len(), 0.0);
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum += term;
    }
}
