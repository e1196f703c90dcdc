//! The smallest eigenvalue of the scaled gradient: an estimate, and a rigorous lower bound.
//!
//! A Lanczos residual says that some eigenvalue is near, not that none is lower. For few rows a
//! Cholesky factorization proves the bound; for many, the bound holds with a stated probability over the
//! random start.

use super::gradient::GradientMatrix;
use quadfill_kernels::{Real, dense, lanczos};

/// Up to this many rows, all modes stacked, the bound is certain.
const DENSE_LIMIT: usize = 4000;
/// Lanczos steps where rows are many, and where observations are, too.
const STEPS: usize = 300;
const STEPS_ON_LARGE_DATA: usize = 40;
const LARGE_DATA: usize = 1_000_000;
/// The same where a step takes as long as a sweep, about: few more than it takes to bound anything.
const STEPS_ON_HUGE_DATA: usize = 20;
const HUGE_DATA: usize = 200_000_000;
/// The probability that the bound is wrong, for each end of the spectrum.
const MISSED: f64 = 1e-9;

/// The smallest eigenvalue of the scaled gradient.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Smallest {
    pub(crate) estimate: f64,
    pub(crate) bound: f64,
    /// The probability of the bound: 1 where it is certain.
    pub(crate) confidence: f64,
}

impl Smallest {
    pub(crate) fn new<T: Real>(
        gradient: &GradientMatrix<'_, '_, T>,
        rank: usize,
        seed: u64,
    ) -> Self {
        if gradient.rows() <= DENSE_LIMIT {
            Self::certain(gradient, rank, seed)
        } else {
            Self::probable(gradient, rank, seed)
        }
    }

    /// The estimate alone, where the gap does not depend on a bound.
    pub(crate) fn estimated<T: Real>(gradient: &GradientMatrix<'_, '_, T>, seed: u64) -> Self {
        let lowest = escape_directions(gradient, 1, seed);
        let estimate = lowest.values.first().map_or(f64::NEG_INFINITY, |value| -value);
        Self { estimate, bound: f64::NEG_INFINITY, confidence: 1.0 }
    }

    fn certain<T: Real>(gradient: &GradientMatrix<'_, '_, T>, rank: usize, seed: u64) -> Self {
        let n = gradient.rows();
        let Self { estimate, .. } = Self::estimated(gradient, seed);
        let matrix = gradient.dense_scaled();
        let trace: f64 = (0..n).map(|i| matrix[i * n + i].abs()).sum();
        let size = trace / n as f64;
        let mut margin = 1e-12 * (size + estimate.abs());
        // Lanczos may have missed the smallest eigenvalue: lower the bound until it holds.
        while margin.is_finite() && margin > 0.0 {
            let mut shifted = matrix.clone();
            for i in 0..n {
                shifted[i * n + i] += margin - estimate;
            }
            let sum: f64 = (0..n).map(|i| shifted[i * n + i]).sum();
            if dense::cholesky(&mut shifted, n) {
                let rounding = 2.0 * (n + 1) as f64 * f64::EPSILON * sum + gradient.rounding(rank);
                return Self { estimate, bound: estimate - margin - rounding, confidence: 1.0 };
            }
            margin *= 10.0;
        }
        Self { estimate, bound: f64::NEG_INFINITY, confidence: 1.0 }
    }

    fn probable<T: Real>(gradient: &GradientMatrix<'_, '_, T>, rank: usize, seed: u64) -> Self {
        let n = gradient.rows();
        let ends =
            lanczos::extremes(n, steps(gradient), seed, |v, out| gradient.apply_scaled(v, out));
        let bound = ends.as_ref().and_then(|ends| ends.lower_bound(n, MISSED));
        Self {
            estimate: ends.map_or(f64::NEG_INFINITY, |ends| ends.smallest),
            bound: bound.map_or(f64::NEG_INFINITY, |bound| bound - gradient.rounding(rank)),
            confidence: 1.0 - 2.0 * MISSED,
        }
    }
}

fn steps<T: Real>(gradient: &GradientMatrix<'_, '_, T>) -> usize {
    match gradient.data.cells() {
        HUGE_DATA.. => STEPS_ON_HUGE_DATA,
        cells if cells > LARGE_DATA => STEPS_ON_LARGE_DATA,
        _ => STEPS,
    }
}

/// The `wanted` directions in which the objective falls fastest as a column is added: eigenpairs of
/// minus the scaled gradient, largest first, with the scaling undone. Where a value is not
/// positive there is no descent direction.
pub(crate) fn escape_directions<T: Real>(
    gradient: &GradientMatrix<'_, '_, T>,
    wanted: usize,
    seed: u64,
) -> lanczos::RitzPairs {
    let mut found = lanczos::largest(gradient.rows(), wanted, steps(gradient), seed, |v, out| {
        gradient.apply_scaled(v, out);
        for o in out {
            *o = -*o;
        }
    });
    for x in &mut found.vectors {
        x.iter_mut().zip(&gradient.scales).for_each(|(x, scale)| *x *= scale);
    }
    found
}
