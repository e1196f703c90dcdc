//! One start of the search: a short path, and how well it predicts what is held out.

use super::diagonal::biases_to_diagonal;
use super::kernel_step::learned_sweep;
use crate::apply::Predictor;
use crate::error::Result;
use crate::model::{
    Kernel, ModelSpec, Offsets, Parameters, keep_principal, rotate_to_principal_axes,
};
use crate::objective::{KernelEntry, Objective};
use crate::observations::Observations;
use crate::solve::automatic::PATH_DEPTH;
use crate::solve::config::RankChoice;
use crate::solve::events::{PathPoint, Stage, Status};
use crate::solve::exact::{SPARE_COLUMNS, TRIM_FIRST, TRIM_LAST};
use crate::solve::path::{self, Schedule};
use crate::solve::progress::Progress;
use crate::solve::runner::{End, QUIET_STEPS, Runner};
use crate::solve::step::StepReport;
use crate::views::Views;
use quadfill_kernels::Real;

/// The share of a whole path's steps that a short one takes.
const SHORT: usize = 3;
/// The most sweeps at the best penalty of a start.
const SETTLING: usize = 60;
/// Squared columns below this share of the largest are none, where the rank is not given.
const VANISHED: f64 = 1e-3;

/// A model that the search has found.
#[derive(Clone)]
pub(super) struct Found<T: Real> {
    pub(super) spec: ModelSpec,
    pub(super) parameters: Parameters<T>,
    pub(super) penalty: f64,
    pub(super) lambda_max: f64,
    /// The error on what is held out.
    pub(super) rmse: f64,
    /// The limit that came first, if one did.
    pub(super) limit: Option<Status>,
    /// The way here.
    pub(super) path: Vec<PathPoint>,
}

impl<T: Real> Found<T> {
    pub(super) fn kernel(&self) -> &Kernel {
        self.spec.kernel().expect("only quadratic models are learned")
    }

    /// The model with a diagonal in the place of biases, if there is one.
    pub(super) fn with_diagonal(&self, split: &Split<'_, T>, offsets: Offsets) -> Option<Self> {
        let (spec, parameters) =
            biases_to_diagonal(&self.spec, self.kernel(), &self.parameters, split.train, offsets)?;
        let rmse = split.rmse(&spec, &parameters);
        Some(Self { spec, parameters, rmse, ..self.clone() })
    }
}

/// The entries of a kernel that are learned: a diagonal only where there is one already.
pub(super) fn entries_of(kernel: &Kernel) -> Vec<KernelEntry> {
    let diagonal = kernel.has_diagonal();
    kernel.distinct_entries().into_iter().filter(|(a, b)| diagonal || a != b).collect()
}

/// The data of the search.
pub(super) struct Split<'a, T: Real> {
    pub(super) train: &'a Views<T>,
    pub(super) validation: &'a Observations<T>,
}

impl<T: Real> Split<'_, T> {
    pub(super) fn rmse(&self, spec: &ModelSpec, parameters: &Parameters<T>) -> f64 {
        Predictor::new(spec, parameters).evaluate_on(self.validation).rmse
    }
}

/// When a short path begins to change its kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moves {
    /// At its end where the sizes of the entries are scales of the factors, as with three modes.
    Signs,
    /// After its first quarter: before that the factors are too small to tell.
    Sizes,
}

impl Moves {
    fn kernel_early(self, modes: usize) -> bool {
        self == Self::Sizes || modes > 3
    }
}

/// Learned sweeps with the penalty of each step.
pub(super) struct LearnedSteps<'s> {
    pub(super) count: usize,
    /// The first step after which the kernel is changed too.
    pub(super) from: usize,
    pub(super) penalty: &'s dyn Fn(usize) -> f64,
}

