//! Scores and batch scans are compared with plain loops, for every instruction set of this machine.

use proptest::prelude::*;
use quadfill_kernels::scan::{QueryBatch, RowPanels, ScoreSink};
use quadfill_kernels::streams::stream;
use quadfill_kernels::{AlignedVec, Backend, Isa, Real};
use rand::RngExt;

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

/// Rows, queries and offsets that a scan may meet.
struct Case<T> {
    rank: usize,
    stride: usize,
    rows: Vec<T>,
    queries: Vec<T>,
    offsets: Option<Vec<T>>,
}

const MANY: usize = 1500;
const QUERIES: usize = 13;

impl<T: Real> Case<T> {
    fn random(rank: usize, seed: u64) -> Self {
        let mut rng = stream(seed, rank as u64, 0);
        let mut draw = || T::from_f64((0..4).map(|_| rng.random::<f64>() - 0.5).sum());
        let stride = rank.next_multiple_of(T::LINE);
        let rows = (0..MANY * stride).map(|_| draw()).collect();
        let queries = (0..QUERIES * rank).map(|_| draw()).collect();
        Self { rank, stride, rows, queries, offsets: None }
    }

    fn map_rows(mut self, change: impl Fn(usize, usize, T) -> T) -> Self {
        for (row, entries) in self.rows.chunks_mut(self.stride).enumerate() {
            for (l, x) in entries.iter_mut().enumerate() {
                *x = change(row, l, *x);
            }
        }
        self
    }

    fn scaled(self, scale: f64) -> Self {
        self.map_rows(|_, _, x| x * T::from_f64(scale))
    }

    fn with_offsets(mut self, scale: f64) -> Self {
        let offset = |row: usize| T::from_f64(scale * (row as f64 * 0.7).sin());
        self.offsets = Some((0..MANY).map(offset).collect());
        self
    }

    /// The score as a chain of fused multiply-adds.
    fn score(&self, query: usize, row: usize) -> T {
        let start = self.offsets.as_ref().map_or(T::ZERO, |offsets| offsets[row]);
        let query = &self.queries[query * self.rank..][..self.rank];
        let row = &self.rows[row * self.stride..][..self.rank];
        query.iter().zip(row).fold(start, |sum, (q, u)| q.mul_add(*u, sum))
    }

    /// All scores above thresholds that some scores are equal to, and that fewer and fewer are above.
    fn check(&self, what: &str) {
        let scores: Vec<Vec<T>> = (0..QUERIES)
            .map(|query| (0..MANY).map(|row| self.score(query, row)).collect())
            .collect();
        for above in [0, 3, 40, 700] {
            let thresholds: Vec<T> = scores
                .iter()
                .map(|scores| {
                    let mut sorted = scores.clone();
                    sorted.retain(|score| !score.to_f64().is_nan());
                    sorted.sort_by(|x, y| y.to_f64().total_cmp(&x.to_f64()));
                    sorted.get(above).copied().unwrap_or(T::ZERO)
                })
                .collect();
            let mut expected = Vec::new();
            for (query, scores) in scores.iter().enumerate() {
                let rows =
                    scores.iter().enumerate().filter(|(_, score)| **score > thresholds[query]);
                expected.extend(rows.map(|(row, score)| (query, row, score.to_f64().to_bits())));
            }
            // Without fused operations the scores have other bits.
            for isa in Isa::available().into_iter().filter(|&isa| isa != Isa::Plain) {
                let mut sink = Above { thresholds: &thresholds, seen: Vec::new() };
                let panels = RowPanels {
                    rows: &self.rows,
                    stride: self.stride,
                    offsets: self.offsets.as_deref(),
                };
                let batch = QueryBatch::new(&self.queries, self.rank);
                Backend::new(isa).scan_batch(&batch, panels, &mut sink);
                sink.seen.sort_by_key(|&(query, _, _)| query);
                assert!(sink.seen == expected, "{what}, rank {}, {above} above, {isa}", self.rank);
            }
        }
    }
}

/// Keeps the bits of all scores above fixed thresholds.
struct Above<'a, T> {
    thresholds: &'a [T],
    seen: Vec<(usize, usize, u64)>,
}

impl<T: Real> ScoreSink<T> for Above<'_, T> {
    fn threshold(&self, query: usize) -> T {
        self.thresholds[query]
    }
    fn push(&mut self, query: usize, row: usize, score: T) {
        self.seen.push((query, row, score.to_f64().to_bits()));
    }
}

fn check_all_kinds<T: Real>(rank: usize) {
    let case = || Case::<T>::random(rank, 1);
    case().check("random");
    case().with_offsets(0.3).check("offsets");
    case().with_offsets(1e7).check("large offsets");
    case().with_offsets(f64::INFINITY).check("infinite offsets");
    for scale in [1e-44, 1e-30, 1e-13, 1e-7, 1e7, 1e15, 1e30, 1e38] {
        case().scaled(scale).check("scaled");
        case().scaled(scale).with_offsets(scale).check("scaled with offsets");
    }
    case().scaled(0.0).check("zeros");
    case().scaled(0.0).with_offsets(1e-42).check("tiny offsets alone");
    case().map_rows(|row, l, _| T::from_f64(((row % 2 + l) as f64).sin())).check("equal rows");
    case().map_rows(|_, _, x| T::from_f64((3.0 * x.to_f64()).round())).check("ties");
    let popular = |row: usize| T::from_f64(1.0 / (1.0 + (row * 7919 % MANY) as f64));
    case().map_rows(|row, _, x| x * popular(row)).check("rows of many sizes");
    case()
        .map_rows(|_, l, x| x * T::from_f64(0.7f64.powi(l as i32)))
        .check("columns of many sizes");
    let broken = |row: usize, l: usize| row.is_multiple_of(100) && l == rank / 2;
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let number = T::from_f64(number);
        case()
            .map_rows(|row, l, x| if broken(row, l) { number } else { x })
            .check("numbers that are not finite");
    }
    let mut unknown = case();
    unknown.queries[..2 * rank].fill(T::ZERO);
    unknown.check("queries of zeros");
    unknown.queries[3 * rank] = T::from_f64(f64::NAN);
    unknown.check("a query that is not a number");
}

#[test]
fn scores_above_a_threshold_are_all_found_with_the_same_bits() {
    for rank in [1, 2, 3, 4, 5, 15, 16, 17, 33, 64, 100, 200] {
        check_all_kinds::<f32>(rank);
        check_all_kinds::<f64>(rank);
    }
    for rank in (6..200).step_by(7) {
        Case::<f32>::random(rank, 2).check("random");
        Case::<f64>::random(rank, 2).check("random");
    }
}
