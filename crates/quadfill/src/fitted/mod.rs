//! The result of a fit: one complete object that owns labels, parameters, settings, certificate and
//! draws, in the precision in which it was fitted. Every use of a model is a method on it.

mod fit;

pub(crate) use fit::{About, InModel};
pub use fit::{fit, fit_with, resume};

use serde::{Deserialize, Serialize};

use crate::certify::Certificate;
use crate::error::{Error, Result};
use crate::model::{
    ModelKind, ModelSpec, Parameters, Posterior, Predictor, UNKNOWN, UnknownLabelRows, unknown_rows,
};
use crate::observations::{Mode, Source};
use crate::solve::{
    FitConfig, PathPoint, Precision, RaceReport, SdpReport, Status, null_is_infinite,
};
use quadfill_kernels::Real;

/// A fitted model with everything that is needed to use it.
///
/// ```
/// use quadfill::{FitConfig, Labels, Mode, Model, Observations, OnDuplicate};
///
/// // A 3 x 3 multiplication table with one cell missing.
/// let modes = vec![
///     Mode::new("left", Labels::from_names(["one", "two", "three"])),
///     Mode::new("right", Labels::from_names(["one", "two", "three"])),
/// ];
/// let indices = vec![vec![0, 0, 0, 1, 1, 1, 2, 2], vec![0, 1, 2, 0, 1, 2, 0, 1]];
/// let values = vec![1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 3.0, 6.0];
/// let data = Observations::new(modes, indices, values, None, OnDuplicate::Error)?;
///
/// let model = quadfill::fit(data, &FitConfig::default())?;
/// assert!((model.predict(&["three", "three"])? - 9.0).abs() < 1e-8);
/// let best = model.top(&[("left", "two")], "right", 1)?;
/// assert_eq!(best[0].label, "three");
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("table");
/// model.save(&path)?;
/// assert_eq!(Model::load(&path)?.predict(&["two", "two"])?, model.predict(&["two", "two"])?);
/// # Ok::<(), quadfill::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Model {
    pub(crate) spec: ModelSpec,
    pub(crate) modes: Vec<Mode>,
    pub(crate) source: Source,
    pub(crate) summary: FitSummary,
    pub(crate) numbers: Numbers,
}

/// Parameters and draws in one precision.
#[derive(Debug, Clone)]
pub(crate) struct Fitted<T: Real> {
    pub(crate) parameters: Parameters<T>,
    /// What the rows of a centred model are drawn to: the rows of labels that it does not know.
    pub(crate) centres: Option<UnknownLabelRows<T>>,
    pub(crate) posterior: Option<Posterior<T>>,
}

/// Parameters and draws in the precision of the fit.
#[derive(Debug, Clone)]
pub(crate) enum Numbers {
    F32(Fitted<f32>),
    F64(Fitted<f64>),
}

/// Evaluates an expression for the parameters and draws of a model, in whichever precision they are.
macro_rules! with_numbers {
    ($numbers:expr, $fitted:ident => $body:expr) => {
        match $numbers {
            $crate::fitted::Numbers::F32($fitted) => $body,
            $crate::fitted::Numbers::F64($fitted) => $body,
        }
    };
}
pub(crate) use with_numbers;

impl<T: Real> Fitted<T> {
    pub(crate) fn predictor<'a>(&'a self, spec: &'a ModelSpec) -> Predictor<'a, T> {
        Predictor::new(spec, &self.parameters)
            .with_unknown_rows(unknown_rows(self.posterior.as_ref(), self.centres.as_ref()))
    }
}

/// How a model was fitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitSummary {
    /// The settings of the fit.
    pub config: FitConfig,
    /// The precision of the fit.
    pub precision: Precision,
    /// The `lambda` of the final objective; for a sampler, the equivalent of its draws.
    pub penalty: f64,
    /// Why the fit ended.
    pub status: Status,
    /// The total number of iterations.
    pub sweeps: usize,
    /// How many observations were fitted.
    pub observations: usize,
    /// Root of the weighted mean squared residual on them.
    #[serde(deserialize_with = "null_is_infinite")]
    pub train_rmse: f64,
    /// The best held-out RMSE, where data were held out.
    pub validation_rmse: Option<f64>,
    /// The penalty path of the fit.
    pub path: Vec<PathPoint>,
    /// How far the fit is from the global optimum, where that is known.
    #[serde(default)]
    pub certificate: Option<Certificate>,
    /// How the convex program was solved, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sdp: Option<SdpReport>,
    /// How the model was chosen, where several were raced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub race: Option<RaceReport>,
    /// The number of draws that the model is the mean of, if it was sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draws: Option<usize>,
}

impl Model {
    /// The modes and their labels.
    pub fn modes(&self) -> &[Mode] {
        &self.modes
    }

    /// How rows make predictions. A mean of draws has the columns of all its draws.
    pub fn spec(&self) -> &ModelSpec {
        &self.spec
    }

