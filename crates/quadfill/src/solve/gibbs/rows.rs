//! Draws of all rows of a factor matrix.

use super::chain::SweepId;
use crate::model::{GroupPrior, Parameters};
use crate::objective::{Objective, Precision, RowPrior};
use crate::solve::row_systems::{GroupStep, solve_rows};
use quadfill_kernels::cholesky::{self, LANES};
use quadfill_kernels::{Real, streams, sum};

const ROW_STREAM: u64 = 0x67_6962_6273_0001;

/// Sums over the residuals of all observations.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Residuals {
    /// The sum of `w r^2`.
    pub(super) squares: f64,
    /// The sum of `w r`; known where biases are drawn.
    pub(super) sum: f64,
}

/// The distribution of one matrix's rows, the other matrices being fixed.
pub(super) struct RowDistribution<'a, T: Real> {
    pub(super) parameters: &'a Parameters<T>,
    pub(super) group: usize,
    pub(super) prior: &'a GroupPrior,
    /// Precision of the noise.
    pub(super) noise: f64,
    /// The random numbers, or `None` for the mean in place of a draw.
    pub(super) random: Option<(u64, SweepId)>,
}

/// Moves some rows of a factor matrix to the mean of their distribution, given everything else.
pub(crate) fn move_to_mean<T: Real>(
    objective: &Objective<'_, T>,
    parameters: &mut Parameters<T>,
    group: usize,
    prior: &GroupPrior,
    noise: f64,
    moves: &dyn Fn(usize) -> bool,
) {
    let distribution = RowDistribution { parameters, group, prior, noise, random: None };
    let (mut step, _) = distribution.draw(objective);
    step.keep_still(moves);
    step.apply(parameters, group);
}

impl<T: Real> RowDistribution<'_, T> {
    /// Steps from the current rows to drawn ones, and the residuals there.
    pub(super) fn draw(&self, objective: &Objective<'_, T>) -> (GroupStep, Residuals) {
        let n = self.parameters.layout().row_unknowns();
        let deviation = 1.0 / self.noise.sqrt();
        // In units of the noise, as the equations are.
        let precisions: Vec<f64> = self.prior.precisions.iter().map(|p| p / self.noise).collect();
        let mean = Some(self.prior.means.as_slice());
        let precision = if self.prior.is_diagonal() {
            Precision::Diagonal(&precisions)
        } else {
            Precision::Full(&precisions)
        };
        let prior = RowPrior { mean, precision };
        let (step, units) =
            solve_rows(objective, self.parameters, self.group, |batch, total: &mut Residuals| {
                let count = batch.rows.len();
                let mut noise = vec![0.0; LANES * n];
                let mut plain = [0.0; LANES];
                for (lane, row) in batch.rows.clone().enumerate() {
                    let system = lane_system(batch.systems, lane, n);
                    plain[lane] = system[n * (n + 1) + n];
                    prior.add_to_system(1.0, self.entries(row), system, n);
                    let noise = &mut noise[lane * n..(lane + 1) * n];
                    let Some((seed, id)) = self.random else { continue };
                    let place = id.place(self.group);
                    let mut rng = streams::stream_at(seed, ROW_STREAM, place, row as u64);
                    streams::fill_normal(noise, &mut rng);
                    for z in noise {
                        *z *= deviation;
                    }
                }
                let backend = *objective.backend();
                cholesky::draw_lanes(backend, n, batch.systems, count, &noise, batch.steps);
                for (lane, row) in batch.rows.clone().enumerate() {
                    let step = &batch.steps[lane * n..(lane + 1) * n];
                    let system = lane_system(batch.systems, lane, n);
                    let after = self.residuals(row, step, &prior, system);
                    total.squares += plain[lane] + after.squares;
                    total.sum += after.sum;
                }
            });
        let each = |f: &dyn Fn(&Residuals) -> f64| -> f64 {
            sum::ordered_sum(&units.iter().map(f).collect::<Vec<f64>>())
        };
        (step, Residuals { squares: each(&|r| r.squares), sum: each(&|r| r.sum) })
    }

    /// A row and, where there is one, its bias.
    fn entries(&self, row: usize) -> impl Iterator<Item = f64> {
        let factors = self.parameters.row(self.group, row).iter().map(|u| u.to_f64());
        let has_bias = self.parameters.layout().has_biases();
        factors.chain(has_bias.then(|| self.parameters.bias(self.group, row).to_f64()))
    }

    /// How a step changes the squares of a row's residuals, `d^T G d - 2 d^T g`, and their sum after
    /// it. The prior is subtracted from `G` and `g` again.
    fn residuals(
        &self,
        row: usize,
        step: &[f64],
        prior: &RowPrior<'_>,
        system: &[f64],
    ) -> Residuals {
        let n = step.len();
        let rank = self.parameters.layout().rank();
        let excess: Vec<f64> =
            self.entries(row).enumerate().map(|(i, entry)| prior.excess(i, entry)).collect();
        let mut after = Residuals::default();
        for (i, d) in step.iter().enumerate() {
            let line = &system[i * (n + 1)..][..=i];
            let before: f64 = line[..i].iter().zip(step).map(|(g, d)| g * d).sum();
            let rhs = system[n * (n + 1) + i];
            let of_prior = prior.product(i, step);
            after.squares +=
                d * (2.0 * before + line[i] * d - 2.0 * rhs) - of_prior * (d + 2.0 * excess[i]);
            if i == rank {
                let pull = prior.product(i, &excess);
                after.sum = rhs + pull - (before + line[i] * d - of_prior);
            }
        }
        after
    }
}

fn lane_system(systems: &mut [f64], lane: usize, n: usize) -> &mut [f64] {
    let size = (n + 1) * (n + 1);
    &mut systems[lane * size..(lane + 1) * size]
}
