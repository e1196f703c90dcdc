//! Where a fit starts: at random, or on the leading eigenvectors of the data.

use crate::model::{Biases, Interaction, ModelSpec, Parameters, each_row};
use crate::objective::{DataGradient, Objective};
use crate::views::Selection;
use quadfill_kernels::{Real, lanczos};

/// The smallest penalty at which zero factors are optimal, and the directions that leave zero first
/// as the penalty falls below it.
#[derive(Debug, Clone)]
pub struct Spectrum {
    /// `lambda_max`: the largest eigenvalue of `(2/m) * sum w_t y_t A_t`, over the row weights.
    pub lambda_max: f64,
    /// All computed eigenvalues, descending.
    pub values: Vec<f64>,
    /// Eigenvectors over all rows stacked, one per value.
    pub vectors: Vec<Vec<f64>>,
}

impl Spectrum {
    /// The leading `wanted` eigenpairs at the biases of `parameters` (its factors must be zero).
    ///
    /// For quadratic models only: CP has no such point.
    pub fn new<T: Real>(
        objective: &Objective<'_, T>,
        parameters: &Parameters<T>,
        wanted: usize,
        seed: u64,
    ) -> Self {
        let rows = parameters.layout().rows().to_vec();
        let scales = row_scales(objective, &rows);
        let n = scales.len();
        let gradient = DataGradient::new(objective, parameters)
            .expect("only quadratic models have a spectrum at zero");
        // A path only needs to start near the eigenvectors; with many rows each step costs memory.
        let steps = if objective.views().len() > 1_000_000 { wanted + 12 } else { 300 };
        let ritz = lanczos::largest(n, wanted.min(n), steps.min(n), seed, |v, out| {
            let scaled: Vec<f64> = v.iter().zip(&scales).map(|(v, s)| v * s).collect();
            gradient.apply(&scaled, out);
            // The objective falls where its gradient is negative.
            for (o, s) in out.iter_mut().zip(&scales) {
                *o *= -s;
            }
        });
        let vectors = ritz
            .vectors
            .into_iter()
            .map(|v| v.iter().zip(&scales).map(|(v, s)| v * s).collect())
            .collect();
        let largest = ritz.values.first().copied().unwrap_or(0.0);
        let magnitude = ritz.values.iter().fold(0.0f64, |max, v| max.max(v.abs()));
        // Where even the first eigenvalue is not positive zero is optimal for every penalty.
        let lambda_max = if largest > 0.0 { largest } else { magnitude.max(f64::MIN_POSITIVE) };
        Self { lambda_max, values: ritz.values, vectors }
    }

    /// Factors on the eigenvectors, each with root mean square `size` where its eigenvalue is the
    /// largest, and less in proportion below.
    pub fn write_factors<T: Real>(&self, parameters: &mut Parameters<T>, size: f64) {
        let rows = parameters.layout().rows().to_vec();
        let n: usize = rows.iter().sum();
        for (column, vector) in self.vectors.iter().enumerate().take(parameters.layout().rank()) {
            let share = (self.values[column] / self.lambda_max).clamp(0.01, 1.0).sqrt();
            let length = vector.iter().map(|v| v * v).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
            let scale = size * share * (n as f64).sqrt() / length;
            let mut stacked = 0;
            for (group, &count) in rows.iter().enumerate() {
                for label in 0..count {
                    parameters.row_mut(group, label)[column] = T::from_f64(scale * vector[stacked]);
                    stacked += 1;
                }
            }
        }
    }
}

fn row_scales<T: Real>(objective: &Objective<'_, T>, rows: &[usize]) -> Vec<f64> {
    each_row(rows).map(|(group, label)| 1.0 / objective.row_weight(group, label).sqrt()).collect()
}

/// Zero factors with the biases that the model asks for: the mean of the data, and biases fitted
/// alone by a few alternating passes.
pub(crate) fn biases_only<T: Real>(spec: &ModelSpec, data: Selection<'_, T>) -> Parameters<T> {
    const BIAS_PASSES: usize = 10;
    let sizes = data.sizes();
    let mut parameters = Parameters::zeros(spec, &sizes);
    if spec.biases != Biases::None {
        parameters.mean = data.mean();
    }
    if spec.biases == Biases::Modes {
        // A rank-one model with zero factors is its biases.
        let plain = ModelSpec { rank: 1, ..spec.clone() };
        let objective = Objective::new(data, &plain, 1.0, crate::objective::PenaltyScale::Uniform);
        let mut biases = Parameters::<T>::zeros(&plain, &sizes);
        biases.mean = parameters.mean;
        for _ in 0..BIAS_PASSES {
            super::als::sweep(&objective, &mut biases);
        }
        for (group, rows) in spec.group_sizes(&sizes).into_iter().enumerate() {
            for label in 0..rows {
                parameters.set_bias(group, label, biases.bias(group, label));
            }
        }
    }
    parameters
}

