//! What a fit tells while it runs, and what it ends with.

use serde::{Deserialize, Deserializer, Serialize};

use crate::apply::Predictor;
use crate::certify::Certificate;
use crate::model::{ModelSpec, Parameters, Posterior};
use quadfill_kernels::Real;

use super::progress::Progress;
use super::sdp::SdpReport;

/// One point of a path.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PathPoint {
    /// `lambda`.
    pub penalty: f64,
    /// Root of the weighted mean squared residual on what was fitted.
    #[serde(deserialize_with = "null_is_infinite")]
    pub train_rmse: f64,
    /// The same on the held-out part, where there is one.
    pub validation_rmse: Option<f64>,
    /// Seconds since the fit began.
    pub seconds: f64,
}

/// JSON has no infinity and writes `null`; an error that overflowed must not make a file unreadable.
pub(crate) fn null_is_infinite<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::INFINITY))
}

/// Why a fit ended. Reaching a limit is a status, not an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The residual vanished: the data are reproduced to working precision.
    Exact,
    /// The objective stopped falling.
    Converged,
    /// No column of any kind lowers the objective: it is at its minimum over all ranks.
    Certified,
    /// Penalty and offsets were chosen on held-out data, and all data fitted with them.
    Validated,
    /// All draws from the posterior were taken.
    Sampled,
    /// No step led down any more.
    NoProgress,
    /// The iteration limit came first.
    SweepLimit,
    /// The time limit came first.
    TimeLimit,
    /// The largest rank came first.
    RankLimit,
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Tries whether all data can be fitted exactly.
    Exact,
    /// Goes on with the principal columns of the first path.
    Trim,
    /// Brings the residual to working precision.
    Polish,
    /// Looks for the kernel, which is to be learned; the number is that of the start.
    Kernel(usize),
    /// Chooses penalty and offsets on held-out data; the number is the candidate's.
    HoldOut(usize),
    /// Finds out on held-out data how long to stay at the penalty that was chosen.
    Settle,
    /// Fits all data with what was chosen.
    Refit,
    /// Runs one solver at one penalty.
    Solve,
    /// Adds columns until no more lowers the objective.
    Climb,
    /// Draws from the posterior.
    Sample,
}

/// A running fit, seen from outside.
#[derive(Debug)]
pub enum Event<'a, T: Real> {
    /// A stage begins, with the number of steps it may take.
    Stage {
        /// Which one.
        stage: Stage,
        /// Its steps.
        steps: usize,
    },
    /// A step of the stage is done.
    Step {
        /// Steps done in this stage.
        done: usize,
        /// Where it led.
        point: PathPoint,
    },
    /// A state from which the fit could be resumed.
    Checkpoint(&'a Progress<T>),
}

/// Watches a fit. Every method may be left out.
pub trait Observer<T: Real> {
    /// Something happened.
    fn event(&mut self, event: Event<'_, T>) {
        let _ = event;
    }

    /// Cells, one column of labels per mode, whose predictions a sampler is to average over all its
    /// draws, those that it does not keep as well. Other solvers do not ask.
    fn cells(&self) -> &[Vec<u32>] {
        &[]
    }
}

/// Watches nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl<T: Real> Observer<T> for Silent {}

/// A fitted model and how it came about.
#[derive(Debug, Clone)]
pub struct Fit<T: Real> {
    /// The model, with the rank and the offsets that were chosen.
    pub spec: ModelSpec,
    /// Its numbers.
    pub parameters: Parameters<T>,
    /// The `lambda` of the final objective; of a sampler, what its draws amount to.
    pub penalty: f64,
    /// Why the fit ended.
    pub status: Status,
    /// Iterations in all.
    pub sweeps: usize,
    /// Root of the weighted mean squared residual on all data.
    pub train_rmse: f64,
    /// The best held-out error, where some were held out.
    pub validation_rmse: Option<f64>,
    /// The path that led here: with hold-out, the one that was judged best.
    pub path: Vec<PathPoint>,
    /// How far it is from the global optimum; none for CP, or where it was not asked for.
    pub certificate: Option<Certificate>,
    /// How the convex program was solved, where there was one.
    pub sdp: Option<SdpReport>,
    /// What a sampler knows beyond the mean of its draws, which is the model itself.
    pub posterior: Option<Posterior<T>>,
}

impl<T: Real> Fit<T> {
    /// The columns of the model that was fitted: of one draw, where this is a mean of draws.
    pub fn rank(&self) -> usize {
        self.spec.rank / self.posterior.as_ref().map_or(1, |posterior| posterior.draws().len())
    }

    /// Predicts with the fitted model.
    pub fn predictor(&self) -> Predictor<'_, T> {
        Predictor::new(&self.spec, &self.parameters)
            .with_strangers(self.posterior.as_ref().map(Posterior::strangers))
    }
}
