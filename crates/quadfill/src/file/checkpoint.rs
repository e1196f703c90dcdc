//! An unfinished fit on disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use safetensors::tensor::SafeTensors;
use serde::{Deserialize, Serialize};

use super::describe::{check_spec, check_version};
use super::fingerprint::{Fingerprint, Hash};
use super::partial::Partial;
use super::tensors::{self, Tensor};
use crate::error::{Error, Result};
use crate::model::{Offsets, Parameters};
use crate::solve::gibbs::Chain;
use crate::solve::{Progress, ProgressNotes, SamplerDraws};
use quadfill_kernels::Real;

const KEY: &str = "quadfill-checkpoint";
const VERSION: u32 = 1;
const BEST: &str = "best.";
const CELL_SUMS: &str = "sampler.cells";

/// The JSON text in the file's one entry of metadata.
#[derive(Serialize, Deserialize)]
struct Entry {
    version: u32,
    fingerprint: Fingerprint,
    /// Of the notes and the tensors: a flipped bit would silently lead to another model.
    checksum: String,
    notes: ProgressNotes,
}

/// The part of it that every version has.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// Where the checkpoint of a model is: beside it.
///
/// ```
/// use std::path::Path;
/// let beside = quadfill::file::checkpoint_path(Path::new("out/films/"));
/// assert_eq!(beside, Path::new("out/films.checkpoint"));
/// ```
pub fn checkpoint_path(model: &Path) -> PathBuf {
    let mut name = model.file_name().unwrap_or_default().to_owned();
    name.push(".checkpoint");
    model.with_file_name(name)
}

/// Writes a state from which a fit can be resumed, replacing the one before.
///
/// It is one safetensors file, there whole or not at all if the process is killed. It is not forced
/// to disk: after a power cut it may be an older one or broken, and a broken one is refused.
///
/// ```
/// use quadfill::file::{Fingerprint, checkpoint_path, load_checkpoint, save_checkpoint};
/// use quadfill::model::{Kernel, ModelSpec};
/// use quadfill::solve::{Event, FitConfig, Observer, Silent, fit, resume};
/// use quadfill::{Labels, Mode, Observations, OnDuplicate};
/// use std::path::PathBuf;
///
/// struct Keep(PathBuf, Fingerprint);
/// impl Observer<f64> for Keep {
///     fn event(&mut self, event: Event<'_, f64>) {
///         if let Event::Checkpoint(progress) = event {
///             save_checkpoint(&self.0, &self.1, progress).expect("there is room on the disk");
///         }
///     }
/// }
/// # let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(2))];
/// # let indices = vec![vec![0, 0, 1], vec![0, 1, 0]];
/// # let data = Observations::new(modes, indices, vec![1.0, 2.0, 3.0], None, OnDuplicate::Error)?;
/// # let mut config = FitConfig::new(ModelSpec::quadratic(Kernel::pairwise(2), 1));
/// # config.penalty = Some(1e-3);
/// # let folder = tempfile::tempdir().unwrap();
/// # let model = folder.path().join("model");
/// let (path, fingerprint) = (checkpoint_path(&model), Fingerprint::new(&data, &config));
/// let whole = fit(data.clone(), &config, &mut Keep(path.clone(), fingerprint.clone()))?;
///
/// let progress = load_checkpoint(&path, &fingerprint, &data.sizes())?;
/// let resumed = resume(data, &config, progress, &mut Silent)?;
/// assert_eq!(resumed.parameters, whole.parameters);
/// # Ok::<(), quadfill::Error>(())
/// ```
pub fn save_checkpoint<T: Real>(
    path: &Path,
    fingerprint: &Fingerprint,
    progress: &Progress<T>,
) -> Result<()> {
    let write = || {
        let bytes = to_bytes(fingerprint, progress)?;
        let partial = Partial::beside(path)?;
        fs::write(partial.path(), bytes)?;
        fs::rename(partial.path(), path)
    };
    write().map_err(|source| Error::Io { path: path.to_owned(), source })
}

/// Reads the state that [`save_checkpoint`] wrote, for data with `sizes` labels per mode.
pub fn load_checkpoint<T: Real>(
    path: &Path,
    fingerprint: &Fingerprint,
    sizes: &[usize],
) -> Result<Progress<T>> {
    let bytes = fs::read(path).map_err(|source| {
        if source.kind() == io::ErrorKind::NotFound {
            refuse(
                path,
                "there is no checkpoint to resume from: run the fit without --resume".to_owned(),
            )
        } else {
            Error::Io { path: path.to_owned(), source }
        }
    })?;
    parse_checkpoint(&bytes, fingerprint, sizes).map_err(|error| match error {
        Error::ModelFile { reason, .. } => refuse(path, reason),
        other => other,
    })
}

