//! Intervals from draws of the posterior.

use super::interval::normal_quantile;
use crate::model::{Draw, Interaction, Posterior};
use crate::model::{Predictor, UNKNOWN};
use quadfill_kernels::Real;

/// Prediction intervals from draws.
///
/// Given one draw, a new observation of a cell is normal about that draw's prediction with that draw's
/// noise; over all draws its distribution is their mixture. An unknown label adds the spread of the
/// rows of its mode.
#[derive(Debug, Clone)]
pub struct DrawIntervals<'a, T: Real> {
    predictor: Predictor<'a, T>,
    posterior: &'a Posterior<T>,
    /// For each draw and factor matrix, the covariance matrix of a row of which nothing is known.
    covariances: Vec<Vec<Vec<f64>>>,
}

/// The distribution of a new observation, given one draw.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Normal {
    mean: f64,
    deviation: f64,
}

impl<'a, T: Real> DrawIntervals<'a, T> {
    /// For the model of these draws' mean.
    pub fn new(predictor: Predictor<'a, T>, posterior: &'a Posterior<T>) -> Self {
        let of_draw = |draw: &Draw| {
            let priors = draw.priors.iter();
            priors.map(|prior| prior.covariance().expect("priors are proper")).collect()
        };
        let covariances = posterior.draws().iter().map(of_draw).collect();
        Self { predictor, posterior, covariances }
    }

    /// Half the width of the interval about a prediction that a new observation falls into with
    /// probability `level`.
    pub fn half_width(&self, cell: &[u32], level: f64) -> f64 {
        let distributions: Vec<Normal> =
            (0..self.posterior.draws().len()).map(|at| self.distribution(at, cell)).collect();
        mixture_half_width(&distributions, level)
    }

    /// The distribution of a new observation of a cell, given one draw.
    fn distribution(&self, at: usize, cell: &[u32]) -> Normal {
        let Predictor { spec, parameters, .. } = self.predictor;
        let draws = self.posterior.draws();
        let (draw, count) = (&draws[at], draws.len());
        let rank = spec.rank / count;
        // Undoes the scale that draws have where they are side by side.
        let scale = match &spec.interaction {
            Interaction::Quadratic(_) => (count as f64).sqrt(),
            Interaction::Cp => (count as f64).powf(1.0 / cell.len() as f64),
        };
        let rows: Vec<Row<'_>> = cell
            .iter()
            .enumerate()
            .map(|(mode, &label)| {
                let group = spec.groups[mode];
                if label == UNKNOWN {
                    let covariance = &self.covariances[at][group];
                    return Row::unknown(&draw.priors[group].means, covariance, rank);
                }
                let row = &parameters.row(group, label as usize)[at * rank..(at + 1) * rank];
                let bias = draw.biases.get(group).map_or(0.0, |b| f64::from(b[label as usize]));
                Row { mean: row.iter().map(|u| u.to_f64() * scale).collect(), bias, spread: None }
            })
            .collect();
        let biases: f64 = rows.iter().map(|row| row.bias).sum();
        let (interaction, spread) = match &spec.interaction {
            Interaction::Cp => product_moments(&rows, rank),
            Interaction::Quadratic(kernel) => pair_moments(&rows, kernel),
        };
        let variance = 1.0 / draw.noise + spread;
        Normal { mean: draw.mean + biases + interaction, deviation: variance.sqrt() }
    }
}

/// The row of a label in one draw: known, or distributed as the prior.
struct Row<'a> {
    mean: Vec<f64>,
    bias: f64,
    /// The covariance matrix of an unknown row, its bias being the last entry where there is one.
    spread: Option<&'a [f64]>,
}

impl<'a> Row<'a> {
    fn unknown(means: &[f64], covariance: &'a [f64], rank: usize) -> Self {
        Self {
            mean: means[..rank].to_vec(),
            bias: means.get(rank).copied().unwrap_or(0.0),
            spread: Some(covariance),
        }
    }

    /// The covariance of two entries; 0 if the row is known.
    fn covariance(&self, i: usize, j: usize) -> f64 {
        self.spread.map_or(0.0, |matrix| matrix[i * matrix.len().isqrt() + j])
    }

