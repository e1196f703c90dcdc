//! Checks input and output paths before any long work begins.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use quadfill_io::data_files;

use crate::interrupt;

/// A file that is about to be read.
pub(crate) fn check_input(path: &Path) -> Result<()> {
    if path.as_os_str() == "-" {
        return Ok(());
    }
    if let Err(error) = fs::metadata(path) {
        bail!("{}", describe_input(&path.display().to_string(), &error));
    }
    Ok(())
}

/// Data that are about to be read: a file, a folder of files, or a pattern that some files match.
pub(crate) fn check_data(path: &Path) -> Result<()> {
    let is_pattern = path.as_os_str().as_encoded_bytes().iter().any(|byte| b"*?[".contains(byte));
    if is_pattern && !path.exists() {
        data_files(path)?;
        return Ok(());
    }
    check_input(path)
}

/// What to say when a file cannot be read.
pub(crate) fn describe_input(file: &str, error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => format!("{file}: there is no such file: check the name"),
        ErrorKind::NotADirectory => {
            format!("{file}: a part of this path is a file, not a folder: check the name")
        }
        ErrorKind::PermissionDenied => {
            format!("{file}: reading this is not allowed: change its permissions")
        }
        _ => format!("{file}: {error}"),
    }
}

/// A file that is about to be written or replaced.
pub(crate) fn check_file(path: &Path) -> Result<()> {
    if path.is_dir() {
        bail!("{}: this is a folder: name a file to write", path.display());
    }
    check_folder_of(path)
}

/// A page that is about to be written or replaced.
pub(crate) fn check_report(path: &Path) -> Result<()> {
    if path.extension().is_none_or(|ending| ending != "html") {
        bail!("{}: a report is a page: choose a name that ends in .html", path.display());
    }
    check_file(path)
}

/// A model that is about to be written or replaced.
pub(crate) fn check_model(path: &Path) -> Result<()> {
    if path.as_os_str() == "-" {
        bail!("a model cannot be written to standard output: name a folder with -o");
    }
    quadfill::check_target(path)?;
    check_folder_of(path)
}

/// A folder that a command fills: new, empty, or filled by the same command before.
pub(crate) fn check_own_folder(path: &Path, mark: &str) -> Result<()> {
    if !path.exists() {
        return check_folder_of(path);
    }
    if !path.is_dir() {
        bail!("{}: this is a file: name a folder", path.display());
    }
    let is_empty = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    if !is_empty && !path.join(mark).is_file() {
        bail!("{}: this folder holds other files: choose another one", path.display());
    }
    probe(path)
}

fn check_folder_of(path: &Path) -> Result<()> {
    if path.file_name().is_none() {
        bail!("{}: this cannot be the name of something new: choose another name", path.display());
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    if !folder.is_dir() {
        bail!("{}: there is no such folder: make it first", folder.display());
    }
    probe(&folder)
}

/// Whether something can be put into a folder: the only way to know is to try.
fn probe(folder: &Path) -> Result<()> {
    let _whole = interrupt::writing();
    let probe = folder.join(format!(".quadfill.{}.probe", std::process::id()));
    match OpenOptions::new().write(true).create_new(true).open(&probe) {
        Ok(_) => Ok(fs::remove_file(&probe)?),
        Err(error) => bail!(
            "{}: nothing can be written to this folder ({error}): choose another one",
            folder.display()
        ),
    }
}
