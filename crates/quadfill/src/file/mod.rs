//! Fitted models on disk.
//!
//! A model is a folder with three files that any other program can open:
//!
//! ```text
//! model.json         format version, model, modes with the names of their tensors, how it was fitted
//! model.safetensors  factors.0, factors.1, .. (labels x rank), biases.0, .. (labels), mean (1)
//! labels.jsonl       one line [mode, label] per label, in the order of the rows of the factors
//! ```
//!
//! A sampled model is the mean of `draws` draws, whose factors are stored side by side as blocks of
//! columns: predictions need nothing else. The other parameters of each draw are in separate tensors,
//! see `draws.rs`. A centred model has its centres in `centre.0`, .., see `centres.rs`. [`Model::to_bytes`] puts all three files into one safetensors file.
//!
//! Nothing in them depends on when or where the model was saved: the same fit gives the same bytes.
//! A process killed while it saves leaves the model that was there before.

mod centres;
mod describe;
mod draws;
mod folder;
mod labels;
mod older;

use std::io;
use std::path::{Path, PathBuf};

use safetensors::tensor::SafeTensors;

use crate::error::{Error, Result};
use crate::fitted::{Fitted, InModel, Model, Numbers, with_numbers};
use crate::model::tensors::{self, DAMAGED};
use crate::model::{ModelSpec, Posterior};
use crate::observations::Mode;
use crate::solve::Precision;
use describe::Description;
use quadfill_kernels::Real;

impl Model {
    /// Writes the model, replacing an older model of this name.
    ///
    /// The model is replaced atomically, even if the process is killed; see
    /// [`check_target`] for what is refused. Processes that save models of the same name at the
    /// same time take turns: the last one wins.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let refuse = |reason: &str| {
            Err(Error::ModelFile { path: path.to_owned(), reason: reason.to_owned() })
        };
        let is_finite = with_numbers!(&self.numbers, fitted => {
            let numbers = fitted.parameters.as_slice();
            let draws = fitted.posterior.as_ref();
            fitted.parameters.mean.is_finite()
                && numbers.iter().all(|x| x.is_finite())
                && draws.is_none_or(Posterior::is_finite)
        });
        if !is_finite {
            return refuse(
                "the model has numbers that are not finite, so the fit diverged: choose a larger penalty \
                 or another solver",
            );
        }
        if !self.largest_prediction().is_finite() {
            return refuse(
                "the model has numbers so large that predictions would not be finite, so the fit \
                 diverged: choose a larger penalty or another solver",
            );
        }
        let [json, tensors, labels] =
            self.to_files().map_err(|source| Error::Io { path: path.to_owned(), source })?;
        folder::write(path, [&json, &tensors, &labels])
    }

    /// Opens a model, in the precision in which it was fitted. Safe while other processes save models of
    /// this name.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let (folder, [json, tensors, labels]) = folder::read_all(path.as_ref())?;
        Self::from_files(&json, &tensors, &labels).map_err(|error| match error {
            Error::ModelFile { path, reason } => {
                Error::ModelFile { path: folder.join(path), reason }
            }
            other => other,
        })
    }

    /// The whole model as one safetensors file, with `model.json` and `labels.jsonl` as tensors of
    /// bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let whole = || {
            let [json, _, labels] = self.to_files()?;
            let mut tensors = self.tensors();
            tensors.push((folder::JSON.to_owned(), tensors::Tensor::bytes(json)));
            tensors.push((folder::LABELS.to_owned(), tensors::Tensor::bytes(labels)));
            tensors::to_bytes(tensors, "format", describe::FORMAT.to_owned())
        };
        whole().map_err(|source| Error::Io { path: "model".into(), source })
    }

    /// Makes a model from what [`to_bytes`](Self::to_bytes) returned. Any bytes may be given.
    ///
    /// ```
    /// let error = quadfill::Model::from_bytes(b"not a model").unwrap_err();
    /// assert!(error.to_string().starts_with("model: the tensors cannot be read"));
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let refuse = |reason| Error::ModelFile { path: "model".into(), reason };
        let file = tensors::open(bytes).map_err(refuse)?;
        let part = |name: &str| {
            let tensor = file.tensor(name);
            tensor.map(|tensor| tensor.data()).map_err(|_| {
                refuse(format!("its {name} is missing: give what `to_bytes` returned"))
            })
        };
        Self::from_files(part(folder::JSON)?, bytes, part(folder::LABELS)?)
    }

    /// The contents of `model.json`, `model.safetensors` and `labels.jsonl`.
    fn to_files(&self) -> io::Result<[Vec<u8>; 3]> {
        Ok([
            Description::new(self).to_bytes(),
            tensors::to_bytes(self.tensors(), "format", describe::FORMAT.to_owned())?,
            labels::to_bytes(&self.modes),
        ])
    }

    fn tensors(&self) -> Vec<(String, tensors::Tensor)> {
        with_numbers!(&self.numbers, fitted => {
            // Draws are kept in single precision whatever they were drawn in; a distilled mean of them and rows that
            // were folded in are not.
            let is_single = |x: f64| f64::from(x as f32) == x;
            let numbers = fitted.parameters.as_slice();
            let single = self.summary.precision == Precision::F32
                || (self.is_sampled() && numbers.iter().all(|x| is_single(x.to_f64())));
            let mut all = tensors::collect_as("", &fitted.parameters, single);
            if let Some(centres) = &fitted.centres {
                all.extend(centres::collect(centres));
            }
            if let Some(posterior) = &fitted.posterior {
                all.extend(draws::collect(posterior.draws()));
            }
            all
        })
    }

    /// Makes a model from the contents of `model.json`, `model.safetensors` and `labels.jsonl`.
    ///
    /// Any bytes may be given; errors name the file they are about.
    ///
    /// ```
    /// let error = quadfill::Model::from_files(b"{}", b"", b"").unwrap_err();
    /// assert!(error.to_string().starts_with("model.json: this is not the description of a model"));
    /// ```
    pub fn from_files(json: &[u8], tensors: &[u8], labels: &[u8]) -> Result<Self> {
        let in_file = |name: &'static str| {
            move |reason: String| Error::ModelFile { path: name.into(), reason }
        };
        let description = Description::parse(json).map_err(in_file(folder::JSON))?;
        let labels =
            labels::parse(labels, &description.label_kinds()).map_err(in_file(folder::LABELS))?;
        let numbers = tensors::open(tensors)
            .and_then(|file| {
                let (spec, sizes) = (&description.spec, description.sizes());
                let draws = description.summary.draws;
                match description.summary.precision {
                    Precision::F32 => read_numbers::<f32>(&file, spec, &sizes, draws),
                    Precision::F64 => read_numbers::<f64>(&file, spec, &sizes, draws),
                }
            })
            .map_err(in_file(folder::TENSORS))?;
        let Description { spec, summary, source, modes, .. } = description;
        let modes = modes
            .into_iter()
            .zip(labels)
            .map(|(mode, labels)| Mode { name: mode.name, labels, bins: mode.bins })
            .collect();
        let model = Self { spec, modes, source, summary, numbers };
        if model.largest_prediction().is_finite() {
            return Ok(model);
        }
        Err(in_file(folder::TENSORS)(format!(
            "it has numbers so large that predictions would not be finite: {DAMAGED}"
        )))
    }

    fn largest_prediction(&self) -> f64 {
        with_numbers!(&self.numbers, fitted => fitted.predictor(&self.spec).largest())
    }
}