/// The scale of factors whose predictions have about the given standard deviation.
///
/// ```
/// use quadfill::model::{Kernel, ModelSpec};
/// use quadfill::solve::start;
///
/// let spec = ModelSpec::quadratic(Kernel::pairwise(3), 4);
/// assert_eq!(start::scale(&spec, 6.0), 1.0);
/// ```
pub fn scale(spec: &ModelSpec, deviation: f64) -> f64 {
    let (rank, modes) = (spec.rank as f64, spec.modes() as f64);
    match &spec.interaction {
        Interaction::Cp => (deviation / rank.sqrt()).powf(1.0 / modes),
        Interaction::Quadratic(_) => (deviation / rank.sqrt() / modes).sqrt(),
    }
}

/// A random start whose predictions are about as large as the data.
pub fn random<T: Real>(spec: &ModelSpec, data: Selection<'_, T>, seed: u64) -> Parameters<T> {
    if spec.centred {
        return super::centred::start(spec, data, seed);
    }
    let biases = biases_only(spec, data);
    let mut squares = 0.0;
    let mean = biases.mean;
    data.for_each(|_, value, weight| squares += weight.to_f64() * (value.to_f64() - mean).powi(2));
    let deviation = (squares / data.total_weight().max(f64::MIN_POSITIVE)).sqrt();
    let mut parameters = Parameters::random(spec, &data.sizes(), scale(spec, deviation), seed);
    parameters.mean = mean;
    for (group, rows) in spec.group_sizes(&data.sizes()).into_iter().enumerate() {
        for label in 0..rows {
            if spec.biases == Biases::Modes {
                parameters.set_bias(group, label, biases.bias(group, label));
            }
        }
    }
    parameters
}

/// Where the path of a CP model begins. Zero is a strict local minimum of CP under any penalty, so
/// there is no largest penalty to start from: this finds one at which no column of a random start
/// vanishes, and uses the best of several starts there.
pub(super) fn product_path_start<T: Real>(
    mut objective: Objective<'_, T>,
    deviation: f64,
    seed: u64,
) -> (f64, Parameters<T>) {
    const PENALTIES: usize = 10;
    const DECREASE: f64 = 4.0;
    const STARTS: u64 = 4;
    const SWEEPS: usize = 10;
    /// Observations times columns from which one start is enough: the more data, the fewer minima.
    const MANY: usize = 1_000_000;
    let spec = objective.spec().clone();
    let data = objective.views();
    let starts = if data.len() * spec.rank > MANY { 1 } else { STARTS };
    let rows: usize = spec.group_sizes(&data.sizes()).iter().sum();
    let order = spec.modes() as f64;
    let mut penalty = deviation.powf(2.0 - 2.0 / order) / rows as f64;
    let mut best: Option<(f64, Parameters<T>)> = None;
    for _ in 0..PENALTIES {
        objective.set_penalty(penalty);
        for start in 0..starts {
            let mut parameters = random(&spec, data, seed.wrapping_add(start));
            let mut left = 0.0;
            let mut alive = true;
            for _ in 0..SWEEPS {
                left = super::als::sweep(&objective, &mut parameters);
                alive = weakest_column(&parameters) > 0.01;
                // A column that is so small under this penalty does not come back.
                if !alive {
                    break;
                }
            }
            if alive && best.as_ref().is_none_or(|(other, _)| left < *other) {
                best = Some((left, parameters));
            }
        }
        if let Some((_, parameters)) = best {
            return (penalty, parameters);
        }
        penalty /= DECREASE;
    }
    (penalty, random(&spec, data, seed))
}

/// The size of the smallest rank-one term over that of the largest.
fn weakest_column<T: Real>(parameters: &Parameters<T>) -> f64 {
    term_sizes(parameters).into_iter().fold(f64::INFINITY, f64::min)
}

/// The sizes of all rank-one terms over that of the largest.
pub(super) fn term_sizes<T: Real>(parameters: &Parameters<T>) -> Vec<f64> {
    let rows = parameters.layout().rows();
    let sizes: Vec<f64> = (0..parameters.layout().rank())
        .map(|column| {
            (0..rows.len())
                .map(|group| {
                    let entries =
                        (0..rows[group]).map(|label| parameters.row(group, label)[column].to_f64());
                    entries.map(|u| u * u).sum::<f64>().sqrt()
                })
                .product()
        })
        .collect();
    let largest = sizes.iter().fold(f64::MIN_POSITIVE, |max, &s| max.max(s));
    sizes.into_iter().map(|size| size / largest).collect()
}
