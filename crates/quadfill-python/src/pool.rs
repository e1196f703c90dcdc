//! Threads for work that runs while Python does something else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Pools by their number of threads, and the process that they are in: a process that was forked has none of
/// the threads of its parent.
static POOLS: Mutex<Option<(u32, HashMap<usize, Arc<ThreadPool>>)>> = Mutex::new(None);

/// The number of threads that `n_jobs` asks for; 0 stands for as many as there are processors.
fn threads(n_jobs: Option<i64>) -> PyResult<usize> {
    match n_jobs {
        None | Some(-1) => Ok(0),
        Some(jobs @ 1..=1024) => Ok(jobs as usize),
        Some(jobs @ ..=-2) => {
            let all = std::thread::available_parallelism().map_or(1, usize::from) as i64;
            Ok((all + 1 + jobs).max(1) as usize)
        }
        Some(jobs) => Err(PyValueError::new_err(format!(
            "`n_jobs` is {jobs}: it must be a number of threads from 1 to 1024, -1 or None for all processors"
        ))),
    }
}

/// A pool with as many threads as `n_jobs` asks for.
pub(crate) fn pool(n_jobs: Option<i64>) -> PyResult<Arc<ThreadPool>> {
    let threads = threads(n_jobs)?;
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((of, inherited)) = pools.take_if(|(of, _)| *of != process) {
        // Their threads are not here to be ended.
        std::mem::forget((of, inherited));
    }
    let (_, pools) = pools.get_or_insert_with(|| (process, HashMap::new()));
    if let Some(pool) = pools.get(&threads) {
        return Ok(pool.clone());
    }
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|at| format!("quadfill-{at}"))
        .build()
        .map_err(|error| PyRuntimeError::new_err(format!("threads cannot be started: {error}")))?;
    let pool = Arc::new(pool);
    pools.insert(threads, pool.clone());
    Ok(pool)
}
