//! Alternating least squares: one factor matrix at a time, its rows side by side.

use rayon::prelude::*;

use super::row_newton::{RowProblem, RowScratch};
use super::row_systems::{GroupStep, solve_rows};
use crate::model::{Interaction, Parameters};
use crate::objective::{Objective, RowZeros, perturbed_rows};
use crate::views::Segment;
use quadfill_kernels::cells::Workspace;
use quadfill_kernels::cholesky::{self, LANES};
use quadfill_kernels::{Real, sum};

/// Updates every factor matrix once and returns the data term of the objective afterwards.
///
/// Never increases the objective (up to rounding to `T`). Rows of one matrix are independent unless
/// modes share it or a perturbation couples them; then the simultaneous row step is a direction
/// along which the objective is minimised.
pub fn sweep<T: Real>(objective: &Objective<'_, T>, parameters: &mut Parameters<T>) -> f64 {
    let mut data = 0.0;
    for group in 0..objective.spec().group_count() {
        data = update_group(objective, parameters, group);
    }
    data
}

/// Updates one factor matrix and returns the data term of the objective afterwards.
pub fn update_group<T: Real>(
    objective: &Objective<'_, T>,
    parameters: &mut Parameters<T>,
    group: usize,
) -> f64 {
    let (step, data) = steps(objective, parameters, group);
    if is_coupled(objective, group) {
        return super::line::advance_along(
            objective,
            parameters,
            &step.into_direction(parameters, group),
        );
    }
    step.apply(parameters, group);
    data
}

/// Updates some rows of one factor matrix by the very steps of [`update_group`] and leaves the
/// others alone.
pub(crate) fn update_rows<T: Real>(
    objective: &Objective<'_, T>,
    parameters: &mut Parameters<T>,
    group: usize,
    moves: &dyn Fn(usize) -> bool,
) {
    let (mut step, _) = steps(objective, parameters, group);
    for (row, step) in step.steps.chunks_exact_mut(step.unknowns).enumerate() {
        if !moves(row) {
            step.fill(0.0);
        }
    }
    if is_coupled(objective, group) {
        let direction = step.into_direction(parameters, group);
        super::line::advance_along(objective, parameters, &direction);
    } else {
        step.apply(parameters, group);
    }
}

/// Whether one update leads every row of a matrix to its best, the other matrices being fixed.
pub(crate) fn is_linear<T: Real>(objective: &Objective<'_, T>, group: usize) -> bool {
    !is_coupled(objective, group) && has_linear_rows(objective, group)
}

/// Whether the rows of a matrix depend on each other.
fn is_coupled<T: Real>(objective: &Objective<'_, T>, group: usize) -> bool {
    objective.plan(group).modes().len() > 1 || objective.perturbation().is_some()
}

fn has_linear_rows<T: Real>(objective: &Objective<'_, T>, group: usize) -> bool {
    objective.incoherence().is_none() && !group_has_diagonal(objective, group)
}

fn steps<T: Real>(
    objective: &Objective<'_, T>,
    parameters: &Parameters<T>,
    group: usize,
) -> (GroupStep, f64) {
    if has_linear_rows(objective, group) || is_coupled(objective, group) {
        linear_steps(objective, parameters, group)
    } else {
        newton_steps(objective, parameters, group)
    }
}

fn group_has_diagonal<T: Real>(objective: &Objective<'_, T>, group: usize) -> bool {
    match &objective.spec().interaction {
        Interaction::Quadratic(kernel) => {
            objective.plan(group).modes().iter().any(|&mode| kernel.get(mode, mode) != 0.0)
        }
        Interaction::Cp => false,
    }
}

/// What the row systems of a matrix have in common.
struct RowTerms<'a, T: Real> {
    objective: &'a Objective<'a, T>,
    parameters: &'a Parameters<T>,
    group: usize,
    /// Position of the matrix's first row among all rows stacked.
    first_stacked: usize,
    perturbed: Option<Vec<f64>>,
    zeros: Option<RowZeros>,
}

