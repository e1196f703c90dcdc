//! Fits at a given penalty: one solver from a random start, or the path down to it.

use super::automatic::PATH_DEPTH;
use super::config::Solver;
use super::events::{Fit, PathPoint, Stage, Status};
use super::gauss_newton::GaussNewton;
use super::gradient::GradientDescent;
use super::lbfgs::Lbfgs;
use super::path::Schedule;
use super::progress::Progress;
use super::runner::{QUIET_STEPS, Runner, Steps};
use super::start;
use super::step::{Als, Step};
use crate::error::Result;
use crate::model::Offsets;
use crate::objective::Objective;
use crate::views::Views;
use quadfill_kernels::Real;

/// What a solver without a given penalty uses, as a share of where zero becomes optimal.
const SMALL_PENALTY: f64 = 1e-5;
/// The most sweeps at the end of a path to a given penalty.
const SETTLING_SWEEPS: usize = 1000;

/// A way down from the start of the path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Descent {
    /// Where it ends.
    pub(super) penalty: f64,
    /// Sweeps on the way, one at each penalty.
    pub(super) steps: usize,
    /// The most sweeps at its end.
    pub(super) settling: usize,
}

impl<T: Real> Runner<'_, T> {
    /// One solver from a random start at one penalty.
    pub(super) fn single(
        mut self,
        views: &Views<T>,
        progress: Option<Progress<T>>,
    ) -> Result<Fit<T>> {
        let spec =
            self.config.model.clone().with_offsets(self.config.offsets.unwrap_or(Offsets::None));
        let mut progress = if let Some(progress) = progress {
            progress
        } else {
            let lambda_max =
                if self.config.penalty.is_some() { 0.0 } else { self.path_start(views, &spec)?.0 };
            let parameters = start::random(&spec, views, self.config.seed);
            self.begin(Stage::Solve, &spec, lambda_max, parameters, None)
        };
        let penalty = self.config.penalty.unwrap_or(SMALL_PENALTY * progress.notes.lambda_max);
        let (mut solver, most): (Box<dyn Step<T>>, usize) = match self.config.solver {
            Solver::Path | Solver::Als | Solver::Sdp(_) | Solver::Gibbs(_) => (Box::new(Als), 500),
            Solver::Gd(step) => (Box::new(GradientDescent::new(step)), 20_000),
            Solver::Lbfgs => (Box::new(Lbfgs::new()), 5_000),
            Solver::GaussNewton => (Box::new(GaussNewton::new()), 200),
        };
        let mut objective = self.objective(views, &spec, penalty)?;
        let count = self.config.sweeps.unwrap_or(most);
        let end = self.settle(&mut objective, &mut progress, solver.as_mut(), count);
        let path = progress.notes.path.clone();
        Ok(self.finish(&objective, progress, end, path, None))
    }

    /// Steps at the objective's own penalty until it stops falling.
    pub(super) fn settle(
        &mut self,
        objective: &mut Objective<'_, T>,
        progress: &mut Progress<T>,
        solver: &mut dyn Step<T>,
        count: usize,
    ) -> Status {
        let penalty = objective.penalty();
        let tolerance = self.config.tolerance;
        let mut steps = Steps { count, solver, penalty: &|_| penalty };
        let end = self.run(objective, progress, &mut steps, |progress, _| {
            tolerance > 0.0 && progress.notes.quiet >= QUIET_STEPS
        });
        end.status(Status::SweepLimit)
    }

    /// The path from where zero is optimal down to a given penalty.
    pub(super) fn path_to(
        mut self,
        views: &Views<T>,
        penalty: f64,
        progress: Option<Progress<T>>,
    ) -> Result<Fit<T>> {
        let spec =
            self.config.model.clone().with_offsets(self.config.offsets.unwrap_or(Offsets::None));
        let mut progress = if let Some(progress) = progress {
            progress
        } else {
            let (lambda_max, parameters) = self.path_start(views, &spec)?;
            self.begin(Stage::Refit, &spec, lambda_max, parameters, None)
        };
        let mut objective = self.objective(views, &spec, penalty)?;
        let decades = (progress.notes.lambda_max / penalty).log10();
        let share = (decades / -PATH_DEPTH.log10()).clamp(0.0, 1.0);
        let steps = (self.path_steps(views) as f64 * share).ceil().max(1.0) as usize;
        let way = Descent { penalty, steps, settling: SETTLING_SWEEPS };
        let (path, status) = self.descend_and_settle(&mut objective, &mut progress, way);
        Ok(self.finish(&objective, progress, status, path, None))
    }

    /// Goes down to a penalty from the start of the path and stays there until the objective stops
    /// falling. Returns the way down and the status.
    pub(super) fn descend_and_settle(
        &mut self,
        objective: &mut Objective<'_, T>,
        progress: &mut Progress<T>,
        Descent { penalty, steps, settling }: Descent,
    ) -> (Vec<PathPoint>, Status) {
        let first = progress.notes.lambda_max;
        let last = penalty.max(first * PATH_DEPTH);
        let schedule = Schedule { first, last: last.min(first.max(penalty)), steps };
        if progress.notes.stage == Stage::Refit {
            let mut plan =
                Steps { count: steps, solver: &mut Als, penalty: &|i| schedule.penalty(i) };
            let end = self.run(objective, progress, &mut plan, |_, _| false);
            if end.is_limit() {
                return (progress.notes.path.clone(), end.status(Status::SweepLimit));
            }
            progress.notes.stage = Stage::Solve;
            progress.notes.step = 0;
            progress.notes.quiet = 0;
        }
        objective.set_penalty(penalty);
        let status = self.settle(objective, progress, &mut Als, settling);
        (progress.notes.path.clone(), status)
    }
}
