//! The largest eigenpairs of a symmetric operator that is only known by what it does to vectors.

use crate::dense::symmetric_eigen;
use crate::real::Real;
use crate::streams::{fill_normal, stream};
use crate::sum::{dot, norm2};

/// Steps between two looks at the eigenpairs found so far.
const STEPS_PER_LOOK: usize = 8;
/// Residuals this small, relative to the largest eigenvalue, are good enough.
const TOLERANCE: f64 = 1e-8;
/// A new direction this many roundings small, relative to what the operator made, is noise.
const BREAKDOWN: f64 = 500.0;

/// Approximate eigenpairs.
#[derive(Clone, Debug, PartialEq)]
pub struct Ritz {
    /// Descending.
    pub values: Vec<f64>,
    /// Unit vectors, in the order of the values.
    pub vectors: Vec<Vec<f64>>,
    /// Norm of `A x - theta x` for each pair, measured with the operator itself: some eigenvalue
    /// is within that distance of `theta`.
    pub residuals: Vec<f64>,
}

/// The `wanted` algebraically largest eigenpairs of a symmetric operator of order `n`, where
/// `apply(x, y)` writes the operator times `x` to `y`.
///
/// Lanczos with full reorthogonalisation, started from `seed`. Stops when the residuals are
/// within 1e-8 of the largest Ritz value, or after `max_steps`; look at `residuals` for how
/// good the pairs are. When the vectors reached so far are closed under the operator, it goes on
/// from a fresh one.
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
    wanted: usize,
    max_steps: usize,
    seed: u64,
    mut apply: impl FnMut(&[f64], &mut [f64]),
) -> Ritz {
    let wanted = wanted.min(n);
    let limit = max_steps.max(wanted).min(n);
    let mut search = Search::<f64>::new(n, seed);
    let mut product = vec![0.0; n];
    while search.steps() < limit {
        let Some(start) = search.next.take().or_else(|| search.fresh()) else {
            break;
        };
        apply(&start, &mut product);
        search.step(start, &mut product);
        let due = search.steps().is_multiple_of(STEPS_PER_LOOK) || search.steps() == limit;
        if due && search.steps() >= wanted && search.has_converged(wanted) {
            break;
        }
    }
    search.ritz(wanted, apply)
}

/// What one random start tells about both ends of a spectrum.
#[derive(Clone, Debug, PartialEq)]
pub struct Ends {
    /// The smallest Ritz value: never below the smallest eigenvalue, but for rounding.
    pub smallest: f64,
    /// The largest Ritz value: never above the largest eigenvalue, but for rounding.
    pub largest: f64,
    /// How many times the operator was applied.
    pub steps: usize,
}

impl Ends {
    /// A lower bound on the smallest eigenvalue of an operator of order `n` that holds with
    /// probability `1 - 2 delta` over the random start, or `None` after too few steps to say.
    ///
    /// With `e = (ln(1.648 sqrt(n) / delta) / (2k - 1))^2` after `k` steps, each end is missed by at
    /// most a share `e` of the width of the spectrum, with probability `1 - delta` (Kuczyński and
    /// Woźniakowski 1992). So the width is at most `(largest - smallest) / (1 - 2e)`.
    pub fn lower_bound(&self, n: usize, delta: f64) -> Option<f64> {
        let missed =
            ((1.648 * (n as f64).sqrt() / delta).ln() / (2.0 * self.steps as f64 - 1.0)).powi(2);
        let width = (self.largest - self.smallest) / (1.0 - 2.0 * missed);
        (missed < 0.5).then_some(self.smallest - missed * width)
    }
}

/// Both ends of the spectrum of a symmetric operator of order `n` after `steps` Lanczos steps from
/// one random start; fewer only where the vectors reached are closed under the operator. `None`
/// where the operator makes numbers that are not finite, or `n` is 0.
///
/// Directions are kept in single precision, which halves the memory: Ritz values are as good as
/// rounding allows while the basis is orthogonal to about 1e-8 (Simon 1984), and rounding entries of
/// unit vectors of length `n` to 6e-8 leaves it orthogonal to `6e-8 / sqrt(n)`.
///
/// ```
/// let apply = |x: &[f64], y: &mut [f64]| {
///     for (i, (y, x)) in y.iter_mut().zip(x).enumerate() {
///         *y = i as f64 * x;
///     }
/// };
/// let ends = quadfill_kernels::lanczos::ends(500, 60, 1, apply).unwrap();
/// assert!(ends.smallest < 1.0 && ends.largest > 498.0);
/// assert!(ends.lower_bound(500, 1e-9).unwrap() < 0.0);
/// ```
pub fn ends(
    n: usize,
    steps: usize,
    seed: u64,
    mut apply: impl FnMut(&[f64], &mut [f64]),
) -> Option<Ends> {
    let mut search = Search::<f32>::new(n, seed);
    search.next = search.fresh();
    let mut product = vec![0.0; n];
    while search.steps() < steps.max(1) {
        let Some(start) = search.next.take() else {
            break;
        };
        apply(&start, &mut product);
        search.step(start, &mut product);
    }
    let (m, eigen) = (search.steps(), search.small_eigen()?);
    let (&smallest, &largest) = (eigen.values.first()?, eigen.values.last()?);
    Some(Ends { smallest, largest, steps: m })
}

