//! Centred CP: where it begins, and the penalties of a path to a given penalty or of a heat.
//!
//! For the unit of penalties see `cp_path.rs`.

use crate::model::{Biases, ModelSpec, Parameters};
use crate::views::Selection;
use quadfill_kernels::Real;

/// The last penalty, for data of deviation 1 whose squared residuals are summed.
const LAST_PENALTY: f64 = 0.003;
/// The mean of the data over their deviation below which it is no start for the factors.
const SMALL_MEAN: f64 = 0.3;

/// The mean and the deviation of data.
pub(super) fn moments<T: Real>(data: Selection<'_, T>) -> (f64, f64) {
    let mean = data.mean();
    let mut squares = 0.0;
    data.for_each(|_, value, weight| squares += weight.to_f64() * (value.to_f64() - mean).powi(2));
    let deviation = (squares / data.total_weight().max(f64::MIN_POSITIVE)).sqrt();
    (mean, deviation.max(f64::MIN_POSITIVE))
}

/// Whether the mean of the data is large enough to start the factors at.
pub(super) fn has_mean<T: Real>(data: Selection<'_, T>) -> bool {
    let (mean, deviation) = moments(data);
    mean.abs() >= SMALL_MEAN * deviation
}

/// Where a path begins: a row of the smallest mode has about as much penalty as data.
pub(super) fn first_penalty<T: Real>(data: Selection<'_, T>) -> f64 {
    let sizes = data.sizes();
    let smallest = sizes.iter().copied().min().unwrap_or(1).max(1);
    let (_, deviation) = moments(data);
    deviation.powf(2.0 - 2.0 / sizes.len() as f64) / (2.0 * smallest as f64)
}

/// Where it ends, over where it begins.
pub(super) fn path_end<T: Real>(data: Selection<'_, T>) -> f64 {
    let smallest = data.sizes().into_iter().min().unwrap_or(1).max(1);
    let end = 2.0 * smallest as f64 * LAST_PENALTY / data.len() as f64;
    end.clamp(super::path::PATH_DEPTH, 0.5)
}

/// Rows near the one constant row whose product is the mean of the data. Where the mean is small, or is added apart,
/// positive rows of the size of the data, with signs in one factor matrix that alternate from column to column.
pub(super) fn start<T: Real>(spec: &ModelSpec, data: Selection<'_, T>, seed: u64) -> Parameters<T> {
    const NOISE: f64 = 0.3;
    const SMALL_NOISE: f64 = 0.17;
    let (mean, deviation) = moments(data);
    let modes = spec.modes() as f64;
    let has_constant = spec.biases == Biases::None && mean.abs() >= SMALL_MEAN * deviation;
    let (size, noise) = if has_constant {
        ((mean.abs() / spec.rank as f64).powf(1.0 / modes), NOISE)
    } else {
        (0.5 * deviation.powf(1.0 / modes), SMALL_NOISE / 0.5)
    };
    // A sign in a matrix that several modes share may cancel.
    let odd = |&group: &usize| spec.group_modes(group).count() % 2 == 1;
    let signed = (0..spec.group_count()).find(odd);
    let sign = |column: usize| {
        let negative = if has_constant { mean < 0.0 } else { column % 2 == 1 };
        if negative { -1.0 } else { 1.0 }
    };
    let biases = super::start::biases_only(spec, data);
    let mut parameters = Parameters::<T>::random(spec, &data.sizes(), noise, seed);
    parameters.mean = biases.mean;
    for (group, rows) in spec.group_sizes(&data.sizes()).into_iter().enumerate() {
        for label in 0..rows {
            for (column, u) in parameters.row_mut(group, label).iter_mut().enumerate() {
                let sign = if signed == Some(group) { sign(column) } else { 1.0 };
                *u = T::from_f64(sign * size * (1.0 + u.to_f64()));
            }
            if spec.biases == Biases::Modes {
                parameters.set_bias(group, label, biases.bias(group, label));
            }
        }
    }
    parameters
}
