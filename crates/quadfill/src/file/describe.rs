//! `model.json`: what the tensors mean, and the checks that they can mean it.

use serde::{Deserialize, Serialize};

use super::labels::Kind;
use super::{ModelNotes, tensors};
use crate::model::{Interaction, ModelSpec, Offsets};
use crate::observations::{Binning, Mode};

/// Says that a file is ours.
pub(super) const FORMAT: &str = "quadfill-model";
/// Goes up when an older version could not read the file rightly.
pub(super) const VERSION: u32 = 2;
/// What a model without draws is written as: all that it needs.
const PLAIN_VERSION: u32 = 1;

/// The part of `model.json` that every version has.
#[derive(Debug, Deserialize)]
struct Header {
    format: String,
    version: u32,
}

/// All of `model.json`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Description {
    format: String,
    version: u32,
    pub(super) spec: ModelSpec,
    modes: Vec<ModeEntry>,
    pub(super) notes: ModelNotes,
}

/// A mode: where its labels and its numbers are.
#[derive(Debug, Serialize, Deserialize)]
struct ModeEntry {
    name: String,
    labels: Kind,
    count: usize,
    factors: String,
    biases: Option<String>,
}

impl Description {
    pub(super) fn new(spec: &ModelSpec, modes: &[Mode], notes: &ModelNotes) -> Self {
        let modes = modes.iter().zip(&spec.groups);
        Self {
            format: FORMAT.to_owned(),
            version: if notes.draws.is_some() { VERSION } else { PLAIN_VERSION },
            spec: spec.clone(),
            modes: modes
                .map(|(mode, &group)| ModeEntry {
                    name: mode.name.clone(),
                    labels: Kind::of(&mode.labels),
                    count: mode.labels.len(),
                    factors: tensors::factors_name("", group),
                    biases: (spec.offsets == Offsets::Modes)
                        .then(|| tensors::biases_name("", group)),
                })
                .collect(),
            notes: notes.clone(),
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("every part has a JSON form");
        bytes.push(b'\n');
        bytes
    }

    /// Reads and checks; the version first, because the rest may have changed with it.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let broken = |error: serde_json::Error| {
            format!(
                "this is not the description of a model, {error}: the file is damaged, fit the model again or take a sound copy"
            )
        };
        check_header(&serde_json::from_slice(bytes).map_err(broken)?)?;
        let description: Self = serde_json::from_slice(bytes).map_err(broken)?;
        description.check()?;
        Ok(description)
    }

    fn check(&self) -> Result<(), String> {
        let sizes = self.sizes();
        check_spec(&self.spec, &sizes)?;
        let config = &self.notes.config.model;
        check_spec(config, &sizes).map_err(|reason| format!("in the settings, {reason}"))?;
        // The names are for other readers; ours must agree with them.
        for (mode, &group) in self.modes.iter().zip(&self.spec.groups) {
            let biases =
                (self.spec.offsets == Offsets::Modes).then(|| tensors::biases_name("", group));
            if mode.factors != tensors::factors_name("", group) || mode.biases != biases {
                return Err(format!(
                    "the tensors of mode `{}` are not those of its factor matrix {group}: \
                     the file is damaged, fit the model again or take a sound copy",
                    mode.name
                ));
            }
        }
        if !["f32", "f64"].contains(&self.notes.precision.as_str()) {
            return Err(format!(
                "the precision `{}` is neither f32 nor f64: the file is damaged, fit the model again or take a sound copy",
                self.notes.precision
            ));
        }
        if self
            .notes
            .draws
            .is_some_and(|draws| !self.spec.rank.is_multiple_of(draws.max(1)) || draws == 0)
        {
            return Err(format!(
                "{} columns cannot be shared out among the draws: the file is damaged, fit the model again or take a sound copy",
                self.spec.rank
            ));
        }
        for bins in &self.notes.bins {
            check_bins(bins, &self.modes)?;
        }
        Ok(())
    }

    /// The number of labels of each mode.
    pub(super) fn sizes(&self) -> Vec<usize> {
        self.modes.iter().map(|mode| mode.count).collect()
    }

    /// What the labels of each mode are, and how many.
    pub(super) fn label_kinds(&self) -> Vec<(Kind, usize)> {
        let modes = self.modes.iter();
        modes.map(|mode| (mode.labels, mode.count)).collect()
    }

    /// The name of each mode.
    pub(super) fn into_names(self) -> Vec<String> {
        self.modes.into_iter().map(|mode| mode.name).collect()
    }
}

fn check_header(header: &Header) -> Result<(), String> {
    if header.format != FORMAT {
        return Err(format!(
            "its format is `{}` and not `{FORMAT}`: give a model that `quadfill fit` wrote",
            header.format
        ));
    }
    check_version(header.version, VERSION)
}

/// Refuses versions that this program cannot know.
pub(super) fn check_version(version: u32, known: u32) -> Result<(), String> {
    if version > known {
        return Err(format!(
            "it was written by a newer version of Quadfill (format {version}, this one knows up to \
             {known}): upgrade Quadfill to open it"
        ));
    }
    if version == 0 {
        return Err("there is no format version 0: the file is damaged, fit the model again or take a sound copy".to_owned());
    }
    Ok(())
}

/// Checks a model that came from a file, where nothing can be taken for granted: everything else
/// relies on factor matrices being numbered from 0 without gaps.
pub(super) fn check_spec(spec: &ModelSpec, sizes: &[usize]) -> Result<(), String> {
    let damaged = |what: &str| {
        Err(format!("{what}: the file is damaged, fit the model again or take a sound copy"))
    };
    let modes = spec.groups.len();
    if !(2..=8).contains(&modes) {
        return damaged(&format!("the model has {modes} modes instead of 2 to 8"));
    }
    let mut matrices = 0;
    for &group in &spec.groups {
        if group > matrices {
            return damaged(&format!("there is no factor matrix {group}"));
        }
        matrices = matrices.max(group + 1);
    }
    if let Interaction::Quadratic(kernel) = &spec.interaction
        && kernel.modes() != modes
    {
        return damaged(&format!(
            "the kernel is for {} modes but the model has {modes}",
            kernel.modes()
        ));
    }
    if let Err(error) = spec.check(sizes) {
        return damaged(&error.to_string());
    }
    match sizes.iter().find(|&&size| size >= u32::MAX as usize) {
        Some(size) => damaged(&format!("a mode cannot have {size} labels")),
        None => Ok(()),
    }
}

fn check_bins(bins: &Binning, modes: &[ModeEntry]) -> Result<(), String> {
    let known = modes.iter().any(|mode| mode.name == bins.mode);
    let sound = bins.origin.is_finite() && bins.width.is_finite() && bins.width > 0.0;
    if known && sound && bins.count != Some(0) {
        return Ok(());
    }
    Err(format!(
        "the bins of mode `{}` make no sense: the file is damaged, fit the model again or take a sound copy",
        bins.mode
    ))
}
