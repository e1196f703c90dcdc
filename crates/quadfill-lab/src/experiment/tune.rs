//! Fits to real data, with hyperparameters chosen on held-out cells.

use quadfill::model::ModelKind;
use quadfill::objective::PenaltyScale;
use quadfill::solve::{Choice, Sampling, Solver};
use quadfill::{FitConfig, Model, Observations};

use crate::error::Result;

/// The share of the cells held out for the choice of hyperparameters.
const HELD_OUT: f64 = 0.1;
/// The number of sweeps of a fit from a random start.
const SWEEPS: usize = 40;
/// The coarse grid of penalties, which is then refined around the best.
const PENALTIES: [f64; 7] = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7];

/// With more observations than this only the uniform penalty is tried: every row has many observations, and
/// every fit takes long.
const MANY_OBSERVATIONS: usize = 150_000;

/// The largest number of observations times columns for which the path of a CP model is computed.
const MAX_PATH_COST: usize = 2_000_000;

/// A model with the settings chosen for it.
pub(super) struct Tuned {
    pub(super) model: Model,
    pub(super) config: FitConfig,
    /// The error on held-out cells.
    pub(super) validation_rmse: f64,
}

impl Tuned {
    /// The one with the smallest error on held-out cells, if any.
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

/// Chooses the penalty, and whether it is uniform or scales with the observations of each row. `config` has
/// the other settings.
///
/// Quadratic models follow the regularisation path. CP has no path that starts at zero: it is also fitted
/// from a random start at each penalty of a grid, which finds better points at high ranks.
pub(super) fn tuned(data: &Observations, config: &FitConfig) -> Result<Tuned> {
    let scales = [PenaltyScale::Uniform, PenaltyScale::Count];
    let scales = if data.len() > MANY_OBSERVATIONS { &scales[..1] } else { &scales[..] };
    let is_cp = config.model == ModelKind::Cp;
    let cost = data.len() * config.spec(data.modes())?.rank;
    let tried = scales.iter().flat_map(|&scale| {
        let penalty_scale = Choice::Fixed(scale);
        let config = FitConfig { penalty_scale, validation: HELD_OUT, ..config.clone() };
        let has_path = !is_cp || cost < MAX_PATH_COST;
        let from_random = is_cp.then(|| over_penalties(data, &config));
        from_random.into_iter().chain(has_path.then(|| down_the_path(data, config)))
    });
    Ok(Tuned::best(tried)?.expect("at least one was tried"))
}

fn down_the_path(data: &Observations, config: FitConfig) -> Result<Tuned> {
    let model = quadfill::fit(data.clone(), &config)?;
    let validation_rmse = model.summary().validation_rmse.unwrap_or(f64::INFINITY);
    Ok(Tuned { model, config, validation_rmse })
}

fn over_penalties(data: &Observations, config: &FitConfig) -> Result<Tuned> {
    let (train, held) = data.clone().split_random(HELD_OUT, config.seed)?;
    let at = |penalty: f64| FitConfig {
        penalty: Choice::Fixed(penalty),
        ..from_random_start(config.clone())
    };
    let mut tried: Vec<(f64, f64)> = Vec::new();
    let attempt = |penalty: f64| -> Result<(f64, f64)> {
        let model = quadfill::fit(train.clone(), &at(penalty))?;
        Ok((model.evaluate(&held)?.rmse, penalty))
    };
    for penalty in PENALTIES {
        tried.push(attempt(penalty)?);
        // Beyond the best penalty, smaller ones only fit more noise.
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
    let model = quadfill::fit(data.clone(), &config)?;
    Ok(Tuned { model, config, validation_rmse })
}

/// These settings, with ALS from a random start.
pub(super) fn from_random_start(config: FitConfig) -> FitConfig {
    FitConfig { solver: Solver::Als, sweeps: Some(SWEEPS), certify: false, ..config }
}

/// A Gibbs sampler. With few observations the posterior is multimodal and each chain stays at one mode, so
/// several chains are run; they cost little then.
pub(super) fn sampler(few: bool) -> Solver {
    Solver::Gibbs(Sampling { chains: if few { 4 } else { 1 }, ..Sampling::default() })
}
