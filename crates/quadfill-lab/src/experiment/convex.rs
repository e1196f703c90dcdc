//! The penalised convex program, with the penalty chosen on held-out data.

use std::time::Instant;

use quadfill::model::{ModelSpec, Parameters};
use quadfill::objective::{Objective, PenaltyScale};
use quadfill::solve::start::Spectrum;
use quadfill::solve::{Choice, SdpForm, Solver};
use quadfill::views::Views;
use quadfill::{FitConfig, Model, Observations};

use super::trial::{DrawnTrial, Method};
use crate::error::Result;

/// The grid of penalties, relative to the smallest one at which zero is optimal.
const SHARES: [f64; 10] = [0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05, 0.03, 0.015, 0.005];
/// The share of the observations held out to choose the penalty.
const HELD_OUT: f64 = 0.1;
/// The search stops after this many consecutive penalties without improvement.
const PATIENCE: usize = 2;
/// The solver tolerance, far below the noise.
const TOLERANCE: f64 = 1e-4;

/// The smallest penalty at which zero is optimal.
pub(super) fn largest_penalty(spec: &ModelSpec, data: Observations, seed: u64) -> f64 {
    let views = Views::<f64>::new(data);
    let objective = Objective::new(&views, spec, 1.0, PenaltyScale::Uniform);
    let zero = Parameters::zeros(spec, &views.sizes());
    Spectrum::new(&objective, &zero, 1, seed).lambda_max
}

/// Minimises the squared residuals plus a penalty on the trace, with the penalty chosen on held-out data.
/// Returns the model and the duration of everything in seconds.
pub(super) fn fit_with_hold_out(drawn: &DrawnTrial, seed: u64) -> Result<(Model, f64)> {
    let clock = Instant::now();
    let data = drawn.observations()?;
    let mut config = FitConfig {
        solver: Solver::Sdp(Choice::Fixed(SdpForm::Objective)),
        tolerance: TOLERANCE,
        ..drawn.config(Method::Sdp)
    };
    let largest = largest_penalty(&drawn.trial().spec, data.clone(), seed);
    let (rest, held_out) = data.clone().split_random(HELD_OUT, seed)?;
    let (mut best, mut chosen, mut worse) = (f64::INFINITY, largest, 0);
    for share in SHARES {
        config.penalty = Choice::Fixed(share * largest);
        let error = quadfill::fit(rest.clone(), &config)?.evaluate(&held_out)?.rmse;
        if error < best {
            (best, chosen, worse) = (error, share * largest, 0);
        } else {
            worse += 1;
            if worse == PATIENCE {
                break;
            }
        }
    }
    config.penalty = Choice::Fixed(chosen);
    let fitted = quadfill::fit(data, &config)?;
    Ok((fitted, clock.elapsed().as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Trial;
    use quadfill::model::Kernel;

    #[test]
    fn the_chosen_penalty_suppresses_noise() {
        let spec = ModelSpec::quadratic(Kernel::pairwise(3), 2);
        let trial = Trial {
            spec: spec.clone(),
            sizes: vec![10; 3],
            observations: 300,
            noise: 0.2,
            seed: 1,
        };
        let drawn = trial.draw().expect("drawn");
        let (fitted, _) = fit_with_hold_out(&drawn, 1).expect("fitted");
        let largest = largest_penalty(&spec, drawn.observations().expect("data"), 1);
        let penalty = fitted.summary().penalty;
        assert!(penalty > 0.0 && penalty < largest);
        let error = drawn.evaluate(&fitted).relative_error;
        assert!(error < 0.2, "worse than the noise: {error}");
        let mut all = drawn.config(Method::Sdp);
        all.solver = Solver::Sdp(Choice::Fixed(SdpForm::Objective));
        all.penalty = Choice::Fixed(1.01 * largest);
        let (zero, _) = drawn.fit(&all).expect("fitted");
        assert!(drawn.evaluate(&zero).relative_error > 0.999);
    }
}
