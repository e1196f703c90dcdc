//! The row problem where it is not linear: a kernel with a diagonal, or the quartic penalty.
//!
//! With the residuals `r` and their Jacobian `J` at the current row, and `k = K[a][a]`, a step `d` of the row
//! and `e` of its bias gives the residuals `r - <J, d> - e - k |d|^2`. So the sums of products of
//! `[J, 1, r]` over the row's observations are sufficient: no step reads the data again.

use crate::objective::{RowNormPenalty, RowPrior};
use quadfill_kernels::cholesky;

/// One row's problem, multiplied by the number of observations `m`.
pub(crate) struct RowProblem<'a> {
    /// Sums of products of `[J, 1, r]`, lower triangle, row-major.
    pub moments: &'a [f64],
    /// The current row.
    pub row: &'a [f64],
    /// Its current bias.
    pub bias: f64,
    /// `K[a][a]`.
    pub own: f64,
    /// The prior of the row and, last, of its bias.
    pub prior: RowPrior<'a>,
    /// Whether there is a bias to fit.
    pub has_bias: bool,
    /// The quartic penalty.
    pub row_norm_penalty: Option<&'a RowNormPenalty>,
    /// The number of observations `m`.
    pub observations: f64,
}

/// Scratch of [`RowProblem::minimise`].
pub(crate) struct RowScratch {
    unknowns: usize,
    gradient: Vec<f64>,
    hessian: Vec<f64>,
    factor: Vec<f64>,
    trial: Vec<f64>,
    z: Vec<f64>,
    product: Vec<f64>,
}

const MAX_STEPS: usize = 6;
const MAX_TRIES: usize = 12;

impl RowScratch {
    pub(crate) fn new(rank: usize) -> Self {
        let unknowns = rank + 1;
        Self {
            unknowns,
            gradient: vec![0.0; unknowns],
            hessian: vec![0.0; unknowns * unknowns],
            factor: vec![0.0; unknowns * unknowns],
            trial: vec![0.0; unknowns],
            z: vec![0.0; rank + 2],
            product: vec![0.0; rank + 2],
        }
    }
}

