//! Wall-clock and CPU time.

use std::fs;
use std::time::Instant;

/// A stopwatch for wall-clock and CPU time.
#[derive(Debug)]
pub(crate) struct Clock {
    start: Instant,
    cpu_start: Option<f64>,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { start: Instant::now(), cpu_start: cpu_seconds() }
    }

    /// Seconds since the start.
    pub(crate) fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// CPU seconds of all threads since the start, where the system reports them.
    pub(crate) fn cpu_seconds(&self) -> Option<f64> {
        Some(cpu_seconds()? - self.cpu_start?)
    }
}

/// CPU seconds of this program's threads, to the nanosecond (Linux).
///
/// Threads that have ended are not counted; the pool's live as long as the program.
fn cpu_seconds() -> Option<f64> {
    let mut nanoseconds = 0u64;
    for task in fs::read_dir("/proc/self/task").ok()? {
        let schedule = task.ok()?.path().join("schedstat");
        // A thread may end between the listing and the reading.
        if let Ok(text) = fs::read_to_string(schedule) {
            nanoseconds += text.split(' ').next()?.parse::<u64>().ok()?;
        }
    }
    (nanoseconds > 0).then_some(nanoseconds as f64 * 1e-9)
}
