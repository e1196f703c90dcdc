//! The gradient of the data term in `X = U U^T`, as an operator on vectors over all rows stacked.
//!
//! ```text
//! (2/m) * sum over observations of w_t (pred_t - y_t) A_t
//! ```
//!
//! `A_t` is the kernel written on the rows and columns that cell `t` picks. Residuals are taken in
//! double precision whatever the precision of the data, once, and kept beside one view.

use std::ops::Range;

use rayon::prelude::*;

use super::Objective;
use crate::model::{Interaction, Kernel, Parameters};
use crate::views::{Cells, ModeReader, Selection};
use quadfill_kernels::{Real, sum};

/// The gradient of the data term at a point, without the penalties.
#[derive(Debug, Clone)]
pub struct DataGradient<'v, T: Real> {
    views: Selection<'v, T>,
    kernel: Kernel,
    /// The mode whose view is read.
    mode: usize,
    /// The first stacked row of each mode.
    first: Vec<usize>,
    /// Rows of that mode which one thread works through at a time.
    chunks: Vec<Range<usize>>,
    /// `(2/m) w_t (pred_t - y_t)` in the order of the view.
    scaled_residuals: Vec<T>,
    rows: usize,
    observations: f64,
    data: f64,
    along: f64,
}

/// A cell seen from the mode whose view is read: the stacked rows it picks, and its scaled residual.
type Visit<'a> = dyn FnMut(&[usize], f64) + 'a;

impl<'v, T: Real> DataGradient<'v, T> {
    /// The gradient of `objective` at `parameters`, or `None` for CP, which is not a function of `U U^T`.
    pub fn new(objective: &Objective<'v, T>, parameters: &Parameters<T>) -> Option<Self> {
        let Interaction::Quadratic(kernel) = &objective.spec().interaction else {
            return None;
        };
        let views = objective.views();
        let (sizes, rows) = (views.sizes(), parameters.layout().rows());
        let group_start = |group: usize| rows[..group].iter().sum();
        let mode = (0..sizes.len()).max_by_key(|&mode| sizes[mode]).unwrap_or(0);
        let mut gradient = Self {
            views,
            kernel: kernel.clone(),
            mode,
            first: objective.spec().groups.iter().map(|&group| group_start(group)).collect(),
            chunks: chunks(views, mode, rows.iter().sum()),
            scaled_residuals: Vec::new(),
            rows: rows.iter().sum(),
            observations: objective.observations(),
            data: 0.0,
            along: 0.0,
        };
        gradient.measure(parameters);
        Some(gradient)
    }

