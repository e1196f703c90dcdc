//! Planted tensors, brute-force references and finite differences for Quadfill's tests.
//!
//! Nothing here depends on the library, so that tests compare it with something written apart.

pub mod interior;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use std::collections::HashSet;

/// A tensor with known factors and some of its cells observed.
#[derive(Debug, Clone)]
pub struct Planted {
    /// One factor matrix per mode, row-major.
    pub factors: Vec<Vec<f64>>,
    /// Columns of the factor matrices.
    pub rank: usize,
    /// Labels per mode.
    pub sizes: Vec<usize>,
    /// The kernel, row-major, or nothing for CP.
    pub kernel: Option<Vec<f64>>,
    /// Observed cells, one column per mode.
    pub train: Vec<Vec<u32>>,
    /// Their values.
    pub values: Vec<f64>,
    /// Other cells.
    pub test: Vec<Vec<u32>>,
    /// Their values.
    pub test_values: Vec<f64>,
}

impl Planted {
    /// Standard normal factors, `observed` distinct cells with every label seen at least `rank`
    /// times where that is possible, and as many test cells.
    ///
    /// # Panics
    /// If the tensor has too few cells.
    pub fn new(
        sizes: &[usize],
        rank: usize,
        kernel: Option<Vec<f64>>,
        observed: usize,
        seed: u64,
    ) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut normal =
            |n: usize| -> Vec<f64> { (0..n).map(|_| StandardNormal.sample(&mut rng)).collect() };
        let factors: Vec<Vec<f64>> = sizes.iter().map(|&n| normal(n * rank)).collect();
        let cells: f64 = sizes.iter().map(|&n| n as f64).product();
        assert!(cells >= 2.0 * observed as f64, "the tensor has enough cells");
        let enough = sizes.iter().all(|&n| observed >= 2 * n * rank);
        let mut planted = Self {
            factors,
            rank,
            sizes: sizes.to_vec(),
            kernel,
            train: Vec::new(),
            values: Vec::new(),
            test: Vec::new(),
            test_values: Vec::new(),
        };
        loop {
            let mut seen = HashSet::new();
            planted.train = distinct_cells(sizes, observed, &mut seen, &mut rng);
            let covered = planted.train.iter().zip(sizes).all(|(column, &n)| {
                let mut counts = vec![0; n];
                for &i in column {
                    counts[i as usize] += 1;
                }
                counts.iter().all(|&c| c >= rank)
            });
            if covered || !enough {
                planted.test = distinct_cells(sizes, observed.min(20_000), &mut seen, &mut rng);
                break;
            }
        }
        planted.values = planted.at(&planted.train);
        planted.test_values = planted.at(&planted.test);
        planted
    }

    /// The true value of a cell.
    pub fn cell(&self, cell: &[u32]) -> f64 {
        let row = |mode: usize| &self.factors[mode][cell[mode] as usize * self.rank..][..self.rank];
        let modes = cell.len();
        match &self.kernel {
            None => (0..self.rank).map(|l| (0..modes).map(|a| row(a)[l]).product::<f64>()).sum(),
            Some(kernel) => (0..modes * modes)
                .map(|i| {
                    let (a, b) = (i / modes, i % modes);
                    kernel[i] * row(a).iter().zip(row(b)).map(|(x, y)| x * y).sum::<f64>()
                })
                .sum(),
        }
    }

    /// The true values of cells given by columns.
    pub fn at(&self, columns: &[Vec<u32>]) -> Vec<f64> {
        (0..columns[0].len())
            .map(|i| self.cell(&columns.iter().map(|c| c[i]).collect::<Vec<_>>()))
            .collect()
    }

    /// Adds normal noise of deviation `share` times the root mean square of the values.
    pub fn add_noise(&mut self, share: f64, seed: u64) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x006e_6f69_7365);
        let size =
            (self.values.iter().map(|v| v * v).sum::<f64>() / self.values.len() as f64).sqrt();
        for value in &mut self.values {
            let draw: f64 = StandardNormal.sample(&mut rng);
            *value += share * size * draw;
        }
    }

    /// The relative error of predictions on the test cells.
    pub fn relative_error(&self, predictions: &[f64]) -> f64 {
        let wrong: f64 =
            predictions.iter().zip(&self.test_values).map(|(p, y)| (p - y).powi(2)).sum();
        let size: f64 = self.test_values.iter().map(|y| y * y).sum();
        (wrong / size).sqrt()
    }
}

fn distinct_cells(
    sizes: &[usize],
    count: usize,
    seen: &mut HashSet<Vec<u32>>,
    rng: &mut ChaCha8Rng,
) -> Vec<Vec<u32>> {
    let mut columns = vec![Vec::with_capacity(count); sizes.len()];
    while columns[0].len() < count {
        let cell: Vec<u32> = sizes.iter().map(|&n| rng.random_range(0..n as u32)).collect();
        if seen.insert(cell.clone()) {
            for (column, index) in columns.iter_mut().zip(cell) {
                column.push(index);
            }
        }
    }
    columns
}

/// The kernel with 1/2 off the diagonal.
pub fn pairwise_kernel(modes: usize) -> Vec<f64> {
    (0..modes * modes).map(|i| if i / modes == i % modes { 0.0 } else { 0.5 }).collect()
}

/// A symmetric kernel with normal entries.
pub fn random_kernel(modes: usize, seed: u64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut kernel = vec![0.0; modes * modes];
    for a in 0..modes {
        for b in 0..=a {
            let entry: f64 = StandardNormal.sample(&mut rng);
            kernel[a * modes + b] = entry;
            kernel[b * modes + a] = entry;
        }
    }
    kernel
}

/// The derivative of `f` at `x` along `direction`, by a central difference with extrapolation.
pub fn directional_derivative(f: impl Fn(&[f64]) -> f64, x: &[f64], direction: &[f64]) -> f64 {
    let at = |h: f64| -> f64 {
        let moved = |sign: f64| -> Vec<f64> {
            x.iter().zip(direction).map(|(x, d)| x + sign * h * d).collect()
        };
        (f(&moved(1.0)) - f(&moved(-1.0))) / (2.0 * h)
    };
    let h = 1e-3;
    (4.0 * at(0.5 * h) - at(h)) / 3.0
}
