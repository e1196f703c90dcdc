//! Everything in the objective but its data term.

use super::{Objective, Value, add_to_row, perturbed_rows, squared_norm, stacked_rows};
use crate::model::Parameters;
use quadfill_kernels::{Real, sum};

impl<T: Real> Objective<'_, T> {
    /// Everything but the data term.
    pub(crate) fn penalty_value(&self, parameters: &Parameters<T>) -> f64 {
        self.penalties(parameters).total()
    }

    /// Everything but the data term, term by term, with 0 for the data.
    pub fn penalties(&self, parameters: &Parameters<T>) -> Value {
        let rank = parameters.layout().rank();
        let (mut penalties, mut row_norms) = (Vec::new(), Vec::new());
        for (group, &rows) in parameters.layout().rows().iter().enumerate() {
            let priors = self.row_priors(parameters, group);
            penalties.extend(self.centre_penalty(&priors));
            for label in 0..rows {
                let prior = priors.of(label);
                let entries = parameters.row(group, label).iter().map(|u| u.to_f64());
                let of_row: f64 = entries.enumerate().map(|(j, u)| prior.value(j, u)).sum();
                let bias = parameters.bias(group, label).to_f64();
                penalties.push(of_row + prior.value(rank, bias));
                if let Some(penalty) = &self.row_norm_penalty {
                    row_norms
                        .push(penalty.value(squared_norm(parameters.row(group, label)).sqrt()));
                }
            }
        }
        Value {
            data: 0.0,
            penalty: sum::ordered_sum(&penalties),
            row_norms: sum::ordered_sum(&row_norms),
            perturbation: self.perturbation_value(parameters),
        }
    }

    fn perturbation_value(&self, parameters: &Parameters<T>) -> f64 {
        let Some(perturbation) = self.perturbation() else {
            return 0.0;
        };
        let products = perturbed_rows(perturbation, parameters);
        let terms: Vec<f64> = stacked_rows(parameters)
            .enumerate()
            .map(|(i, row)| {
                let product = &products[i * row.len()..][..row.len()];
                row.iter().zip(product).map(|(u, c)| u.to_f64() * c).sum()
            })
            .collect();
        sum::ordered_sum(&terms)
    }

    pub(super) fn add_penalty_gradient(&self, parameters: &Parameters<T>, out: &mut Parameters<T>) {
        let rank = parameters.layout().rank();
        let perturbed = self.perturbation().map(|c| perturbed_rows(c, parameters));
        let mut stacked = 0;
        for (group, &rows) in parameters.layout().rows().iter().enumerate() {
            let priors = self.row_priors(parameters, group);
            for label in 0..rows {
                let row = parameters.row(group, label);
                let prior = priors.of(label);
                let quartic =
                    self.row_norm_penalty.map_or(0.0, |q| q.diagonal(squared_norm(row).sqrt()));
                let bias = parameters.bias(group, label).to_f64();
                add_to_row(out, group, label, |column| {
                    if column == rank {
                        return prior.gradient(rank, bias);
                    }
                    let coupled =
                        perturbed.as_ref().map_or(0.0, |p| 2.0 * p[stacked * rank + column]);
                    let entry = row[column].to_f64();
                    prior.gradient(column, entry) + quartic * entry + coupled
                });
                stacked += 1;
            }
        }
    }

    pub(super) fn add_penalty_curvature(
        &self,
        parameters: &Parameters<T>,
        direction: &Parameters<T>,
        out: &mut Parameters<T>,
    ) {
        let rank = parameters.layout().rank();
        let perturbed = self.perturbation().map(|c| perturbed_rows(c, direction));
        let mut stacked = 0;
        for (group, &rows) in parameters.layout().rows().iter().enumerate() {
            let priors = self.curvature_priors(direction, group);
            for label in 0..rows {
                let (row, along) = (parameters.row(group, label), direction.row(group, label));
                let norm = squared_norm(row).sqrt();
                let inner: f64 = row.iter().zip(along).map(|(u, d)| u.to_f64() * d.to_f64()).sum();
                let prior = priors.of(label);
                let quartic = self.row_norm_penalty;
                let diagonal = quartic.map_or(0.0, |q| q.diagonal(norm));
                let rank_one = quartic.map_or(0.0, |q| q.rank_one(norm)) * inner;
                let bias = direction.bias(group, label).to_f64();
                add_to_row(out, group, label, |column| {
                    if column == rank {
                        return prior.gradient(rank, bias);
                    }
                    let coupled =
                        perturbed.as_ref().map_or(0.0, |p| 2.0 * p[stacked * rank + column]);
                    let d = along[column].to_f64();
                    let quartic = diagonal * d + rank_one * row[column].to_f64();
                    prior.gradient(column, d) + quartic + coupled
                });
                stacked += 1;
            }
        }
    }
}
