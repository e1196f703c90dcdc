//! The state of a fit: an enum whose variants have just what that part of a fit needs to continue.
//!
//! `P` represents parameters: [`Parameters`](crate::model::Parameters) in a running fit, the number of a
//! tensor in a checkpoint. A checkpoint is a serialised [`State`].

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::events::{PathPoint, Status, null_is_infinite};
use super::gibbs::SamplerState;
use super::race::{PosteriorRun, Race, RaceReport};
use super::sdp::SdpReport;
use crate::error::Result;
use crate::model::{Biases, ModelSpec, Parameters, Posterior};
use quadfill_kernels::Real;

/// A part of a fit, and its progress.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State<P> {
    /// The kernel is being learned. That is short, and restarts when it is resumed.
    LearnKernel,
    /// Are the data exact, and at which rank?
    Exact(ExactSearch<P>),
    /// Which rank, penalty and biases do held-out data prefer?
    HoldOut(HoldOutSearch<P>),
    /// For how many sweeps at that penalty does their error not increase?
    EarlyStopping(EarlyStopping<P>),
    /// All data are fitted with what was chosen.
    Refit(Refit<P>),
    /// One solver at one penalty, or the path down to it.
    FixedPenalty(Approach<P>),
    /// Columns are added at one penalty until none lowers the objective.
    Staircase(Stair<P>),
    /// The posterior is sampled.
    Sample(SamplerState<P>),
    /// Which model and which priors do held-out data prefer?
    Race(Race<P>),
    /// The winner is sampled given all data.
    Posterior(PosteriorRun<P>),
    /// A convex program, which restarts when it is resumed.
    Convex,
}

/// The history of an iteration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Trace {
    /// Steps done.
    pub(super) step: usize,
    /// The objective after the last one.
    #[serde(deserialize_with = "null_is_infinite")]
    pub(super) objective: f64,
    /// How many of the last steps lowered it by less than the tolerance.
    pub(super) stalled: usize,
    /// The path point of each of them.
    pub(super) path: Vec<PathPoint>,
}

impl Default for Trace {
    fn default() -> Self {
        Self { step: 0, objective: f64::INFINITY, stalled: 0, path: Vec::new() }
    }
}

impl Trace {
    /// Writes the held-out error into the last point.
    pub(super) fn note_held_out(&mut self, rmse: f64) {
        if let Some(last) = self.path.last_mut() {
            last.validation_rmse = Some(rmse);
        }
    }

    /// The penalty of the last point.
    pub(super) fn last_penalty(&self) -> Option<f64> {
        self.path.last().map(|point| point.penalty)
    }
}

/// A descent in progress.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Descent<P> {
    /// The model.
    pub(super) spec: ModelSpec,
    /// The penalty of its first step: that at which zero is optimal, for most paths.
    pub(super) first_penalty: f64,
    /// Where it is.
    pub(super) parameters: P,
    /// The way there.
    pub(super) trace: Trace,
}

impl<P> Descent<P> {
    pub(super) fn new(spec: ModelSpec, first_penalty: f64, parameters: P) -> Self {
        Self { spec, first_penalty, parameters, trace: Trace::default() }
    }
}

/// The ranks at which an exact fit was tried, and the current attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ExactSearch<P> {
    pub(super) trials: Vec<RankTrial>,
    /// The exact fit of the smallest rank so far.
    pub(super) smallest: Option<Descent<P>>,
    pub(super) attempt: Option<ExactAttempt<P>>,
}

impl<P> Default for ExactSearch<P> {
    fn default() -> Self {
        Self { trials: Vec::new(), smallest: None, attempt: None }
    }
}

/// The progress of an attempt to fit exactly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ExactAttempt<P> {
    /// A path with extra columns.
    Wide(Descent<P>),
    /// A second path with the principal columns.
    Trimmed(Descent<P>),
    /// Gauss-Newton without penalty, from here: it restarts when it is resumed.
    Polish(Descent<P>),
}

/// The result of an exact fit at one rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RankTrial {
    /// The rank, without the extra columns.
    pub(super) rank: usize,
    /// Its result.
    pub(super) result: TrialResult,
}

