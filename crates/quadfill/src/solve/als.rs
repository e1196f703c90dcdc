//! Alternating least squares: one factor matrix at a time, its rows in parallel.

use rayon::prelude::*;

use super::row_newton::{RowProblem, RowScratch};
use super::row_systems::{GroupStep, solve_rows};
use crate::model::{Interaction, Parameters};
use crate::objective::{CellScratch, Objective, RowImplicit, RowPriors, perturbed_rows};
use crate::views::Segment;
use quadfill_kernels::cholesky::{self, LANES};
use quadfill_kernels::{Real, sum};

/// Updates every factor matrix once and returns the data term of the objective afterwards.
///
/// Never increases the objective (up to rounding to `T`). Rows of one matrix are independent unless
/// modes share it or a perturbation couples them; then the simultaneous row step is a direction
/// along which the objective is minimised. In a centred model the rows of a matrix are solved for the centre that
/// they had; the best centre of the new rows is no worse.
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

/// Updates some rows of one factor matrix by the same steps as [`update_group`] and leaves the others
/// unchanged.
pub(crate) fn update_rows<T: Real>(
    objective: &Objective<'_, T>,
    parameters: &mut Parameters<T>,
    group: usize,
    moves: &dyn Fn(usize) -> bool,
) {
    let (mut step, _) = steps(objective, parameters, group);
    step.keep_still(moves);
    if is_coupled(objective, group) {
        let direction = step.into_direction(parameters, group);
        super::line::advance_along(objective, parameters, &direction);
    } else {
        step.apply(parameters, group);
    }
}

/// Whether one update minimises over every row of a matrix, the other matrices being fixed.
pub(crate) fn is_linear<T: Real>(objective: &Objective<'_, T>, group: usize) -> bool {
    let apart = !is_coupled(objective, group) && !objective.has_own_centre();
    apart && has_linear_rows(objective, group)
}

/// Whether the rows of a matrix depend on each other.
fn is_coupled<T: Real>(objective: &Objective<'_, T>, group: usize) -> bool {
    objective.plan(group).modes().len() > 1 || objective.perturbation().is_some()
}

fn has_linear_rows<T: Real>(objective: &Objective<'_, T>, group: usize) -> bool {
    objective.row_norm_penalty().is_none() && !group_has_diagonal(objective, group)
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
    priors: RowPriors<'a>,
    /// Position of the matrix's first row among all rows stacked.
    first_stacked: usize,
    perturbed: Option<Vec<f64>>,
    implicit: Option<RowImplicit>,
}

impl<'a, T: Real> RowTerms<'a, T> {
    fn new(objective: &'a Objective<'a, T>, parameters: &'a Parameters<T>, group: usize) -> Self {
        Self {
            objective,
            parameters,
            group,
            priors: objective.row_priors(parameters, group),
            first_stacked: parameters.layout().rows()[..group].iter().sum(),
            perturbed: objective.perturbation().map(|c| perturbed_rows(c, parameters)),
            implicit: objective.row_implicit(parameters, group),
        }
    }

    fn count(&self) -> f64 {
        self.objective.observations()
    }

