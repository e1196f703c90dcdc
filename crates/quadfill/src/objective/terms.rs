//! The terms of the objective besides the data: penalties on rows, and the perturbation.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use quadfill_kernels::streams;

/// The quartic penalty `weight * max(0, |u| - sqrt(alpha))^4` on long rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RowNormPenalty {
    /// The squared norm up to which rows are not penalised.
    pub alpha: f64,
    /// The weight, `lambda2` in the formulas.
    pub weight: f64,
}

impl RowNormPenalty {
    /// Checks the two numbers.
    pub fn new(alpha: f64, weight: f64) -> Result<Self> {
        if alpha.is_finite() && alpha > 0.0 && weight.is_finite() && weight >= 0.0 {
            return Ok(Self { alpha, weight });
        }
        Err(Error::setting(format!(
            "`row_norm_penalty` is {alpha},{weight}: give alpha, which must be above 0, and lambda2, \
             which must not be below 0"
        )))
    }

    fn excess(&self, norm: f64) -> f64 {
        (norm - self.alpha.sqrt()).max(0.0)
    }

    /// The penalty of a row of norm `norm`.
    pub fn value(&self, norm: f64) -> f64 {
        self.weight * self.excess(norm).powi(4)
    }

    /// `s` such that the gradient is `s * u`: the diagonal part of the Hessian.
    pub fn diagonal(&self, norm: f64) -> f64 {
        let excess = self.excess(norm);
        if excess > 0.0 { 4.0 * self.weight * excess.powi(3) / norm } else { 0.0 }
    }

    /// `c` such that the Hessian is `diagonal * I + c * u u^T`.
    pub(crate) fn rank_one(&self, norm: f64) -> f64 {
        let excess = self.excess(norm);
        if excess > 0.0 {
            let along = 12.0 * self.weight * excess.powi(2) / norm.powi(2);
            along - 4.0 * self.weight * excess.powi(3) / norm.powi(3)
        } else {
            0.0
        }
    }
}

/// The largest stacked size for which a dense perturbation is kept.
pub(crate) const PERTURBATION_LIMIT: usize = 5000;

/// A random dense positive semidefinite matrix `C` over all rows stacked.
#[derive(Debug, Clone)]
pub struct Perturbation {
    rows: usize,
    entries: Vec<f64>,
}

impl Perturbation {
    /// `G G^T` of a square Gaussian matrix, scaled so that its spectral norm is at most `norm`.
    pub fn random(rows: usize, norm: f64, seed: u64) -> Result<Self> {
        const PERTURB_STREAM: u64 = 0x70_6572_7475_7262;
        if rows > PERTURBATION_LIMIT {
            return Err(Error::setting(format!(
                "`perturb` needs a dense {rows} x {rows} matrix ({} MB): it is for problems of at most \
                 {PERTURBATION_LIMIT} rows in all modes together",
                rows * rows * 8 / 1_000_000
            )));
        }
        let mut gaussian = vec![0.0; rows * rows];
        streams::fill_normal(&mut gaussian, &mut streams::stream(seed, PERTURB_STREAM, 0));
        let mut entries = vec![0.0; rows * rows];
        for i in 0..rows {
            for j in 0..=i {
                let (x, y) = (&gaussian[i * rows..][..rows], &gaussian[j * rows..][..rows]);
                let dot: f64 = x.iter().zip(y).map(|(x, y)| x * y).sum();
                entries[i * rows + j] = dot;
                entries[j * rows + i] = dot;
            }
        }
        // The largest absolute row sum bounds the spectral norm from above.
        let bound = (0..rows)
            .map(|i| entries[i * rows..][..rows].iter().map(|c| c.abs()).sum::<f64>())
            .fold(f64::MIN_POSITIVE, f64::max);
        for entry in &mut entries {
            *entry *= norm / bound;
        }
        Ok(Self { rows, entries })
    }

    /// How many rows it couples.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Row `i` of `C`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.entries[i * self.rows..][..self.rows]
    }
}

/// A perturbation times the current penalty.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScaledPerturbation<'a> {
    pub(crate) matrix: &'a Perturbation,
    pub(crate) scale: f64,
}

impl<'a> ScaledPerturbation<'a> {
    /// Row `i` of `C`.
    pub(crate) fn row(self, i: usize) -> impl Iterator<Item = f64> + Clone + use<'a> {
        let scale = self.scale;
        self.matrix.row(i).iter().map(move |c| scale * c)
    }

    /// `C` itself.
    pub(crate) fn to_matrix(self) -> Perturbation {
        let entries = self.matrix.entries.iter().map(|c| self.scale * c).collect();
        Perturbation { rows: self.matrix.rows, entries }
    }

    /// Entry `(i, j)` of `C`.
    pub(crate) fn get(self, i: usize, j: usize) -> f64 {
        self.scale * self.matrix.row(i)[j]
    }
}