/// An orthonormal basis in which the operator is tridiagonal.
struct Search<T> {
    n: usize,
    seed: u64,
    fresh_vectors: u64,
    basis: Vec<Vec<T>>,
    diagonal: Vec<f64>,
    /// `beside[i]` couples basis vectors `i` and `i + 1`.
    beside: Vec<f64>,
    /// The next basis vector, unless the basis is closed under the operator.
    next: Option<Vec<f64>>,
    /// The largest norm the operator has given a unit vector.
    scale: f64,
}

impl<T: Real> Search<T> {
    fn new(n: usize, seed: u64) -> Self {
        Self {
            n,
            seed,
            fresh_vectors: 0,
            basis: Vec::new(),
            diagonal: Vec::new(),
            beside: Vec::new(),
            next: None,
            scale: 0.0,
        }
    }

    fn steps(&self) -> usize {
        self.basis.len()
    }

    /// A random unit vector orthogonal to the basis, if there is room for one.
    fn fresh(&mut self) -> Option<Vec<f64>> {
        while self.steps() < self.n && self.fresh_vectors < 2 * self.n as u64 + 8 {
            let mut vector = vec![0.0; self.n];
            let mut rng = stream(self.seed, 0x6c61_6e63, self.fresh_vectors);
            self.fresh_vectors += 1;
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

    /// Takes the part in the span of the basis out of `vector`; twice, as once leaves rounding.
    fn orthogonalise(&self, vector: &mut [f64]) {
        for _ in 0..2 {
            for b in &self.basis {
                let along = dot(b, vector);
                for (x, b) in vector.iter_mut().zip(b) {
                    *x -= along * b.to_f64();
                }
            }
        }
    }

    /// Appends `vector`, of which the operator makes `product`, to the basis.
    fn step(&mut self, vector: Vec<f64>, product: &mut [f64]) {
        self.scale = self.scale.max(norm2(product));
        self.diagonal.push(dot(&vector, product));
        self.basis.push(vector.into_iter().map(T::from_f64).collect());
        self.orthogonalise(product);
        let left = norm2(product);
        if left > BREAKDOWN * T::EPSILON * self.scale && self.steps() < self.n {
            let mut next = product.to_vec();
            divide(&mut next, left);
            self.beside.push(left);
            self.next = Some(next);
        } else {
            self.beside.push(0.0);
        }
    }

    /// Eigenpairs of the tridiagonal matrix, ascending.
    fn small_eigen(&self) -> Option<crate::dense::Eigen> {
        let m = self.steps();
        let mut small = vec![0.0; m * m];
        for i in 0..m {
            small[i * m + i] = self.diagonal[i];
            if i > 0 {
                small[i * m + i - 1] = self.beside[i - 1];
            }
        }
        symmetric_eigen(&small, m)
    }

    fn has_converged(&self, wanted: usize) -> bool {
        let (m, Some(eigen)) = (self.steps(), self.small_eigen()) else {
            return false;
        };
        let outward = self.beside[m - 1];
        // A closed basis may simply have missed a larger eigenvalue: that takes a fresh start.
        if outward == 0.0 && m < self.n {
            return false;
        }
        let enough = TOLERANCE * eigen.values[m - 1].abs();
        (m - wanted..m).all(|i| (outward * eigen.vector(i)[m - 1]).abs() <= enough)
    }

    /// A vector from its coordinates in the basis.
    fn combine(&self, coordinates: &[f64]) -> Vec<f64> {
        let mut vector = vec![0.0; self.n];
        for (b, &weight) in self.basis.iter().zip(coordinates) {
            for (x, b) in vector.iter_mut().zip(b) {
                *x += weight * b.to_f64();
            }
        }
        vector
    }

    fn ritz(&self, wanted: usize, mut apply: impl FnMut(&[f64], &mut [f64])) -> Ritz {
        let mut ritz = Ritz { values: Vec::new(), vectors: Vec::new(), residuals: Vec::new() };
        let (m, Some(eigen)) = (self.steps(), self.small_eigen()) else {
            return ritz;
        };
        let mut product = vec![0.0; self.n];
        for i in (0..m).rev().take(wanted) {
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
