//! The staircase: the minimum over all ranks at one penalty.
//!
//! Where the certificate shows a direction in which a new column would lower the objective, it is
//! appended, a few at a time, and the solver goes on. Where there is none, the point is the global
//! optimum. Columns that vanish on the way are dropped, so the rank is found, too.

use super::events::{Fit, Stage, Status};
use super::gauss_newton::GaussNewton;
use super::progress::Progress;
use super::runner::{End, Runner, Steps};
use super::start;
use super::step::Als;
use crate::certify::{Slope, descent};
use crate::error::Result;
use crate::model::{Offsets, Parameters, each_row, rotate_to_principal_axes, with_columns};
use crate::objective::Objective;
use crate::views::Views;
use quadfill_kernels::lanczos::Ritz;
use quadfill_kernels::{Real, sum};

/// Sweeps after columns were added, and the relative fall of the objective at which they end.
const LEVEL_SWEEPS: usize = 60;
const LEVEL_FALL: f64 = 1e-4;
/// The most Newton steps where hardly any direction leads down.
const NEWTON_STEPS: usize = 400;
/// Eigenvalues of the scaled slope above minus this call for Newton's method first.
const NEARLY_OPTIMAL: f64 = 0.02;
/// Eigenvalues above minus this are zero.
const OPTIMAL: f64 = 1e-8;
/// Columns with less than this share of the longest one's square have vanished.
const VANISHED: f64 = 1e-9;

