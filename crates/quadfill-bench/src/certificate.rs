//! The cost of a certificate on large data, compared with ALS sweeps.

use quadfill::certify::{CertifyOptions, certify};
use quadfill::model::{Kernel, ModelSpec};
use quadfill::objective::{Objective, PenaltyScale};
use quadfill::solve::{als, start};
use quadfill::views::Views;

use crate::{clock, data};

/// 71,567 x 10,681 x 37 with 8 M observations at rank 20, in single precision.
pub(crate) fn run() -> anyhow::Result<()> {
    let cells = data::ratings(71_567, 10_681, 37, 9_250_000, 1);
    println!("\ncertificate of 71567 x 10681 x 37, {} observations, rank 20", cells.values.len());
    let views = Views::<f32>::new(cells.observations()?);
    drop(cells);
    let spec = ModelSpec::quadratic(Kernel::pairwise(3), 20);
    let objective = Objective::new(&views, &spec, 1e-5, PenaltyScale::Uniform);
    let mut parameters = start::random(&spec, views.all(), 1);
    for _ in 0..5 {
        als::sweep(&objective, &mut parameters);
    }
    let sweep = clock::best(3, || {
        als::sweep(&objective, &mut parameters);
    });
    let mut verdict = String::new();
    let cost = clock::best(2, || {
        if let Ok(found) = certify(&objective, &parameters, &CertifyOptions::default()) {
            verdict = found.verdict;
        }
    });
    println!("one sweep    {:.3} CPU-s, {:.3} s", sweep.cpu, sweep.wall);
    println!(
        "certificate  {:.3} CPU-s, {:.3} s: as much as {:.1} sweeps",
        cost.cpu,
        cost.wall,
        cost.cpu / sweep.cpu
    );
    println!("verdict      {verdict}");
    Ok(())
}
