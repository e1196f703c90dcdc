//! Fitted models and unfinished fits on disk.
//!
//! A model is a folder with three files that any other program can open:
//!
//! ```text
//! model.json         format version, model, modes with the names of their tensors, how it was fitted
//! model.safetensors  factors.0, factors.1, .. (labels x rank), biases.0, .. (labels), mean (1)
//! labels.jsonl       one line [mode, label] per label, in the order of the rows of the factors
//! ```
//!
//! A model of `--solver gibbs` (format version 2) is the mean of `draws` draws, whose factors stand
//! side by side as blocks of columns: its predictions need nothing else. What single draws have besides
//! is in tensors of their own, see `draws.rs`.
//!
//! Nothing in them depends on when or where the model was saved: the same fit gives the same bytes.
//! A process killed while it saves leaves the model that was there before. A checkpoint is one
//! safetensors file beside the model, see [`save_checkpoint`].

mod checkpoint;
mod describe;
mod draws;
mod fingerprint;
mod folder;
mod labels;
mod partial;
mod tensors;

pub use checkpoint::{checkpoint_path, load_checkpoint, parse_checkpoint, save_checkpoint};
pub use fingerprint::Fingerprint;

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::apply::Predictor;
use crate::certify::Certificate;
use crate::error::{Error, Result};
use crate::model::{ModelSpec, Parameters, Posterior};
use crate::observations::{Binning, ColumnPlaces, Mode};
use crate::solve::{Fit, FitConfig, Status, null_is_infinite};
use describe::Description;
use quadfill_kernels::Real;

/// A fitted model with everything that is needed to use it.
///
/// ```
/// use quadfill::file::Model;
/// use quadfill::model::{Kernel, ModelSpec};
/// use quadfill::solve::{FitConfig, Silent, fit};
/// use quadfill::{Labels, Mode, Observations, OnDuplicate};
///
/// let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(2))];
/// let indices = vec![vec![0, 0, 1], vec![0, 1, 0]];
/// let data = Observations::new(modes.clone(), indices, vec![1.0, 2.0, 3.0], None, OnDuplicate::Error)?;
/// let mut config = FitConfig::new(ModelSpec::quadratic(Kernel::pairwise(2), 1));
/// config.penalty = Some(1e-6);
/// let fit = fit(data, &config, &mut Silent)?;
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("table");
/// let model = Model::new(fit, modes, Vec::new(), "product".to_owned(), 3, &config);
/// model.save(&path)?;
/// let same = Model::load(&path)?;
/// assert_eq!(same.predictor().cell(&[1, 1]), model.predictor().cell(&[1, 1]));
/// # Ok::<(), quadfill::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Model<T: Real> {
    /// How rows make predictions.
    pub spec: ModelSpec,
    /// The modes and their labels.
    pub modes: Vec<Mode>,
    /// The numbers.
    pub parameters: Parameters<T>,
    /// How the model came about.
    pub notes: ModelNotes,
    /// The draws of which this is the mean, if it is one.
    pub posterior: Option<Posterior<T>>,
}

/// How a model came about: everything but times and places.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelNotes {
    /// Name of the column of values.
    pub value: String,
    /// The columns of times that were cut into bins.
    pub bins: Vec<Binning>,
    /// Where the columns stood, if they had no names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub places: Option<ColumnPlaces>,
    /// `f32` or `f64`: the precision of the fit.
    pub precision: String,
    /// The settings of the fit.
    pub config: FitConfig,
    /// The `lambda` of the final objective.
    pub penalty: f64,
    /// Why the fit ended.
    pub status: Status,
    /// Iterations in all.
    pub sweeps: usize,
    /// How many observations were fitted.
    pub observations: usize,
    /// Root of the weighted mean squared residual on them.
    #[serde(deserialize_with = "null_is_infinite")]
    pub train_rmse: f64,
    /// The best held-out error, where some were held out.
    pub validation_rmse: Option<f64>,
    /// The path that led here.
    pub path: Vec<StoredPoint>,
    /// How far the fit is from the global optimum, where that is known.
    #[serde(default)]
    pub certificate: Option<Certificate>,
    /// Of how many draws the model is the mean, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draws: Option<usize>,
}

/// A [`PathPoint`](crate::solve::PathPoint) without its time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StoredPoint {
    /// `lambda`.
    pub penalty: f64,
    /// Root of the weighted mean squared residual on what was fitted.
    #[serde(deserialize_with = "null_is_infinite")]
    pub train_rmse: f64,
    /// The same on the held-out part, where there is one.
    pub validation_rmse: Option<f64>,
}

impl<T: Real> Model<T> {
    /// Puts a fit together with what it was fitted to: the modes of the data, their bins, the name
    /// of the column of values, the number of observations and the settings.
    pub fn new(
        fit: Fit<T>,
        modes: Vec<Mode>,
        bins: Vec<Binning>,
        value: String,
        observations: usize,
        config: &FitConfig,
    ) -> Self {
        let point = |point: &crate::solve::PathPoint| StoredPoint {
            penalty: point.penalty,
            train_rmse: point.train_rmse,
            validation_rmse: point.validation_rmse,
        };
        Self {
            modes,
            notes: ModelNotes {
                value,
                bins,
                places: None,
                precision: T::NAME.to_owned(),
                config: config.clone(),
                penalty: fit.penalty,
                status: fit.status,
                sweeps: fit.sweeps,
                observations,
                train_rmse: fit.train_rmse,
                validation_rmse: fit.validation_rmse,
                path: fit.path.iter().map(point).collect(),
                certificate: fit.certificate,
                draws: fit.posterior.as_ref().map(|posterior| posterior.draws().len()),
            },
            spec: fit.spec,
            parameters: fit.parameters,
            posterior: fit.posterior,
        }
    }

