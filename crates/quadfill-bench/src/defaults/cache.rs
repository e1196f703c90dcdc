//! Figures of peers, kept from run to run: they do not change with Quadfill, and take minutes.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use quadfill::Observations;
use serde::{Deserialize, Serialize};

use super::datasets::Peer;
use crate::peers::Peers;
use crate::split_files::SplitFiles;

/// A figure of a peer.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Figure {
    /// Root mean squared error on the test data.
    pub(super) rmse: f64,
    /// Wall seconds of its script.
    pub(super) seconds: f64,
}

/// The stored figures by data set, split, peer and rank.
pub(super) struct Cache {
    path: PathBuf,
    figures: BTreeMap<String, Figure>,
    /// How many figures of this run came from the file.
    pub(super) reused: usize,
}

/// One split of a row.
pub(super) struct Split<'a> {
    pub(super) row: &'a str,
    pub(super) number: u64,
    pub(super) train: &'a Observations,
    pub(super) test: &'a Observations,
}

impl Cache {
    pub(super) fn open(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join("peers-cache.json");
        let figures = if path.exists() {
            let text = std::fs::read_to_string(&path)?;
            serde_json::from_str(&text).with_context(|| path.display().to_string())?
        } else {
            BTreeMap::new()
        };
        Ok(Self { path, figures, reused: 0 })
    }

    /// The error of a peer at the best of its ranks on the test data, or `None` if nothing is stored and no
    /// peers are installed.
    pub(super) fn best(
        &mut self,
        peers: &Peers,
        peer: &Peer,
        split: &Split<'_>,
        folder: &Path,
    ) -> anyhow::Result<Option<f64>> {
        let data = fingerprint(split.train) ^ fingerprint(split.test).rotate_left(1);
        let mut files = None;
        let mut best: Option<f64> = None;
        for &rank in peer.ranks {
            let Split { row, number, .. } = split;
            let key =
                format!("{row} | split {number} | {} | rank {rank} | data {data:016x}", peer.name);
            let rmse = if let Some(figure) = self.figures.get(&key) {
                self.reused += 1;
                figure.rmse
            } else {
                let files = match &files {
                    Some(files) => files,
                    None => files.insert(SplitFiles::write(split.train, split.test, folder)?),
                };
                let start = Instant::now();
                let Some(rmse) = files.error(peers, peer.name, rank, peer.standardise)? else {
                    continue;
                };
                self.keep(key, Figure { rmse, seconds: start.elapsed().as_secs_f64() })?;
                rmse
            };
            best = Some(best.map_or(rmse, |best| best.min(rmse)));
        }
        Ok(best)
    }

    /// Stores a figure at once, as a run may be interrupted.
    fn keep(&mut self, key: String, figure: Figure) -> anyhow::Result<()> {
        self.figures.insert(key, figure);
        let text = serde_json::to_string_pretty(&self.figures)?;
        Ok(quadfill::write_whole_file(&self.path, |file| file.write_all(text.as_bytes()))?)
    }
}

/// A hash of cells and values: figures of other data must not be taken for these.
fn fingerprint(data: &Observations) -> u64 {
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    for column in data.columns() {
        for index in column {
            hash.update(&index.to_le_bytes());
        }
    }
    for value in data.values() {
        hash.update(&value.to_le_bytes());
    }
    hash.digest()
}
