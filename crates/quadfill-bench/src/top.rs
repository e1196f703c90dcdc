//! The best labels of a large mode, compared with memory bandwidth and peak multiply-adds.

use quadfill::apply::Ranker;
use quadfill::model::{Kernel, ModelSpec, Parameters, Predictor};
use quadfill_kernels::{Backend, peak};

use crate::clock;
use crate::sweeps::pool;

const ROWS: usize = 1_000_000;
const RANK: usize = 64;
const QUERIES: usize = 1000;
const BEST: usize = 20;

/// 1 M rows of 64 numbers in f32, one query and a thousand, on one core.
pub(crate) fn run() -> anyhow::Result<()> {
    println!("\nbest {BEST} of {ROWS} rows of {RANK} numbers, f32, one core");
    let spec = ModelSpec::quadratic(Kernel::pairwise(3), RANK);
    let parameters = Parameters::<f32>::random(&spec, &[QUERIES, ROWS, 5], 1.0, 1);
    let ranker = Ranker::new(Predictor::new(&spec, &parameters), 1);
    let bytes = (ROWS * RANK * 4) as f64;
    pool(1)?.install(|| {
        let (mut one, mut read, mut found) = (f64::INFINITY, f64::INFINITY, 0);
        // Interleaved, so that both run under the same load.
        for _ in 0..5 {
            read = read.min(bytes / peak::read_bandwidth(Backend::detect()) * 1e-9);
            let timing = clock::best(5, || found += ranker.top(&[3, 0, 2], BEST, &[]).len());
            one = one.min(timing.wall);
        }
        println!(
            "one query          {:.1} ms, reading {:.1} ms: {:.2} x",
            1e3 * one,
            1e3 * read,
            one / read
        );
        let given: Vec<Vec<u32>> =
            (0..QUERIES as u32).map(|query| vec![query, 0, query % 5]).collect();
        let excluded = vec![Vec::new(); QUERIES];
        let peak = peak::multiply_add_gflops::<f32>(Backend::detect());
        let batch = clock::best(3, || found += ranker.top_batch(&given, BEST, &excluded).len());
        let gflops = (2 * QUERIES * ROWS * RANK) as f64 / batch.cpu * 1e-9;
        println!(
            "{QUERIES} queries       {:.2} CPU-s, {gflops:.1} GFLOP/s of {peak:.1}: {:.0} % of peak",
            batch.cpu,
            100.0 * gflops / peak
        );
        std::hint::black_box(found);
    });
    Ok(())
}