/// The result of a [`RankTrial`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TrialResult {
    /// The residual stopped decreasing with extra columns, or at the largest rank hardly changed in the first
    /// step of the polish: the rank is too small, or the data are noisy.
    Noisy,
    /// With extra columns the residual kept decreasing, without them it did not vanish.
    Close,
    /// The residual vanished.
    Exact,
}

/// One path to be evaluated on held-out data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Trial {
    pub(super) biases: Biases,
    pub(super) rank: usize,
    /// Whether rows are drawn to a centre.
    pub(super) centred: bool,
    /// Where a path of CP begins; other paths begin where zero is optimal.
    pub(super) beginning: Option<Beginning>,
}

/// Where a path of CP begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Beginning {
    /// The first penalty, in quarters of a decade.
    pub(super) quarter: i32,
    /// The number of the random start.
    pub(super) start: u64,
    /// Whether it stays at its first penalty.
    pub(super) rests: bool,
}

/// The result of one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Candidate {
    pub(super) trial: Trial,
    /// The best penalty on the held-out part.
    pub(super) penalty: f64,
    /// The held-out error at the best penalty.
    #[serde(deserialize_with = "null_is_infinite")]
    pub(super) validation_rmse: f64,
    /// Its path.
    pub(super) path: Vec<PathPoint>,
}

/// Paths evaluated on held-out data so far, and the current one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct HoldOutSearch<P> {
    pub(super) candidates: Vec<Candidate>,
    /// The parameters with the smallest held-out error so far.
    pub(super) best: Option<Best<P>>,
    pub(super) descent: Option<(Trial, Descent<P>)>,
}

impl<P> Default for HoldOutSearch<P> {
    fn default() -> Self {
        Self { candidates: Vec::new(), best: None, descent: None }
    }
}

/// A point that was evaluated on held-out data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Best<P> {
    pub(super) spec: ModelSpec,
    pub(super) parameters: P,
    pub(super) penalty: f64,
    #[serde(deserialize_with = "null_is_infinite")]
    pub(super) rmse: f64,
}

/// The best candidate, and its iterations at its penalty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct EarlyStopping<P> {
    pub(super) chosen: Candidate,
    pub(super) best: Best<P>,
    pub(super) descent: Descent<P>,
}

/// The chosen settings, and the progress of the fit to all data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Refit<P> {
    pub(super) chosen: Candidate,
    /// The maximum number of sweeps at the chosen penalty.
    pub(super) sweep_budget: usize,
    /// The held-out error after that many sweeps.
    #[serde(deserialize_with = "null_is_infinite")]
    pub(super) validation_rmse: f64,
    /// The best point on held-out data, in case a limit is reached first.
    pub(super) best: Best<P>,
    pub(super) approach: Approach<P>,
}

/// The way down to a penalty, and the iterations there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Approach<P> {
    /// On the path down to it.
    Down(Descent<P>),
    /// At the penalty. The trace's path begins with the way down.
    AtPenalty(Descent<P>),
}

/// What is done at a rank before columns are added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stair<P> {
    /// Alternating least squares.
    Sweeps(Descent<P>),
    /// Newton's method from here: it restarts when it is resumed.
    Newton(Descent<P>),
}

/// A model and how it was fitted, before it is certified.
#[derive(Debug)]
pub(super) struct Finished<T: Real> {
    pub(super) spec: ModelSpec,
    pub(super) parameters: Parameters<T>,
    pub(super) penalty: f64,
    pub(super) status: Status,
    pub(super) path: Vec<PathPoint>,
    pub(super) validation_rmse: Option<f64>,
    /// How the convex program was solved, where there was one.
    pub(super) sdp: Option<SdpReport>,
    /// The draws that this is the mean of, where it is one.
    pub(super) posterior: Option<Posterior<T>>,
    /// How it was chosen, where models were raced.
    pub(super) race: Option<Box<RaceReport>>,
}

