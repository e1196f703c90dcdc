//! What the observations see of a symmetric matrix: `<A_t, X>` for every cell `t`.
//!
//! `A_t` is the kernel written on the rows and columns that `t` picks, so a cell sees few entries of
//! `X`, and only the entries that some cell sees are ever gathered.

use crate::model::{Interaction, ModelSpec};
use crate::views::Selection;
use quadfill_kernels::Real;

/// The linear map from symmetric matrices to the observed cells, and the cells themselves.
#[derive(Debug)]
pub(super) struct Sensing {
    /// Order of the matrices: rows of all factor matrices, stacked.
    pub(super) order: usize,
    /// Entries that some cell sees, as `row * order + column` with `row >= column`, ascending.
    seen: Vec<usize>,
    /// Whether an entry lies on the diagonal.
    on_diagonal: Vec<bool>,
    /// For each cell the entries it sees, one per pair of modes that interact.
    cells: Vec<u32>,
    /// The coefficient of each of them, the same for all cells.
    coefficients: Vec<f64>,
    /// For each cell the stacked row of each mode.
    rows: Vec<u32>,
    modes: usize,
    /// The values.
    pub(super) values: Vec<f64>,
    /// The weights over the number of observations.
    pub(super) shares: Vec<f64>,
    /// Data terms below this are rounding.
    pub(super) rounding: f64,
}

impl Sensing {
    /// Of the observations whose weight is above zero, with `mean` subtracted from their values.
    pub(super) fn new<T: Real>(spec: &ModelSpec, views: Selection<'_, T>, mean: f64) -> Self {
        let Interaction::Quadratic(kernel) = &spec.interaction else {
            panic!("only quadratic models are linear in X");
        };
        let modes = spec.modes();
        let mut first = vec![0usize];
        for rows in spec.group_sizes(&views.sizes()) {
            first.push(first[first.len() - 1] + rows);
        }
        let order = first[first.len() - 1];
        let pairs: Vec<(usize, usize)> = (0..modes)
            .flat_map(|a| (0..=a).map(move |b| (a, b)))
            .filter(|&(a, b)| kernel.get(a, b) != 0.0)
            .collect();
        let coefficients =
            pairs.iter().map(|&(a, b)| kernel.get(a, b) * if a == b { 1.0 } else { 2.0 }).collect();
        let (mut entries, mut rows) = (Vec::new(), Vec::new());
        let (mut values, mut shares) = (Vec::new(), Vec::new());
        views.for_each(|cell, value, weight| {
            if weight == T::ZERO {
                return;
            }
            let row = |mode: usize| first[spec.groups[mode]] + cell[mode] as usize;
            rows.extend((0..modes).map(|mode| row(mode) as u32));
            entries.extend(pairs.iter().map(|&(a, b)| {
                let (a, b) = (row(a), row(b));
                a.max(b) * order + a.min(b)
            }));
            values.push(centred(value.to_f64(), mean));
            shares.push(weight.to_f64() / views.len() as f64);
        });
        let rounding = shares.iter().sum::<f64>() * rounding(mean).powi(2);
        let mut seen = entries.clone();
        seen.sort_unstable();
        seen.dedup();
        let cells = entries
            .iter()
            .map(|entry| seen.binary_search(entry).expect("every entry is among them") as u32)
            .collect();
        let on_diagonal = seen.iter().map(|entry| entry / order == entry % order).collect();
        Self {
            order,
            seen,
            on_diagonal,
            cells,
            coefficients,
            rows,
            modes,
            values,
            shares,
            rounding,
        }
    }

    /// How many cells there are.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// How many entries are seen.
    pub(super) fn width(&self) -> usize {
        self.seen.len()
    }

    /// A number for each seen entry: one on the diagonal, another one off it.
    pub(super) fn by_place(&self, on_diagonal: f64, off_diagonal: f64) -> Vec<f64> {
        self.on_diagonal.iter().map(|&on| if on { on_diagonal } else { off_diagonal }).collect()
    }

    /// The seen entries of a matrix.
    pub(super) fn gather(&self, matrix: &[f64], out: &mut [f64]) {
        for (o, &entry) in out.iter_mut().zip(&self.seen) {
            *o = matrix[entry];
        }
    }

