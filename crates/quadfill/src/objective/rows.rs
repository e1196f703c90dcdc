//! Sums over the observations of each row, in parallel and in a fixed order.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::Objective;
use crate::views::{Plan, Segment};
use quadfill_kernels::Real;
use quadfill_kernels::cells::Workspace;

/// Sums of the rows that are too long for one thread.
pub(crate) type HeavySums = BTreeMap<usize, Vec<f64>>;

/// Adds the sums over one segment to a row's sums.
pub(crate) trait Accumulate<T: Real>:
    Fn(&Segment, &mut Workspace<T>, &mut [f64]) + Sync
{
}
impl<T: Real, F: Fn(&Segment, &mut Workspace<T>, &mut [f64]) + Sync> Accumulate<T> for F {}

impl<T: Real> Objective<'_, T> {
    pub(crate) fn plan(&self, group: usize) -> &Plan {
        &self.plans[group]
    }

    pub(crate) fn backend(&self) -> &quadfill_kernels::Backend {
        &self.backend
    }

    pub(crate) fn workspace(&self) -> Workspace<T> {
        let biases = self.spec.biases == crate::model::Biases::Modes;
        Workspace::new(self.spec.rank, biases)
    }

    /// Sums the segments of long rows in parallel and folds them in order.
    pub(crate) fn heavy_sums(
        &self,
        group: usize,
        width: usize,
        workspace: &(impl Fn() -> Workspace<T> + Sync),
        accumulate: &impl Accumulate<T>,
    ) -> HeavySums {
        let segments = self.plans[group].heavy();
        let parts: Vec<Vec<f64>> = segments
            .par_iter()
            .map_init(workspace, |workspace, segment| {
                let mut part = vec![0.0; width];
                accumulate(segment, workspace, &mut part);
                part
            })
            .collect();
        let mut sums = HeavySums::new();
        for (segment, part) in segments.iter().zip(parts) {
            let total = sums.entry(segment.row).or_insert_with(|| vec![0.0; width]);
            for (t, p) in total.iter_mut().zip(part) {
                *t += p;
            }
        }
        sums
    }

    /// Fills `out` with the sums of one row.
    pub(crate) fn row_sum(
        &self,
        group: usize,
        row: usize,
        heavy: &HeavySums,
        accumulate: &impl Accumulate<T>,
        workspace: &mut Workspace<T>,
        out: &mut [f64],
    ) {
        if let Some(sums) = heavy.get(&row) {
            out.copy_from_slice(sums);
            return;
        }
        out.fill(0.0);
        for &mode in self.plans[group].modes() {
            let cells = self.views.mode(mode).range(row);
            if !cells.is_empty() {
                accumulate(&Segment { row, mode, cells }, workspace, out);
            }
        }
    }

    /// The sums of every row of a factor matrix, `width` numbers each.
    pub(crate) fn row_sums(
        &self,
        group: usize,
        width: usize,
        accumulate: &impl Accumulate<T>,
    ) -> Vec<f64> {
        let heavy = self.heavy_sums(group, width, &|| self.workspace(), accumulate);
        let units: Vec<Vec<f64>> = self.plans[group]
            .units()
            .par_iter()
            .map_init(
                || self.workspace(),
                |workspace, unit| {
                    let mut sums = vec![0.0; unit.len() * width];
                    for (row, out) in unit.clone().zip(sums.chunks_exact_mut(width)) {
                        self.row_sum(group, row, &heavy, accumulate, workspace, out);
                    }
                    sums
                },
            )
            .collect();
        units.concat()
    }

    /// One number per segment, in a fixed order.
    pub(crate) fn unit_sums(
        &self,
        plan: &Plan,
        measure: impl Fn(&Segment, &mut Workspace<T>) -> f64 + Sync,
    ) -> Vec<f64> {
        let units: Vec<Vec<f64>> = plan
            .units()
            .par_iter()
            .map_init(
                || self.workspace(),
                |workspace, unit| {
                    unit.clone()
                        .flat_map(|row| plan.segments(self.views, row))
                        .map(|segment| measure(&segment, workspace))
                        .collect()
                },
            )
            .collect();
        units.concat()
    }
}
