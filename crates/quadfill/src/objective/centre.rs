//! Centred models: the rows of a factor matrix are drawn to a centre instead of to zero.
//!
//! ```text
//! sum over rows of lambda_row * |u - mu|^2 + kappa * lambda * |mu|^2
//! ```
//!
//! is the penalty of a factor matrix. For given rows the best centre `mu` is
//! `sum lambda_row u / (sum lambda_row + kappa lambda)`, and it always has that value: the objective is a function of
//! the rows alone. Its derivatives need no term for the change of `mu`, which is at a minimum, so the gradient of a row
//! is `2 lambda_row (u - mu)`; the penalty being quadratic, its Hessian times a direction is the same in the direction.
//!
//! Products of `mu + d` over the modes have a constant, biases, pairs and triples with shared factors, and a
//! decreasing penalty lets them in one after the other. Without `kappa` the products of a centre with other rows
//! would be free: the centre would grow, and the others shrink.

use std::borrow::Cow;

use super::row_prior::RowPriors;
use super::{Objective, squared_norm};
use crate::model::Parameters;
use quadfill_kernels::Real;

/// `kappa`: a centre is penalised like this many rows.
const KAPPA: f64 = 1.0;

/// The centre of a factor matrix for rows of these penalties over `lambda`, with a zero for the bias.
pub(crate) fn centre<T: Real>(
    parameters: &Parameters<T>,
    group: usize,
    weight: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let layout = parameters.layout();
    let mut sums = vec![0.0; layout.rank() + 1];
    let mut total = KAPPA;
    for label in 0..layout.rows()[group] {
        let weight = weight(label);
        total += weight;
        for (sum, u) in sums.iter_mut().zip(parameters.row(group, label)) {
            *sum += weight * u.to_f64();
        }
    }
    sums.into_iter().map(|sum| sum / total).collect()
}

impl<T: Real> Objective<'_, T> {
    /// Draws rows to the given centres, one for each factor matrix, in place of their own.
    #[must_use]
    pub(crate) fn with_fixed_centres(mut self, centres: Option<Vec<Vec<f64>>>) -> Self {
        self.fixed_centres = centres;
        self
    }

    /// Whether rows are drawn to a centre that depends on them.
    pub(crate) fn has_own_centre(&self) -> bool {
        self.spec.centred && self.fixed_centres.is_none()
    }

    fn own_centre(&self, parameters: &Parameters<T>, group: usize) -> Option<Vec<f64>> {
        self.has_own_centre()
            .then(|| centre(parameters, group, |label| self.row_weight(group, label)))
    }

    /// The centres of all factor matrices in a centred model.
    pub(crate) fn centres(&self, parameters: &Parameters<T>) -> Option<Vec<Vec<T>>> {
        let of_group = |group| {
            let centre = self.own_centre(parameters, group)?;
            Some(centre[..self.spec.rank].iter().map(|&mu| T::from_f64(mu)).collect())
        };
        (0..self.spec.group_count()).map(of_group).collect()
    }

    /// The priors of the rows of a factor matrix: the precisions of their penalties, with mean zero or the centre of
    /// the rows in `parameters`.
    pub(crate) fn row_priors(&self, parameters: &Parameters<T>, group: usize) -> RowPriors<'_> {
        let centre = match &self.fixed_centres {
            Some(centres) => Some(Cow::Borrowed(centres[group].as_slice())),
            None => self.own_centre(parameters, group).map(Cow::Owned),
        };
        self.priors_about(centre, group)
    }

    /// The same for the change of the penalty along a direction: its gradients in `direction` are the product of the
    /// penalty's Hessian with it.
    pub(super) fn curvature_priors(
        &self,
        direction: &Parameters<T>,
        group: usize,
    ) -> RowPriors<'_> {
        self.priors_about(self.own_centre(direction, group).map(Cow::Owned), group)
    }

    fn priors_about<'o>(&'o self, centre: Option<Cow<'o, [f64]>>, group: usize) -> RowPriors<'o> {
        RowPriors {
            rank: self.spec.rank,
            penalty: self.penalty,
            bias: self.bias_penalty,
            weights: self.row_weights.as_ref().map(|weights| weights[group].as_slice()),
            centre,
        }
    }

    /// The penalty on the centre itself, where there is one.
    pub(super) fn centre_penalty(&self, priors: &RowPriors<'_>) -> Option<f64> {
        let centre = priors.centre.as_ref().filter(|_| self.has_own_centre())?;
        Some(KAPPA * self.penalty * squared_norm(centre))
    }
}