    /// The kind of model.
    pub fn kind(&self) -> ModelKind {
        ModelKind::of(&self.spec.interaction)
    }

    /// The columns of the data that it was fitted to.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// How it was fitted.
    pub fn summary(&self) -> &FitSummary {
        &self.summary
    }

    /// How far it is from the global optimum over all ranks, where that is known.
    pub fn certificate(&self) -> Option<&Certificate> {
        self.summary.certificate.as_ref()
    }

    /// The rank of the fitted model: of one draw, where this is a mean of draws.
    pub fn rank(&self) -> usize {
        self.spec.rank / self.summary.draws.unwrap_or(1)
    }

    /// The number of free parameters: of one draw, where this is a mean of draws.
    pub fn degrees_of_freedom(&self) -> usize {
        let sizes: Vec<usize> = self.modes.iter().map(|mode| mode.labels.len()).collect();
        self.spec.clone().with_rank(self.rank()).degrees_of_freedom(&sizes)
    }

    /// Whether this is a mean of draws from the posterior.
    pub fn is_sampled(&self) -> bool {
        self.summary.draws.is_some()
    }

    /// For each draw that was kept, the precision of the noise on an observation of weight 1; empty
    /// unless the model was sampled.
    pub fn noise_precisions(&self) -> Vec<f64> {
        with_numbers!(&self.numbers, fitted => {
            let draws = fitted.posterior.as_ref().map(Posterior::draws).unwrap_or_default();
            draws.iter().map(|draw| draw.noise).collect()
        })
    }

    /// The predictions for the cells that the observer of a sampler [tracked], averaged over all its
    /// draws; not part of a stored model.
    ///
    /// [tracked]: crate::solve::Observer::tracked_cells
    pub fn tracked_means(&self) -> Option<&[f64]> {
        with_numbers!(&self.numbers, fitted => fitted.posterior.as_ref()?.cell_means.as_deref())
    }

    /// The factor matrix of a mode, row by row: one row per label, with the columns of
    /// [`spec`](Self::spec).
    pub fn factors(&self, mode: usize) -> Vec<f64> {
        let group = self.spec.groups[mode];
        with_numbers!(&self.numbers, fitted => {
            let rows = 0..fitted.parameters.layout().rows()[group];
            let numbers = rows.flat_map(|label| fitted.parameters.row(group, label));
            numbers.map(|u| u.to_f64()).collect()
        })
    }

    /// The biases of a mode, one per label, where there are any.
    pub fn biases(&self, mode: usize) -> Option<Vec<f64>> {
        with_numbers!(&self.numbers, fitted => {
            let biases = fitted.parameters.mode_biases(mode)?;
            Some(biases.iter().map(|bias| bias.to_f64()).collect())
        })
    }

    /// The mean, which is added to every prediction.
    pub fn mean(&self) -> f64 {
        with_numbers!(&self.numbers, fitted => fitted.parameters.mean)
    }

    /// The position of a mode, by its name or number from 1.
    pub fn mode_position(&self, name: &str) -> Result<usize> {
        Mode::position(&self.modes, name)
    }

    /// The index of a label, which must be known.
    pub fn find_label(&self, mode: usize, label: &str) -> Result<u32> {
        self.modes[mode].find(label)
    }

    /// The label indices of a cell given by one label per mode, in the order of the modes.
    pub fn find_cell(&self, labels: &[&str]) -> Result<Vec<u32>> {
        if let Some(mode) = self.modes.get(labels.len()) {
            return Err(Error::MissingLabel { mode: mode.name.clone() });
        }
        let (expected, got) = (self.modes.len(), labels.len());
        if expected != got {
            return Err(Error::OtherModes { expected, got });
        }
        labels.iter().enumerate().map(|(mode, label)| self.find_label(mode, label)).collect()
    }

    /// The label indices of a cell given by modes and labels, in any order; modes that are left out
    /// have [`UNKNOWN`] labels.
    pub fn find_given(&self, given: &[(&str, &str)]) -> Result<Vec<u32>> {
        let mut labels = vec![UNKNOWN; self.modes.len()];
        for (name, label) in given {
            let mode = self.mode_position(name)?;
            if labels[mode] != UNKNOWN {
                return Err(Error::RepeatedMode { mode: self.modes[mode].name.clone() });
            }
            labels[mode] = self.find_label(mode, label)?;
        }
        Ok(labels)
    }

    /// Refuses a cell in which some mode other than `wanted` has no label.
    pub fn require_labels(&self, cell: &[u32], wanted: Option<usize>) -> Result<()> {
        let missing = (0..cell.len()).find(|&at| cell[at] == UNKNOWN && Some(at) != wanted);
        match missing {
            Some(at) => Err(Error::MissingLabel { mode: self.modes[at].name.clone() }),
            None => Ok(()),
        }
    }
}