/// Makes a state from the bytes of a checkpoint. Any bytes may be given.
///
/// ```
/// use quadfill::file::{Fingerprint, parse_checkpoint};
/// # use quadfill::model::{Kernel, ModelSpec};
/// # use quadfill::solve::FitConfig;
/// # use quadfill::{Labels, Mode, Observations, OnDuplicate};
/// # let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(2))];
/// # let indices = vec![vec![0, 1], vec![0, 1]];
/// # let data = Observations::new(modes, indices, vec![1.0, 2.0], None, OnDuplicate::Error)?;
/// # let config = FitConfig::new(ModelSpec::quadratic(Kernel::pairwise(2), 1));
/// let fingerprint = Fingerprint::new(&data, &config);
/// assert!(parse_checkpoint::<f64>(b"no checkpoint", &fingerprint, &data.sizes()).is_err());
/// # Ok::<(), quadfill::Error>(())
/// ```
pub fn parse_checkpoint<T: Real>(
    bytes: &[u8],
    fingerprint: &Fingerprint,
    sizes: &[usize],
) -> Result<Progress<T>> {
    parse(bytes, fingerprint, sizes).map_err(|problem| {
        let reason = match problem {
            Problem::Broken(what) => format!(
                "the checkpoint is broken ({what}): remove it and run the fit without --resume"
            ),
            Problem::Foreign(what) => what,
        };
        refuse(Path::new("checkpoint"), reason)
    })
}

fn refuse(path: &Path, reason: String) -> Error {
    Error::ModelFile { path: path.to_owned(), reason }
}

fn to_bytes<T: Real>(fingerprint: &Fingerprint, progress: &Progress<T>) -> io::Result<Vec<u8>> {
    let mut all = tensors::collect("", &progress.parameters);
    if let Some(best) = &progress.best {
        all.extend(tensors::collect(BEST, best));
    }
    if let Some(draws) = &progress.draws {
        for (at, point) in draws.others.iter().enumerate() {
            all.extend(tensors::collect(&chain_prefix(at), point));
        }
        for (at, point) in draws.kept.iter().enumerate() {
            all.extend(tensors::collect(&draw_prefix(at), point));
        }
        let shape = vec![draws.cell_sums.len()];
        all.push((CELL_SUMS.to_owned(), Tensor::new(shape, draws.cell_sums.iter())));
    }
    let entry = Entry {
        version: VERSION,
        fingerprint: fingerprint.clone(),
        checksum: checksum(progress),
        notes: progress.notes.clone(),
    };
    let text = serde_json::to_string(&entry).expect("every part has a JSON form");
    tensors::to_bytes(all, KEY, text)
}

/// Before the names of a chain's tensors, the first chain's aside.
fn chain_prefix(at: usize) -> String {
    format!("chain.{}.", at + 1)
}

/// Before the names of a kept draw's tensors.
fn draw_prefix(at: usize) -> String {
    format!("draw.{at}.")
}

/// Of everything that decides how the fit goes on.
fn checksum<T: Real>(progress: &Progress<T>) -> String {
    let mut hash = Hash::new();
    let notes = serde_json::to_vec(&progress.notes).expect("every part has a JSON form");
    hash.bytes(&notes);
    for parameters in std::iter::once(&progress.parameters).chain(&progress.best) {
        hash_point(&mut hash, parameters);
    }
    if let Some(draws) = &progress.draws {
        draws.others.iter().for_each(|point| hash_point(&mut hash, point));
        draws.kept.iter().for_each(|point| hash_point(&mut hash, point));
        hash.numbers(draws.cell_sums.iter().map(|sum| sum.to_bits()));
    }
    hash.finish()
}

fn hash_point<T: Real>(hash: &mut Hash, parameters: &Parameters<T>) {
    hash.number(parameters.as_slice().len() as u64);
    let numbers = parameters.as_slice().iter().map(|x| x.to_f64());
    hash.numbers(numbers.chain([parameters.mean]).map(f64::to_bits));
}

type Parsed<T> = std::result::Result<T, Problem>;

