//! Checkpoints of an unfinished fit: one safetensors file with the [`State`] as JSON in its metadata and
//! the parameters as tensors.

use std::fmt;
use std::io;
use std::path::Path;

use safetensors::tensor::SafeTensors;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::config::FitConfig;
use super::race::RaceReport;
use super::state::State;
use crate::error::{Error, Result};
use crate::model::{ModelSpec, Parameters, check_stored_spec, tensors};
use crate::observations::Labels;
use crate::views::{Data, PackedObservations};
use crate::whole_file;
use quadfill_kernels::Real;

const KEY: &str = "quadfill-checkpoint";
const VERSION: u32 = 6;

/// A state from which a fit can be resumed. Nothing is written until it is asked for.
///
/// ```
/// use std::ops::ControlFlow;
/// use std::path::PathBuf;
/// use quadfill::solve::{Event, NoObserver, Observer};
/// use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate};
///
/// struct Keep(PathBuf);
/// impl Observer for Keep {
///     fn event(&mut self, event: Event<'_>) -> ControlFlow<()> {
///         if let Event::Checkpoint(checkpoint) = event {
///             checkpoint.save(&self.0).expect("there is room on the disk");
///         }
///         ControlFlow::Continue(())
///     }
/// }
/// # let modes = vec![Mode::new("a", Labels::range(3)), Mode::new("b", Labels::range(3))];
/// # let indices = vec![vec![0, 0, 0, 1, 1, 1, 2, 2], vec![0, 1, 2, 0, 1, 2, 0, 1]];
/// # let values = vec![1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 3.0, 6.0];
/// # let data = Observations::new(modes, indices, values, None, OnDuplicate::Error)?;
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("model.checkpoint");
/// let config = FitConfig::default();
/// let whole = quadfill::fit_with(data.clone(), &config, &mut Keep(path.clone()))?;
/// let resumed = quadfill::resume(data, &config, &path, &mut NoObserver)?;
/// assert_eq!(resumed.to_bytes()?, whole.to_bytes()?);
/// # Ok::<(), quadfill::Error>(())
/// ```
pub struct Checkpoint<'a> {
    write: &'a dyn Fn() -> io::Result<Vec<u8>>,
    /// Whether the fit ends here because its observer asked for that.
    pub is_last: bool,
}

impl fmt::Debug for Checkpoint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checkpoint").field("is_last", &self.is_last).finish_non_exhaustive()
    }
}

impl<'a> Checkpoint<'a> {
    pub(super) fn new(write: &'a dyn Fn() -> io::Result<Vec<u8>>, is_last: bool) -> Self {
        Self { write, is_last }
    }

    /// The bytes of the file.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        (self.write)()
    }

    /// Writes the file, replacing the previous one.
    ///
    /// The write is atomic if the process is killed. It is not synced to disk: after a power failure the
    /// file may be an older one or broken, and a broken one is refused.
    pub fn save(&self, path: &Path) -> Result<()> {
        let write = || whole_file::write_unsynced(path, &self.to_bytes()?);
        write().map_err(|source| Error::Io { path: path.to_owned(), source })
    }
}

/// The progress of a fit, whatever its state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Position {
    /// The model with the largest rank and no biases, and with the kernel if that was learned.
    pub(super) base: ModelSpec,
    /// Iterations so far.
    pub(super) sweeps: usize,
    /// Seconds so far.
    pub(super) seconds: f64,
    /// How the model was chosen, where several were raced and a path won.
    pub(super) race: Option<RaceReport>,
}

impl Position {
    pub(super) fn new(base: ModelSpec) -> Self {
        Self { base, sweeps: 0, seconds: 0.0, race: None }
    }
}

/// The JSON text in the file's one entry of metadata.
#[derive(Serialize, Deserialize)]
struct Entry {
    version: u32,
    fingerprint: Fingerprint,
    /// A checksum of position, state and tensors: a flipped bit would silently change the model.
    checksum: String,
    position: Position,
    /// With tensor numbers in place of parameters.
    state: State<usize>,
}

/// The part of it that every version has.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

