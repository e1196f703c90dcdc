//! Times the assembly and solution of the normal equations on synthetic data shaped like film
//! ratings: users x films x weeks, skewed, 8 million cells.
//!
//! `cargo run --release -p quadfill-kernels --example sweep_kernel [million cells] [rank ...]`
#![expect(clippy::print_stdout, reason = "the example prints its measurements")]

use std::time::Instant;

use quadfill_kernels::cholesky::solve_lanes;
use quadfill_kernels::streams::stream;
use quadfill_kernels::{
    AlignedVec, Backend, Form, ModeContext, Real, RowCells, Workspace, cholesky, peak,
};
use rand::RngExt;

const SIZES: [usize; 3] = [71_567, 10_681, 37];

/// How many cells of the next rows are known while a row is summed.
const LOOK_AHEAD: usize = 64;

/// The cells, grouped by their row in one mode.
struct View {
    starts: Vec<usize>,
    /// Rows of the other two modes, interleaved.
    others: Vec<u32>,
    values: Vec<f32>,
}

fn draw_cells(count: usize) -> Vec<([u32; 3], f32)> {
    let mut rng = stream(1, 0, 0);
    (0..count)
        .map(|_| {
            // A power of a uniform draw: a few rows get most of the cells.
            let skewed = |size: usize, power: i32, x: f64| {
                let row = (x.powi(power) * size as f64) as usize;
                (row.min(size - 1) * 7919 % size) as u32
            };
            let (a, b, c) = (rng.random(), rng.random(), rng.random());
            let picks = [skewed(SIZES[0], 2, a), skewed(SIZES[1], 3, b), skewed(SIZES[2], 1, c)];
            (picks, rng.random::<f32>() * 5.0)
        })
        .collect()
}

/// Groups the cells with a counting sort.
fn view(cells: &[([u32; 3], f32)], mode: usize) -> View {
    let mut starts = vec![0; SIZES[mode] + 1];
    for (picks, _) in cells {
        starts[picks[mode] as usize + 1] += 1;
    }
    for i in 0..SIZES[mode] {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    let mut others = vec![0; 2 * cells.len()];
    let mut values = vec![0.0; cells.len()];
    let rest: Vec<usize> = (0..3).filter(|&b| b != mode).collect();
    for (picks, value) in cells {
        let at = &mut next[picks[mode] as usize];
        others[2 * *at] = picks[rest[0]];
        others[2 * *at + 1] = picks[rest[1]];
        values[*at] = *value;
        *at += 1;
    }
    View { starts, others, values }
}

/// CPU seconds of this thread, which exclude other programs; wall-clock seconds where the system
/// does not report them.
fn cpu_seconds() -> f64 {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|line| line.split(' ').next()?.parse::<f64>().ok())
        .map_or_else(|| START.elapsed().as_secs_f64(), |nanos| nanos * 1e-9)
}

/// Seconds for assembling the equations and for solving them.
fn sweep_mode<T: Real>(
    backend: Backend,
    mode: usize,
    view: &View,
    values: &[T],
    rank: usize,
    factors: &mut [AlignedVec<T>],
) -> (f64, f64) {
    let stride = rank.next_multiple_of(T::LINE);
    let mut own = std::mem::take(&mut factors[mode]);
    let others: Vec<&[T]> = (0..3).filter(|&b| b != mode).map(|b| &factors[b][..]).collect();
    let half = T::from_f64(0.5);
    let ctx = ModeContext {
        form: Form::Quadratic {
            own: T::ZERO,
            cross: &[half, half],
            among: &[T::ZERO, half, half, T::ZERO],
        },
        rank,
        stride,
        factors: &others,
        biases: None,
        mean: T::ZERO,
    };
    let mut ws = Workspace::new(rank, false);
    let block = (rank + 1) * (rank + 1);
    let mut matrices = vec![0.0; cholesky::LANES * block];
    let mut out = vec![0.0; cholesky::LANES * rank];
    let (mut equations, mut solution) = (0.0, 0.0);
    let cpu_start = cpu_seconds();
    for first in (0..SIZES[mode]).step_by(cholesky::LANES) {
        let count = cholesky::LANES.min(SIZES[mode] - first);
        let start = Instant::now();
        matrices.fill(0.0);
        for (lane, matrix) in matrices.chunks_mut(block).take(count).enumerate() {
            let cells = view.starts[first + lane]..view.starts[first + lane + 1];
            let known = view.values.len().min(cells.end + LOOK_AHEAD);
            let row = RowCells {
                own: &own[(first + lane) * stride..][..stride],
                own_bias: T::ZERO,
                others: &view.others[2 * cells.start..2 * known],
                values: &values[cells],
                weights: None,
            };
            backend.normal_equations(&ctx, &row, &mut ws, matrix);
            for i in 0..rank {
                matrix[i * (rank + 1) + i] += 1.0;
            }
        }
        let between = Instant::now();
        assert_eq!(solve_lanes(backend, rank, &mut matrices, count, &mut out), 0);
        for (lane, step) in out.chunks(rank).take(count).enumerate() {
            let row = &mut own[(first + lane) * stride..][..rank];
            for (x, step) in row.iter_mut().zip(step) {
                *x += T::from_f64(0.5 * step);
            }
        }
        equations += (between - start).as_secs_f64();
        solution += between.elapsed().as_secs_f64();
    }
    factors[mode] = own;
    let cpu_share = (cpu_seconds() - cpu_start) / (equations + solution);
    (cpu_share * equations, cpu_share * solution)
}

