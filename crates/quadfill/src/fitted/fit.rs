//! The front door: data and settings in, a model out.

use std::fs;
use std::io;
use std::path::Path;

use super::{FitSummary, Fitted, Model, Numbers};
use crate::error::{Error, Result};
use crate::observations::{Mode, Source};
use crate::solve::{self, Choice, Fit, FitConfig, NoObserver, Observer, Precision};
use crate::views::Data;
use quadfill_kernels::Real;

/// Fits a model to data. With [`FitConfig::default`] everything is chosen automatically.
///
/// ```
/// use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate};
/// # let modes = vec![Mode::new("a", Labels::range(3)), Mode::new("b", Labels::range(3))];
/// # let indices = vec![vec![0, 0, 0, 1, 1, 1, 2, 2], vec![0, 1, 2, 0, 1, 2, 0, 1]];
/// # let values = vec![1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 3.0, 6.0];
/// # let data = Observations::new(modes, indices, values, None, OnDuplicate::Error)?;
/// let model = quadfill::fit(data, &FitConfig::default())?;
/// assert_eq!(model.rank(), 1);
/// # Ok::<(), quadfill::Error>(())
/// ```
pub fn fit(data: impl Into<Data>, config: &FitConfig) -> Result<Model> {
    fit_with(data, config, &mut NoObserver)
}

/// Fits a model with an observer, which sees progress and checkpoints and may stop the fit.
pub fn fit_with(
    data: impl Into<Data>,
    config: &FitConfig,
    observer: &mut dyn Observer,
) -> Result<Model> {
    run(data.into(), config, None, observer)
}

/// Resumes a fit from a checkpoint of the same data and settings; the model is bit-identical to that of
/// an uninterrupted fit.
pub fn resume(
    data: impl Into<Data>,
    config: &FitConfig,
    checkpoint: &Path,
    observer: &mut dyn Observer,
) -> Result<Model> {
    let bytes = fs::read(checkpoint).map_err(|source| {
        if source.kind() == io::ErrorKind::NotFound {
            return Error::ModelFile {
                path: checkpoint.to_owned(),
                reason: "there is no checkpoint to resume from: fit without `resume`".to_owned(),
            };
        }
        Error::Io { path: checkpoint.to_owned(), source }
    })?;
    run(data.into(), config, Some(&bytes), observer).map_err(|error| match error {
        Error::ModelFile { reason, .. } => Error::ModelFile { path: checkpoint.to_owned(), reason },
        other => other,
    })
}

fn run(
    data: Data,
    config: &FitConfig,
    checkpoint: Option<&[u8]>,
    observer: &mut dyn Observer,
) -> Result<Model> {
    match config.precision.unwrap_or(Precision::F64) {
        Precision::F32 => run_in::<f32>(data, config, checkpoint, observer),
        Precision::F64 => run_in::<f64>(data, config, checkpoint, observer),
    }
}

fn run_in<T: InModel>(
    data: Data,
    config: &FitConfig,
    checkpoint: Option<&[u8]>,
    observer: &mut dyn Observer,
) -> Result<Model> {
    let data = config.share_labels(data)?;
    let about = About::of(&data);
    let fit = match checkpoint {
        Some(bytes) => solve::resume::<T>(data, config, bytes, observer)?,
        None => solve::fit::<T>(data, config, observer)?,
    };
    Ok(about.model(config, fit))
}

/// A precision that a model can have.
pub(crate) trait InModel: Real {
    const PRECISION: Precision;
    fn numbers(fitted: Fitted<Self>) -> Numbers;
}

impl InModel for f32 {
    const PRECISION: Precision = Precision::F32;
    fn numbers(fitted: Fitted<Self>) -> Numbers {
        Numbers::F32(fitted)
    }
}

impl InModel for f64 {
    const PRECISION: Precision = Precision::F64;
    fn numbers(fitted: Fitted<Self>) -> Numbers {
        Numbers::F64(fitted)
    }
}

/// What a model keeps of the data that the fit consumes.
pub(crate) struct About {
    modes: Vec<Mode>,
    source: Source,
    observations: usize,
}

impl About {
    pub(crate) fn of(data: &Data) -> Self {
        Self {
            modes: data.modes().to_vec(),
            source: data.source().clone(),
            observations: data.len(),
        }
    }

    /// The whole model.
    pub(crate) fn model<T: InModel>(self, config: &FitConfig, fit: Fit<T>) -> Model {
        let Fit { spec, parameters, centres, posterior, .. } = fit;
        Model {
            modes: self.modes,
            source: self.source,
            summary: FitSummary {
                config: FitConfig {
                    penalty_scale: Choice::Fixed(spec.penalty_scale),
                    ..config.clone()
                },
                precision: T::PRECISION,
                penalty: fit.penalty,
                status: fit.status,
                sweeps: fit.sweeps,
                observations: self.observations,
                train_rmse: fit.train_rmse,
                validation_rmse: fit.validation_rmse,
                path: fit.path,
                certificate: fit.certificate,
                sdp: fit.sdp,
                race: fit.race,
                draws: posterior.as_ref().map(|posterior| posterior.draws().len()),
            },
            numbers: T::numbers(Fitted { parameters, centres, posterior }),
            spec,
        }
    }
}
