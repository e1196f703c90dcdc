//! CPU-seconds per sweep of the posterior sampler, compared with ALS and myFM on the same model.

use std::path::Path;

use quadfill::model::{Biases, Kernel, ModelSpec, Parameters};
use quadfill::objective::{Objective, PenaltyScale};
use quadfill::solve::gibbs::{Chain, HyperPrior, SweepId, sweep};
use quadfill::solve::{als, start};
use quadfill::views::Views;

use crate::clock::{self, Timing};
use crate::data;
use crate::peers::Peers;
use crate::sweeps::pool;

/// The pairwise model of ratings with the mean and biases, which myFM always includes.
pub(crate) fn run(peers: &Peers, folder: &Path) -> anyhow::Result<()> {
    let cells = data::ratings(71_567, 10_681, 37, 9_250_000, 1);
    println!("\nsampling, ratings-like 71567 x 10681 x 37, {} observations", cells.values.len());
    cells.write_raw(folder, "ratings")?;
    let views = Views::<f32>::new(cells.observations()?);
    drop(cells);
    let prefix = folder.join("ratings");
    for rank in [10, 20] {
        let spec = ModelSpec::quadratic(Kernel::pairwise(3), rank).with_biases(Biases::Modes);
        let objective = Objective::new(&views, &spec, 1e-4, PenaltyScale::Uniform);
        let begin = start::random(&spec, views.all(), 1);
        let (als, one, two) = pool(1)?.install(|| {
            let als = als_time(&objective, begin.clone());
            let one = gibbs_time(&objective, begin.clone());
            anyhow::Ok((als, one, pool(2)?.install(|| gibbs_time(&objective, begin))))
        })?;
        println!(
            "f32 rank {rank:<3} ALS {:.3}, Gibbs {:.3} CPU-s per sweep: {:.2} x, two threads {:.2} x faster",
            als.cpu,
            one.cpu,
            one.cpu / als.cpu,
            one.wall / two.wall
        );
        let arguments = [&*prefix.to_string_lossy(), &rank.to_string()];
        if let Some(seconds) = peers.figure("myfm_sweep.py", &arguments)? {
            println!(
                "myFM per sweep     {seconds:.3} CPU-s at rank {rank}: {:.1} x ours",
                seconds / one.cpu
            );
        }
    }
    Ok(())
}

fn als_time(objective: &Objective<'_, f32>, mut parameters: Parameters<f32>) -> Timing {
    als::sweep(objective, &mut parameters);
    clock::best(9, || {
        als::sweep(objective, &mut parameters);
    })
}

fn gibbs_time(objective: &Objective<'_, f32>, mut parameters: Parameters<f32>) -> Timing {
    let hyper = HyperPrior::new(objective);
    let layout = parameters.layout();
    let mut chain = Chain::new(&hyper, layout.rows().len(), layout.row_unknowns());
    let mut number = 0;
    let mut draw = || {
        let id = SweepId { chain: 0, sweep: number };
        sweep(objective, &hyper, &mut parameters, &mut chain, 1, id);
        number += 1;
    };
    draw();
    clock::best(9, draw)
}
