//! The normal equations of all rows of a factor matrix, some rows at a time.

use std::ops::Range;

use rayon::prelude::*;

use crate::model::Parameters;
use crate::objective::{CellScratch, Objective};
use crate::views::Segment;
use quadfill_kernels::Real;
use quadfill_kernels::cholesky::LANES;

/// Up to [`LANES`] rows and the equations for their steps.
pub(super) struct Batch<'b> {
    /// The rows.
    pub(super) rows: Range<usize>,
    /// One block of order `n + 1` for each lane, the right-hand side in its last line.
    pub(super) systems: &'b mut [f64],
    /// Room for the steps: `n` numbers for each lane.
    pub(super) steps: &'b mut [f64],
}

/// Steps of all rows of one factor matrix, `unknowns` numbers each.
pub(super) struct GroupStep {
    pub(super) unknowns: usize,
    pub(super) steps: Vec<f64>,
}

impl GroupStep {
    pub(super) fn apply<T: Real>(&self, parameters: &mut Parameters<T>, group: usize) {
        let rank = parameters.layout().rank();
        for (label, step) in self.steps.chunks_exact(self.unknowns).enumerate() {
            for (u, d) in parameters.row_mut(group, label).iter_mut().zip(step) {
                *u = T::from_f64(u.to_f64() + d);
            }
            if self.unknowns > rank {
                let bias = parameters.bias(group, label).to_f64() + step[rank];
                parameters.set_bias(group, label, T::from_f64(bias));
            }
        }
    }

    /// Leaves the rows where they are that do not move.
    pub(super) fn keep_still(&mut self, moves: &dyn Fn(usize) -> bool) {
        for (row, step) in self.steps.chunks_exact_mut(self.unknowns).enumerate() {
            if !moves(row) {
                step.fill(0.0);
            }
        }
    }

    pub(super) fn into_direction<T: Real>(
        self,
        parameters: &Parameters<T>,
        group: usize,
    ) -> Parameters<T> {
        let mut direction = parameters.zeros_like();
        self.apply(&mut direction, group);
        direction
    }
}

/// Builds the data's part of every row's equations and lets `solve` turn them into steps, batch by
/// batch. What else `solve` accumulates is returned once per unit of work, in order.
pub(super) fn solve_rows<T: Real, A: Default + Send>(
    objective: &Objective<'_, T>,
    parameters: &Parameters<T>,
    group: usize,
    solve: impl Fn(&mut Batch<'_>, &mut A) + Sync,
) -> (GroupStep, Vec<A>) {
    let n = parameters.layout().row_unknowns();
    let size = (n + 1) * (n + 1);
    let point = objective.point(parameters);
    let accumulate = |segment: &Segment, scratch: &mut CellScratch<'_, T>, out: &mut [f64]| {
        if objective.has_linear_cells() {
            return objective.add_linear(&point, segment, scratch, &mut out[n * (n + 1)..]);
        }
        let cells = point.row_cells(&mut scratch.reader, segment);
        objective.backend().normal_equations(
            &point.context(segment.mode),
            &cells,
            &mut scratch.workspace,
            out,
        );
    };
    let heavy = objective.heavy_sums(group, size, &|| objective.scratch(), &accumulate);
    let units: Vec<(Vec<f64>, A)> = objective
        .plan(group)
        .units()
        .par_iter()
        .map_init(
            || (objective.scratch(), vec![0.0; LANES * size], vec![0.0; LANES * n]),
            |(scratch, systems, solutions), unit| {
                let mut steps = vec![0.0; unit.len() * n];
                let mut gathered = A::default();
                for (first, out) in unit.clone().step_by(LANES).zip(steps.chunks_mut(LANES * n)) {
                    let rows = first..unit.end.min(first + LANES);
                    for (row, system) in rows.clone().zip(systems.chunks_exact_mut(size)) {
                        objective.row_sum(group, row, &heavy, &accumulate, scratch, system);
                    }
                    solve(&mut Batch { rows, systems, steps: solutions }, &mut gathered);
                    out.copy_from_slice(&solutions[..out.len()]);
                }
                (steps, gathered)
            },
        )
        .collect();
    let mut steps = Vec::with_capacity(parameters.layout().rows()[group] * n);
    let mut gathered = Vec::with_capacity(units.len());
    for (unit, more) in units {
        steps.extend(unit);
        gathered.push(more);
    }
    (GroupStep { unknowns: n, steps }, gathered)
}