fn read_numbers<T: Real + InModel>(
    file: &SafeTensors<'_>,
    spec: &ModelSpec,
    sizes: &[usize],
    draws: Option<usize>,
) -> std::result::Result<Numbers, String> {
    let parameters = tensors::read::<T>(file, "", spec, sizes)?;
    let centres = spec.centred.then(|| centres::read(file, &parameters)).transpose()?;
    let draws = draws.map(|count| draws::read(file, spec, sizes, count)).transpose()?;
    let posterior = draws.map(|draws| Posterior::new(spec, draws));
    Ok(T::numbers(Fitted { parameters, centres, posterior }))
}

/// Whether a path is to be opened as a model: a folder, which data never are, or a model that a
/// killed process has set aside.
///
/// ```
/// use std::path::Path;
/// assert!(!quadfill::is_model(Path::new("ratings.csv")));
/// ```
pub fn is_model(path: &Path) -> bool {
    folder::locate(path).is_ok()
}

/// Checks, before a long fit, that [`Model::save`] may write to a path: it must not exist, or hold
/// a model and nothing else. Files and other folders are never replaced.
///
/// ```
/// use std::path::Path;
/// let error = quadfill::check_target(Path::new("/nowhere/model")).unwrap_err();
/// assert_eq!(error.to_string(), "/nowhere/model: there is no folder /nowhere: make it first");
/// ```
pub fn check_target(path: &Path) -> Result<()> {
    folder::check_target(path)
}

/// The path of a model's checkpoint: beside the model.
///
/// ```
/// use std::path::Path;
/// let beside = quadfill::checkpoint_path(Path::new("out/films/"));
/// assert_eq!(beside, Path::new("out/films.checkpoint"));
/// ```
pub fn checkpoint_path(model: &Path) -> PathBuf {
    let mut name = model.file_name().unwrap_or_default().to_owned();
    name.push(".checkpoint");
    model.with_file_name(name)
}
