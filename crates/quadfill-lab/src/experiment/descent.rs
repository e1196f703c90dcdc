//! Gradient descent as the paper runs it, watched from outside.

use std::time::Instant;

use quadfill::model::{ModelSpec, Parameters};
use quadfill::objective::{Objective, PenaltyScale};
use quadfill::solve::{GradientDescent, Step};
use quadfill::views::Views;

use super::trial::Trialled;
use crate::error::Result;

/// What gradient descent came to.
pub(super) struct Descended {
    pub(super) parameters: Parameters<f64>,
    pub(super) iterations: usize,
    /// The root mean squared residual at the end over that of zero.
    pub(super) train_error: f64,
    /// Seconds spent on steps alone.
    pub(super) seconds: f64,
}

/// Steps until `is_done` says so, the residual vanishes, no step leads down, or `most` are done.
pub(super) fn descend(
    drawn: &Trialled,
    spec: &ModelSpec,
    start: f64,
    most: usize,
    seed: u64,
    mut is_done: impl FnMut(usize, &Parameters<f64>) -> bool,
) -> Result<Descended> {
    const VANISHED: f64 = 1e-7;
    let views = Views::new(drawn.observations()?);
    let sizes = views.sizes();
    let objective = Objective::new(&views, spec, 0.0, PenaltyScale::Uniform);
    let size = objective.data_value(&Parameters::zeros(spec, &sizes)).sqrt();
    let mut parameters = Parameters::random(spec, &sizes, start, seed);
    let mut solver = GradientDescent::new(None);
    let (mut iterations, mut train_error, mut seconds) = (0, 1.0, 0.0);
    while iterations < most {
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