fn sweep<T: Real>(backend: Backend, views: &[View], rank: usize, peak: f64) {
    let stride = rank.next_multiple_of(T::LINE);
    let mut rng = stream(2, 0, 0);
    let mut factors: Vec<AlignedVec<T>> = SIZES
        .iter()
        .map(|&size| {
            let mut factor = AlignedVec::zeros(size * stride);
            for row in factor.chunks_mut(stride) {
                for x in &mut row[..rank] {
                    *x = T::from_f64(rng.random::<f64>() - 0.5);
                }
            }
            factor
        })
        .collect();
    let values: Vec<T> =
        views.iter().flat_map(|v| v.values.iter()).map(|&y| T::from_f64(y.into())).collect();
    let cells = views[0].values.len();
    let mut best = [(f64::MAX, f64::MAX); 3];
    for _ in 0..3 {
        for (mode, view) in views.iter().enumerate() {
            let values = &values[mode * cells..][..cells];
            let (equations, solution) = sweep_mode(backend, mode, view, values, rank, &mut factors);
            best[mode] = (best[mode].0.min(equations), best[mode].1.min(solution));
        }
    }
    let equations: f64 = best.iter().map(|b| b.0).sum();
    let solution: f64 = best.iter().map(|b| b.1).sum();
    let useful = 3.0 * cells as f64 * (rank * (rank + 1)) as f64;
    let rate = useful / equations * 1e-9;
    println!(
        "{} rank {rank:>3}: {:.3} s per sweep (equations {:.3} = {:.3} + {:.3} + {:.3}, solution {:.3}); \
         equations {rate:.1} GFLOP/s, {:.0} % of peak",
        T::NAME,
        equations + solution,
        equations,
        best[0].0,
        best[1].0,
        best[2].0,
        solution,
        100.0 * rate / peak,
    );
}

/// The same kernel on one row whose data stay in the cache, where only the arithmetic limits the
/// speed.
fn in_cache<T: Real>(backend: Backend, rank: usize, peak: f64) {
    const ROWS: usize = 128;
    const CELLS: usize = 4096;
    let stride = rank.next_multiple_of(T::LINE);
    let mut rng = stream(3, 0, 0);
    let mut factor = AlignedVec::<T>::zeros(ROWS * stride);
    for row in factor.chunks_mut(stride) {
        row[..rank].fill_with(|| T::from_f64(rng.random::<f64>() - 0.5));
    }
    let half = T::from_f64(0.5);
    let ctx = ModeContext {
        form: Form::Quadratic {
            own: T::ZERO,
            cross: &[half, half],
            among: &[T::ZERO, half, half, T::ZERO],
        },
        rank,
        stride,
        factors: &[&factor, &factor],
        biases: None,
        mean: T::ZERO,
    };
    let others: Vec<u32> = (0..2 * CELLS).map(|_| rng.random_range(0..ROWS as u32)).collect();
    let row = RowCells {
        own: &factor[..stride],
        own_bias: T::ZERO,
        others: &others,
        values: &[T::ONE; CELLS],
        weights: None,
    };
    let mut ws = Workspace::new(rank, false);
    let mut out = vec![0.0; (rank + 1) * (rank + 1)];
    let (mut equations, mut residuals) = (f64::MAX, f64::MAX);
    for _ in 0..300 {
        let start = Instant::now();
        backend.normal_equations(&ctx, &row, &mut ws, &mut out);
        equations = equations.min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        backend.squared_residuals(&ctx, &row, &mut ws);
        residuals = residuals.min(start.elapsed().as_secs_f64());
    }
    let nanos = 1e9 / CELLS as f64;
    let rate = (CELLS * rank * (rank + 1)) as f64 / equations * 1e-9;
    println!(
        "{} rank {rank:>3} in cache: {:.1} ns per cell ({:.1} for the residual alone), \
         {rate:.1} GFLOP/s, {:.0} % of peak",
        T::NAME,
        equations * nanos,
        residuals * nanos,
        100.0 * rate / peak
    );
}

fn main() {
    let args: Vec<f64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let count = (args.first().unwrap_or(&8.0) * 1e6) as usize;
    let ranks: Vec<usize> = args.iter().skip(1).map(|&r| r as usize).collect();
    let ranks = if ranks.is_empty() { vec![10, 20, 64] } else { ranks };
    let backend = Backend::detect();
    let single = peak::multiply_add_gflops::<f32>(backend);
    let double = peak::multiply_add_gflops::<f64>(backend);
    println!(
        "{}: {single:.1} GFLOP/s in f32, {double:.1} in f64; {:.1} GB/s",
        backend.isa(),
        peak::read_bandwidth(backend)
    );
    for &rank in &ranks {
        in_cache::<f32>(backend, rank, single);
        in_cache::<f64>(backend, rank, double);
    }
    let cells = draw_cells(count);
    let views: Vec<View> = (0..3).map(|mode| view(&cells, mode)).collect();
    drop(cells);
    for &rank in &ranks {
        sweep::<f32>(backend, &views, rank, single);
    }
    for &rank in &ranks {
        sweep::<f64>(backend, &views, rank, double);
    }
}