impl<T: Real> Runner<'_, T> {
    /// A short path from a kernel without a diagonal, down to where it predicts best.
    pub(super) fn short_path(
        &mut self,
        split: &Split<'_, T>,
        spec: &ModelSpec,
        number: usize,
        moves: Moves,
    ) -> Result<Found<T>> {
        let wide = spec.clone().with_rank(spec.rank + SPARE_COLUMNS);
        let sizes = split.train.sizes();
        let (first, parameters) = self.path_start(split.train, &wide)?;
        let mut progress = self.begin(Stage::Kernel(number), &wide, first, parameters, None);
        let count = (self.path_steps(split.train) / SHORT).max(10);
        let schedule = Schedule { first, last: first * PATH_DEPTH, steps: count };
        let from = if moves.kernel_early(spec.modes()) { count / 4 } else { count };
        let mut objective = self.objective(split.train, &wide, first)?;
        let mut best = (f64::INFINITY, first, wide.clone(), progress.parameters.clone());
        let per_decade = schedule.steps_per_decade();
        let steps = LearnedSteps { count, from, penalty: &|step| schedule.penalty(step) };
        let end = self.run_learned(&mut objective, &mut progress, &steps, |progress, _| {
            let notes = &progress.notes;
            let rmse = split.rmse(&notes.spec, &progress.parameters);
            let penalty = notes.path.last().map_or(first, |point| point.penalty);
            if rmse < best.0 {
                best = (rmse, penalty, notes.spec.clone(), progress.parameters.clone());
            }
            progress.notes.note_held_out(rmse);
            path::is_past_best(&progress.notes.path, per_decade)
        });
        let limit = end.is_limit().then(|| end.status(Status::SweepLimit));
        let (_, penalty, mut spec, mut parameters) = best;
        spec.rank -= SPARE_COLUMNS;
        if self.config.rank == RankChoice::Auto {
            let squares = rotate_to_principal_axes(&mut parameters);
            let kept = squares.iter().filter(|&&s| s > VANISHED * squares[0]).count();
            spec.rank = kept.clamp(1, spec.rank);
        }
        let parameters = keep_principal(parameters, &spec, &sizes);
        let rmse = split.rmse(&spec, &parameters);
        let path = progress.notes.path;
        let found = Found { spec, parameters, penalty, lambda_max: first, rmse, limit, path };
        // As long as errors fall the penalty is not needed, as with data without noise.
        let still_falling = penalty <= first * PATH_DEPTH * 10.0;
        if still_falling && found.limit.is_none() {
            let schedule =
                Schedule { first: first * TRIM_FIRST, last: first * TRIM_LAST, steps: count };
            let trimmed = self.go_on(split, found.clone(), number, &schedule)?;
            if trimmed.rmse <= found.rmse {
                return Ok(trimmed);
            }
        }
        Ok(found)
    }

    /// Goes on at the best penalty, the kernel being learned too.
    pub(super) fn settle_found(
        &mut self,
        split: &Split<'_, T>,
        found: Found<T>,
        number: usize,
    ) -> Result<Found<T>> {
        let schedule = Schedule { first: found.penalty, last: found.penalty, steps: SETTLING };
        self.go_on(split, found, number, &schedule)
    }

    fn go_on(
        &mut self,
        split: &Split<'_, T>,
        found: Found<T>,
        number: usize,
        schedule: &Schedule,
    ) -> Result<Found<T>> {
        let stage = Stage::Kernel(number);
        let parameters = found.parameters;
        let mut progress = self.begin(stage, &found.spec, found.lambda_max, parameters, None);
        let mut objective = self.objective(split.train, &found.spec, schedule.first)?;
        let steps = LearnedSteps {
            count: schedule.steps,
            from: 0,
            penalty: &|step| schedule.penalty(step),
        };
        let level = schedule.first == schedule.last;
        let end = self.run_learned(&mut objective, &mut progress, &steps, |progress, _| {
            level && progress.notes.quiet >= QUIET_STEPS
        });
        let (spec, parameters) = (progress.notes.spec, progress.parameters);
        let mut path = found.path;
        path.extend(progress.notes.path);
        Ok(Found {
            path,
            rmse: split.rmse(&spec, &parameters),
            penalty: schedule.last,
            limit: end.is_limit().then(|| end.status(Status::SweepLimit)),
            lambda_max: found.lambda_max,
            spec,
            parameters,
        })
    }

    /// Runs learned sweeps; the progress has the kernel of every step.
    pub(super) fn run_learned(
        &mut self,
        objective: &mut Objective<'_, T>,
        progress: &mut Progress<T>,
        steps: &LearnedSteps<'_>,
        judge: impl FnMut(&mut Progress<T>, &StepReport) -> bool,
    ) -> End {
        let entries = entries_of(objective.kernel().expect("only quadratic models are learned"));
        let mut advance = |objective: &mut Objective<'_, T>, progress: &mut Progress<T>| {
            let step = progress.notes.step;
            objective.set_penalty((steps.penalty)(step));
            let learned = if step < steps.from { &[][..] } else { &entries };
            let report = learned_sweep(objective, &mut progress.parameters, learned);
            progress.notes.spec = objective.spec().clone();
            report
        };
        self.run_with(objective, progress, steps.count, &mut advance, judge)
    }
}
