//! Gradient descent, with a fixed step or with backtracking.

use super::step::{Step, StepReport};
use super::vector;
use crate::model::Parameters;
use crate::objective::Objective;
use quadfill_kernels::Real;

/// One gradient step at a time.
#[derive(Debug)]
pub struct GradientDescent<T: Real> {
    fixed: Option<f64>,
    step: f64,
    gradient: Option<Parameters<T>>,
}

impl<T: Real> GradientDescent<T> {
    /// Steps of a fixed length times the gradient, or with `None` as long as a sufficient decrease
    /// allows.
    pub fn new(fixed: Option<f64>) -> Self {
        Self { fixed, step: 1.0, gradient: None }
    }
}

impl<T: Real> Step<T> for GradientDescent<T> {
    fn step(&mut self, objective: &Objective<'_, T>, parameters: &mut Parameters<T>) -> StepReport {
        let gradient = self.gradient.get_or_insert_with(|| parameters.zeros_like());
        objective.gradient_into(parameters, gradient);
        let squared = vector::dot(gradient.as_slice(), gradient.as_slice());
        if let Some(step) = self.fixed {
            parameters.advance(-step, gradient);
            return StepReport::at(objective, parameters);
        }
        let start = objective.value(parameters).total();
        // Grow a little first, so that one cautious step does not slow down all that follow.
        self.step *= 2.0;
        for _ in 0..60 {
            let mut moved = parameters.clone();
            moved.advance(-self.step, gradient);
            let report = StepReport::at(objective, &moved);
            if report.objective <= start - 0.5 * self.step * squared {
                *parameters = moved;
                return report;
            }
            self.step *= 0.5;
        }
        StepReport { stuck: true, ..StepReport::at(objective, parameters) }
    }
}
