//! The convex program over positive semidefinite `X`, term by term.

use super::SdpForm;
use super::diagonal::DiagonalTerm;
use super::sensing::Sensing;
use crate::model::each_row;
use crate::objective::{Objective, Perturbation, ScaledPerturbation};
use quadfill_kernels::{Real, sum};

/// Everything that a form asks for, in one shape:
///
/// ```text
/// minimise    data(A X + B b) + <diag(rows) + C, X> + diagonal(X) + ridge |b|^2
/// subject to  X positive semidefinite
/// ```
///
/// where `data` is the weighted mean squared residual, or for the trace form the condition that
/// the residual is zero.
pub(super) struct Program {
    pub(super) form: SdpForm,
    pub(super) sensing: Sensing,
    /// The linear cost of each diagonal entry.
    pub(super) rows: Vec<f64>,
    pub(super) perturbation: Option<Perturbation>,
    pub(super) diagonal: Option<DiagonalTerm>,
    /// The ridge of the biases, where there are any.
    pub(super) bias_ridge: Option<f64>,
}

impl Program {
    /// The program of a form, from an objective that has all its terms. `mean` is subtracted from
    /// the values.
    pub(super) fn new<T: Real>(form: SdpForm, objective: &Objective<'_, T>, mean: f64) -> Self {
        let spec = objective.spec();
        let sensing = Sensing::new(spec, objective.views(), mean);
        let rows = each_row(&spec.group_sizes(&objective.views().sizes()))
            .map(|(group, label)| match form {
                SdpForm::Trace => objective.row_weight(group, label),
                SdpForm::Penalised => 0.0,
                SdpForm::Objective => objective.row_penalty(group, label),
            })
            .collect();
        let diagonal = objective.row_norm_penalty().map(|&row_norm_penalty| DiagonalTerm {
            row_norm_penalty,
            trace_bound: (form == SdpForm::Penalised)
                .then_some(sensing.order as f64 * row_norm_penalty.alpha),
        });
        Self {
            form,
            rows,
            perturbation: objective.perturbation().map(ScaledPerturbation::to_matrix),
            diagonal,
            bias_ridge: (spec.biases == crate::model::Biases::Modes)
                .then(|| objective.bias_penalty()),
            sensing,
        }
    }

    /// Order of `X`.
    pub(super) fn order(&self) -> usize {
        self.sensing.order
    }

    /// The bound on the trace, where the form has one.
    pub(super) fn trace_bound(&self) -> Option<f64> {
        self.diagonal.as_ref().and_then(|term| term.trace_bound)
    }

    /// Whether the data are a condition and not a term.
    pub(super) fn is_exact(&self) -> bool {
        self.form == SdpForm::Trace
    }

    /// The residuals at `X` and the biases: prediction minus value.
    pub(super) fn residuals(&self, matrix: &[f64], biases: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.sensing.len()];
        self.sensing.forward_matrix(matrix, &mut out);
        if self.bias_ridge.is_some() {
            self.sensing.add_biases(biases, &mut out);
        }
        for (o, y) in out.iter_mut().zip(&self.sensing.values) {
            *o -= y;
        }
        out
    }

    /// The weighted mean square of residuals.
    pub(super) fn data_value(&self, residuals: &[f64]) -> f64 {
        let terms: Vec<f64> =
            residuals.iter().zip(&self.sensing.shares).map(|(r, share)| share * r * r).collect();
        sum::ordered_sum(&terms)
    }

    /// The objective at `X` and the biases. The trace form's conditions are not part of it.
    pub(super) fn value(&self, matrix: &[f64], biases: &[f64], residuals: &[f64]) -> f64 {
        let n = self.order();
        let mut terms: Vec<f64> = (0..n).map(|i| self.rows[i] * matrix[i * n + i]).collect();
        if let Some(term) = &self.diagonal {
            terms.extend((0..n).map(|i| term.value(matrix[i * n + i])));
        }
        if let Some(c) = &self.perturbation {
            terms.extend((0..n).map(|i| sum::dot(c.row(i), &matrix[i * n..][..n])));
        }
        if let Some(ridge) = self.bias_ridge {
            terms.extend(biases.iter().map(|b| ridge * b * b));
        }
        if !self.is_exact() {
            terms.push(self.data_value(residuals));
        }
        sum::ordered_sum(&terms)
    }

    /// The derivative of the data term by every prediction.
    pub(super) fn data_gradient(&self, residuals: &[f64]) -> Vec<f64> {
        residuals.iter().zip(&self.sensing.shares).map(|(r, share)| 2.0 * share * r).collect()
    }
}
