//! The events of a running fit, and why it ended.

use std::ops::ControlFlow;

use serde::{Deserialize, Deserializer, Serialize};

use super::checkpoint::Checkpoint;

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
    /// Seconds since the fit began; not part of a stored model.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub seconds: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

/// JSON has no infinity and stores `null`; an RMSE that overflowed must not make a file unreadable.
pub(crate) fn null_is_infinite<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::INFINITY))
}

/// Why a fit ended. Reaching a limit is a status, not an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The residual vanished: the data are reproduced to working precision.
    Exact,
    /// The objective stopped decreasing.
    Converged,
    /// No additional column lowers the objective: it is at its minimum over all ranks.
    Certified,
    /// Penalty and biases were chosen on held-out data, and all data fitted with them.
    Validated,
    /// All draws from the posterior were taken.
    Sampled,
    /// No step lowers the objective.
    NoProgress,
    /// The iteration limit was reached.
    SweepLimit,
    /// The time limit was reached.
    TimeLimit,
    /// The largest rank was reached.
    RankLimit,
    /// The observer ended the fit: this is the best model so far.
    Interrupted,
}

/// A stage of a fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Tries whether all data can be fitted exactly.
    Exact,
    /// Continues with the principal columns of the first path.
    Trim,
    /// Brings the residual to working precision.
    Polish,
    /// Searches for the learned kernel; the number is that of the start.
    Kernel(usize),
    /// Chooses penalty and biases on held-out data; the number is the candidate's.
    HoldOut(usize),
    /// Chooses the number of sweeps at the chosen penalty on held-out data.
    EarlyStopping,
    /// Fits all data with what was chosen.
    Refit,
    /// Runs one solver at one penalty.
    Solve,
    /// Adds columns until none lowers the objective.
    Staircase,
    /// Compares models on held-out data; the number is that of the heat.
    Race(usize),
    /// Draws from the posterior.
    Sample,
}

impl Stage {
    /// A word or two for progress bars.
    ///
    /// ```
    /// use quadfill::solve::Stage;
    /// assert_eq!(Stage::Race(3).name(), "compare models");
    /// assert_eq!(Stage::EarlyStopping.name(), Stage::HoldOut(0).name());
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact?",
            Self::Trim => "exact",
            Self::Polish => "polish",
            Self::Kernel(_) => "kernel",
            Self::HoldOut(_) | Self::EarlyStopping => "hold-out",
            Self::Refit => "all data",
            Self::Solve => "solve",
            Self::Staircase => "add columns",
            Self::Race(_) => "compare models",
            Self::Sample => "draw",
        }
    }
}

/// An event of a running fit.
#[derive(Debug)]
pub enum Event<'a> {
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
    Checkpoint(Checkpoint<'a>),
}

/// Observes a fit, and may end it. Every method has a default.
///
/// ```
/// use std::ops::ControlFlow;
/// use quadfill::solve::{Event, Observer, Status};
/// use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate};
///
/// /// Ends a fit after five steps.
/// struct FiveSteps(usize);
/// impl Observer for FiveSteps {
///     fn event(&mut self, event: Event<'_>) -> ControlFlow<()> {
///         self.0 += usize::from(matches!(event, Event::Step { .. }));
///         if self.0 < 5 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
///     }
/// }
/// # let modes = vec![Mode::new("a", Labels::range(3)), Mode::new("b", Labels::range(3))];
/// # let indices = vec![vec![0, 0, 0, 1, 1, 1, 2, 2], vec![0, 1, 2, 0, 1, 2, 0, 1]];
/// # let values = vec![1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 3.0, 6.0];
/// # let data = Observations::new(modes, indices, values, None, OnDuplicate::Error)?;
/// let model = quadfill::fit_with(data, &FitConfig::default(), &mut FiveSteps(0))?;
/// assert_eq!(model.summary().status, Status::Interrupted);
/// assert!(model.predict(&["2", "2"])?.is_finite());
/// # Ok::<(), quadfill::Error>(())
/// ```
pub trait Observer {
    /// Something happened. `Break` ends the fit after a last checkpoint, with the best model so far.
    fn event(&mut self, event: Event<'_>) -> ControlFlow<()> {
        let _ = event;
        ControlFlow::Continue(())
    }

    /// Cells, one column of label indices per mode, whose predictions a sampler is to average over all
    /// its draws, including those that it does not keep. Other solvers ignore them.
    fn tracked_cells(&self) -> &[Vec<u32>] {
        &[]
    }
}

/// An observer that does nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl Observer for NoObserver {}
