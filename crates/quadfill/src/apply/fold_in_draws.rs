//! Rows for new labels in a mean of draws: every draw has its own, the mean of its distribution given
//! that draw's other rows, its noise and its prior of rows.

use crate::fitted::Fitted;
use crate::model::{Biases, Draw, ModelSpec, Parameters, Posterior, draw_scale};
use crate::objective::{Objective, PenaltyScale};
use crate::solve::gibbs;
use crate::views::Views;
use quadfill_kernels::Real;

/// Passes over several modes with new labels, whose rows depend on each other.
const PASSES: usize = 20;

/// The rows of a factor matrix that are used: which they are in the model, and which of them are new.
pub(super) struct UsedRows<'a> {
    pub(super) kept: &'a [Vec<u32>],
    pub(super) is_new: &'a [Vec<bool>],
}

/// Solves for the rows of new labels in every draw.
pub(super) fn solve<T: Real>(
    spec: &ModelSpec,
    fitted: &mut Fitted<T>,
    views: &Views<T>,
    used: &UsedRows<'_>,
) {
    let Fitted { parameters, posterior, .. } = fitted;
    let posterior = posterior.as_mut().expect("a mean of draws");
    let count = posterior.draws().len();
    let of_draw = spec.clone().with_rank(spec.rank / count);
    let objective = Objective::new(views, &of_draw, 0.0, PenaltyScale::Uniform);
    for at in 0..count {
        let mut point =
            extract(&of_draw, parameters, &posterior.draws()[at], at, count, used, views);
        let draw = &posterior.draws()[at];
        let groups: Vec<usize> =
            (0..used.is_new.len()).filter(|&group| used.is_new[group].contains(&true)).collect();
        for _ in 0..if groups.len() == 1 { 1 } else { PASSES } {
            for &group in &groups {
                let is_new = |row: usize| used.is_new[group][row];
                let prior = &draw.priors[group];
                gibbs::move_to_mean(&objective, &mut point, group, prior, draw.noise, &is_new);
            }
        }
        store(&of_draw, &point, parameters, posterior, at, used);
    }
    if spec.biases == Biases::Modes {
        average_biases(parameters, posterior, used);
    }
}

/// The used rows of one draw; new ones are at the mean of their prior.
fn extract<T: Real>(
    spec: &ModelSpec,
    parameters: &Parameters<T>,
    draw: &Draw,
    at: usize,
    count: usize,
    used: &UsedRows<'_>,
    views: &Views<T>,
) -> Parameters<T> {
    let scale = draw_scale(spec, count).recip();
    let mut point = Parameters::zeros(spec, &views.all().sizes());
    point.mean = draw.mean;
    for (group, kept) in used.kept.iter().enumerate() {
        let prior = &draw.priors[group];
        for (label, &from) in kept.iter().enumerate() {
            let is_new = used.is_new[group][label];
            let row = parameters.row(group, from as usize);
            for (j, u) in point.row_mut(group, label).iter_mut().enumerate() {
                let known = row[at * spec.rank + j].to_f64() * scale;
                *u = T::from_f64(if is_new { prior.means[j] } else { known });
            }
            if spec.biases == Biases::Modes {
                let known = f64::from(draw.biases[group][from as usize]);
                let bias = if is_new { prior.means[spec.rank] } else { known };
                point.set_bias(group, label, T::from_f64(bias));
            }
        }
    }
    point
}

/// Writes the new rows of one draw into the model.
fn store<T: Real>(
    spec: &ModelSpec,
    point: &Parameters<T>,
    parameters: &mut Parameters<T>,
    posterior: &mut Posterior<T>,
    at: usize,
    used: &UsedRows<'_>,
) {
    let scale = draw_scale(spec, posterior.draws().len());
    for (group, kept) in used.kept.iter().enumerate() {
        for (label, &to) in kept.iter().enumerate().filter(|&(label, _)| used.is_new[group][label])
        {
            let target = &mut parameters.row_mut(group, to as usize)[at * spec.rank..];
            for (t, u) in target.iter_mut().zip(point.row(group, label)) {
                // Draws are stored in single precision.
                *t = T::from_f64(f64::from((u.to_f64() * scale) as f32));
            }
            if spec.biases == Biases::Modes {
                posterior.set_bias(
                    at,
                    group,
                    to as usize,
                    point.bias(group, label).to_f64() as f32,
                );
            }
        }
    }
}

/// The biases of new rows are the means over all draws.
fn average_biases<T: Real>(
    parameters: &mut Parameters<T>,
    posterior: &Posterior<T>,
    used: &UsedRows<'_>,
) {
    let count = posterior.draws().len() as f64;
    for (group, kept) in used.kept.iter().enumerate() {
        for (_, &to) in kept.iter().enumerate().filter(|&(label, _)| used.is_new[group][label]) {
            let draws = posterior.draws().iter();
            let sum: f64 = draws.map(|draw| f64::from(draw.biases[group][to as usize])).sum();
            parameters.set_bias(group, to as usize, T::from_f64(f64::from((sum / count) as f32)));
        }
    }
}
