//! Ctrl-C: a fit ends after its step and leaves a checkpoint; anything else ends at once, but whatever
//! is being written is finished first. A message says how to resume.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::output;

/// Held while a file is being written.
static WRITING: Mutex<()> = Mutex::new(());
/// What the running work has saved, and how to resume from it.
static KEPT: Mutex<Option<(PathBuf, &'static str)>> = Mutex::new(None);
/// Whether a fit is running that checks [`is_requested`] after every step.
static FITTING: AtomicBool = AtomicBool::new(false);
/// Whether Ctrl-C was pressed.
static REQUESTED: AtomicBool = AtomicBool::new(false);

/// The exit code of a program that was interrupted.
const INTERRUPTED: i32 = 130;

fn lock<T>(mutex: &'static Mutex<T>) -> MutexGuard<'static, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Delays Ctrl-C until the guard is dropped. Not for standard output, which may block.
pub(crate) fn writing() -> MutexGuard<'static, ()> {
    lock(&WRITING)
}

/// A fit begins that saves its checkpoint there and checks [`is_requested`] after every step.
pub(crate) fn fit_begins(checkpoint: &Path) {
    let way = "interrupted: the same command with --resume continues from here";
    *lock(&KEPT) = Some((checkpoint.to_owned(), way));
    FITTING.store(true, Ordering::SeqCst);
}

/// The fit has ended.
pub(crate) fn fit_ends() {
    FITTING.store(false, Ordering::SeqCst);
}

/// Whether a fit is to end.
pub(crate) fn is_requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}

/// Notes where the running experiment keeps its finished cells.
pub(crate) fn set_kept(path: &Path) {
    let way = "interrupted: the same command continues from here";
    *lock(&KEPT) = Some((path.to_owned(), way));
}

/// Says how to resume, and ends the program.
pub(crate) fn stop() -> ! {
    let _whole = writing();
    let kept = lock(&KEPT).clone().filter(|(path, _)| path.exists());
    output::complain(kept.map_or("interrupted: nothing was kept", |(_, way)| way));
    std::process::exit(INTERRUPTED);
}

/// Installs the Ctrl-C handler. Where that fails, Ctrl-C ends the program at once. A second Ctrl-C
/// does not wait for the current step.
pub(crate) fn watch() {
    let _ = ctrlc::set_handler(|| {
        let again = REQUESTED.swap(true, Ordering::SeqCst);
        if again || !FITTING.load(Ordering::SeqCst) {
            stop();
        }
    });
}
