//! Ctrl-C: whatever is being written is finished first, and the way to go on is told.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::output;

/// Held while a file is being written.
static WRITING: Mutex<()> = Mutex::new(());
/// The checkpoint of the running fit.
static CHECKPOINT: Mutex<Option<PathBuf>> = Mutex::new(None);

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
    *lock(&CHECKPOINT) = Some(path.to_owned());
}

/// Begins to watch for Ctrl-C. Where that cannot be done it ends the program as it always does.
pub(crate) fn watch() {
    let _ = ctrlc::set_handler(|| {
        let _whole = writing();
        let can_resume = lock(&CHECKPOINT).as_ref().is_some_and(|path| path.exists());
        output::complain(if can_resume {
            "interrupted: the same command with --resume goes on from here"
        } else {
            "interrupted: nothing was kept"
        });
        std::process::exit(INTERRUPTED);
    });
}