impl<'a, T: Real> RowTerms<'a, T> {
    fn new(objective: &'a Objective<'a, T>, parameters: &'a Parameters<T>, group: usize) -> Self {
        Self {
            objective,
            parameters,
            group,
            first_stacked: parameters.layout().rows()[..group].iter().sum(),
            perturbed: objective.perturbation().map(|c| perturbed_rows(c, parameters)),
            zeros: objective.row_zeros(parameters, group),
        }
    }

    fn count(&self) -> f64 {
        self.objective.observations()
    }

    /// Adds the penalties to a row's normal equations (dimension `n`, right-hand side in the last
    /// line).
    fn add_penalties(&self, row: usize, system: &mut [f64], n: usize) {
        let rank = self.parameters.layout().rank();
        let m = self.count();
        let numbers = self.parameters.row(self.group, row);
        let mut ridge = m * self.objective.row_penalty(self.group, row);
        if let Some(quartic) = self.objective.incoherence() {
            let norm = numbers.iter().map(|u| u.to_f64().powi(2)).sum::<f64>().sqrt();
            ridge += 0.5 * m * quartic.slope(norm);
        }
        for (j, u) in numbers.iter().enumerate() {
            system[j * (n + 1) + j] += ridge;
            system[n * (n + 1) + j] -= ridge * u.to_f64();
        }
        if let (Some(c), Some(products)) = (self.objective.perturbation(), &self.perturbed) {
            let stacked = self.first_stacked + row;
            let own = c.row(stacked)[stacked];
            for j in 0..rank {
                system[j * (n + 1) + j] += m * own;
                system[n * (n + 1) + j] -= m * products[stacked * rank + j];
            }
        }
        if let Some(zeros) = &self.zeros {
            zeros.add_to(numbers, system, n);
        }
        if n > rank {
            let ridge = m * self.objective.bias_penalty();
            let bias = self.parameters.bias(self.group, row).to_f64();
            system[rank * (n + 1) + rank] += ridge;
            system[n * (n + 1) + rank] -= ridge * bias;
        }
    }
}

/// Solves every row's linear normal equations, [`LANES`] rows at a time.
fn linear_steps<T: Real>(
    objective: &Objective<'_, T>,
    parameters: &Parameters<T>,
    group: usize,
) -> (GroupStep, f64) {
    let n = parameters.layout().row_unknowns();
    let size = (n + 1) * (n + 1);
    let terms = RowTerms::new(objective, parameters, group);
    let (step, sums) = solve_rows(objective, parameters, group, |batch, data: &mut f64| {
        let count = batch.rows.len();
        let mut plain = [0.0; LANES];
        for (lane, row) in batch.rows.clone().enumerate() {
            let system = &mut batch.systems[lane * size..(lane + 1) * size];
            plain[lane] = system[size - 1] + terms.zero_squares(row);
            terms.add_penalties(row, system, n);
        }
        let slopes: Vec<f64> = (0..count)
            .flat_map(|lane| &batch.systems[(lane + 1) * size - n - 1..(lane + 1) * size - 1])
            .copied()
            .collect();
        cholesky::solve_lanes(*objective.kernels(), n, batch.systems, count, batch.steps);
        for (lane, row) in batch.rows.clone().enumerate() {
            let of_lane = lane * n..(lane + 1) * n;
            let change = terms.data_change(row, &batch.steps[of_lane.clone()], &slopes[of_lane]);
            *data += plain[lane] + change;
        }
    });
    let data = sum::ordered_sum(&sums) + objective.zeros_constant();
    (step, data / terms.count())
}

