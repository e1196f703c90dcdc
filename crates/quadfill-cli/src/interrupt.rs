//! Ctrl-C: whatever is being written is finished first, and the way to go on is told.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::output;

/// Held while a file is being written.
static WRITING: Mutex<()> = Mutex::new(());
/// What is kept of the running work, and how to go on from it.
static KEPT: Mutex<Option<(PathBuf, &'static str)>> = Mutex::new(None);

/// The exit code of a program that was interrupted.
const INTERRUPTED: i32 = 130;

fn lock<T>(mutex: &'static Mutex<T>) -> MutexGuard<'static, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps Ctrl-C waiting until the guard is dropped. Not for standard output, which may block.
pub(crate) fn writing() -> MutexGuard<'static, ()> {
    lock(&WRITING)
}

/// Tells where the running fit keeps its checkpoint.
pub(crate) fn set_checkpoint(path: &Path) {
    let way = "interrupted: the same command with --resume goes on from here";
    *lock(&KEPT) = Some((path.to_owned(), way));
}

/// Tells where the running experiment keeps its finished cells.
pub(crate) fn set_kept(path: &Path) {
    let way = "interrupted: the same command goes on from here";
    *lock(&KEPT) = Some((path.to_owned(), way));
}

/// Begins to watch for Ctrl-C. Where that cannot be done it ends the program as it always does.
pub(crate) fn watch() {
    let _ = ctrlc::set_handler(|| {
        let _whole = writing();
        let kept = lock(&KEPT).clone().filter(|(path, _)| path.exists());
        output::complain(kept.map_or("interrupted: nothing was kept", |(_, way)| way));
        std::process::exit(INTERRUPTED);
    });
}
