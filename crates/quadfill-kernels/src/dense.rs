//! Dense eigenproblems and factorizations. The only module that uses the linear algebra library.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};

/// All eigenpairs of a symmetric matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Eigen {
    /// In ascending order.
    pub values: Vec<f64>,
    /// The unit eigenvectors, concatenated in the order of the values.
    pub vectors: Vec<f64>,
}

impl Eigen {
    /// The eigenvector of `values[i]`.
    pub fn vector(&self, i: usize) -> &[f64] {
        let n = self.values.len();
        &self.vectors[i * n..][..n]
    }
}

/// The eigenpairs of the symmetric matrix of order `n` whose lower triangle is that of `a`,
/// row-major. `None` if the iteration does not converge or an entry is not finite.
///
/// Runs on the calling thread, so results are bit-identical for any number of threads.
///
/// ```
/// let eigen = quadfill_kernels::dense::symmetric_eigen(&[2.0, 0.0, 1.0, 2.0], 2).unwrap();
/// assert!((eigen.values[0] - 1.0).abs() < 1e-14 && (eigen.values[1] - 3.0).abs() < 1e-14);
/// ```
///
/// # Panics
/// Unless `a` has `n * n` entries.
pub fn symmetric_eigen(a: &[f64], n: usize) -> Option<Eigen> {
    assert_eq!(a.len(), n * n, "entries of the matrix");
    if !a.iter().all(|x| x.is_finite()) {
        return None;
    }
    if n == 0 {
        return Some(Eigen { values: Vec::new(), vectors: Vec::new() });
    }
    let matrix = MatRef::from_row_major_slice(a, n, n);
    let mut values = Diag::<f64>::zeros(n);
    let mut vectors = Mat::<f64>::zeros(n, n);
    let scratch = self_adjoint_evd_scratch::<f64>(
        n,
        ComputeEigenvectors::Yes,
        Par::Seq,
        faer::Spec::default(),
    );
    self_adjoint_evd(
        matrix,
        values.as_mut(),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        faer::Spec::default(),
    )
    .ok()?;
    Some(Eigen {
        values: values.column_vector().iter().copied().collect(),
        vectors: vectors
            .col_iter()
            .flat_map(|column| column.iter().copied().collect::<Vec<_>>())
            .collect(),
    })
}

/// Overwrites the lower triangle of the symmetric row-major matrix of order `n` with its Cholesky
/// factor, and returns whether it exists. If it does, the matrix is positive definite up to
/// rounding: no eigenvalue is less than `-2 (n + 1)` times the machine epsilon times the trace.
///
/// Runs on the calling thread, so results are bit-identical for any number of threads.
///
/// ```
/// assert!(quadfill_kernels::dense::cholesky(&mut [2.0, 0.0, 1.0, 2.0], 2));
/// assert!(!quadfill_kernels::dense::cholesky(&mut [1.0, 0.0, 2.0, 1.0], 2));
/// ```
///
/// # Panics
/// Unless `a` has `n * n` entries.
pub fn cholesky(a: &mut [f64], n: usize) -> bool {
    use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
    assert_eq!(a.len(), n * n, "entries of the matrix");
    if !a.iter().all(|x| x.is_finite()) {
        return false;
    }
    let scratch = cholesky_in_place_scratch::<f64>(n, Par::Seq, faer::Spec::default());
    let matrix = MatMut::from_row_major_slice_mut(a, n, n);
    let regularization = faer::linalg::cholesky::llt::factor::LltRegularization::default();
    let (spec, stack) = (faer::Spec::default(), &mut MemBuffer::new(scratch));
    cholesky_in_place(matrix, regularization, Par::Seq, MemStack::new(stack), spec).is_ok()
}

