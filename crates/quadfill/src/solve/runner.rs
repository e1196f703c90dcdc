//! The loop that every stage of a fit runs in: limits, clock, events and checkpoints.

use std::time::Instant;

use super::config::FitConfig;
use super::events::{Event, Fit, Observer, PathPoint, Stage, Status};
use super::progress::{Progress, ProgressNotes};
use super::start::{self, Spectrum};
use super::step::{Step, StepReport};
use crate::certify::{CertifyOptions, can_be_certified, certify};
use crate::error::Result;
use crate::model::{Interaction, ModelSpec, Parameters};
use crate::objective::Objective;
use crate::observations::Mode;
use crate::views::Views;
use quadfill_kernels::Real;

/// A fit under way.
pub(super) struct Runner<'a, T: Real> {
    pub(super) config: &'a FitConfig,
    pub(super) modes: Vec<Mode>,
    observer: &'a mut dyn Observer<T>,
    clock: Instant,
    seconds_before: f64,
}

/// Why a stage ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// All its steps are done.
    Done,
    /// The judge said so.
    Left,
    /// No step led down any more.
    Stuck,
    /// The iteration limit.
    Sweeps,
    /// The time limit.
    Time,
}

/// A stage's steps: how many, the solver, and the penalty of each.
pub(super) struct Steps<'s, T: Real> {
    pub(super) count: usize,
    pub(super) solver: &'s mut dyn Step<T>,
    pub(super) penalty: &'s dyn Fn(usize) -> f64,
}

