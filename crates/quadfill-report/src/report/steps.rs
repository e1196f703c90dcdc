//! An observer that records every step of a fit.

use std::ops::ControlFlow;

use quadfill::solve::{Event, Observer, PathPoint, Stage};

/// A step of a fit.
#[derive(Debug, Clone, Copy)]
pub struct Recorded {
    /// The stage of the fit.
    pub stage: Stage,
    /// The point after the step.
    pub point: PathPoint,
}

/// Records the steps of a fit and forwards all events to another observer.
///
/// ```
/// use quadfill::solve::NoObserver;
/// use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate};
/// use quadfill_report::Recorder;
///
/// let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(2))];
/// let (rows, values) = (vec![vec![0, 0, 1], vec![0, 1, 0]], vec![1.0, 2.0, 2.0]);
/// let data = Observations::new(modes, rows, values, None, OnDuplicate::Error)?;
/// let mut nothing = NoObserver;
/// let mut recorder = Recorder::new(&mut nothing);
/// quadfill::fit_with(data, &FitConfig::default(), &mut recorder)?;
/// assert!(!recorder.into_steps().is_empty());
/// # Ok::<(), quadfill::Error>(())
/// ```
pub struct Recorder<'a> {
    inner: &'a mut dyn Observer,
    stage: Option<Stage>,
    steps: Vec<Recorded>,
}

impl<'a> Recorder<'a> {
    /// Forwards all events to `inner`.
    pub fn new(inner: &'a mut dyn Observer) -> Self {
        Self { inner, stage: None, steps: Vec::new() }
    }

    /// The recorded steps.
    pub fn into_steps(self) -> Vec<Recorded> {
        self.steps
    }
}

impl Observer for Recorder<'_> {
    fn tracked_cells(&self) -> &[Vec<u32>] {
        self.inner.tracked_cells()
    }

    fn event(&mut self, event: Event<'_>) -> ControlFlow<()> {
        match &event {
            Event::Stage { stage, .. } => self.stage = Some(*stage),
            Event::Step { point, .. } => {
                if let Some(stage) = self.stage {
                    self.steps.push(Recorded { stage, point: *point });
                }
            }
            Event::Checkpoint(_) => {}
        }
        self.inner.event(event)
    }
}