    /// How many rows there are, all modes stacked.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.scaled_residuals.len()
    }

    /// The weighted mean squared residual.
    pub fn data(&self) -> f64 {
        self.data
    }

    /// The inner product of the gradient with `U U^T`.
    pub fn along_point(&self) -> f64 {
        self.along
    }

    /// Computes the residuals of all cells.
    fn measure(&mut self, parameters: &Parameters<T>) {
        let scale = 2.0 / self.observations;
        let view = self.views.mode(self.mode);
        let mut scaled_residuals = vec![T::ZERO; view.start(view.labels())];
        let mut rest = scaled_residuals.as_mut_slice();
        let pieces = self.chunks.iter().map(|chunk| {
            let cells = view.start(chunk.end) - view.start(chunk.start);
            let (piece, after) = std::mem::take(&mut rest).split_at_mut(cells);
            rest = after;
            piece
        });
        let pieces: Vec<&mut [T]> = pieces.collect();
        let parts: Vec<(Vec<f64>, Vec<f64>)> = self
            .chunks
            .par_iter()
            .zip(pieces)
            .map(|(chunk, scaled_residuals)| {
                let first = view.start(chunk.start);
                let (mut squares, mut along) = (Vec::new(), Vec::new());
                let mut reader = view.reader();
                for row in chunk.clone() {
                    let (mut square, mut inner) = (0.0, 0.0);
                    let start = view.range(row).start;
                    self.visit_row(row, &mut reader, &mut |place, labels, cells| {
                        let at = start + place;
                        let value = cells.values[place].to_f64();
                        let weight = cells.weights.map_or(1.0, |w| w[place].to_f64());
                        let interaction = interaction(&self.kernel, parameters, labels);
                        let residual = offset(parameters, labels) + interaction - value;
                        square += weight * residual * residual;
                        inner += scale * weight * residual * interaction;
                        scaled_residuals[at - first] = T::from_f64(scale * weight * residual);
                    });
                    squares.push(square);
                    along.push(inner);
                }
                (squares, along)
            })
            .collect();
        let (mut squares, mut along) = (Vec::new(), Vec::new());
        for (square, inner) in parts {
            squares.extend(square);
            along.extend(inner);
        }
        self.scaled_residuals = scaled_residuals;
        self.data = sum::ordered_sum(&squares) / self.observations;
        self.along = sum::ordered_sum(&along);
    }

    /// Calls `see` with the cells of one row: the place within the row, the label of every mode, and the row.
    fn visit_row(
        &self,
        row: usize,
        reader: &mut ModeReader<'_, T>,
        see: &mut dyn FnMut(usize, &[usize], Cells<'_, T>),
    ) {
        let mut labels = [0; 8];
        let labels = &mut labels[..self.first.len()];
        let width = labels.len() - 1;
        let cells = reader.cells(row);
        labels[self.mode] = row;
        for (place, cell) in cells.others.chunks_exact(width).enumerate() {
            for (mode, &label) in (0..=width).filter(|&mode| mode != self.mode).zip(cell) {
                labels[mode] = label as usize;
            }
            see(place, labels, cells);
        }
    }

    /// Calls `see` with the cells of some rows: the stacked rows they pick and their scaled residual.
    fn visit(&self, rows: Range<usize>, see: &mut Visit<'_>) {
        let mut stacked = vec![0; self.first.len()];
        let view = self.views.mode(self.mode);
        let mut reader = view.reader();
        for row in rows {
            let start = view.range(row).start;
            self.visit_row(row, &mut reader, &mut |at, labels, _| {
                for ((place, label), first) in stacked.iter_mut().zip(labels).zip(&self.first) {
                    *place = first + label;
                }
                see(&stacked, self.scaled_residuals[start + at].to_f64());
            });
        }
    }

    /// Sums vectors over all rows that threads compute in parallel, in a fixed order. Only as many
    /// are alive at once as there are threads.
    fn gather(&self, out: &mut [f64], part: impl Fn(Range<usize>, &mut [f64]) + Sync) {
        out.fill(0.0);
        let mut vectors = vec![Vec::new(); rayon::current_num_threads().min(self.chunks.len())];
        for chunks in self.chunks.chunks(vectors.len().max(1)) {
            vectors.par_iter_mut().zip(chunks).for_each(|(sums, chunk)| {
                sums.clear();
                sums.resize(self.rows, 0.0);
                part(chunk.clone(), sums);
            });
            for sums in &vectors[..chunks.len()] {
                for (o, p) in out.iter_mut().zip(sums) {
                    *o += p;
                }
            }
        }
    }

    /// `out = gradient * v`.
    pub fn apply(&self, v: &[f64], out: &mut [f64]) {
        match self.first.len() {
            2 => self.apply_to::<2>(v, out),
            3 => self.apply_to::<3>(v, out),
            4 => self.apply_to::<4>(v, out),
            5 => self.apply_to::<5>(v, out),
            6 => self.apply_to::<6>(v, out),
            7 => self.apply_to::<7>(v, out),
            _ => self.apply_to::<8>(v, out),
        }
    }

    /// The same where the number of modes is known to the compiler: this loop is what a certificate
    /// of large data costs.
    fn apply_to<const N: usize>(&self, v: &[f64], out: &mut [f64]) {
        // The mode whose row stays the same comes first, the others in their order.
        let order: [usize; N] = std::array::from_fn(|at| match at {
            0 => self.mode,
            _ if at <= self.mode => at - 1,
            _ => at,
        });
        let first: [usize; N] = order.map(|mode| self.first[mode]);
        let kernel: [[f64; N]; N] = order.map(|a| order.map(|b| self.kernel.get(a, b)));
        let view = self.views.mode(self.mode);
        self.gather(out, |rows, sums| {
            let mut reader = view.reader();
            for row in rows {
                let Range { start, end } = view.range(row);
                let others = reader.cells(row).others.chunks_exact(N - 1);
                let own = first[0] + row;
                let mut total = 0.0;
                for (cell, scaled) in others.zip(&self.scaled_residuals[start..end]) {
                    let mut at = [own; N];
                    let mut x = [v[own]; N];
                    for b in 1..N {
                        at[b] = first[b] + cell[b - 1] as usize;
                        x[b] = v[at[b]];
                    }
                    let scaled = scaled.to_f64();
                    for a in 0..N {
                        let mut inner = 0.0;
                        for b in 0..N {
                            inner += kernel[a][b] * x[b];
                        }
                        if a == 0 {
                            total += scaled * inner;
                        } else {
                            sums[at[a]] += scaled * inner;
                        }
                    }
                }
                sums[own] += total;
            }
        });
    }

    /// For each row the sum of the absolute scaled residuals, with `|K|` for `K`, times `v`: a bound on what
    /// rounding can do to [`apply`](Self::apply).
    pub fn apply_absolute(&self, v: &[f64], out: &mut [f64]) {
        self.gather(out, |rows, sums| {
            self.visit(rows, &mut |at, scaled| {
                for (a, &i) in at.iter().enumerate() {
                    for (b, &j) in at.iter().enumerate() {
                        sums[i] += scaled.abs() * self.kernel.get(a, b).abs() * v[j];
                    }
                }
            });
        });
    }

    /// For each row the sum of its cells' scaled residuals: the gradient of the data term in the row's bias.
    pub fn bias_gradient(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.rows];
        self.gather(&mut out, |rows, sums| {
            self.visit(rows, &mut |at, scaled| {
                for &i in at {
                    sums[i] += scaled;
                }
            });
        });
        out
    }

    /// Adds the gradient to a dense row-major matrix over all rows.
    ///
    /// # Panics
    /// Unless there is room for `rows * rows` numbers.
    pub fn add_to_dense(&self, dense: &mut [f64]) {
        assert_eq!(dense.len(), self.rows * self.rows, "entries of the matrix");
        let all = 0..self.views.mode(self.mode).labels();
        self.visit(all, &mut |at, scaled| {
            for (a, &i) in at.iter().enumerate() {
                for (b, &j) in at.iter().enumerate() {
                    dense[i * self.rows + j] += scaled * self.kernel.get(a, b);
                }
            }
        });
    }
}

