//! Dense eigenproblems. The one place that names the linear algebra library.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, MatRef, Par};

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
