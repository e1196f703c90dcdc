//! Draws from the posterior of an image.

use quadfill::Observations;
use quadfill::solve::{FitConfig, Silent, fit};

use super::MANY;
use crate::error::Result;
use crate::experiment::tune::{Tuned, sampler};

/// The ranks to choose from; with many cells the largest is left out.
const RANKS: [usize; 5] = [2, 5, 10, 20, 40];
/// With fewer cells than this those that are held out are too few to choose by: they are drawn anew some
/// times.
const FEW: usize = 10_000;
const DRAWN_ANEW: u64 = 5;

/// Draws from the posterior, their rank chosen on held-out cells.
pub(super) fn sampled(data: &Observations<f32>, config: &FitConfig) -> Result<Tuned<f32>> {
    let many = data.len() > MANY;
    let ranks = &RANKS[..RANKS.len() - usize::from(many)];
    let splits = if data.len() < FEW { DRAWN_ANEW } else { 1 };
    let drawing = |rank: usize| FitConfig {
        solver: sampler(!many),
        offsets: None,
        certify: false,
        model: config.model.clone().with_rank(rank),
        ..config.clone()
    };
    let mut best: Option<(f64, usize)> = None;
    for &rank in ranks {
        let mut mse = 0.0;
        for split in 0..splits {
            let seed = config.seed + split;
            let (train, held) = data.clone().split_random(config.validation, seed)?;
            let fit = fit(train, &drawing(rank), &mut Silent)?;
            mse += fit.predictor().evaluate_on(&held).mse / splits as f64;
        }
        if best.is_none_or(|(smallest, _)| mse < smallest) {
            best = Some((mse, rank));
        }
    }
    let (mse, rank) = best.expect("there are ranks to choose from");
    let config = drawing(rank);
    let fit = fit(data.clone(), &config, &mut Silent)?;
    Ok(Tuned { fit, config, validation_rmse: mse.sqrt() })
}
