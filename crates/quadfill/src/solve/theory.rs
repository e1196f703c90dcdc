//! The settings under which every local minimum is known to be good.
//!
//! "Recovery Guarantees for Quadratic Tensors with Sparse Observations" shows: if the rows of the true
//! factors have squared norms of at most `alpha`, `m` cells are drawn uniformly, and
//!
//! ```text
//! lambda1 = alpha / sqrt(d m)        lambda2 = 2 d lambda1 / alpha        R >= sqrt(2m + 2d)
//! C       random, dense, positive semidefinite, of spectral norm at most lambda1
//! ```
//!
//! then with high probability every local minimum of the objective is a global one, and its mean
//! squared error over all cells is at most a constant times `alpha^2 epsilon`, with
//! `epsilon = sqrt(d log d / m)`. The constant is not known.
//!
//! Counting the quartic terms of all `n` stacked rows, the argument needs `R (R + 1) / 2 > m + n`, which
//! is what [`Theory`] takes; more than `n + 1` columns are never needed, because with more columns than
//! rows every point is rank-deficient. The paper has three modes of one size `d`. For others, the
//! mean number of labels of a mode takes the place of `d`.

use serde::{Deserialize, Serialize};

use super::checked::PLAIN_RANK;
use super::config::{Choice, FitConfig, Rank, Solver};
use super::events::NoObserver;
use super::fit::fit;
use super::sdp::SdpForm;
use crate::error::{Error, Result};
use crate::model::{Interaction, ModelSpec, each_row};
use crate::objective::{PERTURBATION_LIMIT, PenaltyScale, RowNormPenalty};
use crate::observations::Observations;
use crate::views::Data;

/// The theorem's settings for some data.
///
/// ```
/// use quadfill::model::{Kernel, ModelSpec};
/// use quadfill::solve::{Choice, FitConfig, Rank, Theory};
/// let spec = ModelSpec::quadratic(Kernel::pairwise(3), 5);
/// let mut config = FitConfig::for_spec(&spec);
/// let theory = Theory::new(&spec, &[20, 20, 20], 800, 4.0)?;
/// assert_eq!(theory.size, 20.0);
/// assert!((theory.lambda1 - 4.0 / 16_000f64.sqrt()).abs() < 1e-15);
/// theory.apply(&mut config);
/// assert_eq!((config.penalty, config.rank), (Choice::Fixed(theory.lambda1), Rank::Fixed(41)));
/// # Ok::<(), quadfill::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Theory {
    /// The largest squared norm of a row of the true factors.
    pub alpha: f64,
    /// Whether `alpha` was taken from a fit instead of being given.
    pub estimated: bool,
    /// `d`: the mean number of labels of a mode.
    pub size: f64,
    /// Rows of all factor matrices.
    pub rows: usize,
    /// The number of observations.
    pub observations: usize,
    /// The penalty, and the bound on the norm of the perturbation.
    pub lambda1: f64,
    /// The weight of the quartic penalty.
    pub lambda2: f64,
    /// Columns of the factors.
    pub rank: usize,
    /// `alpha^2 epsilon`: the mean squared error is at most a constant times this.
    pub error_scale: f64,
}

impl Theory {
    /// The settings for data with `sizes` labels per mode.
    pub fn new(
        model: &ModelSpec,
        sizes: &[usize],
        observations: usize,
        alpha: f64,
    ) -> Result<Self> {
        let bad = |message: String| Err(Error::setting(message));
        if model.interaction == Interaction::Cp {
            return bad("the theorem is about quadratic models: leave `theory` out".to_owned());
        }
        if !(alpha.is_finite() && alpha > 0.0) {
            return bad(format!(
                "alpha is {alpha}: `theory` needs the largest squared norm of a true row, above 0, or \
                 auto"
            ));
        }
        let rows: usize = model.group_sizes(sizes).iter().sum();
        if rows > PERTURBATION_LIMIT {
            return bad(format!(
                "`theory` needs a dense {rows} x {rows} perturbation ({} MB): it is for at most \
                 {PERTURBATION_LIMIT} rows in all modes together",
                rows * rows * 8 / 1_000_000
            ));
        }
        let size = sizes.iter().sum::<usize>() as f64 / sizes.len() as f64;
        let count = observations as f64;
        let lambda1 = alpha / (size * count).sqrt();
        let epsilon = (size * size.ln().max(0.0) / count).sqrt();
        Ok(Self {
            alpha,
            estimated: false,
            size,
            rows,
            observations,
            lambda1,
            lambda2: 2.0 * size * lambda1 / alpha,
            rank: columns(observations + rows).min(rows + 1),
            error_scale: alpha * alpha * epsilon,
        })
    }

