//! CPU time of this process, all threads together.

use std::time::Instant;

/// Seconds of CPU used so far by every thread that is still there.
pub(crate) fn cpu_seconds() -> f64 {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else {
        return 0.0;
    };
    threads
        .flatten()
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("schedstat")).ok())
        .filter_map(|line| line.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()))
        .sum::<f64>()
        * 1e-9
}

/// Wall and CPU seconds of some work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    pub(crate) wall: f64,
    pub(crate) cpu: f64,
}

/// Times `work`, taking the median of `runs` by CPU time.
pub(crate) fn median(runs: usize, mut work: impl FnMut()) -> Timing {
    let mut timings: Vec<Timing> = (0..runs)
        .map(|_| {
            let (start, cpu) = (Instant::now(), cpu_seconds());
            work();
            Timing { wall: start.elapsed().as_secs_f64(), cpu: cpu_seconds() - cpu }
        })
        .collect();
    timings.sort_by(|x, y| x.cpu.total_cmp(&y.cpu));
    timings[runs / 2]
}
