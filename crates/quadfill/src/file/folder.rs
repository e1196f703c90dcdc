//! The folder of a model, replaced atomically.
//!
//! A new model is written into a hidden folder beside its target, synced to disk, and renamed. An
//! older model in its place is first renamed to `.NAME.old`, and removed when the new one is in place.
//! A process killed between the two renames leaves no `NAME` but a whole `.NAME.old`, which
//! [`locate`] finds; a process killed at any other moment leaves `NAME` whole.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::checkpoint_path;
use super::describe::FORMAT;
use crate::error::{Error, Result};
use crate::whole_file::{Partial, hidden, parent, remove_leftovers};

/// The description.
pub(super) const JSON: &str = "model.json";
/// The numbers.
pub(super) const TENSORS: &str = "model.safetensors";
/// The labels.
pub(super) const LABELS: &str = "labels.jsonl";
const FILES: [&str; 3] = [JSON, TENSORS, LABELS];

/// Resolves a symbolic link: the link stays, and the folder that it points to is replaced.
fn behind_link(path: &Path) -> PathBuf {
    match fs::read_link(path) {
        Ok(to) => parent(path).join(to),
        // Without a trailing `/`.
        Err(_) => path.components().collect(),
    }
}

/// How often, and after which pause, a read is retried while other processes replace the model.
const ATTEMPTS: usize = 200;
const PAUSE: Duration = Duration::from_millis(1);

/// Where the model of this name is: there, or set aside by a process that was killed.
pub(super) fn locate(path: &Path) -> Result<PathBuf> {
    let mut found = locate_now(path);
    for _ in 0..ATTEMPTS {
        if found.is_ok() || !is_being_replaced(path) {
            break;
        }
        thread::sleep(PAUSE);
        found = locate_now(path);
    }
    found
}

/// Whether a model that was missing a moment ago may exist now: another process is replacing it, or has
/// just done so.
fn is_being_replaced(path: &Path) -> bool {
    path.is_dir() || hidden(&behind_link(path), "lock").is_ok_and(|lock| lock.exists())
}

fn locate_now(path: &Path) -> Result<PathBuf> {
    let refuse =
        |reason: &str| Err(Error::ModelFile { path: path.to_owned(), reason: reason.to_owned() });
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Ok(path.to_owned()),
        Ok(_) => refuse(
            "this is a file and not the folder of a model: give the path that a model was saved to",
        ),
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

/// The folder of a model, and its files in the order of [`FILES`]. They belong together, also where
/// other processes replace the model at the same time.
pub(super) fn read_all(path: &Path) -> Result<(PathBuf, [Vec<u8>; 3])> {
    let mut attempts = 0;
    loop {
        let folder = locate(path)?;
        // Its inode is not reused while it is open, and a replaced folder never comes back: if the
        // name still points here in the end, it did so all the time.
        let opened = File::open(&folder);
        let read = || -> Result<_> {
            Ok([read(&folder, FILES[0])?, read(&folder, FILES[1])?, read(&folder, FILES[2])?])
        };
        let files = read();
        let is_same = match &opened {
            Ok(opened) => is_same_file(opened, &folder),
            // Not every system opens folders.
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        };
        // A folder that was set aside is removed once a new model is in place.
        let is_gone = files.is_err() && folder != path && path.is_dir();
        attempts += 1;
        if (is_same && !is_gone) || attempts > ATTEMPTS {
            return files.map(|files| (folder, files));
        }
    }
}

/// Reads one of the files.
fn read(folder: &Path, name: &str) -> Result<Vec<u8>> {
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

/// Refuses a target that exists and is not a model folder without other files.
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
            "there is a folder of this name that is not a Quadfill model: \
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
    let io = |source| Error::Io { path: path.to_owned(), source };
    let target = behind_link(path);
    // Where there is no such folder, there is no place for a lock either.
    if !parent(&target).is_dir() {
        check_target(path)?;
    }
    let _turn = Turn::take(&target).map_err(io)?;
    check_target(path)?;
    replace(&target, contents).map_err(io)
}

fn replace(target: &Path, contents: [&[u8]; 3]) -> io::Result<()> {
    remove_leftovers(target);
    remove_leftovers(&checkpoint_path(target));
    let partial = Partial::beside(target)?;
    fs::create_dir(partial.path())?;
    for (name, bytes) in FILES.iter().zip(contents) {
        let mut file = File::create(partial.path().join(name))?;
        file.write_all(bytes)?;
        file.sync_all()?;
    }
    sync_folder(partial.path())?;

    let old = hidden(target, "old")?;
    if target.exists() {
        // Left by a process that was killed after its new model was in place.
        remove_model(&old)?;
        fs::rename(target, &old)?;
    }
    if let Err(error) = fs::rename(partial.path(), target) {
        if !target.exists() && old.exists() {
            fs::rename(&old, target)?;
        }
        return Err(error);
    }
    sync_folder(parent(target))?;
    remove_model(&old)
}

/// A lock for processes that save models of the same name: between the two renames of one of them the
/// name is free, and another must not mistake that for a missing model.
struct Turn {
    lock: File,
    path: PathBuf,
}

impl Turn {
    fn take(target: &Path) -> io::Result<Self> {
        let path = hidden(target, "lock")?;
        loop {
            let lock = File::options().create(true).truncate(false).write(true).open(&path)?;
            lock.lock()?;
            // The process before may have removed the file that was waited for.
            if is_same_file(&lock, &path) {
                return Ok(Self { lock, path });
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        let _ = self.lock.unlock();
    }
}

#[cfg(unix)]
fn is_same_file(open: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same = |x: &fs::Metadata, y: &fs::Metadata| x.ino() == y.ino() && x.dev() == y.dev();
    matches!((open.metadata(), fs::metadata(path)), (Ok(x), Ok(y)) if same(&x, &y))
}

#[cfg(not(unix))]
fn is_same_file(_: &File, path: &Path) -> bool {
    path.exists()
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

/// Syncs a folder to disk, where the system supports it.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}
