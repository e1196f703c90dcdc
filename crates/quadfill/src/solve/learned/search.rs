//! The search for the kernel: every start judged on held-out data, the best one brought to an end.

use super::joint::JointStep;
use super::short_path::{Found, LearnedSteps, Moves, Split, entries_of};
use super::starts::sign_patterns;
use crate::error::Result;
use crate::model::{Interaction, Kernel, ModelSpec, Offsets, Parameters};
use crate::objective::Objective;
use crate::solve::config::RankChoice;
use crate::solve::events::{Fit, Stage, Status};
use crate::solve::exact::{POLISH_STEPS, TRIM_FIRST, TRIM_LAST};
use crate::solve::path::Schedule;
use crate::solve::progress::Progress;
use crate::solve::runner::Runner;
use crate::views::Views;
use quadfill_kernels::Real;

/// Biases of their own must predict so much better than a diagonal, which has far fewer numbers.
const BIASES_BETTER: f64 = 0.98;
/// A held-out error below this share of the deviation may be that of exact data.
const MAYBE_EXACT: f64 = 0.3;
/// The most models that are kept to be compared.
const KEPT: usize = 4;
/// How many of the best kernels get a path of their own, and how often.
const IMPROVED: usize = 2;
const ROUNDS: usize = 3;
/// A path anew whose error falls by less than this was the last.
const ROUND_BETTER: f64 = 0.98;
/// A held-out error below this share of the deviation leaves little to be improved.
const CLOSE: f64 = 1e-2;
/// The most models that are brought to working precision.
const POLISHED: usize = 3;
/// A rank of which twice as many columns predict hardly better is enough.
const RANK_BETTER: f64 = 0.95;

/// How the search ended.
pub(in crate::solve) enum Learned<T: Real> {
    /// With a model: the data are exact, or a limit came first.
    Fitted(Box<Fit<T>>),
    /// With a kernel, and the data to go on with.
    Kernel(Kernel, Views<T>),
}