fn prefix(number: usize) -> String {
    format!("point.{number}.")
}

/// The bytes of a checkpoint.
pub(super) fn to_bytes<T: Real>(
    fingerprint: &Fingerprint,
    position: &Position,
    state: State<Parameters<T>>,
) -> io::Result<Vec<u8>> {
    let mut points: Vec<Parameters<T>> = Vec::new();
    let state = state.try_map(&mut |_, parameters| {
        points.push(parameters);
        Ok(points.len() - 1)
    });
    let state = state.expect("numbering does not fail");
    let named = points.iter().enumerate();
    let all = named.flat_map(|(number, point)| tensors::collect(&prefix(number), point)).collect();
    let entry = Entry {
        version: VERSION,
        fingerprint: fingerprint.clone(),
        checksum: checksum(position, &state, &points),
        position: position.clone(),
        state,
    };
    let text = serde_json::to_string(&entry).expect("every part has a JSON form");
    tensors::to_bytes(all, KEY, text)
}

/// A checksum of everything that determines how the fit continues.
fn checksum<T: Real>(
    position: &Position,
    state: &State<usize>,
    points: &[Parameters<T>],
) -> String {
    let mut hash = Xxh3::new();
    hash.update(&serde_json::to_vec(&(position, state)).expect("every part has a JSON form"));
    for point in points {
        update_numbers(&mut hash, point.as_slice().iter().map(|x| x.to_f64().to_le_bytes()));
        hash.update(&point.mean.to_le_bytes());
    }
    format!("{:032x}", hash.digest128())
}

/// Why a checkpoint cannot be used.
enum Problem {
    /// Not a checkpoint, or not all of it.
    Broken(String),
    /// A checkpoint of another version, other data or other settings.
    Foreign(String),
}

/// Reads what [`to_bytes`] wrote, for data with `sizes` labels per mode. Any bytes may be given.
pub(super) fn parse<T: Real>(
    bytes: &[u8],
    fingerprint: &Fingerprint,
    sizes: &[usize],
) -> Result<(Position, State<Parameters<T>>)> {
    parse_parts(bytes, fingerprint, sizes).map_err(|problem| {
        let reason = match problem {
            Problem::Broken(what) => {
                format!("the checkpoint is broken ({what}): remove it and fit without `resume`")
            }
            Problem::Foreign(what) => what,
        };
        Error::ModelFile { path: "checkpoint".into(), reason }
    })
}

fn parse_parts<T: Real>(
    bytes: &[u8],
    fingerprint: &Fingerprint,
    sizes: &[usize],
) -> std::result::Result<(Position, State<Parameters<T>>), Problem> {
    let broken = |what: &str| Problem::Broken(what.to_owned());
    let (_, header) =
        SafeTensors::read_metadata(bytes).map_err(|error| broken(&error.to_string()))?;
    let text = header
        .metadata()
        .as_ref()
        .and_then(|entries| entries.get(KEY))
        .ok_or_else(|| broken("its description is missing"))?;
    let unreadable = |_| broken("its description cannot be read");
    let version: Version = serde_json::from_str(text).map_err(unreadable)?;
    check_version(version.version)?;
    let entry: Entry = serde_json::from_str(text).map_err(unreadable)?;
    check_owner(&entry.fingerprint, fingerprint)?;
    check_stored_spec(&entry.position.base, sizes).map_err(Problem::Broken)?;

    let file = tensors::open(bytes).map_err(Problem::Broken)?;
    let stored = entry.state.clone();
    let mut points = Vec::new();
    let state = entry.state.try_map(&mut |spec, number| {
        let read = check_stored_spec(spec, sizes)
            .and_then(|()| tensors::read::<T>(&file, &prefix(number), spec, sizes));
        let point = read.map_err(Error::Unsupported)?;
        points.push(point.clone());
        Ok(point)
    });
    let state = state.map_err(|error| Problem::Broken(error.to_string()))?;
    if let State::Sample(sampler) = &state
        && !sampler.is_consistent()
    {
        return Err(broken("its chains are not those of the model"));
    }
    if checksum(&entry.position, &stored, &points) != entry.checksum {
        return Err(broken("its checksum is wrong"));
    }
    Ok((entry.position, state))
}

