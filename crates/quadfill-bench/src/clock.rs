//! CPU time of this process, all threads together.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

/// Seconds of CPU used so far.
pub(crate) fn cpu_seconds() -> f64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    used.tv_sec as f64 + used.tv_nsec as f64 * 1e-9
}

/// Wall and CPU seconds of some work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    pub(crate) wall: f64,
    pub(crate) cpu: f64,
}

/// Short work is repeated for at least this long, as the load of the machine varies.
const MIN_SECONDS: f64 = 2.0;

/// Times `work` and returns the best of at least `runs` runs: other programs can only add time.
pub(crate) fn best(runs: usize, work: impl FnMut()) -> Timing {
    best_interleaved(runs, &mut [work])[0]
}

/// The same for several workloads in turn, so that all run under the same load.
pub(crate) fn best_interleaved(runs: usize, workloads: &mut [impl FnMut()]) -> Vec<Timing> {
    let mut best = vec![Timing { wall: f64::INFINITY, cpu: f64::INFINITY }; workloads.len()];
    let (begin, mut done) = (Instant::now(), 0);
    while done < runs || begin.elapsed().as_secs_f64() < MIN_SECONDS {
        done += 1;
        for (best, work) in best.iter_mut().zip(workloads.iter_mut()) {
            let (start, cpu) = (Instant::now(), cpu_seconds());
            work();
            best.wall = best.wall.min(start.elapsed().as_secs_f64());
            best.cpu = best.cpu.min(cpu_seconds() - cpu);
        }
    }
    best
}
