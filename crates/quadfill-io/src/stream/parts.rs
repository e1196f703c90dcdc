//! The files that data are in.

use std::path::{Path, PathBuf};

use crate::error::{ReadError, Result};

/// The files that [`read_data`](crate::read_data) reads: a path itself, those that match it if it is a pattern such as
/// `part-*.parquet`, or those in a folder. They are in the order of their names.
pub fn data_files(source: &Path) -> Result<Vec<PathBuf>> {
    let text = source.to_string_lossy();
    if source.is_dir() {
        return in_folder(source);
    }
    let is_pattern = text.contains(['*', '?', '[']) && !source.exists();
    if !is_pattern {
        return Ok(vec![source.to_owned()]);
    }
    let no_files = |reason: String| ReadError::NoFiles { pattern: text.to_string(), reason };
    let found = glob::glob(&text).map_err(|error| no_files(error.msg.to_owned()))?;
    let mut files: Vec<PathBuf> =
        found.filter_map(std::result::Result::ok).filter(|file| file.is_file()).collect();
    if files.is_empty() {
        return Err(no_files("no file has such a name".to_owned()));
    }
    files.sort();
    Ok(files)
}

/// The files of a folder, without hidden ones and marks such as `_SUCCESS`.
fn in_folder(folder: &Path) -> Result<Vec<PathBuf>> {
    let name = folder.display().to_string();
    let io = |source| ReadError::Io { file: name.clone(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        let is_mark = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"_"));
        let is_hidden =
            path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        if path.is_file() && !is_mark && !is_hidden {
            files.push(path);
        }
    }
    if files.is_empty() {
        let reason = "the folder has no files".to_owned();
        return Err(ReadError::NoFiles { pattern: name, reason });
    }
    files.sort();
    Ok(files)
}
