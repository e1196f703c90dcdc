//! Damped Gauss-Newton steps on all parameters jointly, with conjugate gradients inside.

use rayon::prelude::*;

use super::conjugate_gradients::{Enough, conjugate_gradients};
use super::damping::Damping;
use super::step::{Step, StepReport};
use super::vector;
use crate::model::Parameters;
use crate::objective::{CellScratch, Objective};
use crate::views::Segment;
use quadfill_kernels::{Real, cholesky};

const MAX_INNER: usize = 2000;
/// The relative squared residual of conjugate gradients: Newton's method takes more steps anyway.
const RESIDUAL: f64 = 1e-12;
const NEWTON_RESIDUAL: f64 = 1e-4;

/// Polishes a point to machine precision once it is near a minimum.
#[derive(Debug, Default)]
pub struct GaussNewton {
    damping: Damping,
    /// Whether to use the Hessian itself.
    second_order: bool,
    /// The maximum number of inner steps of the first step, where it has one of its own.
    first_inner: Option<usize>,
}

impl GaussNewton {
    /// Starts without damping.
    pub fn new() -> Self {
        Self::default()
    }

    /// Newton's method: the same with the whole Hessian, for minima with residuals that stay.
    pub fn newton() -> Self {
        Self { second_order: true, ..Self::default() }
    }
}

impl GaussNewton {
    /// The same with a first step of at most `inner` inner steps.
    pub(super) fn with_first_inner(self, inner: usize) -> Self {
        Self { first_inner: Some(inner), ..self }
    }
}

impl<T: Real> Step<T> for GaussNewton {
    fn step(&mut self, objective: &Objective<'_, T>, parameters: &mut Parameters<T>) -> StepReport {
        let start = StepReport::at(objective, parameters);
        let mut gradient = parameters.zeros_like();
        objective.gradient_into(parameters, &mut gradient);
        let blocks = RowBlocks::new(objective, parameters);
        let residual = if self.second_order { NEWTON_RESIDUAL } else { RESIDUAL };
        let inner = self.first_inner.take().unwrap_or(MAX_INNER).min(MAX_INNER);
        let enough = Enough { residual, steps: inner };
        let second_order = self.second_order;
        let moved = self.damping.until_down(|damping| {
            let damping = damping * blocks.mean_diagonal;
            let times = |search: &Parameters<T>, product: &mut Parameters<T>| {
                if second_order {
                    objective.hessian_vec_into(parameters, search, product);
                } else {
                    objective.gauss_newton_vec_into(parameters, search, product);
                }
                if damping > 0.0 {
                    vector::add_scaled(product.as_mut_slice(), damping, search.as_slice());
                }
            };
            let direction =
                conjugate_gradients(&gradient, times, |right| blocks.solve(right), &enough);
            let mut moved = parameters.clone();
            moved.advance(1.0, &direction);
            let report = StepReport::at(objective, &moved);
            (report.objective < start.objective).then_some((moved, report))
        });
        let Some((moved, report)) = moved else {
            return StepReport { stuck: true, ..start };
        };
        *parameters = moved;
        report
    }
}

/// The diagonal blocks of the Gauss-Newton matrix, one per row, factored.
pub(super) struct RowBlocks {
    unknowns: usize,
    factors: Vec<Vec<f64>>,
    pub(super) mean_diagonal: f64,
}

impl RowBlocks {
    pub(super) fn new<T: Real>(objective: &Objective<'_, T>, parameters: &Parameters<T>) -> Self {
        let n = parameters.layout().row_unknowns();
        let size = (n + 1) * (n + 1);
        let point = objective.point(parameters);
        let scale = 2.0 / objective.observations();
        let mut diagonal = 0.0;
        let factors: Vec<Vec<f64>> = (0..objective.spec().group_count())
            .map(|group| {
                let sums = objective.row_sums(
                    group,
                    size,
                    &|segment: &Segment, scratch: &mut CellScratch<'_, T>, out: &mut [f64]| {
                        let cells = point.row_cells(&mut scratch.reader, segment);
                        let context = point.context(segment.mode);
                        objective.backend().normal_equations(
                            &context,
                            &cells,
                            &mut scratch.workspace,
                            out,
                        );
                    },
                );
                let priors = objective.row_priors(parameters, group);
                let rows: Vec<(Vec<f64>, f64)> = sums
                    .par_chunks_exact(size)
                    .enumerate()
                    .map(|(label, sums)| {
                        let mut block = vec![0.0; n * n];
                        let mut trace = 0.0;
                        for i in 0..n {
                            for j in 0..=i {
                                block[i * n + j] = scale * sums[i * (n + 1) + j];
                            }
                            block[i * n + i] += 2.0 * priors.of(label).precision(i);
                            trace += block[i * n + i];
                        }
                        let floor = (1e-10 * trace / n as f64).max(f64::MIN_POSITIVE);
                        for i in 0..n {
                            block[i * n + i] += floor;
                        }
                        if !cholesky::factor(&mut block, n, n) {
                            block.fill(0.0);
                            for i in 0..n {
                                block[i * n + i] = (trace / n as f64).sqrt().max(1e-150);
                            }
                        }
                        (block, trace)
                    })
                    .collect();
                diagonal += rows.iter().map(|(_, trace)| trace).sum::<f64>();
                rows.into_iter().flat_map(|(block, _)| block).collect()
            })
            .collect();
        let numbers = factors.iter().map(|f| f.len() / n).sum::<usize>().max(1);
        Self { unknowns: n, factors, mean_diagonal: diagonal / numbers as f64 }
    }

    pub(super) fn solve<T: Real>(&self, right: &Parameters<T>) -> Parameters<T> {
        let n = self.unknowns;
        let mut out = right.clone();
        let rank = out.layout().rank();
        let mut row = vec![0.0; n];
        for (group, factors) in self.factors.iter().enumerate() {
            for (label, factor) in factors.chunks_exact(n * n).enumerate() {
                for (x, u) in row.iter_mut().zip(right.row(group, label)) {
                    *x = u.to_f64();
                }
                if n > rank {
                    row[rank] = right.bias(group, label).to_f64();
                }
                cholesky::solve_factored(factor, n, n, &mut row);
                for (u, x) in out.row_mut(group, label).iter_mut().zip(&row) {
                    *u = T::from_f64(*x);
                }
                if n > rank {
                    out.set_bias(group, label, T::from_f64(row[rank]));
                }
            }
        }
        out
    }
}
