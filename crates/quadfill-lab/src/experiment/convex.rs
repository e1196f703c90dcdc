//! The convex program with a penalty, and how large that should be.

use std::time::Instant;

use quadfill::apply::Predictor;
use quadfill::model::Parameters;
use quadfill::objective::{Objective, PenaltyScale};
use quadfill::solve::start::Spectrum;
use quadfill::solve::{Fit, FitConfig, SdpForm, Silent, Solver, fit};
use quadfill::views::Views;
use quadfill::{Observations, model::ModelSpec};

use super::trial::{Method, Trialled};
use crate::error::Result;

/// Penalties that are tried, as shares of where zero becomes optimal.
const SHARES: [f64; 10] = [0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05, 0.03, 0.015, 0.005];
/// The share of the observations that a penalty is judged by.
const HELD_OUT: f64 = 0.1;
/// Penalties in a row that are worse than the best one, after which smaller ones are not tried.
const PATIENCE: usize = 2;
/// Noise hides anything more precise.
const TOLERANCE: f64 = 1e-4;

/// The smallest penalty at which zero is optimal.
pub(super) fn largest_penalty(spec: &ModelSpec, data: Observations<f64>, seed: u64) -> f64 {
    let views = Views::new(data);
    let objective = Objective::new(&views, spec, 1.0, PenaltyScale::Uniform);
    let zero = Parameters::zeros(spec, &views.sizes());
    Spectrum::new(&objective, &zero, 1, seed).lambda_max
}

/// Minimises the squared residual and a penalty on the trace, the penalty chosen on held-out data.
/// Tells the seconds it took.
pub(super) fn fit_with_hold_out(drawn: &Trialled, seed: u64) -> Result<(Fit<f64>, f64)> {
    let clock = Instant::now();
    let data = drawn.observations()?;
    let mut config = FitConfig {
        solver: Solver::Sdp(Some(SdpForm::Objective)),
        tolerance: TOLERANCE,
        ..drawn.config(Method::Sdp)
    };
    let largest = largest_penalty(&config.model, data.clone(), seed);
    let (rest, held_out) = data.clone().split_random(HELD_OUT, seed)?;
    let (mut best, mut chosen, mut worse) = (f64::INFINITY, largest, 0);
    for share in SHARES {
        config.penalty = Some(share * largest);
        let tried = fit(rest.clone(), &config, &mut Silent)?;
        let predictor = Predictor::new(&tried.spec, &tried.parameters);
        let error = predictor.evaluate_on(&held_out).rmse;
        if error < best {
            (best, chosen, worse) = (error, share * largest, 0);
        } else {
            worse += 1;
            if worse == PATIENCE {
                break;
            }
        }
    }
    config.penalty = Some(chosen);
    let fitted = fit(data, &config, &mut Silent)?;
    Ok((fitted, clock.elapsed().as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Trial;
    use quadfill::model::Kernel;

    #[test]
    fn a_penalty_is_found_that_tells_noise_from_structure() {
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
        assert!(fitted.penalty > 0.0 && fitted.penalty < largest);
        let error = drawn.test_error(&fitted.spec, &fitted.parameters);
        assert!(error < 0.2, "worse than the noise: {error}");
        let mut all = drawn.config(Method::Sdp);
        (all.solver, all.penalty) = (Solver::Sdp(Some(SdpForm::Objective)), Some(1.01 * largest));
        let (zero, _) = drawn.fit(&all).expect("fitted");
        assert!(drawn.test_error(&zero.spec, &zero.parameters) > 0.999);
    }
}
