//! The loop that every part of a fit iterates in: limits, clock, events and checkpoints.

use std::time::Instant;

use super::centred;
use super::checked::CheckedConfig;
use super::checkpoint::{Checkpoint, Fingerprint, Position};
use super::config::FitConfig;
use super::events::{Event, Observer, PathPoint, Stage, Status};
use super::race::RaceReport;
use super::start::{self, Spectrum};
use super::state::{Descent, State, Trace};
use super::step::{Step, StepReport};
use crate::model::{Interaction, ModelSpec, Parameters};
use crate::objective::{Objective, Problem};
use crate::views::Selection;
use quadfill_kernels::Real;

/// A running fit: its problem, its observer and its limits.
pub(super) struct FitSession<'a, T: Real> {
    pub(super) checked: &'a CheckedConfig,
    pub(super) problem: &'a Problem<T>,
    /// The problems that a race is run on, where that is not the whole one.
    pub(super) folds: &'a [Problem<T>],
    /// The model with the largest rank and no biases; its kernel is known once it has been learned.
    pub(super) base: ModelSpec,
    observer: &'a mut dyn Observer,
    fingerprint: Fingerprint,
    clock: Instant,
    seconds_before: f64,
    sweeps: usize,
    /// How the model was chosen, where several were raced and a path won.
    pub(super) race: Option<RaceReport>,
    /// Whether the observer has asked to stop, which takes effect before the next step.
    interrupted: bool,
}

impl<T: Real> FitSession<'_, T> {
    /// Whether models are compared on a sample of the data.
    pub(super) fn races_on_sample(&self) -> bool {
        self.folds.iter().any(|fold| fold.data().len() < self.problem.data().len())
    }
}

/// Why an iteration ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// All its steps are done.
    Done,
    /// The stop rule said so.
    StoppedByRule,
    /// No step lowers the objective.
    Stuck,
    /// The iteration limit.
    SweepLimit,
    /// The time limit.
    TimeLimit,
    /// The observer.
    Interrupted,
}

impl Ending {
    /// The status of a fit that ends here, where running out of steps is `done`.
    pub(super) fn status(self, done: Status) -> Status {
        match self {
            Self::Done => done,
            Self::StoppedByRule => Status::Converged,
            Self::Stuck => Status::NoProgress,
            Self::SweepLimit => Status::SweepLimit,
            Self::TimeLimit => Status::TimeLimit,
            Self::Interrupted => Status::Interrupted,
        }
    }

    /// The status of a fit that a limit ends here.
    pub(super) fn limit(self) -> Option<Status> {
        matches!(self, Self::SweepLimit | Self::TimeLimit | Self::Interrupted)
            .then(|| self.status(Status::SweepLimit))
    }
}

/// Something that is iterated: a descent, or the chains of a sampler.
pub(super) trait Iterate {
    fn trace(&mut self) -> &mut Trace;
}

impl<P> Iterate for Descent<P> {
    fn trace(&mut self) -> &mut Trace {
        &mut self.trace
    }
}

/// The state of the whole fit while something is iterated.
type StateOf<'s, T, I> = dyn Fn(&I) -> State<Parameters<T>> + 's;

/// How something is iterated.
pub(super) struct Iteration<'i, T: Real, I> {
    /// The stage that observers see.
    pub(super) stage: Stage,
    /// The maximum number of steps.
    pub(super) count: usize,
    /// One step.
    pub(super) advance: &'i mut dyn FnMut(&mut Objective<'_, T>, &mut I) -> StepReport,
    /// The state of the whole fit for a checkpoint, where checkpoints are kept.
    pub(super) checkpoint: Option<&'i StateOf<'i, T, I>>,
    /// The number of iterations before that state, where it is an earlier one.
    pub(super) sweeps_before: Option<usize>,
}

/// Steps of a solver at penalties that depend on the number of the step.
pub(super) fn steps<T: Real>(
    mut solver: impl Step<T>,
    penalty: impl Fn(usize) -> f64,
) -> impl FnMut(&mut Objective<'_, T>, &mut Descent<Parameters<T>>) -> StepReport {
    move |objective, descent| {
        objective.set_penalty(penalty(descent.trace.step));
        solver.step(objective, &mut descent.parameters)
    }
}

/// Steps that lower the objective by less than the tolerance before it counts as converged.
pub(super) const STALLED_STEPS: usize = 3;

impl<'a, T: Real> FitSession<'a, T> {
    pub(super) fn new(
        checked: &'a CheckedConfig,
        problem: &'a Problem<T>,
        folds: &'a [Problem<T>],
        observer: &'a mut dyn Observer,
        fingerprint: Fingerprint,
        position: Position,
    ) -> Self {
        let Position { base, sweeps, seconds, race } = position;
        Self {
            checked,
            problem,
            folds,
            base,
            observer,
            fingerprint,
            clock: Instant::now(),
            seconds_before: seconds,
            sweeps,
            race,
            interrupted: false,
        }
    }

