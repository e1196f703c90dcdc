//! Fits to real data, with everything that a model leaves open chosen on held-out cells.

use quadfill::model::Interaction;
use quadfill::objective::PenaltyScale;
use quadfill::solve::{Fit, FitConfig, Sampling, Silent, Solver, fit};
use quadfill::{Observations, Real};

use crate::error::Result;

/// The share of the cells that choices are made on.
const HELD_OUT: f64 = 0.1;
/// Sweeps of a fit from a random start.
const SWEEPS: usize = 40;
/// The penalties that are tried first, and then between the best and its neighbours.
const PENALTIES: [f64; 7] = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7];

/// With more observations than this the two ways of sharing a penalty out are not told apart: rows have
/// plenty, and every fit takes long.
const PLENTY: usize = 150_000;

/// The path of a CP model with more observations times columns than this takes too long.
const LONG_PATH: usize = 2_000_000;

/// A fit and the settings that were chosen for it.
pub(super) struct Tuned<T: Real> {
    pub(super) fit: Fit<T>,
    pub(super) config: FitConfig,
    /// The error on held-out cells.
    pub(super) validation_rmse: f64,
}

impl<T: Real> Tuned<T> {
    /// The one with the smallest error on held-out cells, if there is any.
    pub(super) fn best(tried: impl IntoIterator<Item = Result<Self>>) -> Result<Option<Self>> {
        let mut best: Option<Self> = None;
        for tuned in tried {
            let tuned = tuned?;
            if best.as_ref().is_none_or(|best| tuned.validation_rmse < best.validation_rmse) {
                best = Some(tuned);
            }
        }
        Ok(best)
    }
}

/// The better of a penalty that is the same for all rows and one that grows with their observations,
/// and of all penalties. `config` says the rest.
///
/// Quadratic models go down the path. CP has none that begins at zero: it is fitted at one penalty after
/// the other from a random start as well, which at high ranks finds better points.
pub(super) fn tuned<T: Real>(data: &Observations<T>, config: &FitConfig) -> Result<Tuned<T>> {
    let scales = [PenaltyScale::Uniform, PenaltyScale::Count];
    let scales = if data.len() > PLENTY { &scales[..1] } else { &scales[..] };
    let is_cp = config.model.interaction == Interaction::Cp;
    let tried = scales.iter().flat_map(|&penalty_scale| {
        let config = FitConfig { penalty_scale, validation: HELD_OUT, ..config.clone() };
        let has_path = !is_cp || data.len() * config.model.rank < LONG_PATH;
        let from_random = is_cp.then(|| over_penalties(data, &config));
        from_random.into_iter().chain(has_path.then(|| down_the_path(data, config)))
    });
    Ok(Tuned::best(tried)?.expect("at least one was tried"))
}

fn down_the_path<T: Real>(data: &Observations<T>, config: FitConfig) -> Result<Tuned<T>> {
    let fit = fit(data.clone(), &config, &mut Silent)?;
    let validation_rmse = fit.validation_rmse.unwrap_or(f64::INFINITY);
    Ok(Tuned { fit, config, validation_rmse })
}

fn over_penalties<T: Real>(data: &Observations<T>, config: &FitConfig) -> Result<Tuned<T>> {
    let (train, held) = data.clone().split_random(HELD_OUT, config.seed)?;
    let at =
        |penalty: f64| FitConfig { penalty: Some(penalty), ..from_random_start(config.clone()) };
    let mut tried: Vec<(f64, f64)> = Vec::new();
    let attempt = |penalty: f64| -> Result<(f64, f64)> {
        let fit = fit(train.clone(), &at(penalty), &mut Silent)?;
        Ok((fit.predictor().evaluate_on(&held).rmse, penalty))
    };
    for penalty in PENALTIES {
        tried.push(attempt(penalty)?);
        // Past the best, smaller penalties only fit more noise.
        let [.., a, b, c] = tried[..] else { continue };
        if a.0 < b.0 && b.0 < c.0 {
            break;
        }
    }
    let best = |tried: &[(f64, f64)]| {
        tried.iter().copied().min_by(|x, y| x.0.total_cmp(&y.0)).unwrap_or((f64::INFINITY, 1.0))
    };
    let coarse = best(&tried).1;
    for penalty in [coarse * 10f64.sqrt(), coarse / 10f64.sqrt()] {
        tried.push(attempt(penalty)?);
    }
    let (validation_rmse, penalty) = best(&tried);
    let config = at(penalty);
    let fit = fit(data.clone(), &config, &mut Silent)?;
    Ok(Tuned { fit, config, validation_rmse })
}

/// The same settings for ALS from a random start.
pub(super) fn from_random_start(config: FitConfig) -> FitConfig {
    FitConfig { solver: Solver::Als, sweeps: Some(SWEEPS), certify: false, ..config }
}

/// Draws: with few observations the posterior has several hills, a chain stays on one of them, and
/// several cost little.
pub(super) fn sampler(few: bool) -> Solver {
    Solver::Gibbs(Sampling { chains: if few { 4 } else { 1 }, ..Sampling::default() })
}
