//! Data without noise: found again to working precision, from hardly more numbers than are free.

use super::automatic::{Outcome, PATH_DEPTH};
use super::config::RankChoice;
use super::events::{PathPoint, Stage, Status};
use super::gauss_newton::GaussNewton;
use super::path::{self, Schedule};
use super::progress::Progress;
use super::runner::{End, Runner, Steps};
use super::step::Als;
use crate::error::Result;
use crate::model::{Interaction, ModelSpec, Offsets, Parameters, keep_principal};
use crate::objective::Objective;
use crate::views::Views;
use quadfill_kernels::Real;

/// Columns that the first path has to spare.
pub(super) const SPARE_COLUMNS: usize = 2;
/// The columns that the first path of a model has to spare; the path of CP starts from all it has.
pub(super) fn spare_columns(spec: &ModelSpec) -> usize {
    if spec.interaction == Interaction::Cp { 0 } else { SPARE_COLUMNS }
}

/// Where the second path begins and ends, as shares of the first one's start.
pub(super) const TRIM_FIRST: f64 = 1e-2;
pub(super) const TRIM_LAST: f64 = 1e-8;
/// The most Gauss-Newton steps of a polish.
pub(super) const POLISH_STEPS: usize = 30;

impl<T: Real> Runner<'_, T> {
    /// Whether it is worth trying: enough data, and nothing asked for that rules it out.
    pub(super) fn may_be_exact(&self, views: &Views<T>) -> bool {
        let least = match self.config.rank {
            RankChoice::Given => self.config.model.rank,
            RankChoice::Auto => 1,
        };
        let spec = self.exact_spec(least);
        let enough = views.len() > spec.degrees_of_freedom(&views.sizes());
        let plain = self.config.incoherence.is_none() && !self.config.perturb;
        enough && plain && matches!(self.config.offsets, None | Some(Offsets::None))
    }

    pub(super) fn exact_spec(&self, rank: usize) -> ModelSpec {
        self.config.model.clone().with_offsets(Offsets::None).with_rank(rank)
    }

    /// A path with columns to spare, a second one with the principal columns, and a polish without
    /// penalty. Gives up as soon as the data turn out not to be exact.
    pub(super) fn exact(
        &mut self,
        views: &Views<T>,
        rank: usize,
        progress: Option<Progress<T>>,
    ) -> Result<Outcome<T>> {
        let spec = self.exact_spec(rank);
        let wide = spec.clone().with_rank(spec.rank + spare_columns(&spec));
        let mut progress = if let Some(progress) = progress {
            progress
        } else {
            let (lambda_max, parameters) = self.path_start(views, &wide)?;
            self.begin(Stage::Exact, &wide, lambda_max, parameters, None)
        };
        let mut objective = self.objective(views, &spec, 0.0)?;
        let zero = Parameters::zeros(&spec, &views.sizes());
        let deviation = objective.data_value(&zero).sqrt();
        let first = progress.notes.lambda_max;
        if progress.notes.stage == Stage::Exact {
            let mut wide_objective = self.objective(views, &wide, first)?;
            let end = self.wide_path(&mut wide_objective, &mut progress, deviation);
            let kept = keep_principal(progress.parameters.clone(), &spec, &views.sizes());
            let path = progress.notes.path.clone();
            progress = self.begin(Stage::Trim, &spec, first, kept, Some(&progress));
            match end {
                End::Done => {}
                End::Left | End::Stuck => return Ok(Outcome::Left(progress)),
                End::Sweeps | End::Time => {
                    objective.set_penalty(path.last().map_or(first, |point| point.penalty));
                    let status = end.status(Status::SweepLimit);
                    return Ok(self.fitted(&objective, progress, status, path));
                }
            }
        }
        if progress.notes.stage == Stage::Trim {
            let end = self.trimmed_path(&mut objective, &mut progress);
            let path = progress.notes.path.clone();
            if end.is_limit() {
                let status = end.status(Status::SweepLimit);
                return Ok(self.fitted(&objective, progress, status, path));
            }
            let parameters = progress.parameters.clone();
            progress = self.begin(Stage::Polish, &spec, first, parameters, Some(&progress));
            progress.notes.path = path;
        }
        let path = progress.notes.path.clone();
        self.polish(&mut objective, &mut progress, deviation);
        let vanished = deviation * T::EPSILON.sqrt().min(1e-5);
        if objective.data_value(&progress.parameters).sqrt() <= vanished {
            return Ok(self.fitted(&objective, progress, Status::Exact, path));
        }
        Ok(Outcome::Left(progress))
    }

    fn fitted(
        &self,
        objective: &Objective<'_, T>,
        progress: Progress<T>,
        status: Status,
        path: Vec<PathPoint>,
    ) -> Outcome<T> {
        Outcome::Fitted(self.finish(objective, progress, status, path, None))
    }

    fn wide_path(
        &mut self,
        objective: &mut Objective<'_, T>,
        progress: &mut Progress<T>,
        deviation: f64,
    ) -> End {
        let first = progress.notes.lambda_max;
        let count = self.path_steps(objective.views());
        let schedule = Schedule { first, last: first * PATH_DEPTH, steps: count };
        let per_decade = schedule.steps_per_decade();
        let early = self.config.tolerance > 0.0;
        let mut steps = Steps { count, solver: &mut Als, penalty: &|step| schedule.penalty(step) };
        self.run(objective, progress, &mut steps, |progress, _| {
            early && path::has_levelled_off(&progress.notes.path, per_decade, deviation)
        })
    }

    fn trimmed_path(
        &mut self,
        objective: &mut Objective<'_, T>,
        progress: &mut Progress<T>,
    ) -> End {
        let first = progress.notes.lambda_max;
        let count = (self.path_steps(objective.views()) / 3).max(10);
        let schedule =
            Schedule { first: first * TRIM_FIRST, last: first * TRIM_LAST, steps: count };
        let mut steps = Steps { count, solver: &mut Als, penalty: &|step| schedule.penalty(step) };
        self.run(objective, progress, &mut steps, |_, _| false)
    }

    fn polish(
        &mut self,
        objective: &mut Objective<'_, T>,
        progress: &mut Progress<T>,
        deviation: f64,
    ) {
        let (mut slow, mut before) = (0, f64::INFINITY);
        let solver = &mut GaussNewton::new();
        let mut steps = Steps { count: POLISH_STEPS, solver, penalty: &|_| 0.0 };
        self.run(objective, progress, &mut steps, |_, report| {
            let now = report.data.max(0.0).sqrt();
            slow = if now > 0.7 * before { slow + 1 } else { 0 };
            before = now;
            let done = now < 4.0 * T::EPSILON * deviation;
            slow >= 3 || done
        });
        objective.set_penalty(0.0);
    }
}