    /// Adds everything but the data to a row's normal equations (dimension `n`, right-hand side in the
    /// last line).
    fn add_penalties(&self, row: usize, system: &mut [f64], n: usize) {
        let rank = self.parameters.layout().rank();
        let m = self.count();
        let numbers = self.parameters.row(self.group, row);
        let entries = numbers.iter().map(|u| u.to_f64());
        let bias = (n > rank).then(|| self.parameters.bias(self.group, row).to_f64());
        let prior = self.priors.of(row);
        prior.add_to_system(m, entries.clone().chain(bias), system, n);
        if let Some(quartic) = self.objective.row_norm_penalty() {
            let norm = entries.clone().map(|u| u.powi(2)).sum::<f64>().sqrt();
            let ridge = 0.5 * m * quartic.diagonal(norm);
            for (j, u) in entries.enumerate() {
                system[j * (n + 1) + j] += ridge;
                system[n * (n + 1) + j] -= ridge * u;
            }
        }
        if let (Some(c), Some(products)) = (self.objective.perturbation(), &self.perturbed) {
            let stacked = self.first_stacked + row;
            let own = c.get(stacked, stacked);
            for j in 0..rank {
                system[j * (n + 1) + j] += m * own;
                system[n * (n + 1) + j] -= m * products[stacked * rank + j];
            }
        }
        if let Some(implicit) = &self.implicit {
            implicit.add_to(numbers, system, n);
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
            plain[lane] = system[size - 1] + terms.implicit_squares(row);
            terms.add_penalties(row, system, n);
        }
        let rhs: Vec<f64> = (0..count)
            .flat_map(|lane| &batch.systems[(lane + 1) * size - n - 1..(lane + 1) * size - 1])
            .copied()
            .collect();
        cholesky::solve_lanes(*objective.backend(), n, batch.systems, count, batch.steps);
        for (lane, row) in batch.rows.clone().enumerate() {
            let of_lane = lane * n..(lane + 1) * n;
            let change = terms.data_change(row, &batch.steps[of_lane.clone()], &rhs[of_lane]);
            *data += plain[lane] + change;
        }
    });
    let data = sum::ordered_sum(&sums) + objective.implicit_constant();
    (step, data / terms.count())
}

impl<T: Real> RowTerms<'_, T> {
    /// The weighted squares of all predictions that involve a row, where unobserved cells are zero.
    fn implicit_squares(&self, row: usize) -> f64 {
        let numbers = self.parameters.row(self.group, row);
        self.implicit.as_ref().map_or(0.0, |implicit| implicit.squares(numbers))
    }

    /// How a solved step changes the row's data term: with `(G + P) d = g + P (mean - u) = rhs`, the data
    /// term moves by `-<d, g> - <d, P (u + d - mean)>`.
    fn data_change(&self, row: usize, step: &[f64], rhs: &[f64]) -> f64 {
        let m = self.count();
        let prior = self.priors.of(row);
        let entries = self.parameters.row(self.group, row).iter().map(|u| u.to_f64());
        let bias = self.parameters.bias(self.group, row).to_f64();
        let mut change = 0.0;
        for (j, ((d, s), u)) in
            step.iter().zip(rhs).zip(entries.chain(std::iter::once(bias))).enumerate()
        {
            let ridge = m * prior.precision(j);
            let excess = prior.excess(j, u);
            change -= d * (s + ridge * excess) + ridge * d * (excess + d);
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
    let accumulate = |segment: &Segment, scratch: &mut CellScratch<'_, T>, out: &mut [f64]| {
        let cells = point.row_cells(&mut scratch.reader, segment);
        objective.backend().normal_equations(
            &point.context(segment.mode),
            &cells,
            &mut scratch.workspace,
            out,
        );
    };
    let heavy =
        objective.heavy_sums(group, size, &|| objective.scratch_with_biases(true), &accumulate);
    let units: Vec<(Vec<f64>, f64)> = objective
        .plan(group)
        .units()
        .par_iter()
        .map_init(
            || {
                (
                    objective.scratch_with_biases(true),
                    RowScratch::new(rank),
                    vec![0.0; size],
                    vec![0.0; rank + 1],
                )
            },
            |(cells, scratch, moments, step), unit| {
                let mut steps = Vec::with_capacity(unit.len() * n);
                let mut data = 0.0;
                for row in unit.clone() {
                    objective.row_sum(group, row, &heavy, &accumulate, cells, moments);
                    let numbers: Vec<f64> =
                        parameters.row(group, row).iter().map(|u| u.to_f64()).collect();
                    let problem = RowProblem {
                        moments,
                        row: &numbers,
                        bias: parameters.bias(group, row).to_f64(),
                        own,
                        prior: terms.priors.of(row),
                        has_bias: n > rank,
                        row_norm_penalty: objective.row_norm_penalty(),
                        observations: m,
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
