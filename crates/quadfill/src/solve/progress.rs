//! The state of a running fit: all that is needed to go on from where it was.

use serde::{Deserialize, Serialize};

use super::events::{PathPoint, Stage, null_is_infinite};
use super::gibbs::{SamplerDraws, SamplerNotes};
use crate::model::{ModelSpec, Offsets, Parameters};
use quadfill_kernels::Real;

/// What a hold-out path found for one choice of offsets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The offsets.
    pub offsets: Offsets,
    /// The rank.
    pub rank: usize,
    /// The best penalty on the held-out part.
    pub penalty: f64,
    /// The penalty at which its path began.
    pub lambda_max: f64,
    /// The error there.
    #[serde(deserialize_with = "null_is_infinite")]
    pub validation_rmse: f64,
    /// Its path.
    pub path: Vec<PathPoint>,
    /// How long to stay at the best penalty, once that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settling: Option<Settling>,
}

/// How long held-out data bear that a fit stays at its penalty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settling {
    /// The sweeps, at most.
    pub sweeps: usize,
    /// The held-out error after them.
    #[serde(deserialize_with = "null_is_infinite")]
    pub validation_rmse: f64,
}

/// What became of fitting the data exactly with so many columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankTrial {
    /// The columns, those to spare aside.
    pub rank: usize,
    /// How it went.
    pub result: TrialResult,
    /// The path of a fit that was exact.
    pub path: Vec<PathPoint>,
}

/// How a [`RankTrial`] went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialResult {
    /// The residual stopped falling with columns to spare: too few, or the data are noisy.
    Noisy,
    /// With columns to spare the residual vanished, without them it did not.
    Close,
    /// The residual vanished.
    Exact,
}

/// Everything about a running fit except its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProgressNotes {
    /// What is being done.
    pub stage: Stage,
    /// The model of this stage.
    pub spec: ModelSpec,
    /// Steps done in this stage.
    pub step: usize,
    /// Iterations in all.
    pub sweeps: usize,
    /// Where the stage's path began.
    pub lambda_max: f64,
    /// The objective after the last step.
    #[serde(deserialize_with = "null_is_infinite")]
    pub objective: f64,
    /// How many of the last steps hardly lowered it.
    pub quiet: usize,
    /// The path of this stage so far.
    pub path: Vec<PathPoint>,
    /// What hold-out has found so far.
    pub candidates: Vec<Candidate>,
    /// The ranks at which the data were tried for being exact.
    pub trials: Vec<RankTrial>,
    /// Seconds spent so far.
    pub seconds: f64,
    /// The state of a sampler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampler: Option<SamplerNotes>,
}

impl ProgressNotes {
    /// Notes the held-out error of the step that was taken last.
    pub(super) fn note_held_out(&mut self, rmse: f64) {
        if let Some(last) = self.path.last_mut() {
            last.validation_rmse = Some(rmse);
        }
    }

    /// The number of the candidate with the smallest held-out error.
    pub(super) fn best_number(&self) -> Option<usize> {
        let errors = self.candidates.iter().map(|candidate| candidate.validation_rmse);
        errors.enumerate().min_by(|x, y| x.1.total_cmp(&y.1)).map(|(number, _)| number)
    }

    /// The candidate with the smallest held-out error.
    pub(super) fn best_candidate(&self) -> Option<&Candidate> {
        self.best_number().map(|number| &self.candidates[number])
    }
}

/// A state from which a fit can be resumed, to end in the same bits.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress<T: Real> {
    /// Where the fit is.
    pub notes: ProgressNotes,
    /// The parameters there.
    pub parameters: Parameters<T>,
    /// The best parameters on the held-out part so far.
    pub best: Option<Parameters<T>>,
    /// What a sampler has drawn.
    pub draws: Option<SamplerDraws<T>>,
}
