//! How far a point is from the optimum, by weak duality.
//!
//! With a penalty, the program is convex and lies above its tangent planes. For any numbers `v_t` and
//! any diagonal `d`, every feasible `X'` has
//!
//! ```text
//! F(X') >= <S, X'> - sum of (v_t y_t + v_t^2 / (4 share_t)) + sum of (q(d_i) - q'(d_i) d_i)
//!          - sum over biases of g_b^2 / (4 ridge)
//! S      = sum of v_t A_t + diag(L + q'(d)) + C,      g = sum of v_t (biases of t)
//! ```
//!
//! with `q` the quartic penalty. Two planes are tried: the one that touches at `X`, where `v` are the slopes
//! of the data term, and the one of the multipliers. What is missing is a lower bound on `<S, X'>`. In the objective form `<L, X'> <= F(X)` for the
//! optimal `X'`, `L` being the row penalties, so `<S, X'> >= min(0, mu) F(X)` with `mu` the smallest
//! eigenvalue of `L^-1/2 S L^-1/2`. In the penalised form the trace is at most `tau`, so
//! `<S, X'> >= min(0, mu) tau` with `mu` the smallest eigenvalue of `S`.
//!
//! In the trace form any multipliers `v` with `sum of v_t A_t <= L` give `<L, X'> >= <v, y>`, and any
//! `v` at all becomes one of them by scaling.

use super::SdpForm;
use super::admm::Admm;
use super::program::Program;
use quadfill_kernels::dense::PsdCone;
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
    let residuals = program.residuals(matrix, &admm.data.biases);
    let value = program.value(matrix, &admm.data.biases, &residuals);
    let lower = if program.is_exact() {
        let multipliers: Vec<f64> = admm.data.multipliers.iter().map(|m| -m).collect();
        let reward = sum::dot(&multipliers, &program.sensing.values);
        work.fill(0.0);
        program.sensing.add_slope(&admm.data.multipliers, work);
        scale_rows(work, &program.rows);
        let dearest = -admm.cone.smallest(work)?;
        if reward > 0.0 && dearest > 0.0 { reward / dearest } else { 0.0 }
    } else {
        let diagonal: Vec<f64> = (0..n).map(|i| matrix[i * n + i]).collect();
        let slopes = program.data_slopes(&residuals);
        let here = tangent(program, value, &slopes, &diagonal, &mut admm.cone, work)?;
        // The multipliers see how far the two matrices have moved, not how far they differ.
        let multipliers = std::mem::take(&mut admm.data.multipliers);
        let copied = admm.diagonal_copy().unwrap_or(&diagonal).to_vec();
        let there = tangent(program, value, &multipliers, &copied, &mut admm.cone, work);
        admm.data.multipliers = multipliers;
        // Every term is at least zero, so zero is a bound, too.
        here.max(there?).max(0.0)
    };
    Some(Bound { value, lower })
}

/// What the tangent plane with the data slopes `v` and the diagonal term's slopes at `diagonal` is at
/// least, where the objective is at most `value`.
fn tangent(
    program: &Program,
    value: f64,
    v: &[f64],
    diagonal: &[f64],
    cone: &mut PsdCone,
    work: &mut [f64],
) -> Option<f64> {
    let n = program.order();
    let sensing = &program.sensing;
    let cells = v.iter().zip(&sensing.values).zip(&sensing.shares);
    let mut terms: Vec<f64> = cells.map(|((v, y), share)| -v * y - v * v / (4.0 * share)).collect();
    let curved = |i: usize| program.diagonal.as_ref().map_or(0.0, |term| term.slope(diagonal[i]));
    if let Some(term) = &program.diagonal {
        terms.extend((0..n).map(|i| term.value(diagonal[i]) - curved(i) * diagonal[i]));
    }
    if let Some(ridge) = program.bias_ridge {
        let mut slope = vec![0.0; n];
        sensing.bias_slope(v, &mut slope);
        terms.extend(slope.iter().map(|s| -s * s / (4.0 * ridge)));
    }
    for (i, row) in work.chunks_exact_mut(n).enumerate() {
        match &program.perturbation {
            Some(c) => row.copy_from_slice(c.row(i)),
            None => row.fill(0.0),
        }
        row[i] += program.rows[i] + curved(i);
    }
    sensing.add_slope(v, work);
    let mass = if program.form == SdpForm::Objective {
        scale_rows(work, &program.rows);
        value
    } else {
        program.trace_bound().expect("the penalised form has a bound on the trace")
    };
    Some(sum::ordered_sum(&terms) + cone.smallest(work)?.min(0.0) * mass)
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
