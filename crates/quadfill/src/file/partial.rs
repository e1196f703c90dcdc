//! Names for what is being written, and their clean-up.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A hidden name beside the target, for a file or a folder that is not finished yet. Whatever has
/// that name is removed when this is dropped.
pub(super) struct Partial(PathBuf);

impl Partial {
    /// A name that no other process and no other thread uses.
    pub(super) fn beside(target: &Path) -> io::Result<Self> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let turn = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{turn}.partial", std::process::id());
        Ok(Self(hidden(target, &name)?))
    }

    pub(super) fn path(&self) -> &Path {
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
pub(super) fn hidden(target: &Path, ending: &str) -> io::Result<PathBuf> {
    let name = target.file_name().ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidInput, "this is no name to write to")
    })?;
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(".");
    hidden.push(ending);
    Ok(target.with_file_name(hidden))
}

/// The folder that something is in.
pub(super) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Removes what killed processes left behind when they were writing `target`. Only where the system tells which processes live; if
/// one lives on another machine that shares the folder, its write fails and says so.
pub(super) fn remove_leftovers(target: &Path) {
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
