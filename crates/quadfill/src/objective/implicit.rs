//! Implicit data: unobserved cells count as zeros.
//!
//! With weight `w0` on every unobserved cell the data term is
//!
//! ```text
//! sum over observed of [w (pred - y)^2 - w0 pred^2]  +  w0 * sum over all cells of pred^2
//! ```
//!
//! The first sum is one of ordinary observations with weight `w - w0` and value `w y / (w - w0)`, up
//! to a constant. The second is a polynomial in sums over rows, `G_b = U_b^T U_b` and
//! `s_b = sum of rows`, so no unobserved cell is ever visited.
//!
//! Where all observed cells weigh as much as the others, `w = w0`, the squares of the first sum cancel
//! and `-2 w0 y pred` is left. Such data are kept as values `v = w0 y` without weights, and all rows of
//! a mode have the same normal matrix.

use rayon::prelude::*;

use super::Objective;
use super::point::Point;
use super::rows::CellScratch;
use crate::error::{Error, Result};
use crate::model::{Kernel, ModelSpec, Parameters};
use crate::observations::{Observations, OnDuplicate};
use crate::views::Segment;
use quadfill_kernels::cells::{Form, ModeContext, RowCells};
use quadfill_kernels::{AlignedVec, Real};

/// Rows whose products are summed together.
const BLOCK: usize = 1024;

/// The weight of unobserved cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Implicit {
    weight: f64,
    /// The constant of the data term that the change of weights and values leaves out, times `m`.
    constant: f64,
    /// Whether observed cells weigh as much as the others.
    uniform: bool,
}

/// Observations whose sum of squares, with that of all predictions at weight `zero` added, is the sum of
/// squares over all cells where unobserved ones are zero with that weight. Without weights, where
/// observed cells weigh as much: then `-2` times the sum of values times predictions is to be added
/// instead of a sum of squares.
pub(super) fn with_implicit_weights(data: Observations, zero: f64) -> Result<Observations> {
    let mut values = data.values().to_vec();
    let weights = data.weights().map(<[f64]>::to_vec);
    let mut weights = weights.unwrap_or_else(|| vec![1.0; values.len()]);
    let uniform = weights.iter().all(|&weight| weight == zero);
    for (value, weight) in values.iter_mut().zip(&mut weights) {
        let (y, w) = (*value, *weight);
        if uniform {
            *value = zero * y;
            continue;
        }
        if w <= zero {
            return Err(Error::setting(format!(
                "an observed cell has the weight {w}, no more than the {zero} of unobserved ones: lower \
                 `implicit`"
            )));
        }
        *value = w * y / (w - zero);
        *weight = w - zero;
    }
    let (modes, indices, _, _) = data.into_parts();
    let weights = (!uniform).then_some(weights);
    Observations::new(modes, indices, values, weights, OnDuplicate::Error)
}

/// The sum over all cells of the squared prediction as a function of one row:
/// `<u, G u> + 2 <h, u> + constant`, all times the weight.
#[derive(Debug, Clone)]
pub(crate) struct RowImplicit {
    rank: usize,
    gram: Vec<f64>,
    linear: Vec<f64>,
    constant: f64,
}

impl RowImplicit {
    /// Adds the equations of a step from `row` to those of its observations.
    pub(crate) fn add_to<T: Real>(&self, row: &[T], system: &mut [f64], n: usize) {
        for i in 0..self.rank {
            let line = &self.gram[i * self.rank..][..self.rank];
            let along: f64 = line.iter().zip(row).map(|(g, u)| g * u.to_f64()).sum();
            system[n * (n + 1) + i] -= along + self.linear[i];
            for (j, g) in line[..=i].iter().enumerate() {
                system[i * (n + 1) + j] += g;
            }
        }
    }

    /// The weighted sum of squares of a row's predictions.
    pub(crate) fn squares<T: Real>(&self, row: &[T]) -> f64 {
        let mut sum = self.constant;
        for i in 0..self.rank {
            let line = &self.gram[i * self.rank..][..self.rank];
            let along: f64 = line.iter().zip(row).map(|(g, u)| g * u.to_f64()).sum();
            sum += row[i].to_f64() * (along + 2.0 * self.linear[i]);
        }
        sum
    }
}

