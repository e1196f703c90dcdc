//! `S`, the gradient of the whole objective in `X = U U^T`, scaled by the penalties of the rows.

use crate::model::{Parameters, each_row};
use crate::objective::{DataGradient, Objective, ScaledPerturbation, squared_norm};
use quadfill_kernels::Real;

/// `S = data gradient + diag(row penalty + quartic gradient) + C`, and the scaling `L^-1/2` of the
/// certificate.
#[derive(Debug)]
pub(crate) struct GradientMatrix<'v, 'o, T: Real> {
    pub(crate) data: DataGradient<'v, T>,
    diagonal: Vec<f64>,
    perturbation: Option<ScaledPerturbation<'o>>,
    /// `1 / sqrt(row penalty)`, or 1 where there is no penalty.
    pub(crate) scales: Vec<f64>,
}

impl<'v, 'o, T: Real> GradientMatrix<'v, 'o, T> {
    /// `None` for CP, which is not a function of `U U^T`.
    pub(crate) fn new(objective: &'o Objective<'v, T>, parameters: &Parameters<T>) -> Option<Self> {
        let data = DataGradient::new(objective, parameters)?;
        let (mut diagonal, mut scales) = (Vec::new(), Vec::new());
        for (group, label) in each_row(parameters.layout().rows()) {
            let penalty = objective.row_penalty(group, label);
            let norm = squared_norm(parameters.row(group, label)).sqrt();
            // The gradient in `u` is twice the gradient in `X`.
            let quartic = objective.row_norm_penalty().map_or(0.0, |q| q.diagonal(norm) / 2.0);
            diagonal.push(penalty + quartic);
            scales.push(if penalty > 0.0 { 1.0 / penalty.sqrt() } else { 1.0 });
        }
        Some(Self { data, diagonal, perturbation: objective.perturbation(), scales })
    }

    pub(crate) fn rows(&self) -> usize {
        self.diagonal.len()
    }

    /// `<S, U U^T>`.
    pub(crate) fn along_point(&self, parameters: &Parameters<T>, perturbed: f64) -> f64 {
        let own: Vec<f64> = each_row(parameters.layout().rows())
            .zip(&self.diagonal)
            .map(|((group, label), d)| d * squared_norm(parameters.row(group, label)))
            .collect();
        self.data.along_point() + quadfill_kernels::sum::ordered_sum(&own) + perturbed
    }

    /// `out = L^-1/2 S L^-1/2 v`.
    pub(crate) fn apply_scaled(&self, v: &[f64], out: &mut [f64]) {
        let scaled: Vec<f64> = v.iter().zip(&self.scales).map(|(v, s)| v * s).collect();
        self.data.apply(&scaled, out);
        for (i, o) in out.iter_mut().enumerate() {
            *o += self.diagonal[i] * scaled[i];
            if let Some(c) = self.perturbation {
                *o += c.row(i).zip(&scaled).map(|(c, x)| c * x).sum::<f64>();
            }
            *o *= self.scales[i];
        }
    }

    /// `L^-1/2 S L^-1/2` as a dense row-major matrix.
    pub(crate) fn dense_scaled(&self) -> Vec<f64> {
        let n = self.rows();
        let mut dense = vec![0.0; n * n];
        self.data.add_to_dense(&mut dense);
        for (i, row) in dense.chunks_exact_mut(n).enumerate() {
            row[i] += self.diagonal[i];
            if let Some(c) = self.perturbation {
                for (x, c) in row.iter_mut().zip(c.row(i)) {
                    *x += c;
                }
            }
            for (x, s) in row.iter_mut().zip(&self.scales) {
                *x *= s * self.scales[i];
            }
        }
        dense
    }

    /// An upper bound on the rounding error of an eigenvalue of the scaled matrix: the scaled residuals
    /// are kept in the precision of the data, everything else is double.
    pub(crate) fn rounding(&self, rank: usize) -> f64 {
        let mut sums = vec![0.0; self.rows()];
        self.data.apply_absolute(&self.scales, &mut sums);
        let largest = (0..sums.len())
            .map(|i| {
                let c = self
                    .perturbation
                    .map_or(0.0, |c| c.row(i).zip(&self.scales).map(|(c, s)| c.abs() * s).sum());
                self.scales[i] * (sums[i] + c + self.diagonal[i] * self.scales[i])
            })
            .fold(0.0, f64::max);
        let stored = if T::EPSILON > f64::EPSILON { T::EPSILON } else { 0.0 };
        largest * (stored + 8.0 * (rank + 16) as f64 * f64::EPSILON)
    }
}
