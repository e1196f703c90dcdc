//! The Lanczos method: extreme eigenvalues of a symmetric operator that is given by its products
//! with vectors.

use crate::dense::symmetric_eigen;
use crate::real::Real;
use crate::streams::{fill_normal, stream};
use crate::sum::{dot, norm2};

/// Number of steps between convergence checks.
const STEPS_PER_CHECK: usize = 8;
/// Convergence tolerance for residuals, relative to the largest Ritz value.
const TOLERANCE: f64 = 1e-8;
/// A new direction whose norm is at most this many machine epsilons, relative to the largest
/// product so far, is considered rounding error.
const BREAKDOWN: f64 = 500.0;

/// Approximate eigenpairs.
#[derive(Clone, Debug, PartialEq)]
pub struct RitzPairs {
    /// The Ritz values, in descending order.
    pub values: Vec<f64>,
    /// The unit Ritz vectors, in the order of the values.
    pub vectors: Vec<Vec<f64>>,
    /// The norm of `A x - theta x` for each pair, computed with the operator itself: some
    /// eigenvalue is within this distance of `theta`.
    pub residuals: Vec<f64>,
}

/// The `count` algebraically largest eigenpairs of a symmetric operator of order `n`, where
/// `apply(x, y)` writes the product of the operator with `x` to `y`.
///
/// Lanczos with full reorthogonalisation from a random start determined by `seed`. Stops when the
/// residuals are at most 1e-8 times the largest Ritz value, or after `max_steps`; `residuals`
/// bounds the error of each pair. When the Krylov space is invariant under the operator, the
/// iteration continues from a new random vector.
///
/// ```
/// let apply = |x: &[f64], y: &mut [f64]| {
///     for (i, (y, x)) in y.iter_mut().zip(x).enumerate() {
///         *y = i as f64 * x;
///     }
/// };
/// let top = quadfill_kernels::lanczos::largest(50, 2, 50, 1, apply);
/// assert!((top.values[0] - 49.0).abs() < 1e-6 && (top.values[1] - 48.0).abs() < 1e-6);
/// ```
pub fn largest(
    n: usize,
    count: usize,
    max_steps: usize,
    seed: u64,
    mut apply: impl FnMut(&[f64], &mut [f64]),
) -> RitzPairs {
    let count = count.min(n);
    let limit = max_steps.max(count).min(n);
    let mut lanczos = Lanczos::<f64>::new(n, seed);
    let mut product = vec![0.0; n];
    while lanczos.steps() < limit {
        let Some(start) = lanczos.next.take().or_else(|| lanczos.random_start()) else {
            break;
        };
        apply(&start, &mut product);
        lanczos.step(start, &mut product);
        let checks = lanczos.steps().is_multiple_of(STEPS_PER_CHECK) || lanczos.steps() == limit;
        if checks && lanczos.steps() >= count && lanczos.has_converged(count) {
            break;
        }
    }
    lanczos.ritz(count, apply)
}

/// Extreme Ritz values from one random start.
#[derive(Clone, Debug, PartialEq)]
pub struct Extremes {
    /// The smallest Ritz value: up to rounding, not less than the smallest eigenvalue.
    pub smallest: f64,
    /// The largest Ritz value: up to rounding, not greater than the largest eigenvalue.
    pub largest: f64,
    /// Number of applications of the operator.
    pub steps: usize,
}

impl Extremes {
    /// A lower bound on the smallest eigenvalue of an operator of order `n` that holds with
    /// probability `1 - 2 delta` over the random start, or `None` if there were too few steps for a
    /// bound.
    ///
    /// With `e = (ln(1.648 sqrt(n) / delta) / (2k - 1))^2` after `k` steps, the error of each
    /// extreme Ritz value is at most `e` times the width of the spectrum, with probability
    /// `1 - delta` (Kuczyński and Woźniakowski 1992). So the width is at most
    /// `(largest - smallest) / (1 - 2e)`.
    pub fn lower_bound(&self, n: usize, delta: f64) -> Option<f64> {
        let epsilon =
            ((1.648 * (n as f64).sqrt() / delta).ln() / (2.0 * self.steps as f64 - 1.0)).powi(2);
        let width = (self.largest - self.smallest) / (1.0 - 2.0 * epsilon);
        (epsilon < 0.5).then_some(self.smallest - epsilon * width)
    }
}

/// The extreme Ritz values of a symmetric operator of order `n` after `steps` Lanczos steps from
/// one random start, or fewer if the Krylov space is invariant under the operator. `None` if the
/// operator produces values that are not finite, or if `n` is 0.
///
/// The basis is stored in single precision, which halves the memory: Ritz values are accurate to
/// rounding as long as the basis is orthogonal to about 1e-8 (Simon 1984), and rounding the entries
/// of unit vectors of length `n` to 6e-8 keeps it orthogonal to `6e-8 / sqrt(n)`.
///
/// ```
/// let apply = |x: &[f64], y: &mut [f64]| {
///     for (i, (y, x)) in y.iter_mut().zip(x).enumerate() {
///         *y = i as f64 * x;
///     }
/// };
/// let extremes = quadfill_kernels::lanczos::extremes(500, 60, 1, apply).unwrap();
/// assert!(extremes.smallest < 1.0 && extremes.largest > 498.0);
/// assert!(extremes.lower_bound(500, 1e-9).unwrap() < 0.0);
/// ```
pub fn extremes(
    n: usize,
    steps: usize,
    seed: u64,
    mut apply: impl FnMut(&[f64], &mut [f64]),
) -> Option<Extremes> {
    let mut lanczos = Lanczos::<f32>::new(n, seed);
    lanczos.next = lanczos.random_start();
    let mut product = vec![0.0; n];
    while lanczos.steps() < steps.max(1) {
        let Some(start) = lanczos.next.take() else {
            break;
        };
        apply(&start, &mut product);
        lanczos.step(start, &mut product);
    }
    let (m, eigen) = (lanczos.steps(), lanczos.tridiagonal_eigen()?);
    let (&smallest, &largest) = (eigen.values.first()?, eigen.values.last()?);
    Some(Extremes { smallest, largest, steps: m })
}

