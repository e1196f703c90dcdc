//! The interface of all solvers: one step at a time.

use crate::model::Parameters;
use crate::objective::Objective;
use quadfill_kernels::Real;

/// The result of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepReport {
    /// The objective after the step.
    pub objective: f64,
    /// Its data term: the weighted mean squared residual.
    pub data: f64,
    /// No descent step was found.
    pub stuck: bool,
}

impl StepReport {
    /// The report at a point.
    pub fn at<T: Real>(objective: &Objective<'_, T>, parameters: &Parameters<T>) -> Self {
        let value = objective.value(parameters);
        Self { objective: value.total(), data: value.data, stuck: false }
    }
}

/// A solver that improves a point one step at a time. It never prints and does not measure time.
pub trait Step<T: Real> {
    /// Improves `parameters` by one step.
    fn step(&mut self, objective: &Objective<'_, T>, parameters: &mut Parameters<T>) -> StepReport;
}

impl<T: Real, S: Step<T> + ?Sized> Step<T> for &mut S {
    fn step(&mut self, objective: &Objective<'_, T>, parameters: &mut Parameters<T>) -> StepReport {
        (**self).step(objective, parameters)
    }
}

/// Alternating least squares as a [`Step`].
#[derive(Debug, Default)]
pub struct Als;

impl<T: Real> Step<T> for Als {
    fn step(&mut self, objective: &Objective<'_, T>, parameters: &mut Parameters<T>) -> StepReport {
        let data = super::als::sweep(objective, parameters);
        let rest = objective.penalty_value(parameters);
        StepReport { objective: data + rest, data, stuck: false }
    }
}
