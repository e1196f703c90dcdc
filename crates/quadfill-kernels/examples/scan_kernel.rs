//! Times the search for the 28 best of 100,000 rows for each of 500 queries, on one core.
//!
//! `cargo run --release -p quadfill-kernels --example scan_kernel [rank ...]`
#![expect(clippy::print_stdout, reason = "the example prints its measurements")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

use quadfill_kernels::scan::{QueryBatch, RowPanels, ScoreSink};
use quadfill_kernels::streams::stream;
use quadfill_kernels::{Backend, Real, peak};
use rand::RngExt;

const ROWS: usize = 100_000;
const QUERIES: usize = 500;
const BEST: usize = 28;

/// The best scores of each query, with their sign made part of the order of bits.
struct Best<T> {
    thresholds: Vec<T>,
    heaps: Vec<BinaryHeap<Reverse<(i64, usize)>>>,
    pushed: usize,
}

impl<T: Real> ScoreSink<T> for Best<T> {
    fn threshold(&self, query: usize) -> T {
        self.thresholds[query]
    }

    fn push(&mut self, query: usize, row: usize, score: T) {
        self.pushed += 1;
        let bits = score.to_f64().to_bits() as i64;
        let heap = &mut self.heaps[query];
        heap.push(Reverse((bits ^ ((bits >> 63) & i64::MAX), row)));
        if heap.len() > BEST {
            heap.pop();
            let Reverse((bits, _)) = *heap.peek().expect("a score");
            let bits = bits ^ ((bits >> 63) & i64::MAX);
            self.thresholds[query] = T::from_f64(f64::from_bits(bits as u64));
        }
    }
}

/// Sums of uniform numbers, which are nearly normal.
fn normals<T: Real>(count: usize, purpose: u64) -> Vec<T> {
    let mut rng = stream(1, purpose, 0);
    let mut draw = || (0..6).map(|_| rng.random::<f64>() - 0.5).sum::<f64>();
    (0..count).map(|_| T::from_f64(draw())).collect()
}

fn time<T: Real>(rank: usize) {
    let stride = rank.next_multiple_of(T::LINE);
    let rows = normals::<T>(ROWS * stride, 0);
    let batch = QueryBatch::new(&normals::<T>(QUERIES * rank, 1), rank);
    let (mut seconds, mut pushed) = (f64::INFINITY, 0);
    for _ in 0..5 {
        let mut best = Best {
            thresholds: vec![T::from_f64(f64::NEG_INFINITY); QUERIES],
            heaps: vec![BinaryHeap::new(); QUERIES],
            pushed: 0,
        };
        let panels = RowPanels { rows: &rows, stride, offsets: None };
        let start = Instant::now();
        Backend::detect().scan_batch(&batch, panels, &mut best);
        seconds = seconds.min(start.elapsed().as_secs_f64());
        pushed = best.pushed;
    }
    let rate = (2 * QUERIES * ROWS * rank) as f64 / seconds * 1e-9;
    println!(
        "{} rank {rank:>3}: {:.1} ms, {rate:.0} GFLOP/s of scores, {:.0} pushed per query",
        T::NAME,
        1e3 * seconds,
        pushed as f64 / QUERIES as f64
    );
}

fn main() {
    let ranks: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let ranks = if ranks.is_empty() { vec![16, 64, 128] } else { ranks };
    let backend = Backend::detect();
    println!("{}: {:.0} GFLOP/s", backend.isa(), peak::multiply_add_gflops::<f32>(backend));
    for &rank in &ranks {
        time::<f32>(rank);
        time::<f64>(rank);
    }
}
