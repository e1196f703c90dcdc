//! Gradient descent as in the paper.

use std::time::Instant;

use quadfill::model::{ModelSpec, Parameters};
use quadfill::objective::{Objective, PenaltyScale};
use quadfill::solve::{GradientDescent, Step};
use quadfill::views::Views;

use super::trial::DrawnTrial;
use crate::error::Result;

/// The result of gradient descent.
pub(super) struct Descended {
    pub(super) parameters: Parameters<f64>,
    pub(super) iterations: usize,
    /// The final root mean squared residual relative to that of the zero model.
    pub(super) train_error: f64,
    /// Seconds spent in steps.
    pub(super) seconds: f64,
}

/// Descends until `is_done` returns true, the residual vanishes, no step decreases the objective, or the
/// iteration limit is reached.
pub(super) fn descend(
    drawn: &DrawnTrial,
    spec: &ModelSpec,
    start: f64,
    max_iterations: usize,
    seed: u64,
    mut is_done: impl FnMut(usize, &Parameters<f64>) -> bool,
) -> Result<Descended> {
    const VANISHED: f64 = 1e-7;
    let views = Views::<f64>::new(drawn.observations()?);
    let sizes = views.sizes();
    let objective = Objective::new(&views, spec, 0.0, PenaltyScale::Uniform);
    let size = objective.data_value(&Parameters::zeros(spec, &sizes)).sqrt();
    let mut parameters = Parameters::random(spec, &sizes, start, seed);
    let mut solver = GradientDescent::new(None);
    let (mut iterations, mut train_error, mut seconds) = (0, 1.0, 0.0);
    while iterations < max_iterations {
        let clock = Instant::now();
        let report = solver.step(&objective, &mut parameters);
        seconds += clock.elapsed().as_secs_f64();
        iterations += 1;
        train_error = report.data.max(0.0).sqrt() / size;
        if report.stuck || train_error < VANISHED || is_done(iterations, &parameters) {
            break;
        }
    }
    Ok(Descended { parameters, iterations, train_error, seconds })
}