    /// The variance of `<weights, row> + bias`.
    fn variance_along(&self, weights: &[f64]) -> f64 {
        let Some(matrix) = self.spread else { return 0.0 };
        let n = matrix.len().isqrt();
        let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
        (0..n)
            .map(|i| {
                let line: f64 = (0..n).map(|j| matrix[i * n + j] * weight(j)).sum();
                weight(i) * line
            })
            .sum()
    }
}

/// The mean and the variance of a sum over pairs and of the biases: rows of different modes are
/// independent, so each row adds its variance along the sum of its partners, and each pair of unknown rows
/// the trace of the product of their covariances.
fn pair_moments(rows: &[Row<'_>], kernel: &crate::model::Kernel) -> (f64, f64) {
    let rank = rows.first().map_or(0, |row| row.mean.len());
    let (mut mean, mut variance) = (0.0, 0.0);
    for (a, row) in rows.iter().enumerate() {
        let mut partners = vec![0.0; rank];
        for (b, other) in rows.iter().enumerate().filter(|&(b, _)| b != a) {
            let weight = 2.0 * kernel.get(a, b);
            for (p, x) in partners.iter_mut().zip(&other.mean) {
                *p += weight * x;
            }
            if b < a && row.spread.is_some() && other.spread.is_some() {
                let pairs = (0..rank).flat_map(|i| (0..rank).map(move |j| (i, j)));
                let trace = pairs.map(|(i, j)| row.covariance(i, j) * other.covariance(i, j));
                variance += weight * weight * trace.sum::<f64>();
            }
        }
        // Every pair is counted from both of its rows.
        mean += 0.5 * row.mean.iter().zip(&partners).map(|(x, p)| x * p).sum::<f64>();
        variance += row.variance_along(&partners);
    }
    (mean, variance)
}

/// The mean and the variance of a sum of products over modes, and of the biases.
fn product_moments(rows: &[Row<'_>], rank: usize) -> (f64, f64) {
    let product = |l: usize| rows.iter().map(|row| row.mean[l]).product::<f64>();
    let products: Vec<f64> = (0..rank).map(product).collect();
    let mean = products.iter().sum();
    if rows.iter().all(|row| row.spread.is_none()) {
        return (mean, 0.0);
    }
    let mut variance = 0.0;
    for l in 0..rank {
        for k in 0..rank {
            let both: f64 =
                rows.iter().map(|row| row.mean[l] * row.mean[k] + row.covariance(l, k)).product();
            variance += both - products[l] * products[k];
        }
    }
    for (a, row) in rows.iter().enumerate() {
        if row.spread.is_some_and(|matrix| matrix.len() > rank * rank) {
            variance += row.covariance(rank, rank);
            for l in 0..rank {
                let others = rows.iter().enumerate().filter(|&(b, _)| b != a);
                let rest: f64 = others.map(|(_, other)| other.mean[l]).product();
                variance += 2.0 * rest * row.covariance(l, rank);
            }
        }
    }
    (mean, variance.max(0.0))
}

/// The half-width of the interval about the mean of a mixture that has the probability `level`.
fn mixture_half_width(distributions: &[Normal], level: f64) -> f64 {
    let count = distributions.len() as f64;
    let center = distributions.iter().map(|distribution| distribution.mean).sum::<f64>() / count;
    let variance = |distribution: &Normal| {
        (distribution.mean - center).powi(2) + distribution.deviation.powi(2)
    };
    let deviation = (distributions.iter().map(variance).sum::<f64>() / count).sqrt();
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut width = normal_quantile(0.5 + 0.5 * level) * deviation;
    // Newton steps, with bisection where they leave the bracket.
    for _ in 0..60 {
        let (mut covered, mut density) = (-level, 0.0);
        for distribution in distributions {
            for end in [center + width - distribution.mean, distribution.mean - center + width] {
                let z = end / distribution.deviation;
                covered += (normal_distribution(z) - 0.5) / count;
                density +=
                    (-0.5 * z * z).exp() * INVERSE_ROOT_OF_TAU / distribution.deviation / count;
            }
        }
        if covered < 0.0 {
            low = width;
        } else {
            high = width;
        }
        let next = width - covered / density;
        let before = width;
        width = if next > low && next < high {
            next
        } else if high.is_finite() {
            0.5 * (low + high)
        } else {
            2.0 * width
        };
        if (width - before).abs() <= 1e-9 * deviation {
            break;
        }
    }
    width
}

/// `1 / sqrt(2 pi)`.
const INVERSE_ROOT_OF_TAU: f64 = 0.398_942_280_401_432_7;

/// The standard normal distribution function: a series near the middle, a continued fraction in the
/// tails.
fn normal_distribution(z: f64) -> f64 {
    let size = z.abs();
    let density = (-0.5 * size * size).exp() * INVERSE_ROOT_OF_TAU;
    if size < 3.0 {
        // density * (z + z^3/3 + z^5/(3*5) + ...)
        let (mut term, mut sum, mut odd) = (size, size, 1.0);
        while term > 1e-16 * sum {
            odd += 2.0;
            term *= size * size / odd;
            sum += term;
        }
        return 0.5 + (density * sum).copysign(z);
    }
    let fraction = (1..=40).rev().fold(size, |below, k| size + f64::from(k) / below);
    let tail = density / fraction;
    if z > 0.0 { 1.0 - tail } else { tail }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Biases, GroupPrior, Kernel, ModelSpec, Parameters};

    #[test]
    fn the_distribution_function_undoes_the_quantiles() {
        for p in [1e-6, 1e-3, 0.02, 0.3, 0.5, 0.7, 0.95, 0.998, 0.999_99] {
            assert!((normal_distribution(normal_quantile(p)) - p).abs() < 1e-8 * p.max(0.1), "{p}");
        }
        assert_eq!(normal_distribution(f64::INFINITY).to_bits(), 1.0f64.to_bits());
    }

    /// Two draws of a model, joined.
    fn joined(
        spec: &ModelSpec,
        precisions: &dyn Fn(usize) -> Vec<f64>,
    ) -> (ModelSpec, Parameters<f32>, Posterior<f32>) {
        let sizes = [3, 4, 2];
        let kept = (0..2)
            .map(|draw| {
                let mut point = Parameters::<f32>::random(spec, &sizes, 1.0, draw);
                point.mean = 0.25 * draw as f64;
                let mut n = spec.rank;
                if spec.biases == Biases::Modes {
                    n += 1;
                    for (group, rows) in sizes.into_iter().enumerate() {
                        (0..rows).for_each(|label| point.set_bias(group, label, label as f32));
                    }
                }
                let prior = GroupPrior { means: vec![0.4; n], precisions: precisions(n) };
                (point, 4.0, vec![prior; 3])
            })
            .collect();
        Posterior::join(spec, &sizes, kept)
    }

    #[test]
    fn the_model_is_the_mean_of_its_draws_also_where_labels_are_unknown() {
        for spec in [
            ModelSpec::quadratic(Kernel::pairwise(3), 3).with_biases(Biases::Modes),
            ModelSpec::cp(3, 2).with_biases(Biases::Modes),
            ModelSpec::cp(3, 2),
        ] {
            let (wide, parameters, posterior) = joined(&spec, &|n| vec![2.0; n]);
            let predictor = Predictor::new(&wide, &parameters)
                .with_unknown_rows(Some(posterior.unknown_rows()));
            let intervals = DrawIntervals::new(predictor, &posterior);
            for cell in [[0, 1, 1], [2, 3, 0], [UNKNOWN, 1, 1], [UNKNOWN, UNKNOWN, 0]] {
                let distributions =
                    [intervals.distribution(0, &cell), intervals.distribution(1, &cell)];
                let mean = 0.5 * (distributions[0].mean + distributions[1].mean);
                assert!((predictor.cell(&cell) - mean).abs() < 1e-6, "{cell:?}");
                let noisy = distributions[0].deviation > 0.5 + 1e-9;
                assert_eq!(
                    noisy,
                    cell.contains(&UNKNOWN),
                    "{cell:?}: {}",
                    distributions[0].deviation
                );
            }
            // Each draw is there as it was.
            let first = Parameters::<f32>::random(&spec, &[3, 4, 2], 1.0, 0);
            let mut known = Predictor::new(&spec, &first).cell(&[2, 1, 0]);
            if spec.biases == Biases::Modes {
                known += 3.0;
            }
            assert!((intervals.distribution(0, &[2, 1, 0]).mean - known).abs() < 1e-6);
        }
    }

    /// A precision matrix with correlated entries.
    fn correlated(n: usize) -> Vec<f64> {
        let entry = |i: usize, j: usize| if i == j { 2.0 + i as f64 } else { 0.6 };
        (0..n * n).map(|k| entry(k / n, k % n)).collect()
    }

    /// The spread that an unknown row adds, against draws of that row.
    #[test]
    fn unknown_rows_spread_as_their_prior_says() {
        use quadfill_kernels::cholesky::factor;
        use quadfill_kernels::streams::{fill_normal, stream};
        const DRAWS: usize = 40_000;
        let pairwise = ModelSpec::quadratic(Kernel::pairwise(3), 2).with_biases(Biases::Modes);
        let cp = ModelSpec::cp(3, 2).with_biases(Biases::Modes);
        let priors: [&dyn Fn(usize) -> Vec<f64>; 2] = [&|n| vec![2.0; n], &correlated];
        for (spec, precisions) in
            [(&pairwise, priors[0]), (&cp, priors[0]), (&pairwise, priors[1]), (&cp, priors[1])]
        {
            let (wide, parameters, posterior) = joined(spec, precisions);
            let intervals = DrawIntervals::new(Predictor::new(&wide, &parameters), &posterior);
            let distribution = intervals.distribution(0, &[UNKNOWN, UNKNOWN, 1]);
            let mut covariance = GroupPrior { means: vec![0.4; 3], precisions: precisions(3) }
                .covariance()
                .expect("a proper prior");
            assert!(factor(&mut covariance, 3, 3));
            let mut point = Parameters::<f64>::zeros(spec, &[1, 1, 1]);
            let first = Parameters::<f32>::random(spec, &[3, 4, 2], 1.0, 0);
            for (u, &x) in point.row_mut(2, 0).iter_mut().zip(first.row(2, 1)) {
                *u = f64::from(x);
            }
            point.set_bias(2, 0, 1.0);
            let mut rng = stream(1, 1, 1);
            let (mut sum, mut squares) = (0.0, 0.0);
            for _ in 0..DRAWS {
                let mut noise = [0.0; 7];
                fill_normal(&mut noise, &mut rng);
                for group in 0..2 {
                    let entry = |i: usize| {
                        let noise = &noise[3 * group..];
                        let line = &covariance[i * 3..=i * 3 + i];
                        0.4 + line.iter().zip(noise).map(|(l, z)| l * z).sum::<f64>()
                    };
                    point.row_mut(group, 0).copy_from_slice(&[entry(0), entry(1)]);
                    point.set_bias(group, 0, entry(2));
                }
                let new = Predictor::new(spec, &point).cell(&[0, 0, 0]) + 0.5 * noise[6];
                sum += new;
                squares += new * new;
            }
            let mean = sum / DRAWS as f64;
            let deviation = (squares / DRAWS as f64 - mean * mean).sqrt();
            assert!((mean - distribution.mean).abs() < 5.0 * deviation / (DRAWS as f64).sqrt());
            assert!(
                (deviation / distribution.deviation - 1.0).abs() < 0.02,
                "{deviation} {distribution:?}"
            );
        }
    }

    #[test]
    fn a_mixture_of_one_is_normal_and_others_cover_their_level() {
        let one = [Normal { mean: 3.0, deviation: 2.0 }];
        assert!((mixture_half_width(&one, 0.9) - 2.0 * normal_quantile(0.95)).abs() < 1e-8);
        let apart: Vec<Normal> =
            [-4.0, 0.5, 7.0].map(|mean| Normal { mean, deviation: 0.3 + mean * mean }).to_vec();
        for level in [0.01, 0.5, 0.9, 0.999] {
            let (width, center) = (mixture_half_width(&apart, level), 3.5 / 3.0);
            let inside: f64 = apart
                .iter()
                .map(|distribution| {
                    let at = |x: f64| {
                        normal_distribution((x - distribution.mean) / distribution.deviation)
                    };
                    at(center + width) - at(center - width)
                })
                .sum();
            assert!((inside / 3.0 - level).abs() < 1e-7, "{level}: {}", inside / 3.0);
        }
    }
}
