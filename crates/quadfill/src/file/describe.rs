//! `model.json`: the description of the tensors, and its checks.

use serde::{Deserialize, Serialize};

use super::DAMAGED;
use super::labels::Kind;
use super::older::OldDescription;
use crate::fitted::{FitSummary, Model};
use crate::model::{Biases, ModelSpec, check_stored_spec, tensors};
use crate::observations::{Binning, Labels, Mode, Source};
use crate::solve::Choice;

/// Identifies the file format.
pub(super) const FORMAT: &str = "quadfill-model";
/// Incremented when an older version could not read the file correctly.
const VERSION: u32 = 4;
/// The last version with settings and bins in their older form.
const LAST_OLD_VERSION: u32 = 2;

/// The part of `model.json` that every version has.
#[derive(Debug, Deserialize)]
struct Header {
    format: String,
    version: u32,
}

/// All of `model.json`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Description {
    pub(super) format: String,
    pub(super) version: u32,
    pub(super) spec: ModelSpec,
    pub(super) modes: Vec<ModeEntry>,
    pub(super) source: Source,
    pub(super) summary: FitSummary,
}

/// A mode: its labels and the names of its tensors.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ModeEntry {
    pub(super) name: String,
    labels: Kind,
    pub(super) count: usize,
    factors: String,
    biases: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) bins: Option<Binning>,
}

impl Description {
    pub(super) fn new(model: &Model) -> Self {
        let Model { spec, modes, source, summary, .. } = model;
        let entries = modes.iter().zip(&spec.groups).map(|(mode, &group)| ModeEntry {
            name: mode.name.clone(),
            labels: Kind::of(&mode.labels),
            count: mode.labels.len(),
            factors: tensors::factors_name("", group),
            biases: (spec.biases == Biases::Modes).then(|| tensors::biases_name("", group)),
            bins: mode.bins,
        });
        let mut summary = summary.clone();
        // The same fit gives the same bytes, however long it took.
        summary.path.iter_mut().for_each(|point| point.seconds = 0.0);
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            spec: spec.clone(),
            modes: entries.collect(),
            source: source.clone(),
            summary,
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
            format!("this is not the description of a model, {error}: {DAMAGED}")
        };
        let header: Header = serde_json::from_slice(bytes).map_err(broken)?;
        check_header(&header)?;
        let mut description: Self = if header.version <= LAST_OLD_VERSION {
            let old: OldDescription = serde_json::from_slice(bytes).map_err(broken)?;
            old.into_description()?
        } else {
            serde_json::from_slice(bytes).map_err(broken)?
        };
        // It was among the settings alone before it belonged to the model.
        if let Choice::Fixed(scale) = description.summary.config.penalty_scale {
            description.spec.penalty_scale = scale;
        }
        description.check().map_err(|reason| format!("{reason}: {DAMAGED}"))?;
        Ok(description)
    }

    fn check(&self) -> Result<(), String> {
        let Self { spec, modes, summary, .. } = self;
        check_stored_spec(spec, &self.sizes())?;
        if modes.len() != spec.modes() {
            return Err(format!("there are {} modes instead of {}", modes.len(), spec.modes()));
        }
        let unlabelled: Vec<Mode> =
            modes.iter().map(|mode| Mode::new(&mode.name, Labels::range(0))).collect();
        let config = &summary.config;
        let settings = config.check().and_then(|()| config.spec(&unlabelled));
        settings.map_err(|error| format!("its settings are invalid, {error}"))?;
        // The names are for other readers; they must agree with ours.
        for (mode, &group) in modes.iter().zip(&spec.groups) {
            let biases = (spec.biases == Biases::Modes).then(|| tensors::biases_name("", group));
            if mode.factors != tensors::factors_name("", group) || mode.biases != biases {
                return Err(format!(
                    "the tensors of mode `{}` are not those of its factor matrix {group}",
                    mode.name
                ));
            }
            if let Some(bins) = &mode.bins
                && !bins.is_valid()
            {
                return Err(format!("the bins of mode `{}` are invalid", mode.name));
            }
        }
        match summary.draws {
            Some(draws) if draws == 0 || !spec.rank.is_multiple_of(draws) => {
                Err(format!("{} columns cannot be divided among {draws} draws", spec.rank))
            }
            _ => Ok(()),
        }
    }

    /// The number of labels of each mode.
    pub(super) fn sizes(&self) -> Vec<usize> {
        self.modes.iter().map(|mode| mode.count).collect()
    }

    /// What the labels of each mode are, and how many.
    pub(super) fn label_kinds(&self) -> Vec<(Kind, usize)> {
        self.modes.iter().map(|mode| (mode.labels, mode.count)).collect()
    }
}

fn check_header(header: &Header) -> Result<(), String> {
    if header.format != FORMAT {
        return Err(format!(
            "its format is `{}` and not `{FORMAT}`: give a model that Quadfill saved",
            header.format
        ));
    }
    let version = header.version;
    if version > VERSION {
        return Err(format!(
            "it was written by a newer version of Quadfill (format {version}, this one knows up to \
             {VERSION}): upgrade Quadfill to open it"
        ));
    }
    if version == 0 {
        return Err(format!("there is no format version 0: {DAMAGED}"));
    }
    Ok(())
}