impl<T: Real> Runner<'_, T> {
    /// Finds the kernel that predicts held-out data best, and the whole model where the data are exact.
    pub(in crate::solve) fn learn_kernel(mut self, views: Views<T>) -> Result<Learned<T>> {
        let may_be_exact = self.may_be_exact(&views);
        let (train, validation) = self.split(views)?;
        let split = Split { train: &train, validation: &validation };
        let (mut found, limit) = self.search(&split)?;
        if let Some(status) = limit {
            let best = found.swap_remove(0);
            let objective = self.objective(&train, &best.spec, best.penalty)?;
            let progress = self.progress_at(&best);
            let fit = self.finish(&objective, progress, status, best.path, Some(best.rmse));
            return Ok(Learned::Fitted(Box::new(fit)));
        }
        let views = self.join(train, validation);
        if may_be_exact && let Some(fit) = self.exact_of(&views, &found)? {
            return Ok(Learned::Fitted(Box::new(fit)));
        }
        let (kernel, _) = balanced(found[0].kernel(), &found[0].parameters);
        Ok(Learned::Kernel(kernel, views))
    }

    /// The best models, the best first, and the status where a limit of the whole fit came first. Where
    /// the rank is not given, it is doubled and then lowered as long as that helps.
    fn search(&mut self, split: &Split<'_, T>) -> Result<(Vec<Found<T>>, Option<Status>)> {
        let mut found = Vec::new();
        if self.config.rank == RankChoice::Given {
            let limit = self.try_starts(split, self.config.model.rank, &mut found)?;
            return Ok((found, limit));
        }
        let most = self.largest_rank(split.train);
        let doubled = std::iter::successors(Some(1), |rank| Some(rank * 2));
        for rank in doubled.take_while(|&rank| rank <= most) {
            let before = best_rmse(&found);
            let limit = self.try_starts(split, rank, &mut found)?;
            if limit.is_some() {
                return Ok((found, limit));
            }
            if best_rmse(&found) > RANK_BETTER * before {
                break;
            }
        }
        for rank in (1..found[0].spec.rank).rev() {
            let before = best_rmse(&found);
            let limit = self.try_starts(split, rank, &mut found)?;
            if limit.is_some() || best_rmse(&found) >= before {
                return Ok((found, limit));
            }
        }
        Ok((found, None))
    }

    /// Tries every start at one rank and adds what was found, the best first. Returns a status where a
    /// limit of the whole fit came first.
    fn try_starts(
        &mut self,
        split: &Split<'_, T>,
        rank: usize,
        found: &mut Vec<Found<T>>,
    ) -> Result<Option<Status>> {
        let plain = self.config.offsets.unwrap_or(Offsets::None);
        let mut starts: Vec<(Kernel, Offsets)> = Vec::new();
        for kernel in sign_patterns(self.config.model.modes()) {
            if plain != Offsets::Modes {
                starts.push((kernel.clone(), plain));
            }
            starts.push((kernel, Offsets::Modes));
        }
        let (mut here, mut limit) = (Vec::new(), None);
        for (number, (kernel, offsets)) in starts.into_iter().enumerate() {
            let spec = ModelSpec::quadratic(kernel, rank).with_offsets(offsets);
            let first = self.short_path(split, &spec, number, Moves::Signs)?;
            limit = first.limit;
            if offsets == plain {
                here.push(first);
            } else {
                if let Some(mut bent) = first.with_diagonal(split, plain) {
                    if limit.is_none() {
                        bent = self.settle_found(split, bent, number)?;
                        limit = bent.limit;
                    }
                    here.push(bent);
                }
                if self.config.offsets.is_none() {
                    here.push(first);
                }
            }
            if limit.is_some() {
                break;
            }
        }
        sort(&mut here);
        if limit.is_none() {
            limit = self.improve(split, &mut here)?;
        }
        found.append(&mut here);
        sort(found);
        found.truncate(KEPT);
        Ok(limit)
    }

    /// Paths from the best kernels, begun anew as long as they predict better.
    fn improve(&mut self, split: &Split<'_, T>, found: &mut [Found<T>]) -> Result<Option<Status>> {
        let deviation = self.deviation(split.train, &found[0])?;
        let with_kernel = found.iter_mut().filter(|found| found.spec.offsets != Offsets::Modes);
        for (number, found) in with_kernel.take(IMPROVED).enumerate() {
            for _ in 0..ROUNDS {
                if found.rmse < CLOSE * deviation {
                    return Ok(None);
                }
                let (kernel, _) = balanced(found.kernel(), &found.parameters);
                let interaction = Interaction::Quadratic(kernel);
                let spec = ModelSpec { interaction, ..found.spec.clone() };
                let next = self.short_path(split, &spec, number, Moves::Sizes)?;
                let (limit, fall) = (next.limit, next.rmse / found.rmse);
                if fall < 1.0 {
                    *found = next;
                }
                if limit.is_some() {
                    return Ok(limit);
                }
                if fall > ROUND_BETTER {
                    break;
                }
            }
        }
        Ok(None)
    }

    fn deviation(&self, views: &Views<T>, found: &Found<T>) -> Result<f64> {
        let objective = self.objective(views, &found.spec, 0.0)?;
        Ok(objective.data_value(&found.parameters.zeros_like()).sqrt())
    }

    fn progress_at(&self, found: &Found<T>) -> Progress<T> {
        let parameters = found.parameters.clone();
        self.begin(Stage::Polish, &found.spec, found.lambda_max, parameters, None)
    }

    /// The first of the best models whose residual on all data vanishes: at falling penalties, and then
    /// by joint steps without any.
    fn exact_of(&mut self, views: &Views<T>, found: &[Found<T>]) -> Result<Option<Fit<T>>> {
        let plain = found.iter().filter(|found| found.spec.offsets == Offsets::None);
        for found in plain.take(POLISHED) {
            let deviation = self.deviation(views, found)?;
            if found.rmse > MAYBE_EXACT * deviation {
                break;
            }
            let first = found.lambda_max;
            let steps = (self.path_steps(views) / 3).max(10);
            let schedule = Schedule { first: first * TRIM_FIRST, last: first * TRIM_LAST, steps };
            let mut progress = self.progress_at(found);
            let mut objective = self.objective(views, &found.spec, schedule.first)?;
            let sweeps =
                LearnedSteps { count: steps, from: 0, penalty: &|step| schedule.penalty(step) };
            self.run_learned(&mut objective, &mut progress, &sweeps, |_, _| false);
            let path = std::mem::take(&mut progress.notes.path);
            progress.notes.step = 0;
            objective.set_penalty(0.0);
            self.joint_polish(&mut objective, &mut progress, deviation);
            let vanished = deviation * T::EPSILON.sqrt().min(1e-5);
            if objective.data_value(&progress.parameters).sqrt() <= vanished {
                let (kernel, parameters) =
                    balanced(objective.kernel().expect("a kernel"), &progress.parameters);
                objective.set_kernel(kernel);
                progress.parameters = parameters;
                let path = [&found.path[..], &path].concat();
                return Ok(Some(self.finish(&objective, progress, Status::Exact, path, None)));
            }
        }
        Ok(None)
    }

    fn joint_polish(
        &mut self,
        objective: &mut Objective<'_, T>,
        progress: &mut Progress<T>,
        deviation: f64,
    ) {
        let entries = entries_of(objective.kernel().expect("a kernel"));
        let mut solver = JointStep::default();
        let mut advance = |objective: &mut Objective<'_, T>, progress: &mut Progress<T>| {
            solver.step(objective, &mut progress.parameters, &entries)
        };
        let (mut slow, mut before) = (0, f64::INFINITY);
        self.run_with(objective, progress, POLISH_STEPS, &mut advance, |_, report| {
            let now = report.data.max(0.0).sqrt();
            slow = if now > 0.7 * before { slow + 1 } else { 0 };
            before = now;
            let done = now < 4.0 * T::EPSILON * deviation;
            slow >= 5 || done
        });
    }
}