impl<T: Real> Objective<'_, T> {
    /// Counts every cell that was not observed as a zero of this weight. The data must have come
    /// from [`with_implicit_weights`].
    #[must_use]
    pub(crate) fn with_implicit(mut self, weight: Option<f64>) -> Self {
        self.implicit = weight.map(|weight| {
            let uniform = !self.views.is_weighted();
            let mut constant = 0.0;
            self.views.for_each(|_, value, w| {
                let (y, w) = (value.to_f64(), w.to_f64());
                constant +=
                    if uniform { y * y / weight } else { -w * y * y * weight / (w + weight) };
            });
            Implicit { weight, constant, uniform }
        });
        self
    }

    /// Whether observed cells enter by a linear term alone, the squares being those of all cells.
    pub(crate) fn has_linear_cells(&self) -> bool {
        self.implicit.is_some_and(|implicit| implicit.uniform)
    }

    /// `-2` times the sum of values times predictions over some cells, where that is all they add.
    pub(super) fn linear_value(
        &self,
        point: &Point<'_, T>,
        segment: &Segment,
        scratch: &mut CellScratch<'_, T>,
    ) -> f64 {
        let cells = point.row_cells(&mut scratch.reader, segment);
        let mut residuals = vec![T::ZERO; cells.values.len()];
        self.backend.residuals(
            &point.context(segment.mode),
            &cells,
            &mut scratch.workspace,
            &mut residuals,
        );
        let product = |(v, r): (&T, &T)| v.to_f64() * (v.to_f64() - r.to_f64());
        -2.0 * cells.values.iter().zip(&residuals).map(product).sum::<f64>()
    }

    /// Adds to the right-hand side of a row's equations what the linear terms of its cells give, and
    /// behind it their sum.
    pub(crate) fn add_linear(
        &self,
        point: &Point<'_, T>,
        segment: &Segment,
        scratch: &mut CellScratch<'_, T>,
        right: &mut [f64],
    ) {
        let unknowns = right.len() - 1;
        right[unknowns] += self.linear_value(point, segment, scratch);
        // The residual of a cell whose prediction is zero is its value.
        let context = point.context(segment.mode);
        let others = context.factors.len();
        let (nothing, apart) = (AlignedVec::zeros(context.stride), vec![T::ZERO; others * others]);
        let form = match context.form {
            Form::Quadratic { own, cross, .. } => Form::Quadratic { own, cross, among: &apart },
            Form::Product => Form::Product,
        };
        let context = ModeContext { form, ..context };
        let cells = RowCells { own: &nothing, ..point.row_cells(&mut scratch.reader, segment) };
        self.backend.gradient(&context, &cells, &mut scratch.workspace, &mut right[..unknowns]);
    }

    /// The constant of the data term, times `m`.
    pub(crate) fn implicit_constant(&self) -> f64 {
        self.implicit.map_or(0.0, |implicit| implicit.constant)
    }

    /// All of the data term that is not a sum over observations, times `m`.
    pub(super) fn implicit_value(&self, parameters: &Parameters<T>) -> f64 {
        self.implicit.map_or(0.0, |implicit| {
            let sums = AllCells::new(&self.spec, parameters);
            let modes: Vec<usize> = (0..self.spec.modes()).collect();
            implicit.weight * sums.squares(&modes) + implicit.constant
        })
    }

    /// What unobserved cells add to the equations of the rows of a matrix.
    pub(crate) fn row_implicit(
        &self,
        parameters: &Parameters<T>,
        group: usize,
    ) -> Option<RowImplicit> {
        let Implicit { weight, .. } = self.implicit?;
        let mode = self.spec.group_modes(group).next().expect("a mode uses the matrix");
        let sums = AllCells::new(&self.spec, parameters);
        let others: Vec<usize> = (0..self.spec.modes()).filter(|&b| b != mode).collect();
        let (mut gram, mut linear) = sums.row(mode, &others);
        gram.iter_mut().chain(&mut linear).for_each(|x| *x *= weight);
        let constant = weight * sums.squares_among(&others);
        Some(RowImplicit { rank: self.spec.rank, gram, linear, constant })
    }
}

/// Sums over the rows of each mode, from which sums over all cells are made.
struct AllCells<'a> {
    kernel: Option<&'a Kernel>,
    rank: usize,
    counts: Vec<f64>,
    grams: Vec<Vec<f64>>,
    sums: Vec<Vec<f64>>,
}

impl<'a> AllCells<'a> {
    fn new<T: Real>(spec: &'a ModelSpec, parameters: &Parameters<T>) -> Self {
        let kernel = spec.kernel();
        let (grams, sums) =
            (0..spec.modes()).map(|mode| row_sums(parameters, spec.groups[mode])).unzip();
        let rows = parameters.layout().rows();
        let counts = spec.groups.iter().map(|&group| rows[group] as f64).collect();
        Self { kernel, rank: spec.rank, counts, grams, sums }
    }

