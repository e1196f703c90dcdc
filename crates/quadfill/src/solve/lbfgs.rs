//! Limited-memory BFGS.

use std::collections::VecDeque;

use super::step::{Step, StepReport};
use super::vector;
use crate::model::Parameters;
use crate::objective::Objective;
use quadfill_kernels::Real;

const MEMORY: usize = 12;

/// A pair of a step and the change of the gradient along it.
#[derive(Debug)]
struct Pair<T: Real> {
    step: Parameters<T>,
    change: Parameters<T>,
    inverse_product: f64,
}

/// Quasi-Newton steps from the last few gradients.
#[derive(Debug)]
pub struct Lbfgs<T: Real> {
    pairs: VecDeque<Pair<T>>,
    gradient: Option<Parameters<T>>,
}

impl<T: Real> Lbfgs<T> {
    /// Without memory.
    pub fn new() -> Self {
        Self { pairs: VecDeque::new(), gradient: None }
    }

    /// Minus the inverse Hessian estimate times the gradient, by the two-loop recursion.
    fn direction(&self, gradient: &Parameters<T>) -> Parameters<T> {
        let mut direction = gradient.clone();
        let mut shares = Vec::with_capacity(self.pairs.len());
        for pair in self.pairs.iter().rev() {
            let share =
                pair.inverse_product * vector::dot(pair.step.as_slice(), direction.as_slice());
            vector::add_scaled(direction.as_mut_slice(), -share, pair.change.as_slice());
            shares.push(share);
        }
        if let Some(last) = self.pairs.back() {
            let change = vector::dot(last.change.as_slice(), last.change.as_slice());
            let scale = T::from_f64(1.0 / (last.inverse_product * change));
            for x in direction.as_mut_slice() {
                *x *= scale;
            }
        }
        for (pair, share) in self.pairs.iter().zip(shares.into_iter().rev()) {
            let back =
                pair.inverse_product * vector::dot(pair.change.as_slice(), direction.as_slice());
            vector::add_scaled(direction.as_mut_slice(), share - back, pair.step.as_slice());
        }
        for x in direction.as_mut_slice() {
            *x = -*x;
        }
        direction
    }
}

impl<T: Real> Default for Lbfgs<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Real> Step<T> for Lbfgs<T> {
    fn step(&mut self, objective: &Objective<'_, T>, parameters: &mut Parameters<T>) -> StepReport {
        let gradient = self.gradient.take().unwrap_or_else(|| {
            let mut gradient = parameters.zeros_like();
            objective.gradient_into(parameters, &mut gradient);
            gradient
        });
        let start = objective.value(parameters).total();
        let mut direction = self.direction(&gradient);
        let mut slope = vector::dot(direction.as_slice(), gradient.as_slice());
        if slope >= 0.0 {
            self.pairs.clear();
            direction = self.direction(&gradient);
            slope = vector::dot(direction.as_slice(), gradient.as_slice());
        }
        let mut length = if self.pairs.is_empty() {
            // The first step has no scale yet: one that moves about as far as the point is long.
            let norm = vector::norm(parameters.as_slice()).max(1e-3);
            (0.1 * norm / vector::norm(gradient.as_slice()).max(f64::MIN_POSITIVE)).min(1.0)
        } else {
            1.0
        };
        for _ in 0..40 {
            let mut moved = parameters.clone();
            moved.advance(length, &direction);
            let report = StepReport::at(objective, &moved);
            if report.objective <= start + 1e-4 * length * slope {
                let mut next = parameters.zeros_like();
                objective.gradient_into(&moved, &mut next);
                self.remember(parameters, &moved, &gradient, &next);
                *parameters = moved;
                self.gradient = Some(next);
                return report;
            }
            // The minimum of the parabola through what is known, kept away from the ends.
            let bend = report.objective - start - length * slope;
            let parabola = -0.5 * slope * length * length / bend;
            length = if parabola.is_finite() {
                parabola.clamp(0.1 * length, 0.5 * length)
            } else {
                0.1 * length
            };
        }
        self.gradient = Some(gradient);
        let had_memory = !self.pairs.is_empty();
        self.pairs.clear();
        StepReport { stuck: !had_memory, ..StepReport::at(objective, parameters) }
    }
}

impl<T: Real> Lbfgs<T> {
    fn remember(
        &mut self,
        from: &Parameters<T>,
        to: &Parameters<T>,
        gradient_from: &Parameters<T>,
        gradient_to: &Parameters<T>,
    ) {
        let difference = |x: &Parameters<T>, y: &Parameters<T>| {
            let mut out = x.clone();
            vector::add_scaled(out.as_mut_slice(), -1.0, y.as_slice());
            out
        };
        let step = difference(to, from);
        let change = difference(gradient_to, gradient_from);
        let product = vector::dot(step.as_slice(), change.as_slice());
        if product <= 1e-12 * vector::norm(step.as_slice()) * vector::norm(change.as_slice()) {
            return;
        }
        if self.pairs.len() == MEMORY {
            self.pairs.pop_front();
        }
        self.pairs.push_back(Pair { step, change, inverse_product: 1.0 / product });
    }
}