    /// Writes the seen entries of a symmetric matrix, into both triangles.
    pub(super) fn scatter(&self, entries: &[f64], matrix: &mut [f64]) {
        for (&value, &entry) in entries.iter().zip(&self.seen) {
            matrix[entry] = value;
            matrix[entry % self.order * self.order + entry / self.order] = value;
        }
    }

    /// `<A_t, X>` for every cell, from the seen entries of `X`.
    pub(super) fn forward(&self, entries: &[f64], out: &mut [f64]) {
        let width = self.coefficients.len();
        for (o, cell) in out.iter_mut().zip(self.cells.chunks_exact(width)) {
            *o = cell.iter().zip(&self.coefficients).map(|(&e, c)| c * entries[e as usize]).sum();
        }
    }

    /// `<A_t, X>` for every cell.
    pub(super) fn forward_matrix(&self, matrix: &[f64], out: &mut [f64]) {
        let width = self.coefficients.len();
        for (o, cell) in out.iter_mut().zip(self.cells.chunks_exact(width)) {
            let see = |(&e, c): (&u32, &f64)| c * matrix[self.seen[e as usize]];
            *o = cell.iter().zip(&self.coefficients).map(see).sum();
        }
    }

    /// The derivative of `sum over t of multiplier_t <A_t, X>` by each seen entry (an entry off the
    /// diagonal stands for both its places).
    pub(super) fn adjoint(&self, multipliers: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let width = self.coefficients.len();
        for (&multiplier, cell) in multipliers.iter().zip(self.cells.chunks_exact(width)) {
            for (&e, c) in cell.iter().zip(&self.coefficients) {
                out[e as usize] += c * multiplier;
            }
        }
    }

    /// Adds `sum over t of multiplier_t A_t` to a matrix.
    pub(super) fn add_adjoint(&self, multipliers: &[f64], matrix: &mut [f64]) {
        let mut entries = vec![0.0; self.width()];
        self.adjoint(multipliers, &mut entries);
        for ((&multiplier, &entry), &on) in entries.iter().zip(&self.seen).zip(&self.on_diagonal) {
            if on {
                matrix[entry] += multiplier;
            } else {
                matrix[entry] += 0.5 * multiplier;
                matrix[entry % self.order * self.order + entry / self.order] += 0.5 * multiplier;
            }
        }
    }

    /// Adds the biases of its rows to every cell.
    pub(super) fn add_biases(&self, biases: &[f64], out: &mut [f64]) {
        for (o, rows) in out.iter_mut().zip(self.rows.chunks_exact(self.modes)) {
            *o += rows.iter().map(|&row| biases[row as usize]).sum::<f64>();
        }
    }

    /// The derivative of `sum over t of multiplier_t * (biases of t)` by every bias.
    pub(super) fn bias_adjoint(&self, multipliers: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (&multiplier, rows) in multipliers.iter().zip(self.rows.chunks_exact(self.modes)) {
            for &row in rows {
                out[row as usize] += multiplier;
            }
        }
    }

    /// The diagonal of `A D^-1 A^T`, where `D` has a number for each seen entry.
    pub(super) fn gram_diagonal(&self, metric: &[f64]) -> Vec<f64> {
        let width = self.coefficients.len();
        self.cells
            .chunks_exact(width)
            .map(|cell| {
                // With tied modes a cell may see one entry twice.
                let pairs = (0..width).flat_map(|i| (0..width).map(move |k| (i, k)));
                pairs
                    .filter(|&(i, k)| cell[i] == cell[k])
                    .map(|(i, k)| {
                        self.coefficients[i] * self.coefficients[k] / metric[cell[i] as usize]
                    })
                    .sum()
            })
            .collect()
    }
}

/// A value minus the mean; zero where that is rounding, so that equal values leave nothing to explain.
fn centred(value: f64, mean: f64) -> f64 {
    let left = value - mean;
    if left.abs() <= rounding(mean) { 0.0 } else { left }
}

/// The rounding error of a mean.
fn rounding(mean: f64) -> f64 {
    16.0 * f64::EPSILON * mean.abs()
}
