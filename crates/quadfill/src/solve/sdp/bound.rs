//! How far a point is from the optimum, by weak duality.
//!
//! With a penalty, the program is convex and `S` is its gradient at `X`, so for every feasible `X'`
//!
//! ```text
//! F(X) - F(X') <= <S, X> - <S, X'> + sum over biases of g_b^2 / (4 ridge)
//! ```
//!
//! and what is missing is a lower bound on `<S, X'>`. In the objective form `<L, X'> <= F(X)` for the
//! optimal `X'`, `L` being the row penalties, so `<S, X'> >= min(0, mu) F(X)` with `mu` the smallest
//! eigenvalue of `L^-1/2 S L^-1/2`. In the penalised form the trace is at most `tau`, so
//! `<S, X'> >= min(0, mu) tau` with `mu` the smallest eigenvalue of `S`.
//!
//! In the trace form any multipliers `v` with `sum of v_t A_t <= L` give `<L, X'> >= <v, y>`, and any
//! `v` at all becomes one of them by scaling.

use super::SdpForm;
use super::admm::Admm;
use super::program::Program;
use quadfill_kernels::sum;

/// A lower bound on the optimum and what it was compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bound {
    /// The objective at the point.
    pub(super) value: f64,
    /// No feasible point has less.
    pub(super) lower: f64,
}

impl Bound {
    pub(super) fn gap(&self) -> f64 {
        (self.value - self.lower).abs()
    }
}

/// The bound at the positive semidefinite `matrix`, or nothing where the eigenvalues cannot be
/// found. `work` is overwritten.
pub(super) fn at(
    program: &Program,
    matrix: &[f64],
    admm: &mut Admm,
    work: &mut [f64],
) -> Option<Bound> {
    let n = program.order();
    let biases = &admm.data.biases;
    let residuals = program.residuals(matrix, biases);
    let value = program.value(matrix, biases, &residuals);
    let lower = if program.is_exact() {
        let multipliers: Vec<f64> = admm.data.multipliers.iter().map(|m| -m).collect();
        let reward = sum::dot(&multipliers, &program.sensing.values);
        work.fill(0.0);
        program.sensing.add_adjoint(&admm.data.multipliers, work);
        scale_rows(work, &program.rows);
        let dearest = -admm.cone.smallest(work)?;
        if reward > 0.0 && dearest > 0.0 { reward / dearest } else { 0.0 }
    } else {
        let gradients = program.data_gradient(&residuals);
        let mut along = vec![0.0; residuals.len()];
        program.sensing.forward_matrix(matrix, &mut along);
        let mut inner = vec![sum::dot(&gradients, &along)];
        fill_gradient(program, matrix, &gradients, work);
        for i in 0..n {
            let entry = matrix[i * n + i];
            let curved = program.diagonal.as_ref().map_or(0.0, |term| term.diagonal(entry));
            inner.push((program.rows[i] + curved) * entry);
            if let Some(c) = &program.perturbation {
                inner.push(sum::dot(c.row(i), &matrix[i * n..][..n]));
            }
        }
        if let Some(ridge) = program.bias_ridge {
            let mut gradient = vec![0.0; n];
            program.sensing.bias_adjoint(&gradients, &mut gradient);
            for (s, b) in gradient.iter().zip(biases) {
                inner.push((s + 2.0 * ridge * b).powi(2) / (4.0 * ridge));
            }
        }
        let mass = if program.form == SdpForm::Objective {
            scale_rows(work, &program.rows);
            value
        } else {
            program.trace_bound().expect("the penalised form has a bound on the trace")
        };
        let steepest = (-admm.cone.smallest(work)?).max(0.0);
        // Every term is at least zero, so zero is a bound, too.
        (value - sum::ordered_sum(&inner) - steepest * mass).max(0.0)
    };
    Some(Bound { value, lower })
}

/// `S`: the gradient of everything at `matrix`.
fn fill_gradient(program: &Program, matrix: &[f64], gradients: &[f64], out: &mut [f64]) {
    let n = program.order();
    for (i, row) in out.chunks_exact_mut(n).enumerate() {
        match &program.perturbation {
            Some(c) => row.copy_from_slice(c.row(i)),
            None => row.fill(0.0),
        }
        let entry = matrix[i * n + i];
        row[i] +=
            program.rows[i] + program.diagonal.as_ref().map_or(0.0, |term| term.diagonal(entry));
    }
    program.sensing.add_adjoint(gradients, out);
}

/// Divides by the roots of `rows` from both sides.
fn scale_rows(matrix: &mut [f64], rows: &[f64]) {
    let roots: Vec<f64> = rows.iter().map(|row| row.sqrt().recip()).collect();
    for (row, left) in matrix.chunks_exact_mut(rows.len()).zip(&roots) {
        for (entry, right) in row.iter_mut().zip(&roots) {
            *entry *= left * right;
        }
    }
}