fn check_version(version: u32) -> std::result::Result<(), Problem> {
    if version == VERSION {
        return Ok(());
    }
    Err(Problem::Foreign(format!(
        "the checkpoint was written by another version of Quadfill (format {version}, this one has \
         {VERSION}): fit without `resume`"
    )))
}

fn check_owner(found: &Fingerprint, expected: &Fingerprint) -> std::result::Result<(), Problem> {
    let other = if found.data != expected.data {
        "data"
    } else if found.settings != expected.settings {
        "settings"
    } else {
        return Ok(());
    };
    Err(Problem::Foreign(format!(
        "the checkpoint belongs to other {other}: resume with the same data and settings, or fit \
         without `resume`"
    )))
}

/// Identifies the data and settings of a checkpoint: a hash of the data (sizes, labels,
/// indices, values, weights) and one of the settings, precision included. The time limit does not
/// count: a fit that ran out of time may resume with a larger limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Fingerprint {
    data: String,
    settings: String,
}

impl Fingerprint {
    pub(super) fn new<T: Real>(data: &Data, config: &FitConfig) -> Self {
        let mut hash = Xxh3::new();
        hash.update(&(data.modes().len() as u64).to_le_bytes());
        for (at, mode) in data.modes().iter().enumerate() {
            update_text(&mut hash, &mode.name);
            hash.update(&(mode.labels.len() as u64).to_le_bytes());
            match &mode.labels {
                Labels::Integers(labels) => {
                    update_numbers(&mut hash, labels.iter().map(|label| label.to_le_bytes()));
                }
                Labels::Text(text) => {
                    (0..text.len()).for_each(|label| update_text(&mut hash, text.name(label)));
                }
            }
            if let Data::Observations(data) = data {
                update_numbers(&mut hash, data.indices(at).iter().map(|index| index.to_le_bytes()));
            }
        }
        match data {
            Data::Observations(data) => {
                for column in std::iter::once(data.values()).chain(data.weights()) {
                    hash.update(&(column.len() as u64).to_le_bytes());
                    update_numbers(&mut hash, column.iter().map(|number| number.to_le_bytes()));
                }
            }
            Data::Packed(data) => update_cells(&mut hash, data),
        }
        let untimed = FitConfig { time_limit: None, ..config.clone() };
        let mut settings = Xxh3::new();
        settings.update(&serde_json::to_vec(&untimed).expect("every setting has a JSON form"));
        settings.update(T::NAME.as_bytes());
        Self {
            data: format!("{:032x}", hash.digest128()),
            settings: format!("{:032x}", settings.digest128()),
        }
    }
}

/// How many bytes are hashed at a time: each call to the hash has a fixed cost.
const BLOCK: usize = 8192;

fn update_numbers<const N: usize>(hash: &mut Xxh3, numbers: impl Iterator<Item = [u8; N]>) {
    let mut block = Vec::with_capacity(BLOCK);
    for number in numbers {
        block.extend_from_slice(&number);
        if block.len() >= BLOCK {
            hash.update(&block);
            block.clear();
        }
    }
    hash.update(&block);
}

/// Cell by cell, as packed data are not kept in columns.
fn update_cells(hash: &mut Xxh3, data: &PackedObservations) {
    let mut block = Vec::new();
    data.for_each(|cell, value, weight| {
        for label in cell {
            block.extend_from_slice(&label.to_le_bytes());
        }
        block.extend_from_slice(&value.to_le_bytes());
        block.extend_from_slice(&weight.to_le_bytes());
        if block.len() >= BLOCK {
            hash.update(&block);
            block.clear();
        }
    });
    hash.update(&block);
}

/// With its length, so that adjacent texts are not ambiguous.
fn update_text(hash: &mut Xxh3, text: &str) {
    hash.update(&(text.len() as u64).to_le_bytes());
    hash.update(text.as_bytes());
}

#[cfg(test)]
mod tests;
