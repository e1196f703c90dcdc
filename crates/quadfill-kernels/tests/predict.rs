//! Predictions are compared with plain loops, bit by bit, for every instruction set of this machine.

use proptest::prelude::*;
use quadfill_kernels::predict::{CellModel, Interaction, LANES, sum_lanes};
use quadfill_kernels::streams::{fill_normal, stream};
use quadfill_kernels::{AlignedVec, Backend, Isa, Real};

const ROWS: [usize; 8] = [5, 3000, 11, 2, 1, 4, 6, 9];

fn normal(len: usize, seed: u64, block: u64) -> Vec<f64> {
    let mut draws = vec![0.0; len];
    fill_normal(&mut draws, &mut stream(seed, 1, block));
    draws
}

/// One lane after the other, one term after the other.
fn reference<T: Real>(model: &CellModel<'_, T>, cell: &[usize]) -> f64 {
    let entry = |mode: usize, l: usize| model.factors[mode][cell[mode] * model.stride + l].to_f64();
    let mut lanes = [0.0; LANES];
    for l in 0..model.rank {
        match model.interaction {
            Interaction::Pairs(pairs) => {
                for &(a, b, weight) in pairs {
                    lanes[l % LANES] += weight * (entry(a, l) * entry(b, l));
                }
            }
            Interaction::Product => {
                let product = (1..cell.len()).fold(entry(0, l), |product, m| product * entry(m, l));
                lanes[l % LANES] += product;
            }
        }
    }
    let biases = model.biases.iter().zip(cell);
    let first = biases.fold(model.mean, |sum, (biases, &label)| sum + biases[label].to_f64());
    first + sum_lanes(lanes)
}

fn check<T: Real>(modes: usize, rank: usize, cells: usize, kind: u8, has_biases: bool, seed: u64) {
    let stride = rank.next_multiple_of(T::LINE);
    let mut factors = Vec::new();
    let mut biases = Vec::new();
    let mut columns = Vec::new();
    for (mode, &rows) in ROWS.iter().enumerate().take(modes) {
        let mut factor = AlignedVec::<T>::zeros(rows * stride);
        for (row, draws) in normal(rows * rank, seed, mode as u64).chunks(rank).enumerate() {
            for (l, &draw) in draws.iter().enumerate() {
                factor[row * stride + l] = T::from_f64(draw);
            }
        }
        factors.push(factor);
        let draws = normal(rows, seed, 10 + mode as u64);
        biases.push(draws.into_iter().map(T::from_f64).collect::<Vec<T>>());
        let picks = normal(cells, seed, 20 + mode as u64);
        columns
            .push(picks.iter().map(|x| (x.abs() * 1e4) as u32 % rows as u32).collect::<Vec<_>>());
    }
    let all = (0..modes).flat_map(|a| (0..=a).map(move |b| (a, b)));
    let weights = normal(64, seed, 30);
    let pairs: Vec<(usize, usize, f64)> = match kind {
        0 => all.filter(|(a, b)| a != b).zip(weights).map(|((a, b), w)| (a, b, w)).collect(),
        _ => all.zip(weights).filter(|(_, w)| *w > -0.5).map(|((a, b), w)| (a, b, w)).collect(),
    };
    let factors: Vec<&[T]> = factors.iter().map(|factor| &factor[..]).collect();
    let biases: Vec<&[T]> = biases.iter().map(Vec::as_slice).collect();
    let columns: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
    let model = CellModel {
        mean: 0.3,
        rank,
        stride,
        factors: &factors,
        biases: if has_biases { &biases } else { &[] },
        interaction: if kind == 2 { Interaction::Product } else { Interaction::Pairs(&pairs) },
    };
    for isa in Isa::available() {
        let mut out = vec![f64::NAN; cells];
        Backend::new(isa).predict_cells(&model, &columns, &mut out);
        for (at, out) in out.iter().enumerate() {
            let cell: Vec<usize> = columns.iter().map(|column| column[at] as usize).collect();
            assert_eq!(out.to_bits(), reference(&model, &cell).to_bits(), "{isa}, cell {at}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn predictions_agree_with_plain_loops(
        modes in 1usize..=8,
        rank in 1usize..40,
        cells in 0usize..70,
        kind in 0u8..3,
        has_biases: bool,
        seed: u64,
    ) {
        check::<f32>(modes, rank, cells, kind, has_biases, seed);
        check::<f64>(modes, rank, cells, kind, has_biases, seed);
    }
}

#[test]
#[should_panic(expected = "a cell picks a row that does not exist")]
fn rows_that_do_not_exist_are_refused() {
    let rows = [0.0f64; 16];
    let model = CellModel {
        mean: 0.0,
        rank: 1,
        stride: 8,
        factors: &[&rows],
        biases: &[],
        interaction: Interaction::Product,
    };
    Backend::detect().predict_cells(&model, &[&[0, 2]], &mut [0.0; 2]);
}
