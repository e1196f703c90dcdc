//! Sums over the observations of each row, in parallel and in a fixed order.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::Objective;
use crate::views::{Plan, Reader, Segment};
use quadfill_kernels::Real;
use quadfill_kernels::cells::Workspace;

/// Sums of the rows that are too long for one thread.
pub(crate) type HeavySums = BTreeMap<usize, Vec<f64>>;

/// Adds the sums over one segment to a row's sums.
pub(crate) trait Accumulate<T: Real>:
    Fn(&Segment, &mut CellScratch<'_, T>, &mut [f64]) + Sync
{
}
impl<T: Real, F: Fn(&Segment, &mut CellScratch<'_, T>, &mut [f64]) + Sync> Accumulate<T> for F {}

/// What a thread needs to sum over cells.
pub(crate) struct CellScratch<'v, T: Real> {
    pub(crate) workspace: Workspace<T>,
    pub(crate) reader: Reader<'v, T>,
}

impl<'v, T: Real> Objective<'v, T> {
    pub(crate) fn plan(&self, group: usize) -> &Plan {
        &self.plans[group]
    }

    pub(crate) fn backend(&self) -> &quadfill_kernels::Backend {
        &self.backend
    }

    pub(crate) fn scratch(&self) -> CellScratch<'v, T> {
        self.scratch_with_biases(self.spec.biases == crate::model::Biases::Modes)
    }

    /// The same for sums with or without a constant column.
    pub(crate) fn scratch_with_biases(&self, biases: bool) -> CellScratch<'v, T> {
        CellScratch {
            workspace: Workspace::new(self.spec.rank, biases),
            reader: self.views.reader(),
        }
    }

    /// Sums the segments of long rows in parallel and folds them in order.
    pub(crate) fn heavy_sums(
        &self,
        group: usize,
        width: usize,
        scratch: &(impl Fn() -> CellScratch<'v, T> + Sync),
        accumulate: &impl Accumulate<T>,
    ) -> HeavySums {
        let segments = self.plans[group].heavy();
        let parts: Vec<Vec<f64>> = segments
            .par_iter()
            .map_init(scratch, |scratch, segment| {
                let mut part = vec![0.0; width];
                accumulate(segment, scratch, &mut part);
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
        scratch: &mut CellScratch<'_, T>,
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
                accumulate(&Segment { row, mode, cells }, scratch, out);
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
        let heavy = self.heavy_sums(group, width, &|| self.scratch(), accumulate);
        let units: Vec<Vec<f64>> = self.plans[group]
            .units()
            .par_iter()
            .map_init(
                || self.scratch(),
                |scratch, unit| {
                    let mut sums = vec![0.0; unit.len() * width];
                    for (row, out) in unit.clone().zip(sums.chunks_exact_mut(width)) {
                        self.row_sum(group, row, &heavy, accumulate, scratch, out);
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
        measure: impl Fn(&Segment, &mut CellScratch<'_, T>) -> f64 + Sync,
    ) -> Vec<f64> {
        let units: Vec<Vec<f64>> = plan
            .units()
            .par_iter()
            .map_init(
                || self.scratch(),
                |scratch, unit| {
                    unit.clone()
                        .flat_map(|row| plan.segments(self.views, row))
                        .map(|segment| measure(&segment, scratch))
                        .collect()
                },
            )
            .collect();
        units.concat()
    }
}
