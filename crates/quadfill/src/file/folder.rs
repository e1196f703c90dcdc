//! The folder a model is in, replaced whole or not at all.
//!
//! A new model is written into a hidden folder beside its target, brought to disk, and renamed. An
//! older model in its place is first renamed to `.NAME.old`, and removed when the new one stands.
//! A process killed between the two renames leaves no `NAME` but a whole `.NAME.old`, which
//! [`locate`] finds; a process killed at any other moment leaves `NAME` whole.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::checkpoint::checkpoint_path;
use super::describe::FORMAT;
use super::partial::{Partial, hidden, parent, remove_leftovers};
use crate::error::{Error, Result};

/// The description.
pub(super) const JSON: &str = "model.json";
/// The numbers.
pub(super) const TENSORS: &str = "model.safetensors";
/// The labels.
pub(super) const LABELS: &str = "labels.jsonl";
const FILES: [&str; 3] = [JSON, TENSORS, LABELS];

/// A link stays, and the folder that it leads to is replaced.
fn behind_link(path: &Path) -> PathBuf {
    match fs::read_link(path) {
        Ok(to) => parent(path).join(to),
        // Without the `/` that may stand at the end.
        Err(_) => path.components().collect(),
    }
}

/// Where the model of this name is: there, or set aside by a process that was killed.
pub(super) fn locate(path: &Path) -> Result<PathBuf> {
    let refuse =
        |reason: &str| Err(Error::ModelFile { path: path.to_owned(), reason: reason.to_owned() });
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Ok(path.to_owned()),
        Ok(_) => refuse("this is a file and no model folder: give what `quadfill fit -o` wrote"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            match hidden(&behind_link(path), "old") {
                Ok(old) if holds_model(&old) => Ok(old),
                _ => refuse("there is no such model: check the path, or fit one first"),
            }
        }
        Err(source) => Err(Error::Io { path: path.to_owned(), source }),
    }
}

/// Whether a folder has a description that says it is a model, whole or not.
fn holds_model(folder: &Path) -> bool {
    let mut beginning = Vec::new();
    let read =
        File::open(folder.join(JSON)).and_then(|file| file.take(256).read_to_end(&mut beginning));
    read.is_ok() && String::from_utf8_lossy(&beginning).contains(FORMAT)
}

/// Reads one of the files.
pub(super) fn read(folder: &Path, name: &str) -> Result<Vec<u8>> {
    let path = folder.join(name);
    fs::read(&path).map_err(|source| {
        if source.kind() == io::ErrorKind::NotFound {
            let reason = "the file is missing: copy the whole folder of the model, or fit it again";
            Error::ModelFile { path, reason: reason.to_owned() }
        } else {
            Error::Io { path, source }
        }
    })
}

/// Refuses a target that is neither free nor a model and nothing else.
pub(super) fn check_target(path: &Path) -> Result<()> {
    let refuse = |reason: String| Err(Error::ModelFile { path: path.to_owned(), reason });
    let io = |source| Error::Io { path: path.to_owned(), source };
    hidden(path, "").map_err(io)?;
    let target = behind_link(path);
    let folder = parent(&target);
    if !folder.is_dir() {
        return refuse(format!("there is no folder {}: make it first", folder.display()));
    }
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(io(source)),
    };
    if !found.is_dir() {
        return refuse(
            "there is a file of this name, which a model would replace: \
             choose another name or remove it"
                .to_owned(),
        );
    }
    if !holds_model(path) {
        return refuse(
            "there is a folder of this name that is no Quadfill model: \
             choose another name or remove it"
                .to_owned(),
        );
    }
    for entry in fs::read_dir(path).map_err(io)? {
        let name = entry.map_err(io)?.file_name();
        if !FILES.iter().any(|&ours| name == ours) {
            return refuse(format!(
                "the model folder also has `{}`, which would be lost: move it away",
                name.display()
            ));
        }
    }
    Ok(())
}

/// Writes the three files, in the order of [`FILES`].
pub(super) fn write(path: &Path, contents: [&[u8]; 3]) -> Result<()> {
    check_target(path)?;
    replace(path, contents).map_err(|source| Error::Io { path: path.to_owned(), source })
}

fn replace(path: &Path, contents: [&[u8]; 3]) -> io::Result<()> {
    let target = behind_link(path);
    remove_leftovers(&target);
    remove_leftovers(&checkpoint_path(&target));
    let partial = Partial::beside(&target)?;
    fs::create_dir(partial.path())?;
    for (name, bytes) in FILES.iter().zip(contents) {
        let mut file = File::create(partial.path().join(name))?;
        file.write_all(bytes)?;
        file.sync_all()?;
    }
    sync_folder(partial.path())?;

    let old = hidden(&target, "old")?;
    if target.exists() {
        // Left by a process that was killed after its new model stood.
        remove_model(&old)?;
        fs::rename(&target, &old)?;
    }
    if let Err(error) = fs::rename(partial.path(), &target) {
        if !target.exists() && old.exists() {
            fs::rename(&old, &target)?;
        }
        return Err(error);
    }
    sync_folder(parent(&target))?;
    remove_model(&old)
}

/// Removes a model that is no longer needed, and nothing else.
fn remove_model(folder: &Path) -> io::Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    for name in FILES {
        match fs::remove_file(folder.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::remove_dir(folder)
}

/// Brings the names in a folder to disk, where the system has a way to.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}