    fn cells(&self, modes: &[usize]) -> f64 {
        modes.iter().map(|&b| self.counts[b]).product()
    }

    /// `G` and `h` of a row of `mode` in cells over `mode` and `others`.
    fn row(&self, mode: usize, others: &[usize]) -> (Vec<f64>, Vec<f64>) {
        let rank = self.rank;
        let mut linear = vec![0.0; rank];
        let Some(kernel) = self.kernel else {
            let mut gram = vec![1.0; rank * rank];
            for &b in others {
                gram.iter_mut().zip(&self.grams[b]).for_each(|(g, other)| *g *= other);
            }
            return (gram, linear);
        };
        let mut gram = vec![0.0; rank * rank];
        let all = self.cells(others);
        for (at, &b) in others.iter().enumerate() {
            let weight = 4.0 * kernel.get(mode, b).powi(2) * all / self.counts[b];
            gram.iter_mut().zip(&self.grams[b]).for_each(|(g, other)| *g += weight * other);
            for &c in &others[..at] {
                let both = all / (self.counts[b] * self.counts[c]);
                let weight = 4.0 * kernel.get(mode, b) * kernel.get(mode, c) * both;
                for i in 0..rank {
                    for j in 0..rank {
                        let (x, y) = (&self.sums[b], &self.sums[c]);
                        gram[i * rank + j] += weight * (x[i] * y[j] + y[i] * x[j]);
                    }
                }
                let pair = 4.0 * kernel.get(b, c) * both;
                if pair != 0.0 {
                    self.add_pair(mode, others, [b, c], pair, &mut linear);
                }
            }
        }
        (gram, linear)
    }

    /// Adds the products of a pair of other modes with what the row is multiplied with.
    fn add_pair(
        &self,
        mode: usize,
        others: &[usize],
        [b, c]: [usize; 2],
        pair: f64,
        linear: &mut [f64],
    ) {
        let kernel = self.kernel.expect("only quadratic models have pairs");
        let rank = self.rank;
        for &d in others {
            let weight = pair * kernel.get(mode, d);
            if weight == 0.0 {
                continue;
            }
            if d == b || d == c {
                let (gram, sum) = (&self.grams[d], &self.sums[if d == b { c } else { b }]);
                for (i, s) in linear.iter_mut().enumerate() {
                    *s += weight * dot(&gram[i * rank..][..rank], sum);
                }
            } else {
                let weight = weight * dot(&self.sums[b], &self.sums[c]) / self.counts[d];
                linear.iter_mut().zip(&self.sums[d]).for_each(|(s, x)| *s += weight * x);
            }
        }
    }

    /// The sum of squared predictions over the cells of all modes.
    fn squares(&self, modes: &[usize]) -> f64 {
        let Some((&first, others)) = modes.split_first() else {
            return 0.0;
        };
        let (gram, linear) = self.row(first, others);
        dot(&gram, &self.grams[first])
            + 2.0 * dot(&linear, &self.sums[first])
            + self.counts[first] * self.squares_among(others)
    }

    /// The sum of squares of the terms among some modes: zero for CP, where every product has all modes.
    fn squares_among(&self, modes: &[usize]) -> f64 {
        if self.kernel.is_some() { self.squares(modes) } else { 0.0 }
    }
}

/// `U^T U` and the sum of the rows, block by block in order.
fn row_sums<T: Real>(parameters: &Parameters<T>, group: usize) -> (Vec<f64>, Vec<f64>) {
    let (rank, stride) = (parameters.layout().rank(), parameters.layout().stride());
    let blocks: Vec<(Vec<f64>, Vec<f64>)> = parameters
        .factors(group)
        .par_chunks(BLOCK * stride)
        .map(|rows| {
            let (mut gram, mut sum) = (vec![0.0; rank * rank], vec![0.0; rank]);
            let mut wide = vec![0.0; rank];
            for row in rows.chunks_exact(stride) {
                wide.iter_mut().zip(row).for_each(|(w, u)| *w = u.to_f64());
                for (i, &x) in wide.iter().enumerate() {
                    sum[i] += x;
                    let line = &mut gram[i * rank..][..rank];
                    line.iter_mut().zip(&wide).for_each(|(g, y)| *g += x * y);
                }
            }
            (gram, sum)
        })
        .collect();
    let (mut gram, mut sum) = (vec![0.0; rank * rank], vec![0.0; rank]);
    for (block_gram, block_sum) in blocks {
        gram.iter_mut().zip(block_gram).for_each(|(g, b)| *g += b);
        sum.iter_mut().zip(block_sum).for_each(|(s, b)| *s += b);
    }
    (gram, sum)
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}