impl RowProblem<'_> {
    /// Damped Newton steps that never increase the row's objective. Writes the step of the row and,
    /// last, of the bias into `step` and returns the data term after it.
    pub(crate) fn minimise(&self, step: &mut [f64], scratch: &mut RowScratch) -> f64 {
        let rank = self.row.len();
        let unknowns = rank + usize::from(self.has_bias);
        step.fill(0.0);
        let (mut value, mut data) = self.value(step, scratch);
        let mut damping = 0.0;
        for _ in 0..MAX_STEPS {
            let scale = self.derivatives(step, unknowns, scratch);
            let mut accepted = false;
            for _ in 0..MAX_TRIES {
                if let Some((new_value, new_data)) = self.try_step(step, damping, unknowns, scratch)
                    && new_value < value
                {
                    let small = value - new_value <= 1e-12 * value;
                    (value, data) = (new_value, new_data);
                    step.copy_from_slice(&scratch.trial[..step.len()]);
                    damping = if damping > 1e-8 * scale { damping / 8.0 } else { 0.0 };
                    accepted = !small;
                    break;
                }
                damping = if damping == 0.0 { 1e-3 * scale } else { damping * 8.0 };
            }
            if !accepted {
                break;
            }
        }
        data
    }

    /// The row's objective after a step, and its data term.
    fn value(&self, step: &[f64], scratch: &mut RowScratch) -> (f64, f64) {
        let rank = self.row.len();
        self.fill_z(step, scratch);
        let data = self.times_z(scratch).max(0.0);
        let shifted = || self.row.iter().zip(step).map(|(u, d)| u + d);
        let mut penalty: f64 = shifted().enumerate().map(|(j, u)| self.prior.value(j, u)).sum();
        if self.has_bias {
            penalty += self.prior.value(rank, self.bias + step[rank]);
        }
        if let Some(quartic) = self.row_norm_penalty {
            penalty += quartic.value(shifted().map(|u| u * u).sum::<f64>().sqrt());
        }
        (data + self.observations * penalty, data)
    }

    /// `z = (d, e + k |d|^2, -1)`.
    fn fill_z(&self, step: &[f64], scratch: &mut RowScratch) {
        let rank = self.row.len();
        let squared: f64 = step[..rank].iter().map(|d| d * d).sum();
        let bias = if self.has_bias { step[rank] } else { 0.0 };
        scratch.z[..rank].copy_from_slice(&step[..rank]);
        scratch.z[rank] = bias + self.own * squared;
        scratch.z[rank + 1] = -1.0;
    }

    /// Writes `M z` into the scratch and returns `z^T M z`.
    fn times_z(&self, scratch: &mut RowScratch) -> f64 {
        let size = self.row.len() + 2;
        let RowScratch { z, product, .. } = scratch;
        product.fill(0.0);
        for i in 0..size {
            let line = &self.moments[i * size..i * size + i];
            let mut below = 0.0;
            for (j, &entry) in line.iter().enumerate() {
                below += entry * z[j];
                product[j] += entry * z[i];
            }
            product[i] += below + self.moments[i * size + i] * z[i];
        }
        z.iter().zip(product).map(|(z, p)| z * *p).sum()
    }

    /// Fills gradient and Hessian; returns the mean diagonal as a scale for the damping.
    fn derivatives(&self, step: &[f64], unknowns: usize, scratch: &mut RowScratch) -> f64 {
        let rank = self.row.len();
        let size = rank + 2;
        self.fill_z(step, scratch);
        self.times_z(scratch);
        let constant = scratch.product[rank];
        let n = unknowns;
        let shifted: Vec<f64> = self.row.iter().zip(step).map(|(u, d)| u + d).collect();
        let norm = shifted.iter().map(|u| u * u).sum::<f64>().sqrt();
        let m = self.observations;
        let diagonal = m * self.row_norm_penalty.map_or(0.0, |q| q.diagonal(norm));
        let rank_one = m * self.row_norm_penalty.map_or(0.0, |q| q.rank_one(norm));
        let moment = |i: usize, j: usize| self.moments[i.max(j) * size + i.min(j)];
        // Moving d_i moves z by e_i + 2 k d_i e_constant.
        let lean = |i: usize| 2.0 * self.own * step[i];
        for i in 0..rank {
            scratch.gradient[i] = 2.0 * (scratch.product[i] + lean(i) * constant)
                + m * self.prior.gradient(i, shifted[i])
                + diagonal * shifted[i];
            for j in 0..=i {
                scratch.hessian[i * n + j] = 2.0
                    * (moment(i, j)
                        + lean(i) * moment(rank, j)
                        + lean(j) * moment(rank, i)
                        + lean(i) * lean(j) * moment(rank, rank))
                    + rank_one * shifted[i] * shifted[j];
            }
            scratch.hessian[i * n + i] +=
                4.0 * self.own * constant + 2.0 * m * self.prior.precision(i) + diagonal;
        }
        if self.has_bias {
            scratch.gradient[rank] =
                2.0 * constant + m * self.prior.gradient(rank, self.bias + step[rank]);
            for j in 0..rank {
                scratch.hessian[rank * n + j] =
                    2.0 * (moment(rank, j) + lean(j) * moment(rank, rank));
            }
            scratch.hessian[rank * n + rank] =
                2.0 * (moment(rank, rank) + m * self.prior.precision(rank));
        }
        let trace: f64 = (0..n).map(|i| scratch.hessian[i * n + i].abs()).sum();
        (trace / n as f64).max(f64::MIN_POSITIVE)
    }

    fn try_step(
        &self,
        step: &[f64],
        damping: f64,
        unknowns: usize,
        scratch: &mut RowScratch,
    ) -> Option<(f64, f64)> {
        let n = unknowns;
        let mut factor = std::mem::take(&mut scratch.factor);
        let mut trial = std::mem::take(&mut scratch.trial);
        factor[..n * n].copy_from_slice(&scratch.hessian[..n * n]);
        for i in 0..n {
            factor[i * n + i] += damping;
        }
        let positive = cholesky::factor(&mut factor[..n * n], n, n);
        let mut result = None;
        if positive {
            trial.fill(0.0);
            for (t, g) in trial[..n].iter_mut().zip(&scratch.gradient) {
                *t = -g;
            }
            cholesky::solve_factored(&factor[..n * n], n, n, &mut trial[..n]);
            for (t, s) in trial.iter_mut().zip(step) {
                *t += s;
            }
            result = Some(self.value(&trial, scratch));
        }
        debug_assert!(n <= scratch.unknowns, "the scratch is large enough");
        scratch.factor = factor;
        scratch.trial = trial;
        result
    }
}
