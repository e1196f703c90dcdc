//! The normal-Wishart prior of rows: a draw of a mean and a whole precision matrix given the rows.

use rand_chacha::ChaCha8Rng;

use crate::model::GroupPrior;
use quadfill_kernels::{cholesky, streams};

/// Rows of `n` entries, summed up.
pub(super) struct RowSums {
    /// The number of rows.
    pub(super) rows: usize,
    /// The sum of all rows.
    pub(super) sum: Vec<f64>,
    /// The lower triangle of the sum of `x x^T`, row by row.
    pub(super) products: Vec<f64>,
}

impl RowSums {
    pub(super) fn new(n: usize) -> Self {
        Self { rows: 0, sum: vec![0.0; n], products: vec![0.0; n * n] }
    }

    pub(super) fn add(&mut self, row: &[f64]) {
        let n = row.len();
        self.rows += 1;
        for (i, &x) in row.iter().enumerate() {
            self.sum[i] += x;
            for (p, y) in self.products[i * n..=i * n + i].iter_mut().zip(row) {
                *p += x * y;
            }
        }
    }
}

/// Draws mean and precision matrix of the rows, given the rows.
///
/// A priori the precision matrix is Wishart with `n` degrees of freedom and the inverse scale
/// `diag(scale)`, and the mean is normal about zero with `mean_count` times that precision. Given rows,
/// the inverse scale gains their products less those of their sum, and the degrees of freedom their
/// number.
pub(super) fn draw(
    sums: &RowSums,
    scale: &[f64],
    mean_count: f64,
    rng: &mut ChaCha8Rng,
) -> GroupPrior {
    let n = sums.sum.len();
    let total = mean_count + sums.rows as f64;
    let mut root = sums.products.clone();
    for i in 0..n {
        for j in 0..=i {
            root[i * n + j] -= sums.sum[i] * sums.sum[j] / total;
        }
        root[i * n + i] += scale[i];
    }
    if !cholesky::factor(&mut root, n, n) {
        // Numbers beyond the range of a float: NaN ends the fit, and a model file refuses it.
        return GroupPrior { means: vec![f64::NAN; n], precisions: vec![f64::NAN; n * n] };
    }
    let freedom = (n + sums.rows) as f64;
    let bartlett = bartlett_factor(n, freedom, rng);
    // With S = L L^T and A the Bartlett factor, the precision is B B^T for B = L^-T A.
    let mut factor = bartlett.clone();
    for column in 0..n {
        for i in (0..n).rev() {
            let known: f64 =
                (i + 1..n).map(|k| root[k * n + i] * factor[k * n + column]).sum::<f64>();
            factor[i * n + column] = (factor[i * n + column] - known) / root[i * n + i];
        }
    }
    let mut precisions = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let product: f64 = (0..n).map(|k| factor[i * n + k] * factor[j * n + k]).sum();
            precisions[i * n + j] = product;
            precisions[j * n + i] = product;
        }
    }
    // The covariance of the mean is the inverse over `total`: z -> L A^-T z.
    let mut z = vec![0.0; n];
    streams::fill_normal(&mut z, rng);
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| bartlett[k * n + i] * z[k]).sum();
        z[i] = (z[i] - known) / bartlett[i * n + i];
    }
    let means = (0..n)
        .map(|i| {
            let noise: f64 = (0..=i).map(|k| root[i * n + k] * z[k]).sum();
            (sums.sum[i] + total.sqrt() * noise) / total
        })
        .collect();
    GroupPrior { means, precisions }
}

/// The lower triangle `A` for which `A A^T` is Wishart with the identity as its scale.
fn bartlett_factor(n: usize, freedom: f64, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut factor = vec![0.0; n * n];
    for i in 0..n {
        streams::fill_normal(&mut factor[i * n..i * n + i], rng);
        factor[i * n + i] = streams::gamma(0.5 * (freedom - i as f64), 0.5, rng).sqrt();
    }
    factor
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Over many draws the precision has the mean `freedom S^-1`, its inverse the mean
    /// `S / (freedom - n - 1)`, and the row mean is normal about `sum / total`.
    #[test]
    fn draws_have_the_moments_of_the_distribution() {
        const DRAWS: usize = 20_000;
        let rows = [[1.0, 0.2, -0.5], [0.3, -1.0, 0.4], [2.0, 0.1, 0.0], [-0.7, 0.6, 1.1]];
        let (n, scale, count) = (3, [0.5, 0.8, 1.5], 1.0);
        let mut sums = RowSums::new(n);
        (0..5).for_each(|_| rows.iter().for_each(|row| sums.add(row)));
        let (freedom, total) = ((n + 20) as f64, count + 20.0);
        let mut s = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                let products: f64 = rows.iter().map(|row| 5.0 * row[i] * row[j]).sum();
                s[i * n + j] = products - sums.sum[i] * sums.sum[j] / total;
            }
            s[i * n + i] += scale[i];
        }
        let mut rng = streams::stream(11, 3, 0);
        let mut precision = vec![0.0; n * n];
        let mut covariance = vec![0.0; n * n];
        let mut mean = vec![0.0; n];
        for _ in 0..DRAWS {
            let prior = draw(&sums, &scale, count, &mut rng);
            let inverse = prior.covariance().expect("a precision matrix");
            for k in 0..n * n {
                precision[k] += prior.precisions[k] / DRAWS as f64;
                covariance[k] += inverse[k] / DRAWS as f64;
            }
            for k in 0..n {
                mean[k] += prior.means[k] / DRAWS as f64;
            }
        }
        for i in 0..n {
            let deviation = (s[i * n + i] / (freedom - 4.0) / total / DRAWS as f64).sqrt();
            assert!((mean[i] - sums.sum[i] / total).abs() < 5.0 * deviation, "{mean:?}");
            for j in 0..n {
                let expected = s[i * n + j] / (freedom - n as f64 - 1.0);
                let size = (s[i * n + i] * s[j * n + j]).sqrt() / (freedom - n as f64 - 1.0);
                let found = covariance[i * n + j];
                assert!((found - expected).abs() < 0.02 * size, "{found} against {expected}");
                // S times the mean precision is the identity times the degrees of freedom.
                let product: f64 = (0..n).map(|k| s[i * n + k] * precision[k * n + j]).sum();
                let expected = if i == j { freedom } else { 0.0 };
                assert!((product - expected).abs() < 0.03 * freedom, "{product}");
            }
        }
    }
}
