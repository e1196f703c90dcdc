//! Finished cells on disk, one JSON line each, so that no cell is measured twice.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::row::Row;
use crate::error::{LabError, Result};

/// The name of the file of finished cells.
pub(super) const FILE: &str = "cells.jsonl";

/// One line: a cell and its results.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    /// Results of other versions are ignored.
    version: String,
    cell: Row,
    rows: Vec<Row>,
}

/// An append-only file of finished cells.
#[derive(Debug)]
pub(super) struct Store {
    path: PathBuf,
    file: File,
}

/// Rows by the key of their cell.
pub(super) type Finished = HashMap<String, Vec<Row>>;

impl Store {
    /// Opens or creates the file and reads it. An incomplete last line of an interrupted run is removed.
    pub(super) fn open(folder: &Path) -> Result<(Self, Finished)> {
        let path = folder.join(FILE);
        let failed = || LabError::io(&path);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed())?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed())?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        file.set_len(whole as u64).map_err(failed())?;
        file.seek(SeekFrom::Start(whole as u64)).map_err(failed())?;
        let lines = bytes[..whole].split(|&byte| byte == b'\n');
        let finished = lines
            .filter_map(|line| serde_json::from_slice::<Line>(line).ok())
            .filter(|line| line.version == env!("CARGO_PKG_VERSION"))
            .map(|line| (line.cell.key(), line.rows))
            .collect();
        Ok((Self { path, file }, finished))
    }

    /// Appends a finished cell.
    pub(super) fn keep(&mut self, cell: &Row, rows: &[Row]) -> Result<()> {
        let line = Line {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            cell: cell.clone(),
            rows: rows.to_vec(),
        };
        let failed = LabError::io(&self.path);
        let mut text = serde_json::to_string(&line).unwrap_or_default();
        text.push('\n');
        self.file.write_all(text.as_bytes()).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_found_again_and_incomplete_lines_are_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let cell = |d: usize| Row::new().with("d", d);
        let (mut store, before) = Store::open(folder.path()).expect("opened");
        assert!(before.is_empty());
        store.keep(&cell(1), &[cell(1).with("error", 0.5)]).expect("kept");
        store.file.write_all(b"{\"version\":\"0.1.0\",\"cell\":{\"d\"").expect("torn");
        drop(store);
        let (mut store, finished) = Store::open(folder.path()).expect("opened");
        assert_eq!(finished.len(), 1);
        assert_eq!(finished[&cell(1).key()][0].number("error"), 0.5);
        store.keep(&cell(2), &[cell(2)]).expect("kept");
        drop(store);
        assert_eq!(Store::open(folder.path()).expect("opened").1.len(), 2);
    }
}
