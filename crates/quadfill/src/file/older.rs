//! `model.json` of format versions 1 and 2, whose settings and bins had a different layout.

use serde::Deserialize;

use super::describe::{Description, ModeEntry};
use crate::certify::Certificate;
use crate::fitted::FitSummary;
use crate::model::{Biases, ModelKind, ModelSpec, check_stored_spec};
use crate::objective::{PenaltyScale, RowNormPenalty};
use crate::observations::{Binning, ColumnPositions, Source};
use crate::solve::{
    Choice, FitConfig, PathPoint, Precision, Rank, Sampling, SdpForm, Solver, Status,
    null_is_infinite,
};

/// All of an older `model.json`.
#[derive(Deserialize)]
pub(super) struct OldDescription {
    format: String,
    version: u32,
    spec: ModelSpec,
    modes: Vec<ModeEntry>,
    notes: Notes,
}

#[derive(Deserialize)]
struct Notes {
    value: String,
    bins: Vec<OldBinning>,
    #[serde(default)]
    places: Option<ColumnPositions>,
    precision: Precision,
    config: OldConfig,
    penalty: f64,
    status: Status,
    sweeps: usize,
    observations: usize,
    #[serde(deserialize_with = "null_is_infinite")]
    train_rmse: f64,
    validation_rmse: Option<f64>,
    path: Vec<PathPoint>,
    #[serde(default)]
    certificate: Option<Certificate>,
    #[serde(default)]
    draws: Option<usize>,
}

#[derive(Deserialize)]
struct OldBinning {
    mode: String,
    #[serde(flatten)]
    bins: Binning,
}

#[derive(Deserialize)]
struct OldConfig {
    model: ModelSpec,
    offsets: Option<Biases>,
    solver: OldSolver,
    penalty: Option<f64>,
    penalty_scale: PenaltyScale,
    incoherence: Option<RowNormPenalty>,
    perturb: bool,
    #[serde(default)]
    implicit: Option<f64>,
    validation: f64,
    path_steps: Option<usize>,
    sweeps: Option<usize>,
    tolerance: f64,
    time_limit: Option<f64>,
    seed: u64,
    #[serde(default)]
    rank: OldRank,
    #[serde(default)]
    kernel: OldKernel,
    #[serde(default)]
    certify: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OldSolver {
    Path,
    Als,
    Gd(Option<f64>),
    Lbfgs,
    GaussNewton,
    Sdp(Option<SdpForm>),
    Gibbs(Sampling),
}

#[derive(Deserialize, Default, PartialEq)]
#[serde(rename_all = "snake_case")]
enum OldRank {
    #[default]
    Given,
    Auto,
}

#[derive(Deserialize, Default, PartialEq)]
#[serde(rename_all = "snake_case")]
enum OldKernel {
    #[default]
    Given,
    Learned,
}

impl OldDescription {
    /// Converts to the current layout.
    pub(super) fn into_description(self) -> Result<Description, String> {
        let Self { format, version, spec, mut modes, notes } = self;
        for OldBinning { mode: name, bins } in notes.bins {
            let mode = modes.iter_mut().find(|mode| mode.name == name);
            let mode = mode.ok_or_else(|| {
                format!("the bins of mode `{name}` belong to no mode: {}", super::DAMAGED)
            })?;
            mode.bins = Some(bins);
        }
        let sizes: Vec<usize> = modes.iter().map(|mode| mode.count).collect();
        check_stored_spec(&notes.config.model, &sizes)
            .map_err(|reason| format!("in the settings, {reason}: {}", super::DAMAGED))?;
        let summary = FitSummary {
            config: notes.config.into_config(),
            precision: notes.precision,
            penalty: notes.penalty,
            status: notes.status,
            sweeps: notes.sweeps,
            observations: notes.observations,
            train_rmse: notes.train_rmse,
            validation_rmse: notes.validation_rmse,
            path: notes.path,
            certificate: notes.certificate,
            sdp: None,
            race: None,
            draws: notes.draws,
        };
        let source = Source { value: notes.value, positions: notes.places };
        Ok(Description { format, version, spec, modes, source, summary })
    }
}

impl OldConfig {
    fn into_config(self) -> FitConfig {
        let given = FitConfig::for_spec(&self.model);
        FitConfig {
            model: match self.kernel {
                OldKernel::Given => given.model.clone(),
                OldKernel::Learned => ModelKind::Learned,
            },
            rank: match self.rank {
                OldRank::Given => Rank::Fixed(self.model.rank),
                OldRank::Auto => Rank::Auto { max: Some(self.model.rank) },
            },
            biases: self.offsets.into(),
            centre: Choice::Fixed(false),
            ties: given.ties.clone(),
            solver: match self.solver {
                OldSolver::Path => Solver::Path,
                OldSolver::Als => Solver::Als,
                OldSolver::Gd(step) => Solver::Gd(step.into()),
                OldSolver::Lbfgs => Solver::Lbfgs,
                OldSolver::GaussNewton => Solver::GaussNewton,
                OldSolver::Sdp(form) => Solver::Sdp(form.into()),
                OldSolver::Gibbs(sampling) => Solver::Gibbs(sampling),
            },
            penalty: self.penalty.into(),
            penalty_scale: Choice::Fixed(self.penalty_scale),
            row_norm_penalty: self.incoherence,
            perturb: self.perturb,
            implicit: self.implicit,
            validation: self.validation,
            path_steps: self.path_steps.into(),
            sweeps: self.sweeps,
            tolerance: self.tolerance,
            time_limit: self.time_limit,
            seed: self.seed,
            precision: Choice::Auto,
            certify: self.certify,
            ..given
        }
    }
}
