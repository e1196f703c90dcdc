//! The race as it is told.

use serde::{Deserialize, Serialize};

use super::arena::Arena;
use super::contender::Contender;
use super::propose;
use crate::model::{Biases, ModelSpec};
use crate::solve::session::FitSession;
use crate::solve::start;
use quadfill_kernels::Real;

/// One run of a contender.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Heat {
    /// What ran.
    pub contender: Contender,
    /// Its model.
    pub spec: ModelSpec,
    /// Whether it only served to choose what is worth a longer heat.
    pub is_pilot: bool,
    /// Chains on every fold; none for a path.
    pub chains: usize,
    /// Sweeps of every chain that were discarded.
    pub burn_in: usize,
    /// Draws of every chain, or steps of a path.
    pub draws: usize,
    /// The held-out error that it is compared by.
    pub error: f64,
    /// The same after half of its draws.
    pub half_way: f64,
    /// The error on held-out cells that nothing is chosen on, and its standard error.
    pub told: HeldOutError,
    /// The operations that it was expected to take.
    pub operations: f64,
}

impl Heat {
    /// The sweeps on every fold, of all chains.
    pub fn sweeps(&self) -> usize {
        self.chains.max(1) * (self.burn_in + self.draws)
    }
}

/// A held-out error with its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HeldOutError {
    /// The root mean squared error.
    pub rmse: f64,
    /// Its standard error.
    pub standard_error: f64,
}

/// Held-out errors of what needs no model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Baselines {
    /// Of the mean of the data.
    pub mean: f64,
    /// Of the mean and one bias per label.
    pub biases: f64,
}

/// What was tried, and what was chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RaceReport {
    /// Every heat, in order.
    pub heats: Vec<Heat>,
    /// The position of the chosen one.
    pub chosen: usize,
    /// How many different hold-outs the errors are averaged over.
    pub folds: usize,
    /// How many observations were compared on, where the data are so many that it was a sample of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<usize>,
    /// The error of the chosen one on held-out cells that nothing was chosen on.
    pub held_out: HeldOutError,
    /// Errors to compare it with, on the same cells.
    pub baselines: Baselines,
}

impl RaceReport {
    /// # Panics
    /// Without any heat.
    pub(super) fn new<T: Real>(
        session: &FitSession<'_, T>,
        arena: &Arena<'_, T>,
        heats: &[Heat],
    ) -> Self {
        let chosen = propose::leader_position(heats).expect("a race has heats");
        let baseline = |biases: Biases| {
            let spec = session.base.clone().with_rank(1).with_biases(biases);
            let predictions: Vec<Vec<f64>> = arena
                .folds
                .iter()
                .map(|fold| {
                    let parameters = start::biases_only(&spec, fold.training);
                    let mut sums = vec![0.0; fold.held_out.len()];
                    fold.held_out.add_predictions(&spec, &parameters, &mut sums);
                    sums
                })
                .collect();
            arena.errors(&predictions).told
        };
        Self {
            heats: heats.to_vec(),
            chosen,
            folds: arena.folds.len(),
            sample: session.races_on_sample().then(|| arena.observations()),
            held_out: heats[chosen].told,
            baselines: Baselines { mean: baseline(Biases::Mean), biases: baseline(Biases::Modes) },
        }
    }

    /// The heat that won.
    pub fn winner(&self) -> &Heat {
        &self.heats[self.chosen]
    }
}
