//! Atomic writes of files and folders: they are written under a hidden name beside their target and
//! renamed once they are complete.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes a file atomically: to a temporary name, synced to disk, then renamed.
pub fn write_whole_file(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let partial = Partial::beside(path)?;
    let mut file = File::create(partial.path())?;
    write(&mut file)?;
    file.sync_all()?;
    drop(file);
    fs::rename(partial.path(), path)
}

/// Writes a file atomically without syncing it to disk: safe if the process is killed, but after a power
/// failure the file may be an older one, or broken.
pub(crate) fn write_unsynced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let partial = Partial::beside(path)?;
    fs::write(partial.path(), bytes)?;
    fs::rename(partial.path(), path)
}

/// A hidden name beside the target, for a file or a folder that is not complete yet. It is
/// removed on drop.
pub(crate) struct Partial(PathBuf);

impl Partial {
    /// A name that no other process and no other thread uses.
    pub(crate) fn beside(target: &Path) -> io::Result<Self> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{number}.partial", std::process::id());
        Ok(Self(hidden(target, &name)?))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // After the final rename there is nothing left to remove.
        remove(&self.0);
    }
}

fn remove(path: &Path) {
    if path.is_dir() {
        let _ = fs::remove_dir_all(path);
    } else {
        let _ = fs::remove_file(path);
    }
}

/// `.NAME.ending` beside `NAME`.
pub(crate) fn hidden(target: &Path, ending: &str) -> io::Result<PathBuf> {
    let name = target.file_name().ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidInput, "this is not a name to write to")
    })?;
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(".");
    hidden.push(ending);
    Ok(target.with_file_name(hidden))
}

/// The folder that contains a path.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Removes what killed processes left behind when they were writing `target`. Only where the
/// system lists its processes; a process on another machine that shares the folder may lose its partial
/// file, and its write then fails.
pub(crate) fn remove_leftovers(target: &Path) {
    if !Path::new("/proc/self").exists() {
        return;
    }
    let (Ok(pattern), Ok(entries)) = (hidden(target, ""), fs::read_dir(parent(target))) else {
        return;
    };
    let Some(beginning) = pattern.file_name().and_then(|name| name.to_str()) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let process = name
            .to_str()
            .and_then(|name| name.strip_prefix(beginning)?.strip_suffix(".partial"))
            .and_then(|middle| middle.split_once('-')?.0.parse::<u32>().ok());
        if process.is_some_and(|id| !Path::new(&format!("/proc/{id}")).exists()) {
            remove(&entry.path());
        }
    }
}
