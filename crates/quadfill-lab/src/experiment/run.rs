//! Measures the cells of an experiment in parallel.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use super::row::Row;
use super::store::{Finished, Store};
use super::{Experiment, Extent};
use crate::error::{LabError, Result};

/// How to run an experiment.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which cells to measure.
    pub extent: Extent,
    /// The folder that stores finished cells, to resume from; `None` stores nothing.
    pub keep_in: Option<PathBuf>,
    /// The number of cells measured in parallel, each on one thread.
    pub threads: usize,
}

/// The progress of a run.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Finished cells, including those of earlier runs.
    pub done: usize,
    /// All cells.
    pub cells: usize,
    /// Cells that earlier runs have finished.
    pub kept: usize,
    /// Estimated seconds until the end, once a cell has finished.
    pub seconds_left: Option<f64>,
}

/// The results of a run.
#[derive(Debug)]
pub struct Measured {
    /// All rows in the order of the cells.
    pub rows: Vec<Row>,
    /// The duration of this run in seconds.
    pub seconds: f64,
    /// Cells measured in this run.
    pub measured: usize,
    /// Cells stored by earlier runs.
    pub kept: usize,
}

/// Measures every cell that is not stored yet, the most expensive first.
///
/// Rows are in the order of the cells and, except for durations, identical for any number of threads.
pub fn run(
    experiment: &dyn Experiment,
    options: &Options,
    mut progress: impl FnMut(Progress),
) -> Result<Measured> {
    let clock = Instant::now();
    let cells = experiment.cells(&options.extent);
    let (mut store, mut finished) = match &options.keep_in {
        Some(folder) => {
            let (store, finished) = Store::open(folder)?;
            (Some(store), finished)
        }
        None => (None, Finished::new()),
    };
    let mut todo: Vec<&Row> =
        cells.iter().filter(|cell| !finished.contains_key(&cell.key())).collect();
    todo.sort_by(|x, y| experiment.work(y).total_cmp(&experiment.work(x)));
    let kept = cells.len() - todo.len();
    let total_work: f64 = todo.iter().map(|cell| experiment.work(cell)).sum();
    let mut work_done = 0.0;
    let mut report = |done: usize, work_done: f64| {
        let seconds_left = (work_done > 0.0)
            .then(|| clock.elapsed().as_secs_f64() * (total_work - work_done) / work_done);
        progress(Progress { done, cells: cells.len(), kept, seconds_left });
    };
    report(kept, 0.0);
    let threads = if experiment.is_timed() { 1 } else { options.threads.max(1) };
    let mut done = kept;
    each(
        &todo,
        threads,
        |cell| experiment.measure(cell),
        |cell, rows| {
            if let Some(store) = &mut store {
                store.keep(cell, &rows)?;
            }
            finished.insert(cell.key(), rows);
            done += 1;
            work_done += experiment.work(cell);
            report(done, work_done);
            Ok(())
        },
    )?;
    let rows =
        cells.iter().filter_map(|cell| finished.get(&cell.key())).flatten().cloned().collect();
    let seconds = clock.elapsed().as_secs_f64();
    Ok(Measured { rows, seconds, measured: todo.len(), kept })
}

/// Measures cells on several threads and passes each to `take` as it finishes. Stops at the first error.
fn each(
    cells: &[&Row],
    threads: usize,
    measure: impl Fn(&Row) -> Result<Vec<Row>> + Sync,
    mut take: impl FnMut(&Row, Vec<Row>) -> Result<()>,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let first_error: Mutex<Option<LabError>> = Mutex::new(None);
    let fail = |error: LabError| {
        stop.store(true, Ordering::Relaxed);
        let mut first = first_error.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        first.get_or_insert(error);
    };
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads.min(cells.len()) {
            let (sender, next, stop, measure, fail) =
                (sender.clone(), &next, &stop, &measure, &fail);
            scope.spawn(move || {
                // One thread per cell: concurrent fits use the cores better than one fit on all cores.
                let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(1).build() else {
                    fail(LabError::NoThread);
                    return;
                };
                while !stop.load(Ordering::Relaxed) {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(&cell) = cells.get(at) else { break };
                    match pool.install(|| measure(cell)) {
                        Ok(rows) => {
                            if sender.send((at, rows)).is_err() {
                                break;
                            }
                        }
                        Err(error) => fail(error),
                    }
                }
            });
        }
        drop(sender);
        for (at, rows) in receiver {
            if let Err(error) = take(cells[at], rows) {
                fail(error);
            }
        }
    });
    match first_error.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}