impl<T: Real> Runner<'_, T> {
    /// Climbs until no column lowers the objective at `penalty`, or the model's rank is reached.
    pub(super) fn climb(
        mut self,
        views: &Views<T>,
        penalty: f64,
        progress: Option<Progress<T>>,
    ) -> Result<Fit<T>> {
        let base =
            self.config.model.clone().with_offsets(self.config.offsets.unwrap_or(Offsets::None));
        let most = base.rank;
        let mut progress = progress.unwrap_or_else(|| {
            let spec = base.with_rank(1);
            let parameters = start::offsets_only(&spec, views);
            self.begin(Stage::Climb, &spec, penalty, parameters, None)
        });
        let status = loop {
            let mut objective = self.objective(views, &progress.notes.spec, penalty)?;
            if let Some(limit) = self.level(&mut objective, &mut progress) {
                break limit;
            }
            let mut found = self.look(views, &mut progress, penalty)?;
            if top(&found) <= NEARLY_OPTIMAL {
                let mut objective = self.objective(views, &progress.notes.spec, penalty)?;
                if let Some(limit) = self.converge(&mut objective, &mut progress) {
                    break limit;
                }
                found = self.look(views, &mut progress, penalty)?;
            }
            let tolerance = OPTIMAL.max(T::EPSILON.sqrt() * 1e-2);
            if top(&found) <= tolerance {
                break Status::Certified;
            }
            let rank = progress.notes.spec.rank;
            let room = most.saturating_sub(rank);
            if room == 0 {
                break Status::RankLimit;
            }
            let least = tolerance.max(0.1 * top(&found));
            found.values.retain(|&value| value > least);
            found.vectors.truncate(found.values.len().min(room));
            self.append(views, &mut progress, penalty, &found.vectors)?;
        };
        let objective = self.objective(views, &progress.notes.spec, penalty)?;
        let path = progress.notes.path.clone();
        Ok(self.finish(&objective, progress, status, path, None))
    }

    /// Sweeps at the rank reached. Returns a status where a limit of the whole fit came first.
    fn level(
        &mut self,
        objective: &mut Objective<'_, T>,
        progress: &mut Progress<T>,
    ) -> Option<Status> {
        let penalty = objective.penalty();
        let early = self.config.tolerance > 0.0;
        let mut before = progress.notes.objective;
        let mut steps = Steps { count: LEVEL_SWEEPS, solver: &mut Als, penalty: &|_| penalty };
        let end = self.run(objective, progress, &mut steps, |_, report| {
            let fall = before - report.objective;
            before = report.objective;
            early && fall <= LEVEL_FALL * before.abs()
        });
        limit(end)
    }

    /// Newton's method to working precision.
    fn converge(
        &mut self,
        objective: &mut Objective<'_, T>,
        progress: &mut Progress<T>,
    ) -> Option<Status> {
        let penalty = objective.penalty();
        let parameters = progress.parameters.clone();
        let path = std::mem::take(&mut progress.notes.path);
        let spec = progress.notes.spec.clone();
        let mut polish = self.begin(Stage::Polish, &spec, penalty, parameters, Some(progress));
        polish.notes.path = path;
        let mut before = progress.notes.objective;
        let solver = &mut GaussNewton::newton();
        let mut steps = Steps { count: NEWTON_STEPS, solver, penalty: &|_| penalty };
        let end = self.run(objective, &mut polish, &mut steps, |_, report| {
            let fall = before - report.objective;
            before = report.objective;
            let least = (10.0 * T::EPSILON).max(1e-14);
            fall <= least * before.abs()
        });
        polish.notes.stage = Stage::Climb;
        *progress = polish;
        limit(end)
    }

    /// Drops what vanished and looks for directions that lead down.
    fn look(&self, views: &Views<T>, progress: &mut Progress<T>, penalty: f64) -> Result<Ritz> {
        let squares = rotate_to_principal_axes(&mut progress.parameters);
        let kept = squares.iter().filter(|&&s| s > VANISHED * squares[0]).count().max(1);
        if kept < progress.notes.spec.rank {
            progress.notes.spec.rank = kept;
            progress.parameters =
                with_columns(&progress.parameters, &progress.notes.spec, &views.sizes());
        }
        let spec = &progress.notes.spec;
        let objective = self.objective(views, spec, penalty)?;
        let slope = Slope::new(&objective, &progress.parameters)
            .expect("only quadratic models are climbed");
        Ok(descent(&slope, looked_for(spec.rank), self.config.seed))
    }

    /// Appends directions as columns, all as long as lowers the objective most.
    fn append(
        &self,
        views: &Views<T>,
        progress: &mut Progress<T>,
        penalty: f64,
        directions: &[Vec<f64>],
    ) -> Result<()> {
        let before = progress.notes.spec.clone();
        // A single column of zeros is no column yet.
        let empty =
            before.rank == 1 && progress.parameters.factors(0).iter().all(|u| *u == T::ZERO);
        let first = if empty { 0 } else { before.rank };
        let spec = before.with_rank(first + directions.len());
        let mut wider = with_columns(&progress.parameters, &spec, &views.sizes());
        let objective = self.objective(views, &spec, penalty)?;
        let n = wider.layout().rows().iter().sum::<usize>() as f64;
        let deviation = objective.data_value(&wider.zeros_like()).sqrt();
        let mut best = (f64::INFINITY, 0.0);
        // Squared lengths that halve from what would explain all data.
        for halvings in 0..24 {
            let square = n * deviation * 0.5f64.powi(halvings);
            write_columns(&mut wider, first, directions, square);
            let value = objective.value(&wider).total();
            if value < best.0 {
                best = (value, square);
            }
        }
        write_columns(&mut wider, first, directions, best.1);
        let path = std::mem::take(&mut progress.notes.path);
        let mut next = self.begin(Stage::Climb, &spec, penalty, wider, Some(progress));
        next.notes.path = path;
        *progress = next;
        Ok(())
    }
}

/// How many directions are looked for at a rank.
fn looked_for(rank: usize) -> usize {
    (rank / 2).clamp(2, 16)
}

fn top(found: &Ritz) -> f64 {
    found.values.first().copied().unwrap_or(0.0)
}

fn limit(end: End) -> Option<Status> {
    end.is_limit().then(|| end.status(Status::SweepLimit))
}

/// Writes directions over all rows as columns of squared length `square`.
fn write_columns<T: Real>(
    parameters: &mut Parameters<T>,
    first: usize,
    directions: &[Vec<f64>],
    square: f64,
) {
    let rows = parameters.layout().rows().to_vec();
    for (column, direction) in directions.iter().enumerate() {
        let size = square.sqrt() / sum::norm2(direction).max(f64::MIN_POSITIVE);
        for ((group, label), entry) in each_row(&rows).zip(direction) {
            parameters.row_mut(group, label)[first + column] = T::from_f64(size * entry);
        }
    }
}
