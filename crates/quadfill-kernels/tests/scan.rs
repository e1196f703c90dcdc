//! Scores and batch scans are compared with plain loops, for every instruction set of this machine.

use proptest::prelude::*;
use quadfill_kernels::scan::{QueryBatch, RowPanels, ScoreSink};
use quadfill_kernels::{AlignedVec, Backend, Isa, Real};

/// Integers, so that every sum is exact in any order.
fn rows<T: Real>(numbers: &[i8], count: usize, rank: usize, stride: usize) -> AlignedVec<T> {
    let mut rows = AlignedVec::zeros(count * stride);
    for row in 0..count {
        for l in 0..rank {
            let number = numbers[(row * 31 + l * 7) % numbers.len()];
            rows[row * stride + l] = T::from_f64(f64::from(number));
        }
    }
    rows
}

fn inner<T: Real>(x: &[T], y: &[T]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x.to_f64() * y.to_f64()).sum()
}

/// Keeps all scores above a fixed threshold.
struct All {
    threshold: f64,
    seen: Vec<(usize, usize, f64)>,
}

impl<T: Real> ScoreSink<T> for All {
    fn threshold(&self, _: usize) -> T {
        T::from_f64(self.threshold)
    }
    fn push(&mut self, query: usize, row: usize, score: T) {
        self.seen.push((query, row, score.to_f64()));
    }
}

fn check<T: Real>(numbers: &[i8], count: usize, queries: usize, rank: usize, own: i8) {
    let stride = rank.next_multiple_of(T::LINE);
    let matrix = rows::<T>(numbers, count, rank, stride);
    let queried = rows::<T>(&numbers[1..], queries, rank, stride);
    let own = f64::from(own);
    let score = |q: usize, row: usize| {
        let u = &matrix[row * stride..][..stride];
        inner(u, &queried[q * stride..][..stride]) + own * inner(u, u)
    };
    let offsets: Vec<T> = (0..count)
        .map(|row| {
            let u = &matrix[row * stride..][..stride];
            T::from_f64(own * inner(u, u))
        })
        .collect();
    for isa in Isa::available() {
        let backend = Backend::new(isa);
        for q in 0..queries {
            let mut out = vec![T::ZERO; count];
            let query = &queried[q * stride..][..stride];
            backend.row_scores(&matrix, stride, query, T::from_f64(own), &mut out);
            for (row, out) in out.iter().enumerate() {
                assert_eq!(out.to_f64(), score(q, row), "{isa}");
            }
        }
        let batch = QueryBatch::new(&queried, stride);
        let panels = RowPanels { rows: &matrix, stride, offsets: Some(&offsets) };
        let mut all = All { threshold: 5.0, seen: Vec::new() };
        backend.scan_batch(&batch, panels, &mut all);
        let mut expected = Vec::new();
        for q in 0..queries {
            expected.extend((0..count).map(|row| (q, row, score(q, row))).filter(|s| s.2 > 5.0));
        }
        // Rows are ascending for each query, but queries are interleaved.
        all.seen.sort_by_key(|&(query, _, _)| query);
        assert_eq!(all.seen, expected, "{isa}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn scores_agree_with_plain_loops(
        numbers in prop::collection::vec(-9i8..10, 2..60),
        count in 1usize..80,
        queries in 1usize..15,
        rank in 1usize..40,
        own in -2i8..3,
    ) {
        check::<f32>(&numbers, count, queries, rank, own);
        check::<f64>(&numbers, count, queries, rank, own);
    }
}

#[test]
fn equal_rows_have_equal_scores_in_any_position() {
    let stride = 32;
    let row: Vec<f32> = (0..stride).map(|l| (l as f32 * 0.37).sin()).collect();
    let rows: Vec<f32> = row.iter().copied().cycle().take(7 * stride).collect();
    let query: Vec<f32> = (0..stride).map(|l| (l as f32 * 0.71).cos()).collect();
    for isa in Isa::available() {
        let mut out = [0.0f32; 7];
        Backend::new(isa).row_scores(&rows, stride, &query, 0.3, &mut out);
        assert!(out.iter().all(|score| score.to_bits() == out[0].to_bits()), "{isa}: {out:?}");
    }
}
