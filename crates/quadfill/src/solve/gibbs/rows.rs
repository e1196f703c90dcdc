//! Draws of all rows of a factor matrix.

use super::chain::Moment;
use crate::model::{Parameters, RowPrior};
use crate::objective::Objective;
use crate::solve::row_systems::{GroupStep, solve_rows};
use quadfill_kernels::cholesky::{self, LANES};
use quadfill_kernels::{Real, streams, sum};

const ROW_STREAM: u64 = 0x67_6962_6273_0001;

/// What the residuals of all observations add up to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Residuals {
    /// The sum of `w r^2`.
    pub(super) squares: f64,
    /// The sum of `w r`; known where biases are drawn.
    pub(super) sum: f64,
}

/// The law of one matrix's rows, the other matrices being fixed.
pub(super) struct RowLaw<'a, T: Real> {
    pub(super) parameters: &'a Parameters<T>,
    pub(super) group: usize,
    pub(super) prior: &'a RowPrior,
    /// Precision of the noise.
    pub(super) noise: f64,
    pub(super) seed: u64,
    pub(super) moment: Moment,
}

impl<T: Real> RowLaw<'_, T> {
    /// Steps from the present rows to drawn ones, and the residuals there.
    pub(super) fn draw(&self, objective: &Objective<'_, T>) -> (GroupStep, Residuals) {
        let n = self.parameters.layout().row_unknowns();
        let deviation = 1.0 / self.noise.sqrt();
        let ridges: Vec<f64> = self.prior.precisions.iter().map(|p| p / self.noise).collect();
        let (step, units) =
            solve_rows(objective, self.parameters, self.group, |batch, total: &mut Residuals| {
                let count = batch.rows.len();
                let mut noise = vec![0.0; LANES * n];
                let mut plain = [0.0; LANES];
                for (lane, row) in batch.rows.clone().enumerate() {
                    plain[lane] = self.add_prior(row, &ridges, lane_system(batch.systems, lane, n));
                    let noise = &mut noise[lane * n..(lane + 1) * n];
                    let place = self.moment.place(self.group);
                    let mut rng = streams::stream_at(self.seed, ROW_STREAM, place, row as u64);
                    streams::fill_normal(noise, &mut rng);
                    for z in noise {
                        *z *= deviation;
                    }
                }
                let kernels = *objective.kernels();
                cholesky::draw_lanes(kernels, n, batch.systems, count, &noise, batch.steps);
                for (lane, row) in batch.rows.clone().enumerate() {
                    let step = &batch.steps[lane * n..(lane + 1) * n];
                    let system = lane_system(batch.systems, lane, n);
                    let after = self.residuals(row, step, &ridges, system);
                    total.squares += plain[lane] + after.squares;
                    total.sum += after.sum;
                }
            });
        let each = |f: &dyn Fn(&Residuals) -> f64| -> f64 {
            sum::ordered_sum(&units.iter().map(f).collect::<Vec<f64>>())
        };
        (step, Residuals { squares: each(&|r| r.squares), sum: each(&|r| r.sum) })
    }

    fn value(&self, row: usize, column: usize) -> f64 {
        match self.parameters.row(self.group, row).get(column) {
            Some(u) => u.to_f64(),
            None => self.parameters.bias(self.group, row).to_f64(),
        }
    }

    /// Adds the prior to a row's equations; returns the squares of its residuals where it is.
    fn add_prior(&self, row: usize, ridges: &[f64], system: &mut [f64]) -> f64 {
        let n = ridges.len();
        for (j, (ridge, mean)) in ridges.iter().zip(&self.prior.means).enumerate() {
            system[j * (n + 1) + j] += ridge;
            system[n * (n + 1) + j] += ridge * (mean - self.value(row, j));
        }
        system[n * (n + 1) + n]
    }

    /// How a step changes the squares of a row's residuals, `d^T G d - 2 d^T g`, and what they add up
    /// to after it. The prior is taken out of `G` and `g` again.
    fn residuals(&self, row: usize, step: &[f64], ridges: &[f64], system: &[f64]) -> Residuals {
        let n = step.len();
        let rank = self.parameters.layout().rank();
        let mut after = Residuals::default();
        for (i, d) in step.iter().enumerate() {
            let line = &system[i * (n + 1)..][..=i];
            let before: f64 = line[..i].iter().zip(step).map(|(g, d)| g * d).sum();
            let pull = ridges[i] * (self.prior.means[i] - self.value(row, i));
            let slope = system[n * (n + 1) + i] - pull;
            after.squares += d * (2.0 * before + (line[i] - ridges[i]) * d - 2.0 * slope);
            if i == rank {
                after.sum = slope - before - (line[i] - ridges[i]) * d;
            }
        }
        after
    }
}

fn lane_system(systems: &mut [f64], lane: usize, n: usize) -> &mut [f64] {
    let size = (n + 1) * (n + 1);
    &mut systems[lane * size..(lane + 1) * size]
}
