//! The fit that needs no settings: exact if the data are exact, else chosen by hold-out.

use super::events::{Fit, Stage, Status};
use super::gauss_newton::GaussNewton;
use super::path::{self, Schedule};
use super::progress::{Candidate, Progress};
use super::runner::{End, Runner, Steps, Verdict};
use super::step::Als;
use super::trim;
use crate::apply::Predictor;
use crate::error::Result;
use crate::model::{Interaction, ModelSpec, Offsets};
use crate::observations::Observations;
use crate::views::Views;
use quadfill_kernels::Real;

/// How far below its start the penalty of a path falls.
pub(super) const PATH_DEPTH: f64 = 1e-6;
/// Columns that the first path of an exact fit has to spare.
const SPARE_COLUMNS: usize = 2;
/// How far up the penalty of a CP model is tried.
const PATH_HEIGHT: f64 = 1e3;
/// Where the second path of an exact fit begins and ends, as shares of the first one's start.
const TRIM_FIRST: f64 = 1e-2;
const TRIM_LAST: f64 = 1e-8;
/// The most Gauss-Newton steps of a polish.
const POLISH_STEPS: usize = 30;
/// The most sweeps at the chosen penalty.
const REFIT_SETTLING: usize = 50;

/// One path to be judged on held-out data.
#[derive(Debug, Clone, Copy)]
struct Choice {
    offsets: Offsets,
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
        let exact = match &progress {
            Some(p) => matches!(p.notes.stage, Stage::Exact | Stage::Trim | Stage::Polish),
            None => self.may_be_exact(&views),
        };
        if exact {
            match self.exact(&views, progress)? {
                Ok(fit) => return Ok(*fit),
                Err(left) => progress = Some(*left),
            }
        }
        let (train, validation) = self.split(views)?;
        if !matches!(&progress, Some(p) if matches!(p.notes.stage, Stage::Refit | Stage::Solve)) {
            match self.hold_out(&train, &validation, progress)? {
                Ok(fit) => return Ok(*fit),
                Err(left) => progress = Some(*left),
            }
        }
        let progress = progress.expect("hold-out leaves its findings");
        let (indices, values, weights) = train.into_columns();
        let train = Observations::from_checked(self.modes.clone(), indices, values, weights);
        let views = Views::new(train.join(validation));
        self.refit(&views, progress)
    }

    fn may_be_exact(&self, views: &Views<T>) -> bool {
        let spec = self.config.model.clone().with_offsets(Offsets::None);
        let enough = views.len() > spec.degrees_of_freedom(&views.sizes());
        let plain = self.config.incoherence.is_none() && !self.config.perturb;
        enough && plain && matches!(self.config.offsets, None | Some(Offsets::None))
    }

    /// How many steps a whole path takes.
    pub(super) fn path_steps(&self, views: &Views<T>) -> usize {
        let many = views.len() * self.config.model.rank > 10_000_000;
        self.config
            .path_steps
            .unwrap_or(if many { 100 } else { 300 })
    }

    /// A path with columns to spare, a second one with the principal columns, and a polish without
    /// penalty. Gives up, handing back the state, as soon as the data turn out not to be exact.
    fn exact(
        &mut self,
        views: &Views<T>,
        progress: Option<Progress<T>>,
    ) -> Result<std::result::Result<Box<Fit<T>>, Box<Progress<T>>>> {
        let spec = self.config.model.clone().with_offsets(Offsets::None);
        let spare = if spec.interaction == Interaction::Cp {
            0
        } else {
            SPARE_COLUMNS
        };
        let wide = spec.clone().with_rank(spec.rank + spare);
        let steps = self.path_steps(views);
        let mut progress = match progress {
            Some(progress) => progress,
            None => {
                let (lambda_max, parameters) = self.path_start(views, &wide)?;
                self.begin(Stage::Exact, &wide, lambda_max, parameters, None)
            }
        };
        let zero = crate::model::Parameters::zeros(&spec, &views.sizes());
        let mut objective = self.objective(views, &spec, 0.0)?;
        let deviation = objective.data_value(&zero).sqrt();
        let vanished = deviation * T::EPSILON.sqrt().min(1e-5);
        let first = progress.notes.lambda_max;

        if progress.notes.stage == Stage::Exact {
            let schedule = Schedule {
                first,
                last: first * PATH_DEPTH,
                steps,
            };
            let mut wide_objective = self.objective(views, &wide, first)?;
            let early = self.config.tolerance > 0.0;
            let plan = Steps {
                count: steps,
                solver: &mut Als,
                penalty: &|i| schedule.penalty(i),
            };
            let end = self.run(&mut wide_objective, &mut progress, plan, |progress, _| {
                Verdict {
                    validation_rmse: None,
                    leave: early
                        && path::has_levelled_off(
                            &progress.notes.path,
                            schedule.steps_per_decade(),
                            deviation,
                        ),
                }
            });
            let kept = trim::keep_principal(progress.parameters.clone(), &spec, &views.sizes());
            progress = self.begin(Stage::Trim, &spec, first, kept, Some(&progress));
            match end {
                End::Left | End::Stuck => return Ok(Err(Box::new(progress))),
                End::Sweeps | End::Time => {
                    let status = end.status(Status::SweepLimit);
                    objective.set_penalty(first * PATH_DEPTH);
                    return Ok(Ok(Box::new(self.finish(
                        &objective,
                        progress,
                        status,
                        Vec::new(),
                        None,
                    ))));
                }
                End::Done => {}
            }
        }
        if progress.notes.stage == Stage::Trim {
            let count = (steps / 3).max(10);
            let schedule = Schedule {
                first: first * TRIM_FIRST,
                last: first * TRIM_LAST,
                steps: count,
            };
            let plan = Steps {
                count,
                solver: &mut Als,
                penalty: &|i| schedule.penalty(i),
            };
            let end = self.run(&mut objective, &mut progress, plan, |_, _| {
                Verdict::default()
            });
            if end.is_limit() {
                let (status, path) = (end.status(Status::SweepLimit), progress.notes.path.clone());
                return Ok(Ok(Box::new(
                    self.finish(&objective, progress, status, path, None),
                )));
            }
            let path = progress.notes.path.clone();
            let parameters = progress.parameters.clone();
            progress = self.begin(Stage::Polish, &spec, first, parameters, Some(&progress));
            progress.notes.path = path;
        }
        objective.set_penalty(0.0);
        let (mut slow, mut before) = (0, f64::INFINITY);
        let path = progress.notes.path.clone();
        let plan = Steps {
            count: POLISH_STEPS,
            solver: &mut GaussNewton::new(),
            penalty: &|_| 0.0,
        };
        self.run(&mut objective, &mut progress, plan, |_, report| {
            let now = report.data.max(0.0).sqrt();
            slow = if now > 0.7 * before { slow + 1 } else { 0 };
            before = now;
            Verdict {
                validation_rmse: None,
                leave: slow >= 3 || now < 4.0 * T::EPSILON * deviation,
            }
        });
        if objective.data_value(&progress.parameters).sqrt() <= vanished {
            return Ok(Ok(Box::new(self.finish(
                &objective,
                progress,
                Status::Exact,
                path,
                None,
            ))));
        }
        Ok(Err(Box::new(progress)))
    }

    fn split(&self, views: Views<T>) -> Result<(Views<T>, Observations<T>)> {
        let (indices, values, weights) = views.into_columns();
        let all = Observations::from_checked(self.modes.clone(), indices, values, weights);
        let (train, validation) = all.split_random(self.config.validation, self.config.seed)?;
        Ok((Views::new(train), validation))
    }

    /// What hold-out tries: each choice of offsets, and for CP, which starts in the middle, the way
    /// up as well as the way down.
    fn choices(&self) -> Vec<Choice> {
        let offsets = self.config.offsets.map_or_else(
            || vec![Offsets::None, Offsets::Mean, Offsets::Modes],
            |o| vec![o],
        );
        let ends: &[f64] = if self.config.model.interaction == Interaction::Cp {
            &[PATH_DEPTH, PATH_HEIGHT]
        } else {
            &[PATH_DEPTH]
        };
        offsets
            .into_iter()
            .flat_map(|offsets| ends.iter().map(move |&end| Choice { offsets, end }))
            .collect()
    }

    fn candidate_spec(&self, offsets: Offsets) -> ModelSpec {
        self.config.model.clone().with_offsets(offsets)
    }

    /// One path for each choice of offsets, judged on what is held out.
    fn hold_out(
        &mut self,
        train: &Views<T>,
        validation: &Observations<T>,
        mut progress: Option<Progress<T>>,
    ) -> Result<std::result::Result<Box<Fit<T>>, Box<Progress<T>>>> {
        let columns: Vec<&[u32]> = (0..validation.modes().len())
            .map(|mode| validation.indices(mode))
            .collect();
        let values: Vec<f64> = validation.values().iter().map(|v| v.to_f64()).collect();
        let steps = self.path_steps(train);
        let is_product = self.config.model.interaction == Interaction::Cp;
        for (candidate, choice) in self.choices().into_iter().enumerate() {
            let offsets = choice.offsets;
            let spec = self.candidate_spec(offsets);
            let mut state = match progress.take() {
                Some(p) if p.notes.stage == Stage::HoldOut(candidate) => p,
                Some(p) if p.notes.candidates.len() > candidate => {
                    progress = Some(p);
                    continue;
                }
                before => {
                    let (lambda_max, parameters) = self.path_start(train, &spec)?;
                    self.begin(
                        Stage::HoldOut(candidate),
                        &spec,
                        lambda_max,
                        parameters,
                        before.as_ref(),
                    )
                }
            };
            let first = state.notes.lambda_max;
            let schedule = Schedule {
                first,
                last: first * choice.end,
                steps,
            };
            let mut objective = self.objective(train, &spec, first)?;
            let early = self.config.tolerance > 0.0;
            let plan = Steps {
                count: steps,
                solver: &mut Als,
                penalty: &|i| schedule.penalty(i),
            };
            let end = self.run(&mut objective, &mut state, plan, |progress, _| {
                let judged =
                    Predictor::new(&spec, &progress.parameters).evaluate(&columns, &values);
                if is_product && is_best(progress, judged.rmse) {
                    progress.best = Some(progress.parameters.clone());
                }
                let mut path = progress.notes.path.clone();
                if let Some(last) = path.last_mut() {
                    last.validation_rmse = Some(judged.rmse);
                }
                Verdict {
                    validation_rmse: Some(judged.rmse),
                    leave: early && path::is_past_best(&path, schedule.steps_per_decade()),
                }
            });
            let path = state.notes.path.clone();
            if end.is_limit() && state.notes.candidates.is_empty() {
                let rmse = path.last().and_then(|p| p.validation_rmse);
                let status = end.status(Status::SweepLimit);
                return Ok(Ok(Box::new(
                    self.finish(&objective, state, status, path, rmse),
                )));
            }
            if let Some(best) = path::best_point(&path) {
                state.notes.candidates.push(Candidate {
                    offsets,
                    penalty: path[best].penalty,
                    lambda_max: first,
                    validation_rmse: path[best].validation_rmse.unwrap_or(f64::INFINITY),
                    path,
                });
            }
            progress = Some(state);
        }
        Ok(Err(Box::new(
            progress.expect("there is at least one choice of offsets"),
        )))
    }

    /// Fits all data with the penalty and the offsets that did best.
    fn refit(mut self, views: &Views<T>, progress: Progress<T>) -> Result<Fit<T>> {
        let candidates = &progress.notes.candidates;
        let best = candidates
            .iter()
            .min_by(|x, y| x.validation_rmse.total_cmp(&y.validation_rmse))
            .expect("hold-out judged at least one candidate")
            .clone();
        let spec = self.candidate_spec(best.offsets);
        let mut state = if matches!(progress.notes.stage, Stage::Refit | Stage::Solve) {
            progress
        } else if let Some(parameters) = progress.best.clone() {
            // A random start may lead elsewhere: go on from what was judged best.
            self.begin(
                Stage::Solve,
                &spec,
                best.lambda_max,
                parameters,
                Some(&progress),
            )
        } else {
            let (lambda_max, parameters) = self.path_start(views, &spec)?;
            self.begin(Stage::Refit, &spec, lambda_max, parameters, Some(&progress))
        };
        let mut objective = self.objective(views, &spec, best.penalty)?;
        let (_, status) =
            self.descend_and_settle(&mut objective, &mut state, best.penalty, REFIT_SETTLING);
        let rmse = Some(best.validation_rmse);
        Ok(self.finish(&objective, state, status, best.path, rmse))
    }
}

/// Whether an error on the held-out part is smaller than any before.
fn is_best<T: Real>(progress: &Progress<T>, rmse: f64) -> bool {
    let earlier = progress.notes.candidates.iter().map(|c| c.validation_rmse);
    let here = progress.notes.path.iter().filter_map(|p| p.validation_rmse);
    earlier.chain(here).all(|other| rmse < other)
}
