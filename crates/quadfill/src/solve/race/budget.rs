//! What a heat costs, and how much a race may spend, in operations.

use super::arena::Arena;
use crate::model::{Biases, ModelSpec};
use crate::solve::config::Effort;
use crate::solve::session::FitSession;
use quadfill_kernels::Real;

/// The operations of a race on [`UNIT`] observations. An operation takes about a nanosecond of one core,
/// so that is a second or two on two cores.
const OPERATIONS: f64 = 5.0e9;
const UNIT: f64 = 5_000.0;
/// More data deserve more effort, but not in proportion, and less so where they are many.
const GROWTH: f64 = 0.55;
const MANY: f64 = 100_000.0;
const GROWTH_OF_MANY: f64 = 0.4;

/// The largest share of a race that distilling the winner to one size may take.
const DISTILLING: f64 = 0.2;

/// How many operations a race may take.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    /// For all heats together.
    pub(super) race: f64,
    /// For the winner on all data.
    pub(super) last: f64,
    /// Observations, and rows in all factor matrices, of all folds together.
    observations: f64,
    rows: f64,
    modes: f64,
    /// Observations of the whole data.
    whole: f64,
    whole_rows: f64,
}

impl Budget {
    pub(super) fn new<T: Real>(session: &FitSession<'_, T>, arena: &Arena<'_, T>) -> Self {
        let data = session.problem.data();
        let whole = data.len() as f64;
        let all = operations_for(data.len(), session.config().effort);
        let rows =
            |sizes: Vec<usize>| session.base.group_sizes(&sizes).iter().sum::<usize>() as f64;
        Self {
            race: all,
            last: 0.35 * all,
            observations: arena.folds.iter().map(|fold| fold.training.len() as f64).sum(),
            rows: arena.folds.iter().map(|fold| rows(fold.training.sizes())).sum(),
            modes: session.base.modes() as f64,
            whole,
            whole_rows: rows(data.sizes()),
        }
    }

    /// The operations of one sweep of one chain on every fold.
    pub(super) fn sweep(&self, spec: &ModelSpec) -> f64 {
        sweep_cost(spec, self.modes * self.observations, self.rows)
    }

    /// Whether so many sweeps over so many cells are a small part of the budget.
    pub(super) fn allows_distilling(&self, spec: &ModelSpec, sweeps: usize, cells: f64) -> bool {
        let visits = self.modes * cells;
        sweeps as f64 * sweep_cost(spec, visits, self.whole_rows) <= DISTILLING * self.race
    }

    /// The operations of one sweep of one chain on all data.
    pub(super) fn whole_sweep(&self, spec: &ModelSpec) -> f64 {
        sweep_cost(spec, self.modes * self.whole, self.whole_rows)
    }
}

/// The operations that a choice on so many observations may take.
pub(in crate::solve) fn operations_for(observations: usize, effort: Effort) -> f64 {
    let times = match effort {
        Effort::Quick => 0.2,
        Effort::Normal => 1.0,
        Effort::Thorough => 4.0,
    };
    let count = observations as f64;
    let few = (count.min(MANY) / UNIT).max(0.2).powf(GROWTH);
    times * OPERATIONS * few * (count / MANY).max(1.0).powf(GROWTH_OF_MANY)
}

/// Measured on rows of 10 to 60 columns: gathering a cell, the products of its columns, and the
/// factorization of a row's equations.
pub(in crate::solve) fn sweep_cost(spec: &ModelSpec, visits: f64, rows: f64) -> f64 {
    let n = (spec.rank + usize::from(spec.biases == Biases::Modes)) as f64;
    visits * (25.0 + 0.7 * n + 0.025 * n * n) + rows * (500.0 + 2.0 * n * n + 0.05 * n * n * n)
}
