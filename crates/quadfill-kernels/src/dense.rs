//! Dense eigenproblems and factorizations. The one place that names the linear algebra library.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, MatMut, MatRef, Par};

/// All eigenpairs of a symmetric matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Eigen {
    /// Ascending.
    pub values: Vec<f64>,
    /// One unit vector after the other, in the order of the values.
    pub vectors: Vec<f64>,
}

impl Eigen {
    /// The vector that belongs to `values[i]`.
    pub fn vector(&self, i: usize) -> &[f64] {
        let n = self.values.len();
        &self.vectors[i * n..][..n]
    }
}

/// The eigenpairs of the symmetric matrix of order `n` whose lower triangle is that of `a`,
/// row-major. `None` if the iteration does not converge, as with entries that are not finite.
///
/// Runs on the calling thread, so the bits do not depend on how many there are.
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

/// Overwrites the lower triangle of the symmetric matrix of order `n` with its Cholesky factor,
/// row-major, and says whether there is one. Where there is, the matrix is positive definite but for
/// rounding: an eigenvalue is below zero by at most `2 (n + 1)` times the machine epsilon times the
/// trace.
///
/// Runs on the calling thread, so the bits do not depend on how many there are.
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