    /// Writes the model, replacing an older model of this name.
    ///
    /// The new model stands whole or not at all, whenever the process may be killed; see
    /// [`check_target`] for what is refused.
    pub fn save(&self, path: &Path) -> Result<()> {
        let numbers = self.parameters.as_slice();
        let has_lost_draws =
            self.posterior.as_ref().is_some_and(|posterior| !posterior.is_finite());
        if !self.parameters.mean.is_finite()
            || numbers.iter().any(|x| !x.is_finite())
            || has_lost_draws
        {
            return Err(Error::ModelFile {
                path: path.to_owned(),
                reason: "the model has numbers that are not finite, so the fit diverged: \
                         choose a larger penalty or another solver"
                    .to_owned(),
            });
        }
        if !self.predictor().largest().is_finite() {
            return Err(Error::ModelFile {
                path: path.to_owned(),
                reason: "the model has numbers so large that predictions would not be finite, so the fit \
                         diverged: choose a larger penalty or another solver"
                    .to_owned(),
            });
        }
        let [json, tensors, labels] =
            self.to_bytes().map_err(|source| Error::Io { path: path.to_owned(), source })?;
        folder::write(path, [&json, &tensors, &labels])
    }

    /// The contents of `model.json`, `model.safetensors` and `labels.jsonl`.
    fn to_bytes(&self) -> io::Result<[Vec<u8>; 3]> {
        let mut tensors =
            tensors::collect_as("", &self.parameters, T::NAME == "f32" || self.posterior.is_some());
        if let Some(posterior) = &self.posterior {
            tensors.extend(draws::collect(posterior.draws()));
        }
        Ok([
            Description::new(&self.spec, &self.modes, &self.notes).to_bytes(),
            tensors::to_bytes(tensors, "format", describe::FORMAT.to_owned())?,
            labels::to_bytes(&self.modes),
        ])
    }

    /// Predicts with this model.
    pub fn predictor(&self) -> Predictor<'_, T> {
        Predictor::new(&self.spec, &self.parameters)
            .with_strangers(self.posterior.as_ref().map(Posterior::strangers))
    }

    /// The columns of the model that was fitted: of one draw, where this is a mean of draws.
    pub fn rank(&self) -> usize {
        self.spec.rank / self.notes.draws.unwrap_or(1)
    }
}

impl Model<f64> {
    /// Opens a model of either precision; `f32` widens without loss.
    pub fn load(path: &Path) -> Result<Self> {
        let folder = folder::locate(path)?;
        let read = |name| folder::read(&folder, name);
        let (json, labels) = (read(folder::JSON)?, read(folder::LABELS)?);
        let tensors = read(folder::TENSORS)?;
        parse_model(&json, &tensors, &labels).map_err(|error| match error {
            Error::ModelFile { path, reason } => {
                Error::ModelFile { path: folder.join(path), reason }
            }
            other => other,
        })
    }
}

/// Makes a model from the contents of `model.json`, `model.safetensors` and `labels.jsonl`.
///
/// Any bytes may be given; errors name the file they are about.
///
/// ```
/// let error = quadfill::file::parse_model(b"{}", b"", b"").unwrap_err();
/// assert!(error.to_string().starts_with("model.json: this is not the description of a model"));
/// ```
pub fn parse_model(json: &[u8], tensors: &[u8], labels: &[u8]) -> Result<Model<f64>> {
    let in_file =
        |name: &'static str| move |reason: String| Error::ModelFile { path: name.into(), reason };
    let description = Description::parse(json).map_err(in_file(folder::JSON))?;
    let labels =
        labels::parse(labels, &description.label_kinds()).map_err(in_file(folder::LABELS))?;
    let (parameters, posterior) = tensors::open(tensors)
        .and_then(|file| {
            let (spec, sizes) = (&description.spec, description.sizes());
            let parameters = tensors::read(&file, "", spec, &sizes)?;
            let count = description.notes.draws;
            let draws = count.map(|count| draws::read(&file, spec, &sizes, count)).transpose()?;
            Ok((parameters, draws.map(|draws| Posterior::new(spec, draws))))
        })
        .map_err(in_file(folder::TENSORS))?;
    let (spec, notes) = (description.spec.clone(), description.notes.clone());
    let names = description.into_names().into_iter();
    let model = Model {
        spec,
        modes: names.zip(labels).map(|(name, l)| Mode::new(name, l)).collect(),
        parameters,
        notes,
        posterior,
    };
    if model.predictor().largest().is_finite() {
        return Ok(model);
    }
    Err(in_file(folder::TENSORS)(
        "it has numbers so large that predictions would not be finite: the file is damaged, fit the model again \
         or take a sound copy"
            .to_owned(),
    ))
}

/// Whether a path is to be opened as a model: a folder, which data never are, or a model that a
/// killed process has set aside.
///
/// ```
/// use std::path::Path;
/// assert!(!quadfill::file::is_model(Path::new("ratings.csv")));
/// ```
pub fn is_model(path: &Path) -> bool {
    folder::locate(path).is_ok()
}

/// Checks, before a long fit, that [`Model::save`] may write to a path: it must be free, or have a
/// model and nothing else. Files and other folders are never replaced.
///
/// ```
/// use std::path::Path;
/// let error = quadfill::file::check_target(Path::new("/nowhere/model")).unwrap_err();
/// assert_eq!(error.to_string(), "/nowhere/model: there is no folder /nowhere: make it first");
/// ```
pub fn check_target(path: &Path) -> Result<()> {
    folder::check_target(path)
}