/// Rows in chunks of about equally many cells. Every chunk needs a vector over all rows, so there are
/// few chunks where there are many rows.
fn chunks<T: Real>(views: Selection<'_, T>, mode: usize, rows: usize) -> Vec<Range<usize>> {
    const MAX_CHUNKS: usize = 16;
    let count = (views.len() / rows.max(1)).clamp(1, MAX_CHUNKS);
    let view = views.mode(mode);
    let len = view.start(view.labels());
    let mut chunks = Vec::with_capacity(count);
    let mut first = 0;
    for row in 0..view.labels() {
        let due = len * (chunks.len() + 1) / count;
        if view.start(row + 1) >= due && chunks.len() + 1 < count {
            chunks.push(first..row + 1);
            first = row + 1;
        }
    }
    chunks.push(first..view.labels());
    chunks
}

/// The sum of `K[a][b] <u_a, u_b>` in double precision.
fn interaction<T: Real>(kernel: &Kernel, parameters: &Parameters<T>, labels: &[usize]) -> f64 {
    let groups = parameters.layout().groups();
    let row = |mode: usize| parameters.row(groups[mode], labels[mode]);
    let mut total = 0.0;
    for a in 0..labels.len() {
        for b in 0..=a {
            let k = kernel.get(a, b);
            if k != 0.0 {
                total += if a == b { k } else { 2.0 * k } * inner(row(a), row(b));
            }
        }
    }
    total
}

fn offset<T: Real>(parameters: &Parameters<T>, labels: &[usize]) -> f64 {
    let groups = parameters.layout().groups().iter();
    let biases = groups.zip(labels).map(|(&group, &label)| parameters.bias(group, label).to_f64());
    biases.fold(parameters.mean, |sum, bias| sum + bias)
}

fn inner<T: Real>(x: &[T], y: &[T]) -> f64 {
    const LANES: usize = 4;
    let (x, x_rest) = x.as_chunks::<LANES>();
    let (y, y_rest) = y.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for (x, y) in x.iter().zip(y) {
        for l in 0..LANES {
            lanes[l] += x[l].to_f64() * y[l].to_f64();
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(x, y)| x.to_f64() * y.to_f64()).sum();
    (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]) + rest
}