/// The state of the iteration: an orthonormal basis in which the operator is tridiagonal.
struct Lanczos<T> {
    n: usize,
    seed: u64,
    starts: u64,
    basis: Vec<Vec<T>>,
    diagonal: Vec<f64>,
    /// `off_diagonal[i]` couples basis vectors `i` and `i + 1`.
    off_diagonal: Vec<f64>,
    /// The next basis vector, unless the span of the basis is invariant under the operator.
    next: Option<Vec<f64>>,
    /// The largest norm of a product so far: a lower bound on the norm of the operator.
    norm_estimate: f64,
}

impl<T: Real> Lanczos<T> {
    fn new(n: usize, seed: u64) -> Self {
        Self {
            n,
            seed,
            starts: 0,
            basis: Vec::new(),
            diagonal: Vec::new(),
            off_diagonal: Vec::new(),
            next: None,
            norm_estimate: 0.0,
        }
    }

    fn steps(&self) -> usize {
        self.basis.len()
    }

    /// A random unit vector orthogonal to the basis, if one exists.
    fn random_start(&mut self) -> Option<Vec<f64>> {
        while self.steps() < self.n && self.starts < 2 * self.n as u64 + 8 {
            let mut vector = vec![0.0; self.n];
            let mut rng = stream(self.seed, 0x6c61_6e63, self.starts);
            self.starts += 1;
            fill_normal(&mut vector, &mut rng);
            let before = norm2(&vector);
            self.orthogonalise(&mut vector);
            let after = norm2(&vector);
            if after > 1e-10 * before {
                divide(&mut vector, after);
                self.orthogonalise(&mut vector);
                let norm = norm2(&vector);
                divide(&mut vector, norm);
                return Some(vector);
            }
        }
        None
    }

    /// Subtracts the projection onto the span of the basis from `vector`, twice to remove rounding
    /// errors.
    fn orthogonalise(&self, vector: &mut [f64]) {
        for _ in 0..2 {
            for b in &self.basis {
                let projection = dot(b, vector);
                for (x, b) in vector.iter_mut().zip(b) {
                    *x -= projection * b.to_f64();
                }
            }
        }
    }

    /// Appends `vector`, whose product with the operator is `product`, to the basis.
    fn step(&mut self, vector: Vec<f64>, product: &mut [f64]) {
        self.norm_estimate = self.norm_estimate.max(norm2(product));
        self.diagonal.push(dot(&vector, product));
        self.basis.push(vector.into_iter().map(T::from_f64).collect());
        self.orthogonalise(product);
        let norm = norm2(product);
        if norm > BREAKDOWN * T::EPSILON * self.norm_estimate && self.steps() < self.n {
            let mut next = product.to_vec();
            divide(&mut next, norm);
            self.off_diagonal.push(norm);
            self.next = Some(next);
        } else {
            self.off_diagonal.push(0.0);
        }
    }

    /// Eigenpairs of the tridiagonal matrix, in ascending order.
    fn tridiagonal_eigen(&self) -> Option<crate::dense::Eigen> {
        let m = self.steps();
        let mut tridiagonal = vec![0.0; m * m];
        for i in 0..m {
            tridiagonal[i * m + i] = self.diagonal[i];
            if i > 0 {
                tridiagonal[i * m + i - 1] = self.off_diagonal[i - 1];
            }
        }
        symmetric_eigen(&tridiagonal, m)
    }

    fn has_converged(&self, count: usize) -> bool {
        let (m, Some(eigen)) = (self.steps(), self.tridiagonal_eigen()) else {
            return false;
        };
        let coupling = self.off_diagonal[m - 1];
        // An invariant subspace may miss a larger eigenvalue, so another start is needed.
        if coupling == 0.0 && m < self.n {
            return false;
        }
        let tolerance = TOLERANCE * eigen.values[m - 1].abs();
        (m - count..m).all(|i| (coupling * eigen.vector(i)[m - 1]).abs() <= tolerance)
    }

    /// The vector with the given coordinates in the basis.
    fn combine(&self, coordinates: &[f64]) -> Vec<f64> {
        let mut vector = vec![0.0; self.n];
        for (b, &weight) in self.basis.iter().zip(coordinates) {
            for (x, b) in vector.iter_mut().zip(b) {
                *x += weight * b.to_f64();
            }
        }
        vector
    }

    fn ritz(&self, count: usize, mut apply: impl FnMut(&[f64], &mut [f64])) -> RitzPairs {
        let mut ritz = RitzPairs { values: Vec::new(), vectors: Vec::new(), residuals: Vec::new() };
        let (m, Some(eigen)) = (self.steps(), self.tridiagonal_eigen()) else {
            return ritz;
        };
        let mut product = vec![0.0; self.n];
        for i in (0..m).rev().take(count) {
            let theta = eigen.values[i];
            let vector = self.combine(eigen.vector(i));
            apply(&vector, &mut product);
            for (p, x) in product.iter_mut().zip(&vector) {
                *p -= theta * x;
            }
            ritz.values.push(theta);
            ritz.residuals.push(norm2(&product));
            ritz.vectors.push(vector);
        }
        ritz
    }
}

fn divide(vector: &mut [f64], by: f64) {
    for x in vector {
        *x /= by;
    }
}