/// Why a checkpoint cannot be used.
enum Problem {
    /// No checkpoint, or not all of it.
    Broken(String),
    /// A checkpoint of another version, other data or other settings.
    Foreign(String),
}

fn parse<T: Real>(bytes: &[u8], fingerprint: &Fingerprint, sizes: &[usize]) -> Parsed<Progress<T>> {
    let broken = |what: &str| Problem::Broken(what.to_owned());
    let (_, header) =
        SafeTensors::read_metadata(bytes).map_err(|error| broken(&error.to_string()))?;
    let text = header
        .metadata()
        .as_ref()
        .and_then(|entries| entries.get(KEY))
        .ok_or_else(|| broken("its notes are missing"))?;
    let unreadable = |_| broken("its notes cannot be read");
    let version: Version = serde_json::from_str(text).map_err(unreadable)?;
    check_version(version.version, VERSION).map_err(Problem::Foreign)?;
    let entry: Entry = serde_json::from_str(text).map_err(unreadable)?;
    check_owner(&entry.fingerprint, fingerprint)?;
    check_spec(&entry.notes.spec, sizes).map_err(Problem::Broken)?;

    let file = tensors::open(bytes).map_err(Problem::Broken)?;
    let parameters = tensors::read(&file, "", &entry.notes.spec, sizes).map_err(Problem::Broken)?;
    let progress = Progress {
        best: read_best(&file, &entry.notes, sizes)?,
        draws: read_draws(&file, &entry.notes, sizes)?,
        notes: entry.notes,
        parameters,
    };
    if checksum(&progress) == entry.checksum {
        Ok(progress)
    } else {
        Err(broken("its checksum is wrong"))
    }
}

fn check_owner(found: &Fingerprint, expected: &Fingerprint) -> Parsed<()> {
    let other = if found.data != expected.data {
        "data"
    } else if found.settings != expected.settings {
        "settings"
    } else {
        return Ok(());
    };
    Err(Problem::Foreign(format!(
        "the checkpoint belongs to other {other}: resume with the same data and settings, \
         or run the fit without --resume"
    )))
}

/// The draws of a sampler.
fn read_draws<T: Real>(
    file: &SafeTensors<'_>,
    notes: &ProgressNotes,
    sizes: &[usize],
) -> Parsed<Option<SamplerDraws<T>>> {
    let Some(sampler) = &notes.sampler else {
        return Ok(None);
    };
    let spec = &notes.spec;
    let unknowns = spec.rank + usize::from(spec.offsets == Offsets::Modes);
    let sound = |chain: &Chain| {
        chain.priors.len() == spec.group_count()
            && chain.priors.iter().all(|prior| {
                [&prior.means, &prior.precisions].iter().all(|numbers| numbers.len() == unknowns)
            })
    };
    if sampler.chains.is_empty() || !sampler.chains.iter().chain(&sampler.kept).all(sound) {
        return Err(Problem::Broken("its chains are not those of the model".to_owned()));
    }
    let others = (0..sampler.chains.len() - 1)
        .map(|at| tensors::read(file, &chain_prefix(at), spec, sizes))
        .collect::<std::result::Result<_, String>>()
        .map_err(Problem::Broken)?;
    let kept = (0..sampler.kept.len())
        .map(|at| tensors::read(file, &draw_prefix(at), spec, sizes))
        .collect::<std::result::Result<_, String>>()
        .map_err(Problem::Broken)?;
    let cell_sums =
        tensors::vector(file, CELL_SUMS, &[sampler.cell_count]).map_err(Problem::Broken)?;
    Ok(Some(SamplerDraws { others, kept, cell_sums }))
}

/// The best parameters may be of other offsets and another rank than the current stage.
fn read_best<T: Real>(
    file: &SafeTensors<'_>,
    notes: &ProgressNotes,
    sizes: &[usize],
) -> Parsed<Option<Parameters<T>>> {
    let Ok(factors) = file.tensor(&tensors::factors_name(BEST, 0)) else {
        return Ok(None);
    };
    let has_biases = file.tensor(&tensors::biases_name(BEST, 0)).is_ok();
    let mut spec =
        notes.spec.clone().with_offsets(if has_biases { Offsets::Modes } else { Offsets::Mean });
    spec.rank = factors.shape().last().copied().unwrap_or(0);
    check_spec(&spec, sizes).map_err(Problem::Broken)?;
    tensors::read(file, BEST, &spec, sizes).map(Some).map_err(Problem::Broken)
}