impl<T: Real> Finished<T> {
    /// Where a descent ended.
    pub(super) fn at(descent: Descent<Parameters<T>>, penalty: f64, status: Status) -> Self {
        let Descent { spec, parameters, trace, .. } = descent;
        Self {
            spec,
            parameters,
            penalty,
            status,
            path: trace.path,
            validation_rmse: None,
            sdp: None,
            posterior: None,
            race: None,
        }
    }
}

/// What follows a part of a fit: another part, or the end.
pub(super) type Next<T> = ControlFlow<Finished<T>, State<Parameters<T>>>;

/// Replaces the representation of parameters.
pub(super) type Replace<'f, P, Q> = dyn FnMut(&ModelSpec, P) -> Result<Q> + 'f;

impl<P> State<P> {
    /// The same state with the representation of parameters replaced, in a fixed order.
    pub(super) fn try_map<Q>(self, f: &mut Replace<'_, P, Q>) -> Result<State<Q>> {
        Ok(match self {
            Self::LearnKernel => State::LearnKernel,
            Self::Convex => State::Convex,
            Self::Exact(ExactSearch { trials, smallest, attempt }) => State::Exact(ExactSearch {
                trials,
                smallest: smallest.map(|d| d.try_map(f)).transpose()?,
                attempt: attempt
                    .map(|attempt| {
                        Ok::<_, crate::Error>(match attempt {
                            ExactAttempt::Wide(d) => ExactAttempt::Wide(d.try_map(f)?),
                            ExactAttempt::Trimmed(d) => ExactAttempt::Trimmed(d.try_map(f)?),
                            ExactAttempt::Polish(d) => ExactAttempt::Polish(d.try_map(f)?),
                        })
                    })
                    .transpose()?,
            }),
            Self::HoldOut(HoldOutSearch { candidates, best, descent }) => {
                State::HoldOut(HoldOutSearch {
                    candidates,
                    best: best.map(|best| best.try_map(f)).transpose()?,
                    descent: descent
                        .map(|(trial, descent)| Ok::<_, crate::Error>((trial, descent.try_map(f)?)))
                        .transpose()?,
                })
            }
            Self::EarlyStopping(EarlyStopping { chosen, best, descent }) => {
                let (best, descent) = (best.try_map(f)?, descent.try_map(f)?);
                State::EarlyStopping(EarlyStopping { chosen, best, descent })
            }
            Self::Refit(Refit { chosen, sweep_budget, validation_rmse, best, approach }) => {
                let (best, approach) = (best.try_map(f)?, approach.try_map(f)?);
                State::Refit(Refit { chosen, sweep_budget, validation_rmse, best, approach })
            }
            Self::FixedPenalty(approach) => State::FixedPenalty(approach.try_map(f)?),
            Self::Staircase(Stair::Sweeps(descent)) => {
                State::Staircase(Stair::Sweeps(descent.try_map(f)?))
            }
            Self::Staircase(Stair::Newton(descent)) => {
                State::Staircase(Stair::Newton(descent.try_map(f)?))
            }
            Self::Sample(sampler) => State::Sample(sampler.try_map(f)?),
            Self::Race(race) => State::Race(race.try_map(f)?),
            Self::Posterior(run) => State::Posterior(run.try_map(f)?),
        })
    }
}

impl<P> Descent<P> {
    fn try_map<Q>(self, f: &mut Replace<'_, P, Q>) -> Result<Descent<Q>> {
        let Self { spec, first_penalty, parameters, trace } = self;
        let parameters = f(&spec, parameters)?;
        Ok(Descent { spec, first_penalty, parameters, trace })
    }
}

impl<P> Best<P> {
    fn try_map<Q>(self, f: &mut Replace<'_, P, Q>) -> Result<Best<Q>> {
        let parameters = f(&self.spec, self.parameters)?;
        Ok(Best { spec: self.spec, parameters, penalty: self.penalty, rmse: self.rmse })
    }
}

impl<P> Approach<P> {
    fn try_map<Q>(self, f: &mut Replace<'_, P, Q>) -> Result<Approach<Q>> {
        Ok(match self {
            Self::Down(descent) => Approach::Down(descent.try_map(f)?),
            Self::AtPenalty(descent) => Approach::AtPenalty(descent.try_map(f)?),
        })
    }
}
