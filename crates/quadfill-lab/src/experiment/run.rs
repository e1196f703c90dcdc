//! Measures the cells of an experiment side by side.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use super::row::Row;
use super::store::{Finished, Store};
use super::{Experiment, Extent};
use crate::error::{LabError, Result};

/// How an experiment is run.
#[derive(Debug, Clone)]
pub struct Options {
    /// What to measure.
    pub extent: Extent,
    /// The folder that keeps finished cells to go on from; without one nothing is kept.
    pub keep_in: Option<PathBuf>,
    /// Cells that are measured side by side, each on one thread.
    pub threads: usize,
}

/// How far a run is.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Cells done, those of an earlier run included.
    pub done: usize,
    /// Cells in all.
    pub cells: usize,
    /// Cells that an earlier run had done.
    pub kept: usize,
    /// Seconds that the rest should take, once there is something to judge by.
    pub seconds_left: Option<f64>,
}

/// What was measured.
#[derive(Debug)]
pub struct Measured {
    /// All rows in the order of the cells.
    pub rows: Vec<Row>,
    /// Seconds that this run took.
    pub seconds: f64,
    /// Cells that this run measured.
    pub measured: usize,
    /// Cells that an earlier run had kept.
    pub kept: usize,
}

/// Measures every cell that is not known yet, the largest first.
///
/// Rows come in the order of the cells, and are the same for any number of threads, times aside.
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
    let work_in_all: f64 = todo.iter().map(|cell| experiment.work(cell)).sum();
    let mut work_done = 0.0;
    let mut report = |done: usize, work_done: f64| {
        let seconds_left = (work_done > 0.0)
            .then(|| clock.elapsed().as_secs_f64() * (work_in_all - work_done) / work_done);
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

/// Measures cells on some threads, and hands each to `take` as it is done. Stops at the first error.
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
                // Each cell stays on its thread: fits side by side use the cores better than one
                // fit on all of them.
                let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(1).build() else {
                    fail(LabError::Setting(
                        "no thread could be started: lower --threads".to_owned(),
                    ));
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
