//! The fit that needs no settings: exact if the data are exact, else chosen by hold-out.

use super::config::RankChoice;
use super::events::{Fit, Stage, Status};
use super::path::{self, Schedule};
use super::progress::{Candidate, Progress};
use super::ranks::{self, Trial};
use super::runner::{Runner, Steps};
use super::settling;
use super::single::Descent;
use super::step::Als;
use crate::apply::Predictor;
use crate::error::Result;
use crate::model::{Interaction, ModelSpec, Offsets};
use crate::observations::Observations;
use crate::views::Views;
use quadfill_kernels::Real;

/// How far below its start the penalty of a path falls.
pub(super) const PATH_DEPTH: f64 = 1e-6;
/// How far up the penalty of a CP model is tried.
const PATH_HEIGHT: f64 = 1e3;

/// How a part of the fit ended.
pub(super) enum Outcome<T: Real> {
    /// With a model.
    Fitted(Fit<T>),
    /// Without one: the next part goes on from here.
    Left(Progress<T>),
}

/// One path to be judged on held-out data.
#[derive(Debug, Clone, Copy)]
struct Choice {
    offsets: Offsets,
    rank: usize,
    /// The last penalty over the first.
    end: f64,
}

impl<T: Real> Runner<'_, T> {
    /// Finds out by itself whether the data are exact, and which penalty and offsets they want.
    pub(super) fn automatic(
        mut self,
        views: Views<T>,
        progress: Option<Progress<T>>,
    ) -> Result<Fit<T>> {
        let mut progress = progress;
        let try_exact = match &progress {
            Some(p) => matches!(p.notes.stage, Stage::Exact | Stage::Trim | Stage::Polish),
            None => self.may_be_exact(&views),
        };
        if try_exact {
            match self.exact_at_some_rank(&views, progress)? {
                Outcome::Fitted(fit) => return Ok(fit),
                Outcome::Left(left) => progress = Some(left),
            }
        }
        let (train, validation) = self.split(views)?;
        let is_chosen = |p: &Progress<T>| matches!(p.notes.stage, Stage::Refit | Stage::Solve);
        let chosen = match progress {
            Some(progress) if is_chosen(&progress) => progress,
            progress => match self.hold_out(&train, &validation, progress)? {
                Outcome::Fitted(fit) => return Ok(fit),
                Outcome::Left(left) => left,
            },
        };
        let views = self.join(train, validation);
        self.refit(&views, chosen)
    }

    /// How many steps a whole path takes.
    pub(super) fn path_steps(&self, views: &Views<T>) -> usize {
        let many = views.len() * self.config.model.rank > 10_000_000;
        self.config.path_steps.unwrap_or(if many { 100 } else { 300 })
    }

    /// How many steps a path takes that is judged on held-out data. Where many ranks are tried, few
    /// steps tell them apart.
    fn hold_out_steps(&self, views: &Views<T>) -> usize {
        match (self.config.rank, self.config.path_steps) {
            (RankChoice::Auto, None) => self.path_steps(views) / 3,
            _ => self.path_steps(views),
        }
    }

    /// The other way round from [`Self::split`].
    pub(super) fn join(&self, train: Views<T>, validation: Observations<T>) -> Views<T> {
        let (indices, values, weights) = train.into_columns();
        let train = Observations::from_checked(self.modes.clone(), indices, values, weights);
        Views::new(train.join(validation))
    }

    pub(super) fn split(&self, views: Views<T>) -> Result<(Views<T>, Observations<T>)> {
        let (indices, values, weights) = views.into_columns();
        let all = Observations::from_checked(self.modes.clone(), indices, values, weights);
        let (train, validation) = all.split_random(self.config.validation, self.config.seed)?;
        Ok((Views::new(train), validation))
    }

    /// What hold-out tries next: the offsets and the rank, and for CP, which starts in the middle, the way
    /// up as well as the way down. Follows from what it has found.
    fn next_choice(&self, candidates: &[Candidate], train: &Views<T>) -> Option<Choice> {
        let ends: &[f64] = match self.config.model.interaction {
            Interaction::Cp => &[PATH_DEPTH, PATH_HEIGHT],
            Interaction::Quadratic(_) => &[PATH_DEPTH],
        };
        if let Some(end) = ends.get(candidates.len() % ends.len())
            && !candidates.len().is_multiple_of(ends.len())
        {
            let Candidate { offsets, rank, .. } = candidates[candidates.len() - 1];
            return Some(Choice { offsets, rank, end: *end });
        }
        let offsets = self
            .config
            .offsets
            .map_or_else(|| vec![Offsets::None, Offsets::Mean, Offsets::Modes], |o| vec![o]);
        let trial = match self.config.rank {
            RankChoice::Auto => ranks::next(candidates, &offsets, self.largest_rank(train)),
            RankChoice::Given => offsets
                .get(candidates.len() / ends.len())
                .map(|&offsets| Trial { offsets, rank: self.config.model.rank }),
        };
        trial.map(|Trial { offsets, rank }| Choice { offsets, rank, end: ends[0] })
    }

    /// The largest rank that so many observations can tell anything about.
    pub(super) fn largest_rank(&self, views: &Views<T>) -> usize {
        let sizes = views.sizes();
        let freedom = |rank| self.config.model.clone().with_rank(rank).degrees_of_freedom(&sizes);
        (1..=self.config.model.rank)
            .take_while(|&rank| freedom(rank) <= views.len())
            .last()
            .unwrap_or(1)
    }

    pub(super) fn spec_with(&self, offsets: Offsets, rank: usize) -> ModelSpec {
        self.config.model.clone().with_offsets(offsets).with_rank(rank)
    }

    /// One path for each choice, judged on what is held out. Ends with a model only where a limit
    /// comes first.
    fn hold_out(
        &mut self,
        train: &Views<T>,
        validation: &Observations<T>,
        mut progress: Option<Progress<T>>,
    ) -> Result<Outcome<T>> {
        let columns: Vec<&[u32]> =
            (0..validation.modes().len()).map(|mode| validation.indices(mode)).collect();
        let values: Vec<f64> = validation.values().iter().map(|v| v.to_f64()).collect();
        let judge = |progress: &Progress<T>| {
            let predictor = Predictor::new(&progress.notes.spec, &progress.parameters);
            predictor.evaluate(&columns, &values).rmse
        };
        let count = self.hold_out_steps(train);
        loop {
            let candidates = progress.as_ref().map_or(&[][..], |p| &p.notes.candidates);
            let number = candidates.len();
            let Some(choice) = self.next_choice(candidates, train) else {
                break;
            };
            let spec = self.spec_with(choice.offsets, choice.rank);
            let mut state = match progress.take() {
                Some(p) if p.notes.stage == Stage::HoldOut(number) => p,
                before => {
                    let (lambda_max, parameters) = self.path_start(train, &spec)?;
                    let stage = Stage::HoldOut(number);
                    self.begin(stage, &spec, lambda_max, parameters, before.as_ref())
                }
            };
            let first = state.notes.lambda_max;
            let schedule = Schedule { first, last: first * choice.end, steps: count };
            let mut objective = self.objective(train, &spec, first)?;
            let early = self.config.tolerance > 0.0;
            let mut steps =
                Steps { count, solver: &mut Als, penalty: &|step| schedule.penalty(step) };
            let end = self.run(&mut objective, &mut state, &mut steps, |progress, _| {
                let rmse = judge(progress);
                if is_best(progress, rmse) {
                    progress.best = Some(progress.parameters.clone());
                }
                progress.notes.note_held_out(rmse);
                early && path::is_past_best(&progress.notes.path, schedule.steps_per_decade())
            });
            let path = state.notes.path.clone();
            if let Some(best) = path::best_point(&path) {
                state.notes.candidates.push(Candidate {
                    offsets: choice.offsets,
                    rank: choice.rank,
                    penalty: path[best].penalty,
                    lambda_max: first,
                    validation_rmse: path[best].validation_rmse.unwrap_or(f64::INFINITY),
                    path,
                    settling: None,
                });
            }
            if end.is_limit() {
                let status = end.status(Status::SweepLimit);
                return Ok(Outcome::Fitted(self.best_so_far(train, state, status)?));
            }
            progress = Some(state);
        }
        self.choose_settling(train, &judge, progress.expect("there is at least one choice"))
    }

    /// What did best on the held-out part, as it was fitted to the rest.
    pub(super) fn best_so_far(
        &self,
        views: &Views<T>,
        mut progress: Progress<T>,
        status: Status,
    ) -> Result<Fit<T>> {
        let Some(best) = progress.notes.best_candidate().cloned() else {
            // The limit came before the first step.
            let objective =
                self.objective(views, &progress.notes.spec, progress.notes.lambda_max)?;
            return Ok(self.finish(&objective, progress, status, Vec::new(), None));
        };
        if let Some(parameters) = progress.best.take() {
            progress.parameters = parameters;
        }
        let spec = self.spec_with(best.offsets, best.rank);
        let objective = self.objective(views, &spec, best.penalty)?;
        Ok(self.finish(&objective, progress, status, best.path, Some(best.validation_rmse)))
    }

    /// Fits all data with the penalty and the offsets that did best, by as many sweeps as led there.
    fn refit(mut self, views: &Views<T>, progress: Progress<T>) -> Result<Fit<T>> {
        let best = progress.notes.best_candidate().cloned();
        let best = best.expect("hold-out judged at least one choice");
        let spec = self.spec_with(best.offsets, best.rank);
        let mut state = if matches!(progress.notes.stage, Stage::Refit | Stage::Solve) {
            progress
        } else if let (Interaction::Cp, Some(parameters)) = (&spec.interaction, &progress.best) {
            // A random start may lead elsewhere: go on from what was judged best.
            let parameters = parameters.clone();
            self.begin(Stage::Solve, &spec, best.lambda_max, parameters, Some(&progress))
        } else {
            let (lambda_max, parameters) = self.path_start(views, &spec)?;
            self.begin(Stage::Refit, &spec, lambda_max, parameters, Some(&progress))
        };
        let mut objective = self.objective(views, &spec, best.penalty)?;
        let way = Descent {
            penalty: best.penalty,
            steps: path::best_point(&best.path).map_or(1, |i| i + 1),
            settling: best.settling.as_ref().map_or(settling::MOST, |s| s.sweeps),
        };
        let (_, status) = self.descend_and_settle(&mut objective, &mut state, way);
        if matches!(status, Status::SweepLimit | Status::TimeLimit)
            && state.notes.stage == Stage::Refit
        {
            return self.best_so_far(views, state, status);
        }
        let status = if status == Status::TimeLimit { status } else { Status::Validated };
        let rmse = best.settling.map_or(best.validation_rmse, |s| s.validation_rmse);
        Ok(self.finish(&objective, state, status, best.path, Some(rmse)))
    }
}

/// Whether an error on the held-out part is smaller than any before.
fn is_best<T: Real>(progress: &Progress<T>, rmse: f64) -> bool {
    let earlier = progress.notes.candidates.iter().map(|c| c.validation_rmse);
    let here = progress.notes.path.iter().filter_map(|p| p.validation_rmse);
    earlier.chain(here).all(|other| rmse < other)
}
