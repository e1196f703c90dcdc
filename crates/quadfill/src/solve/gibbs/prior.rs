//! The hyper-priors, and the draws of the priors of rows.

use rand_chacha::ChaCha8Rng;

use super::settings::{NoisePrior, RowPriorKind};
use super::wishart::{self, RowSums};
use crate::model::{GroupPrior, Interaction, Parameters};
use crate::objective::Objective;
use quadfill_kernels::{Real, streams};

/// One observation with a residual of a tenth of the data's deviation.
const NOISE_SHARE: f64 = 0.01;
/// The number of rows at zero that the prior of a column mean counts as.
const MEAN_COUNT: f64 = 1.0;

/// The hyper-priors, in the units of the data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HyperPrior {
    /// The mean of the data.
    pub mean: f64,
    /// The variance of the data about it.
    pub variance: f64,
    /// The expected square of a factor entry.
    pub unit: f64,
    /// The number of observations of positive weight.
    pub count: f64,
    /// The sum of all weights.
    pub weight: f64,
    /// The kind of prior that rows have.
    pub rows: RowPriorKind,
    /// What is known about the noise beforehand.
    pub noise: Option<NoisePrior>,
}

impl HyperPrior {
    /// The hyper-priors for the scale of the data.
    pub fn new<T: Real>(objective: &Objective<'_, T>) -> Self {
        let (views, spec) = (objective.views(), objective.spec());
        let mean = views.mean();
        let (mut squares, mut count) = (0.0, 0.0);
        views.for_each(|_, value, weight| {
            squares += weight.to_f64() * (value.to_f64() - mean).powi(2);
            count += f64::from(u8::from(weight > T::ZERO));
        });
        let weight = views.total_weight().max(f64::MIN_POSITIVE);
        // Constant data have no scale.
        let variance = Some(squares / weight).filter(|v| *v > 0.0).unwrap_or(1.0);
        let share = (variance / spec.rank as f64).sqrt();
        let unit = match &spec.interaction {
            Interaction::Cp => share.powf(2.0 / spec.modes() as f64),
            Interaction::Quadratic(_) => share / spec.modes() as f64,
        };
        let (rows, noise) = (RowPriorKind::Diagonal, None);
        Self { mean, variance, unit, count, weight, rows, noise }
    }

    /// The same with other priors of rows and noise.
    #[must_use]
    pub fn with_priors(self, rows: RowPriorKind, noise: Option<NoisePrior>) -> Self {
        Self { rows, noise, ..self }
    }

    /// The precision of the noise given the weighted squares of all residuals.
    pub(super) fn draw_noise(&self, squares: f64, rng: &mut ChaCha8Rng) -> f64 {
        let squares = NOISE_SHARE * self.variance + squares.max(0.0);
        let (count, known) = self.noise.map_or((0.0, 0.0), |noise| {
            let count = noise.share * self.count;
            (count, count * noise.rmse * noise.rmse)
        });
        draw_precision(self.count + count, squares + known, rng)
    }

    /// The global mean given the weighted sum of all residuals, taken at `mean`.
    pub(super) fn draw_mean(&self, mean: f64, sum: f64, noise: f64, rng: &mut ChaCha8Rng) -> f64 {
        let precision = noise * self.weight + 1.0 / self.variance;
        let pull = noise * sum + (self.mean - mean) / self.variance;
        let mut normal = [0.0];
        streams::fill_normal(&mut normal, rng);
        mean + pull / precision + normal[0] / precision.sqrt()
    }

    /// The prior of the rows of a factor matrix, given the rows.
    pub(crate) fn draw_prior<T: Real>(
        &self,
        parameters: &Parameters<T>,
        group: usize,
        rng: &mut ChaCha8Rng,
    ) -> GroupPrior {
        match self.rows {
            RowPriorKind::Diagonal => self.draw_diagonal(parameters, group, rng),
            RowPriorKind::Wishart => self.draw_full(parameters, group, rng),
        }
    }

    /// The square that an entry of a row is expected to have: of the bias, that of the data.
    fn entry_unit(&self, j: usize, rank: usize) -> f64 {
        if j < rank { self.unit } else { self.variance }
    }

    /// A mean and a whole precision matrix.
    fn draw_full<T: Real>(
        &self,
        parameters: &Parameters<T>,
        group: usize,
        rng: &mut ChaCha8Rng,
    ) -> GroupPrior {
        let (rank, n) = (parameters.layout().rank(), parameters.layout().row_unknowns());
        let mut sums = RowSums::new(n);
        let mut row = vec![0.0; n];
        for label in 0..parameters.layout().rows()[group] {
            for (x, u) in row.iter_mut().zip(parameters.row(group, label)) {
                *x = u.to_f64();
            }
            if n > rank {
                row[rank] = parameters.bias(group, label).to_f64();
            }
            sums.add(&row);
        }
        let scale: Vec<f64> = (0..n).map(|j| self.entry_unit(j, rank)).collect();
        wishart::draw(&sums, &scale, MEAN_COUNT, rng)
    }

    /// One mean and one precision for each entry.
    fn draw_diagonal<T: Real>(
        &self,
        parameters: &Parameters<T>,
        group: usize,
        rng: &mut ChaCha8Rng,
    ) -> GroupPrior {
        let (rank, n) = (parameters.layout().rank(), parameters.layout().row_unknowns());
        let rows = parameters.layout().rows()[group];
        let (mut sums, mut squares) = (vec![0.0; n], vec![0.0; n]);
        for label in 0..rows {
            for (j, u) in parameters.row(group, label).iter().enumerate() {
                sums[j] += u.to_f64();
                squares[j] += u.to_f64() * u.to_f64();
            }
        }
        for bias in parameters.biases(group).unwrap_or_default() {
            sums[rank] += bias.to_f64();
            squares[rank] += bias.to_f64() * bias.to_f64();
        }
        let count = rows as f64;
        let mut prior = GroupPrior { means: vec![0.0; n], precisions: vec![0.0; n] };
        for j in 0..n {
            let unit = self.entry_unit(j, rank);
            let total = MEAN_COUNT + count;
            // The squares about the mean, and the squared distance of the mean from zero.
            let spread = (squares[j] - sums[j] * sums[j] / total).max(0.0);
            let precision = draw_precision(count, unit + spread, rng);
            let mut normal = [0.0];
            streams::fill_normal(&mut normal, rng);
            prior.precisions[j] = precision;
            prior.means[j] = sums[j] / total + normal[0] / (total * precision).sqrt();
        }
        prior
    }
}

/// A precision given this many numbers with this sum of squares, those of the prior included. If the
/// squares overflow or underflow, the result is NaN, which ends the fit and which a model file refuses.
fn draw_precision(count: f64, squares: f64, rng: &mut ChaCha8Rng) -> f64 {
    let rate = 0.5 * squares;
    if rate.is_normal() && rate.recip().is_normal() {
        streams::gamma(0.5 + 0.5 * count, rate, rng)
    } else {
        f64::NAN
    }
}
