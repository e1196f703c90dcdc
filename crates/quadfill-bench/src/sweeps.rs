//! CPU-seconds per ALS sweep.

use std::path::Path;

use quadfill::Real;
use quadfill::model::{Kernel, ModelSpec};
use quadfill::objective::{Objective, PenaltyScale};
use quadfill::solve::{als, start};
use quadfill::views::{Storage, Views};
use quadfill_kernels::{Backend, peak};

use crate::clock::{self, Timing};
use crate::data;
use crate::peers::Peers;

pub(crate) fn pool(threads: usize) -> anyhow::Result<rayon::ThreadPool> {
    Ok(rayon::ThreadPoolBuilder::new().num_threads(threads).build()?)
}

/// The time of a sweep with each number of threads.
fn sweep_times<T: Real>(
    views: &Views<T>,
    rank: usize,
    threads: &[usize],
) -> anyhow::Result<Vec<Timing>> {
    let spec = ModelSpec::quadratic(Kernel::pairwise(3), rank);
    let objective = &Objective::new(views, &spec, 1e-4, PenaltyScale::Uniform);
    let mut sweeps = Vec::new();
    for &threads in threads {
        let pool = pool(threads)?;
        let mut parameters = start::random(&spec, views.all(), 1);
        let mut sweep = move || {
            pool.install(|| als::sweep(objective, &mut parameters));
        };
        // The first sweep is slower, as it touches memory that is not mapped yet.
        sweep();
        sweeps.push(sweep);
    }
    Ok(clock::best_interleaved(9, &mut sweeps))
}

/// The minimum number of multiply-adds of a sweep, in billions.
struct Arithmetic {
    /// One triangle of each row's matrix, and its right-hand side.
    normal_equations: f64,
    /// The Jacobian of every cell, a sum of two rows, and its residual, two inner products.
    jacobians: f64,
    /// A Cholesky factor for each row, and two triangular solves.
    solving: f64,
}

impl Arithmetic {
    /// For the pairwise model with three modes.
    fn of<T: Real>(views: &Views<T>, rank: usize) -> Self {
        let cells = (3 * views.len()) as f64 * 1e-9;
        let rows = views.sizes().iter().sum::<usize>() as f64 * 1e-9;
        let rank = rank as f64;
        Self {
            normal_equations: cells * (rank * (rank + 1.0) / 2.0 + rank),
            jacobians: cells * 3.0 * rank,
            solving: rows * (rank.powi(3) / 6.0 + rank.powi(2)),
        }
    }

    /// Percent of a peak in GFLOP/s, with two operations per multiply-add: for the normal equations
    /// alone, and for the whole sweep.
    fn shares(&self, seconds: f64, peak: f64) -> (f64, f64) {
        let share = |multiply_adds: f64| 100.0 * 2.0 * multiply_adds / seconds / peak;
        let all = self.normal_equations + self.jacobians + self.solving;
        (share(self.normal_equations), share(all))
    }
}

/// 71,567 x 10,681 x 37 with 8 M observations, skewed like ratings.
pub(crate) fn ratings(peers: &Peers, folder: &Path) -> anyhow::Result<()> {
    let cells = data::ratings(71_567, 10_681, 37, 9_250_000, 1);
    let count = cells.values.len();
    println!("\nratings-like 71567 x 10681 x 37, {count} observations");
    if cfg!(debug_assertions) {
        println!("(a debug build: the figures are meaningless)");
    }
    cells.write_raw(folder, "ratings")?;
    let views = Views::<f32>::new(cells.observations()?);
    let mut rank_ten = f64::NAN;
    for rank in [10, 20, 64] {
        // The speed of the machine varies: the peak is measured just before and just after.
        let before = peak::multiply_add_gflops::<f32>(Backend::detect());
        let times = sweep_times(&views, rank, &[1, 2])?;
        let (one, two) = (times[0], times[1]);
        let peak = peak::multiply_add_gflops::<f32>(Backend::detect()).max(before);
        let (alone, all) = Arithmetic::of(&views, rank).shares(one.cpu, peak);
        println!(
            "f32 rank {rank:<3} {:.3} CPU-s per sweep, {all:.0} % of a multiply-add peak of {peak:.0} GFLOP/s \
             ({alone:.0} % in the normal equations alone), two threads {:.2} x faster",
            one.cpu,
            one.wall / two.wall
        );
        if rank == 10 {
            rank_ten = one.cpu;
        }
    }
    drop(views);
    let packed = Views::<f32>::stored(cells.observations()?, Some(Storage::Packed))?;
    println!(
        "f32 rank 10  {:.3} CPU-s per sweep with packed views of {:.2} bytes per observation",
        sweep_times(&packed, 10, &[1])?[0].cpu,
        packed.bytes() as f64 / count as f64
    );
    drop(packed);
    let views = Views::<f64>::new(cells.observations()?);
    println!("f64 rank 20  {:.3} CPU-s per sweep", sweep_times(&views, 20, &[1])?[0].cpu);
    drop(views);
    let prefix = folder.join("ratings");
    let prefix = prefix.to_string_lossy();
    for (name, script) in [
        ("myFM per sweep", "myfm_sweep.py"),
        ("LensKit per epoch", "lenskit_epoch.py"),
        ("libmf per epoch", "libmf_epoch.py"),
    ] {
        if let Some(seconds) = peers.figure(script, &[&prefix, "10"])? {
            println!("{name:<18} {seconds:.3} CPU-s at rank 10: {:.1} x ours", seconds / rank_ten);
        }
    }
    Ok(())
}

/// 500 x 500 x 500 with 200 k observations.
pub(crate) fn small(peers: &Peers, folder: &Path) -> anyhow::Result<()> {
    let cells = data::cube(500, 200_000, 1);
    cells.write_raw(folder, "cube")?;
    println!("\n500 x 500 x 500, 200000 observations");
    let views = Views::<f32>::new(cells.observations()?);
    let ours = sweep_times(&views, 10, &[1])?[0].cpu;
    println!("f32 rank 10  {ours:.4} CPU-s per sweep");
    let views = Views::<f64>::new(cells.observations()?);
    println!("f64 rank 10  {:.4} CPU-s per sweep", sweep_times(&views, 10, &[1])?[0].cpu);
    let prefix = folder.join("cube");
    if let Some(seconds) = peers.figure("myfm_sweep.py", &[&prefix.to_string_lossy(), "10"])? {
        println!("myFM per sweep     {seconds:.4} CPU-s: {:.1} x ours", seconds / ours);
    }
    Ok(())
}