impl<T: Real> RowTerms<'_, T> {
    /// The weighted squares of all predictions that involve a row, where unobserved cells are zero.
    fn zero_squares(&self, row: usize) -> f64 {
        let numbers = self.parameters.row(self.group, row);
        self.zeros.as_ref().map_or(0.0, |zeros| zeros.squares(numbers))
    }

    /// How a solved step changes the row's data term: with `(G + L) d = g - L u`, the data term moves
    /// by `-<d, g> - <d, L (u + d)>`.
    fn data_change(&self, row: usize, step: &[f64], slope: &[f64]) -> f64 {
        let rank = self.parameters.layout().rank();
        let m = self.count();
        let ridge = m * self.objective.row_penalty(self.group, row);
        let numbers = self.parameters.row(self.group, row);
        let mut change = 0.0;
        for ((d, s), u) in step.iter().zip(slope).zip(numbers) {
            // `slope` is g - L u.
            let u = u.to_f64();
            change -= d * (s + ridge * u) + ridge * d * (u + d);
        }
        if step.len() > rank {
            let ridge = m * self.objective.bias_penalty();
            let bias = self.parameters.bias(self.group, row).to_f64();
            change -= step[rank] * (slope[rank] + ridge * bias)
                + ridge * step[rank] * (bias + step[rank]);
        }
        change
    }
}

/// Minimises every row's non-linear problem by damped Newton steps.
fn newton_steps<T: Real>(
    objective: &Objective<'_, T>,
    parameters: &Parameters<T>,
    group: usize,
) -> (GroupStep, f64) {
    let rank = parameters.layout().rank();
    let n = parameters.layout().row_unknowns();
    // The sums must include the constant column whether or not biases are fitted.
    let zeros: Vec<Vec<T>> =
        parameters.layout().rows().iter().map(|&rows| vec![T::ZERO; rows]).collect();
    let point = objective.point(parameters).with_constant_column(&zeros);
    let terms = RowTerms::new(objective, parameters, group);
    let size = (rank + 2) * (rank + 2);
    let m = terms.count();
    let own = match &objective.spec().interaction {
        Interaction::Quadratic(kernel) => {
            let mode = objective.plan(group).modes()[0];
            kernel.get(mode, mode)
        }
        Interaction::Cp => 0.0,
    };
    let accumulate = |segment: &Segment, workspace: &mut Workspace<T>, out: &mut [f64]| {
        let cells = point.row_cells(objective.views(), segment);
        objective.kernels().normal_equations(&point.context(segment.mode), &cells, workspace, out);
    };
    let heavy = objective.heavy_sums(group, size, &|| Workspace::new(rank, true), &accumulate);
    let units: Vec<(Vec<f64>, f64)> = objective
        .plan(group)
        .units()
        .par_iter()
        .map_init(
            || {
                (
                    Workspace::new(rank, true),
                    RowScratch::new(rank),
                    vec![0.0; size],
                    vec![0.0; rank + 1],
                )
            },
            |(workspace, scratch, moments, step), unit| {
                let mut steps = Vec::with_capacity(unit.len() * n);
                let mut data = 0.0;
                for row in unit.clone() {
                    objective.row_sum(group, row, &heavy, &accumulate, workspace, moments);
                    let numbers: Vec<f64> =
                        parameters.row(group, row).iter().map(|u| u.to_f64()).collect();
                    let problem = RowProblem {
                        moments,
                        row: &numbers,
                        bias: parameters.bias(group, row).to_f64(),
                        own,
                        ridge: m * objective.row_penalty(group, row),
                        bias_ridge: (n > rank).then(|| m * objective.bias_penalty()),
                        incoherence: objective.incoherence().map(|q| (*q, m)),
                    };
                    data += problem.minimise(step, scratch);
                    steps.extend_from_slice(&step[..n]);
                }
                (steps, data)
            },
        )
        .collect();
    let sums: Vec<f64> = units.iter().map(|(_, data)| *data).collect();
    let steps = units.into_iter().flat_map(|(steps, _)| steps).collect();
    (GroupStep { unknowns: n, steps }, sum::ordered_sum(&sums) / m)
}
