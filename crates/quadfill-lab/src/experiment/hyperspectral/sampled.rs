//! Posterior sampling for images.

use quadfill::solve::{Choice, Rank};
use quadfill::{FitConfig, Observations};

use super::MANY;
use crate::error::Result;
use crate::experiment::tune::{Tuned, sampler};

/// The ranks to choose from; the largest is omitted with many cells.
const RANKS: [usize; 5] = [2, 5, 10, 20, 40];
/// With fewer cells than this the held-out cells are too few for a reliable choice, and several random
/// splits are averaged.
const FEW: usize = 10_000;
const SPLITS_WITH_FEW: u64 = 5;

/// The posterior mean, with the rank chosen on held-out cells.
pub(super) fn sampled(data: &Observations, config: &FitConfig) -> Result<Tuned> {
    let many = data.len() > MANY;
    let ranks = &RANKS[..RANKS.len() - usize::from(many)];
    let splits = if data.len() < FEW { SPLITS_WITH_FEW } else { 1 };
    let drawing = |rank: usize| FitConfig {
        solver: sampler(!many),
        biases: Choice::Auto,
        certify: false,
        rank: Rank::Fixed(rank),
        ..config.clone()
    };
    let mut best: Option<(f64, usize)> = None;
    for &rank in ranks {
        let mut mse = 0.0;
        for split in 0..splits {
            let seed = config.seed + split;
            let (train, held) = data.clone().split_random(config.validation, seed)?;
            mse += quadfill::fit(train, &drawing(rank))?.evaluate(&held)?.mse / splits as f64;
        }
        if best.is_none_or(|(smallest, _)| mse < smallest) {
            best = Some((mse, rank));
        }
    }
    let (mse, rank) = best.expect("there are ranks to choose from");
    let config = drawing(rank);
    let model = quadfill::fit(data.clone(), &config)?;
    Ok(Tuned { model, config, validation_rmse: mse.sqrt() })
}