    /// The settings for data and a configuration, `alpha` being given or estimated by a fit of the
    /// configuration's rank, or of rank 10.
    pub fn choose(alpha: Choice<f64>, data: &Data, config: &FitConfig) -> Result<Self> {
        let spec = config.spec(data.modes())?;
        match (alpha, config.rank) {
            (Choice::Fixed(alpha), _) => Self::new(&spec, &data.sizes(), data.len(), alpha),
            (Choice::Auto, rank) => {
                let data = data.clone().in_memory("`theory`")?;
                let spec = match rank {
                    Rank::Fixed(_) => spec,
                    Rank::Auto { .. } => spec.with_rank(PLAIN_RANK),
                };
                Self::estimate(data, &spec, config.seed)
            }
        }
    }

    /// The same with `alpha` estimated: the largest squared norm of a row in a fit of `model` with
    /// every setting at its default.
    pub fn estimate(data: Observations, model: &ModelSpec, seed: u64) -> Result<Self> {
        let (sizes, observations) = (data.sizes(), data.len());
        // Invalid settings are refused before the first fit.
        Self::new(model, &sizes, observations, 1.0)?;
        let config = FitConfig { seed, certify: false, ..FitConfig::for_spec(model) };
        let first = fit::<f64>(data, &config, &mut NoObserver)?;
        let alpha = each_row(first.parameters.layout().rows())
            .map(|(group, label)| {
                let row = first.parameters.row(group, label);
                row.iter().map(|u| u * u).sum()
            })
            .fold(0.0, f64::max);
        if alpha <= 0.0 {
            return Err(Error::setting(
                "a first fit has no factors to take alpha from: give `theory` a number",
            ));
        }
        Ok(Self { estimated: true, ..Self::new(model, &sizes, observations, alpha)? })
    }

    /// Writes the settings into a configuration. The path, which goes through other penalties, becomes
    /// L-BFGS from a random start; a convex program keeps its own rank and becomes the penalised one.
    pub fn apply(&self, config: &mut FitConfig) {
        config.penalty = Choice::Fixed(self.lambda1);
        config.penalty_scale = Choice::Fixed(PenaltyScale::Uniform);
        config.row_norm_penalty = Some(RowNormPenalty { alpha: self.alpha, weight: self.lambda2 });
        config.perturb = true;
        match config.solver {
            Solver::Sdp(form) => {
                config.solver = Solver::Sdp(Choice::Fixed(form.unwrap_or(SdpForm::Penalised)));
                return;
            }
            Solver::Auto | Solver::Path => config.solver = Solver::Lbfgs,
            Solver::Als
            | Solver::Gd(_)
            | Solver::Lbfgs
            | Solver::GaussNewton
            | Solver::Gibbs(_) => {}
        }
        config.rank = Rank::Fixed(self.rank);
    }
}

/// The smallest `R` with `R (R + 1) / 2 > count`.
fn columns(count: usize) -> usize {
    let mut rank = (2.0 * count as f64).sqrt() as usize;
    rank = rank.saturating_sub(2);
    while rank * (rank + 1) / 2 <= count {
        rank += 1;
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Kernel;

    #[test]
    fn columns_are_the_fewest_that_suffice() {
        for count in 0..2000 {
            let rank = columns(count);
            assert!(rank * (rank + 1) / 2 > count);
            assert!(rank == 0 || rank * (rank - 1) / 2 <= count, "{count}: {rank}");
        }
    }

    #[test]
    fn the_rank_is_the_papers_or_more_and_never_more_than_rows_and_one() {
        let spec = ModelSpec::quadratic(Kernel::pairwise(3), 2);
        let recipe = |observations| {
            Theory::new(&spec, &[30, 20, 10], observations, 2.0).expect("sound settings")
        };
        let few = recipe(400);
        assert!(few.rank as f64 >= (2.0 * (400.0 + few.size)).sqrt());
        assert_eq!(few.size, 20.0);
        assert!((few.lambda2 - 2.0 / (20.0 * 400f64).sqrt() * 20.0).abs() < 1e-12);
        assert_eq!(recipe(6000).rank, 61);
        assert!(Theory::new(&spec, &[30, 20, 10], 400, -1.0).is_err());
        assert!(Theory::new(&ModelSpec::cp(3, 2), &[30, 20, 10], 400, 1.0).is_err());
    }
}