/// Takes a fit one step further: most only move its parameters, a sampler has more to keep.
pub(super) type Advance<'s, T> =
    dyn FnMut(&mut Objective<'_, T>, &mut Progress<T>) -> StepReport + 's;

/// Steps that lower the objective by less than the tolerance before it counts as converged.
pub(super) const QUIET_STEPS: usize = 3;

impl<'a, T: Real> Runner<'a, T> {
    pub(super) fn new(
        config: &'a FitConfig,
        observer: &'a mut dyn Observer<T>,
        seconds_before: f64,
        modes: Vec<Mode>,
    ) -> Self {
        Self { config, modes, observer, clock: Instant::now(), seconds_before }
    }

    /// The cells whose predictions the observer wants averaged over all draws.
    pub(super) fn cells(&self) -> Vec<Vec<u32>> {
        self.observer.cells().to_vec()
    }

    fn seconds(&self) -> f64 {
        self.seconds_before + self.clock.elapsed().as_secs_f64()
    }

    /// The objective with every term that the settings ask for.
    pub(super) fn objective<'v>(
        &self,
        views: &'v Views<T>,
        spec: &ModelSpec,
        penalty: f64,
    ) -> Result<Objective<'v, T>> {
        self.config.objective(views, spec, penalty)
    }

    /// Where a path begins: the largest penalty, and small factors that can grow below it.
    pub(super) fn path_start(
        &self,
        views: &Views<T>,
        spec: &ModelSpec,
    ) -> Result<(f64, Parameters<T>)> {
        let mut parameters = start::offsets_only(spec, views);
        let objective = self.objective(views, spec, 0.0)?;
        let deviation = objective.data_value(&parameters).sqrt().max(f64::MIN_POSITIVE);
        if spec.interaction == Interaction::Cp {
            return Ok(start::product_path_start(objective, deviation, self.config.seed));
        }
        let spectrum = Spectrum::new(&objective, &parameters, spec.rank, self.config.seed);
        spectrum.write_factors(&mut parameters, 0.1 * deviation.sqrt());
        Ok((spectrum.lambda_max, parameters))
    }

    /// The state at the beginning of a stage.
    pub(super) fn begin(
        &self,
        stage: Stage,
        spec: &ModelSpec,
        lambda_max: f64,
        parameters: Parameters<T>,
        before: Option<&Progress<T>>,
    ) -> Progress<T> {
        Progress {
            notes: ProgressNotes {
                stage,
                spec: spec.clone(),
                step: 0,
                sweeps: before.map_or(0, |p| p.notes.sweeps),
                lambda_max,
                objective: f64::MAX,
                quiet: 0,
                path: Vec::new(),
                candidates: before.map_or_else(Vec::new, |p| p.notes.candidates.clone()),
                trials: before.map_or_else(Vec::new, |p| p.notes.trials.clone()),
                seconds: self.seconds(),
                sampler: None,
            },
            parameters,
            best: before.and_then(|p| p.best.clone()),
            draws: None,
        }
    }

    /// Runs a stage from wherever `progress` is. After each step `judge` may add to its notes, and says
    /// whether to leave.
    pub(super) fn run(
        &mut self,
        objective: &mut Objective<'_, T>,
        progress: &mut Progress<T>,
        steps: &mut Steps<'_, T>,
        judge: impl FnMut(&mut Progress<T>, &StepReport) -> bool,
    ) -> End {
        let penalty = steps.penalty;
        let mut advance = |objective: &mut Objective<'_, T>, progress: &mut Progress<T>| {
            objective.set_penalty(penalty(progress.notes.step));
            steps.solver.step(objective, &mut progress.parameters)
        };
        self.run_with(objective, progress, steps.count, &mut advance, judge)
    }

    /// The same for any way to take a fit one step further.
    pub(super) fn run_with(
        &mut self,
        objective: &mut Objective<'_, T>,
        progress: &mut Progress<T>,
        count: usize,
        advance: &mut Advance<'_, T>,
        mut judge: impl FnMut(&mut Progress<T>, &StepReport) -> bool,
    ) -> End {
        self.observer.event(Event::Stage { stage: progress.notes.stage, steps: count });
        while progress.notes.step < count {
            if self.config.sweeps.is_some_and(|most| progress.notes.sweeps >= most) {
                return End::Sweeps;
            }
            if self.config.time_limit.is_some_and(|limit| self.seconds() >= limit) {
                return End::Time;
            }
            let report = advance(objective, progress);
            let notes = &mut progress.notes;
            notes.step += 1;
            notes.sweeps += 1;
            let fall = notes.objective - report.objective;
            let is_quiet = fall <= self.config.tolerance * report.objective.abs();
            notes.quiet = if is_quiet { notes.quiet + 1 } else { 0 };
            notes.objective = report.objective;
            notes.seconds = self.seconds();
            notes.path.push(PathPoint {
                penalty: objective.penalty(),
                train_rmse: report.data.max(0.0).sqrt(),
                validation_rmse: None,
                seconds: notes.seconds,
            });
            let leave = judge(progress, &report);
            let last = progress.notes.path.len() - 1;
            let (done, point) = (progress.notes.step, progress.notes.path[last]);
            self.observer.event(Event::Step { done, point });
            if report.stuck {
                return End::Stuck;
            }
            if leave {
                return End::Left;
            }
            // Gauss-Newton carries damping from step to step, so a polish starts over when resumed.
            let resumable =
                self.config.solver.keeps_checkpoints() && progress.notes.stage != Stage::Polish;
            if resumable {
                self.observer.event(Event::Checkpoint(progress));
            }
        }
        End::Done
    }

    /// The result, at the penalty of `objective`.
    pub(super) fn finish(
        &self,
        objective: &Objective<'_, T>,
        progress: Progress<T>,
        status: Status,
        path: Vec<PathPoint>,
        validation_rmse: Option<f64>,
    ) -> Fit<T> {
        let options = CertifyOptions { curvature: false, seed: self.config.seed };
        // CP has none, and a certificate for cells that were not observed is not known.
        let certificate = (self.config.certify && can_be_certified(objective))
            .then(|| certify(objective, &progress.parameters, &options).ok())
            .flatten();
        Fit {
            spec: objective.spec().clone(),
            train_rmse: objective.data_value(&progress.parameters).sqrt(),
            parameters: progress.parameters,
            penalty: objective.penalty(),
            status,
            sweeps: progress.notes.sweeps,
            validation_rmse,
            path,
            certificate,
            sdp: None,
            posterior: None,
        }
    }
}

impl End {
    /// The status of a fit that ended so, where running out of steps is `done`.
    pub(super) fn status(self, done: Status) -> Status {
        match self {
            Self::Done => done,
            Self::Left => Status::Converged,
            Self::Stuck => Status::NoProgress,
            Self::Sweeps => Status::SweepLimit,
            Self::Time => Status::TimeLimit,
        }
    }

    /// Whether a limit of the whole fit was reached.
    pub(super) fn is_limit(self) -> bool {
        matches!(self, Self::Sweeps | Self::Time)
    }
}
