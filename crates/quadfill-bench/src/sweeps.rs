//! CPU-seconds per ALS sweep.

use std::path::Path;

use quadfill::Real;
use quadfill::model::{Kernel, ModelSpec};
use quadfill::objective::{Objective, PenaltyScale};
use quadfill::solve::{als, start};
use quadfill::views::Views;
use quadfill_kernels::{Kernels, peak};

use crate::clock::{self, Timing};
use crate::data;
use crate::peers::Peers;

pub(crate) fn pool(threads: usize) -> anyhow::Result<rayon::ThreadPool> {
    Ok(rayon::ThreadPoolBuilder::new().num_threads(threads).build()?)
}

fn sweep_time<T: Real>(views: &Views<T>, rank: usize, threads: usize) -> anyhow::Result<Timing> {
    let spec = ModelSpec::quadratic(Kernel::pairwise(3), rank);
    let objective = Objective::new(views, &spec, 1e-4, PenaltyScale::Uniform);
    let mut parameters = start::random(&spec, views, 1);
    // The clock ticks in milliseconds: short sweeps are timed together.
    let together = (2_000_000 / views.len()).max(1);
    let timing = pool(threads)?.install(|| {
        als::sweep(&objective, &mut parameters);
        clock::best(9, || {
            for _ in 0..together {
                als::sweep(&objective, &mut parameters);
            }
        })
    });
    Ok(Timing { wall: timing.wall / together as f64, cpu: timing.cpu / together as f64 })
}

/// Multiply-adds that the normal equations need per observation, counted as two operations each.
fn useful_gflop(observations: usize, modes: usize, rank: usize) -> f64 {
    let products = rank * (rank + 1) / 2 + rank;
    (2 * products * observations * modes) as f64 * 1e-9
}

/// 71,567 x 10,681 x 37 with 8 M observations, skewed like ratings.
pub(crate) fn ratings(peers: &Peers, folder: &Path) -> anyhow::Result<()> {
    let cells = data::ratings(71_567, 10_681, 37, 9_250_000, 1);
    let count = cells.values.len();
    println!("\nratings-like 71567 x 10681 x 37, {count} observations");
    if cfg!(debug_assertions) {
        println!("(a debug build: figures mean nothing)");
    }
    cells.write_raw(folder, "ratings")?;
    let peak = peak::multiply_add_gflops::<f32>(Kernels::detect());
    println!("multiply-add peak  {peak:.1} GFLOP/s (f32, one core)");
    let views = Views::new(cells.observations::<f32>()?);
    let mut rank_ten = f64::NAN;
    for rank in [10, 20, 64] {
        let one = sweep_time(&views, rank, 1)?;
        let two = sweep_time(&views, rank, 2)?;
        let share = useful_gflop(count, 3, rank) / one.cpu / peak;
        println!(
            "f32 rank {rank:<3} {:.3} CPU-s per sweep, {:.0} % of peak, two threads {:.2} x faster",
            one.cpu,
            100.0 * share,
            one.wall / two.wall
        );
        if rank == 10 {
            rank_ten = one.cpu;
        }
    }
    drop(views);
    let views = Views::new(cells.observations::<f64>()?);
    println!("f64 rank 20  {:.3} CPU-s per sweep", sweep_time(&views, 20, 1)?.cpu);
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
    let views = Views::new(cells.observations::<f32>()?);
    let ours = sweep_time(&views, 10, 1)?.cpu;
    println!("f32 rank 10  {ours:.4} CPU-s per sweep");
    let views = Views::new(cells.observations::<f64>()?);
    println!("f64 rank 10  {:.4} CPU-s per sweep", sweep_time(&views, 10, 1)?.cpu);
    let prefix = folder.join("cube");
    if let Some(seconds) = peers.figure("myfm_sweep.py", &[&prefix.to_string_lossy(), "10"])? {
        println!("myFM per sweep     {seconds:.4} CPU-s: {:.1} x ours", seconds / ours);
    }
    Ok(())
}