    pub(super) fn config(&self) -> &'a FitConfig {
        &self.checked.config
    }

    /// Whether a solver may stop before all its steps are done.
    pub(super) fn may_stop_early(&self) -> bool {
        self.config().tolerance > 0.0
    }

    /// Iterations so far.
    pub(super) fn sweeps(&self) -> usize {
        self.sweeps
    }

    /// The cells whose predictions the observer wants averaged over all draws.
    pub(super) fn tracked_cells(&self) -> Vec<Vec<u32>> {
        self.observer.tracked_cells().to_vec()
    }

    fn seconds(&self) -> f64 {
        self.seconds_before + self.clock.elapsed().as_secs_f64()
    }

    /// How many steps a whole path takes.
    pub(super) fn path_steps(&self, data: Selection<'_, T>) -> usize {
        let many = data.len() * self.base.rank > 10_000_000;
        self.config().path_steps.unwrap_or(if many { 100 } else { 300 })
    }

    /// Where a path begins: the largest penalty, and small factors that can grow below it.
    pub(super) fn path_start(
        &self,
        data: Selection<'_, T>,
        spec: &ModelSpec,
    ) -> Descent<Parameters<T>> {
        if spec.centred {
            let parameters = centred::start(spec, data, self.config().seed);
            return Descent::new(spec.clone(), centred::first_penalty(data), parameters);
        }
        let mut parameters = start::biases_only(spec, data);
        let objective = self.problem.objective_on(data, spec, 0.0);
        let deviation = objective.data_value(&parameters).sqrt().max(f64::MIN_POSITIVE);
        let seed = self.config().seed;
        if spec.interaction == Interaction::Cp {
            let (penalty, parameters) = start::product_path_start(objective, deviation, seed);
            return Descent::new(spec.clone(), penalty, parameters);
        }
        let spectrum = Spectrum::new(&objective, &parameters, spec.rank, seed);
        spectrum.write_factors(&mut parameters, 0.1 * deviation.sqrt());
        Descent::new(spec.clone(), spectrum.lambda_max, parameters)
    }

    /// Iterates from the current state of `item`. After each step `stop_rule` may add to its trace, and
    /// decides whether to stop.
    pub(super) fn iterate<I: Iterate>(
        &mut self,
        objective: &mut Objective<'_, T>,
        item: &mut I,
        iteration: Iteration<'_, T, I>,
        mut stop_rule: impl FnMut(&mut I, &StepReport) -> bool,
    ) -> Ending {
        let Iteration { stage, count, advance, checkpoint, sweeps_before } = iteration;
        self.interrupted |= self.observer.event(Event::Stage { stage, steps: count }).is_break();
        while item.trace().step < count {
            if self.interrupted {
                self.keep(item, checkpoint, sweeps_before, true);
                return Ending::Interrupted;
            }
            if self.config().sweeps.is_some_and(|most| self.sweeps >= most) {
                return Ending::SweepLimit;
            }
            if self.config().time_limit.is_some_and(|limit| self.seconds() >= limit) {
                return Ending::TimeLimit;
            }
            let report = advance(objective, item);
            self.sweeps += 1;
            let seconds = self.seconds();
            let trace = item.trace();
            trace.step += 1;
            let decrease = trace.objective - report.objective;
            let is_stalled = decrease <= self.config().tolerance * report.objective.abs();
            trace.stalled = if is_stalled { trace.stalled + 1 } else { 0 };
            trace.objective = report.objective;
            trace.path.push(PathPoint {
                penalty: objective.penalty(),
                train_rmse: report.data.max(0.0).sqrt(),
                validation_rmse: None,
                seconds,
            });
            let stop = stop_rule(item, &report);
            let trace = item.trace();
            let (done, point) = (trace.step, trace.path[trace.path.len() - 1]);
            self.interrupted |= self.observer.event(Event::Step { done, point }).is_break();
            if report.stuck {
                return Ending::Stuck;
            }
            if stop {
                return Ending::StoppedByRule;
            }
            if !self.interrupted {
                self.keep(item, checkpoint, sweeps_before, false);
            }
        }
        Ending::Done
    }

    /// Offers the state to the observer.
    fn keep<I>(
        &mut self,
        item: &I,
        state: Option<&StateOf<'_, T, I>>,
        sweeps_before: Option<usize>,
        is_last: bool,
    ) {
        let Some(state) = state else {
            return;
        };
        let sweeps = sweeps_before.unwrap_or(self.sweeps);
        let position = Position {
            base: self.base.clone(),
            sweeps,
            seconds: self.seconds(),
            race: self.race.clone(),
        };
        let fingerprint = &self.fingerprint;
        let write = || super::checkpoint::to_bytes(fingerprint, &position, state(item));
        let event = Event::Checkpoint(Checkpoint::new(&write, is_last));
        self.interrupted |= self.observer.event(event).is_break();
    }
}