fn best_rmse<T: Real>(found: &[Found<T>]) -> f64 {
    found.first().map_or(f64::INFINITY, |found| found.rmse)
}

fn sort<T: Real>(found: &mut [Found<T>]) {
    found.sort_by(|x, y| handicapped(x).total_cmp(&handicapped(y)));
}

fn handicapped<T: Real>(found: &Found<T>) -> f64 {
    let free = if found.spec.offsets == Offsets::Modes { 1.0 } else { BIASES_BETTER };
    free * found.rmse
}

/// The same model with rows that are equally long in all modes, and a kernel of the norm of the
/// pairwise one.
fn balanced<T: Real>(kernel: &Kernel, parameters: &Parameters<T>) -> (Kernel, Parameters<T>) {
    let modes = kernel.modes();
    let lengths: Vec<f64> = (0..modes)
        .map(|mode| {
            let rows = parameters.layout().rows()[mode];
            let squares = parameters.factors(mode).iter().map(|u| u.to_f64() * u.to_f64());
            (squares.sum::<f64>() / rows.max(1) as f64).sqrt()
        })
        .collect();
    let longest = lengths.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let lengths: Vec<f64> = lengths.into_iter().map(|length| length.max(1e-3 * longest)).collect();
    let shrink = (Kernel::pairwise(modes).norm() / kernel.scaled(&lengths).norm()).sqrt();
    let scales: Vec<f64> = lengths.iter().map(|length| length * shrink).collect();
    let mut scaled = parameters.clone();
    for (mode, scale) in scales.iter().enumerate() {
        for label in 0..parameters.layout().rows()[mode] {
            for u in scaled.row_mut(mode, label) {
                *u = T::from_f64(u.to_f64() / scale);
            }
        }
    }
    (kernel.scaled(&scales), scaled)
}

impl<T: Real> Learned<T> {
    /// The kernel of a model that a fit is to go on with.
    pub(in crate::solve) fn kernel_of(progress: &Progress<T>) -> Option<Kernel> {
        match progress.notes.stage {
            // The search starts over: it is short.
            Stage::Kernel(_) => None,
            _ => progress.notes.spec.kernel().cloned(),
        }
    }
}