/// Projection of symmetric matrices of one order onto the positive semidefinite cone, with reusable
/// workspace.
///
/// Runs on the calling thread, so results are bit-identical for any number of threads.
///
/// ```
/// let mut cone = quadfill_kernels::dense::PsdCone::new(2);
/// let mut a = [0.0, 1.0, 1.0, 0.0];
/// assert_eq!(cone.project(&mut a), Some(1));
/// assert!(a.iter().all(|x| (x - 0.5).abs() < 1e-15));
/// assert!((cone.smallest(&[2.0, 0.0, 1.0, 2.0]).unwrap() - 1.0).abs() < 1e-14);
/// ```
pub struct PsdCone {
    n: usize,
    values: Diag<f64>,
    vectors: Mat<f64>,
    scaled: Mat<f64>,
    product: Mat<f64>,
    scratch: MemBuffer,
}

impl PsdCone {
    /// Allocates the workspace for matrices of order `n`.
    pub fn new(n: usize) -> Self {
        let scratch = self_adjoint_evd_scratch::<f64>(
            n,
            ComputeEigenvectors::Yes,
            Par::Seq,
            faer::Spec::default(),
        );
        Self {
            n,
            values: Diag::zeros(n),
            vectors: Mat::zeros(n, n),
            scaled: Mat::zeros(n, n),
            product: Mat::zeros(n, n),
            scratch: MemBuffer::new(scratch),
        }
    }

    /// The number of bytes that [`PsdCone::new`] allocates for order `n`.
    pub fn bytes(n: usize) -> usize {
        let scratch = self_adjoint_evd_scratch::<f64>(
            n,
            ComputeEigenvectors::Yes,
            Par::Seq,
            faer::Spec::default(),
        );
        3 * n * n * size_of::<f64>() + scratch.size_bytes()
    }

    /// Replaces the symmetric matrix `a` by the nearest positive semidefinite matrix and returns
    /// its number of positive eigenvalues. `None`, with `a` unchanged, if the iteration does not
    /// converge or an entry is not finite.
    ///
    /// # Panics
    /// Unless `a` has `n * n` entries.
    pub fn project(&mut self, a: &mut [f64]) -> Option<usize> {
        self.decompose(a, true)?;
        let n = self.n;
        let positive = self.values.column_vector().iter().filter(|&&value| value > 0.0).count();
        // It is cheaper to assemble the part of the spectrum with fewer eigenvalues.
        let uses_positive_part = 2 * positive <= n;
        let columns = if uses_positive_part { n - positive..n } else { 0..n - positive };
        let count = columns.len();
        for (to, from) in columns.enumerate() {
            let root = self.values.column_vector()[from].abs().sqrt();
            for row in 0..n {
                self.scaled[(row, to)] = root * self.vectors[(row, from)];
            }
        }
        let part = self.scaled.as_ref().subcols(0, count);
        matmul(self.product.as_mut(), Accum::Replace, part, part.transpose(), 1.0, Par::Seq);
        for i in 0..n {
            for j in 0..=i {
                let projected = self.product[(i, j)];
                let entry = if uses_positive_part { projected } else { a[i * n + j] + projected };
                a[i * n + j] = entry;
                a[j * n + i] = entry;
            }
        }
        Some(positive)
    }

    /// The smallest eigenvalue of the symmetric matrix `a`, whose lower triangle is read. `None` as
    /// for [`PsdCone::project`]; infinite for a matrix of order 0.
    ///
    /// # Panics
    /// Unless `a` has `n * n` entries.
    pub fn smallest(&mut self, a: &[f64]) -> Option<f64> {
        self.decompose(a, false)?;
        Some(self.values.column_vector().iter().copied().fold(f64::INFINITY, f64::min))
    }

    fn decompose(&mut self, a: &[f64], with_vectors: bool) -> Option<()> {
        assert_eq!(a.len(), self.n * self.n, "entries of the matrix");
        if !a.iter().all(|x| x.is_finite()) {
            return None;
        }
        self_adjoint_evd(
            MatRef::from_row_major_slice(a, self.n, self.n),
            self.values.as_mut(),
            with_vectors.then(|| self.vectors.as_mut()),
            Par::Seq,
            MemStack::new(&mut self.scratch),
            faer::Spec::default(),
        )
        .ok()
    }
}
