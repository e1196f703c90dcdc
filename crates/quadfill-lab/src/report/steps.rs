//! Every step of a fit, written down as it happens.

use quadfill::Real;
use quadfill::solve::{Event, Observer, PathPoint, Stage};

/// A step of a fit.
#[derive(Debug, Clone, Copy)]
pub struct Recorded {
    /// What was being done.
    pub stage: Stage,
    /// Where it led.
    pub point: PathPoint,
}

/// Writes down the steps of a fit and passes everything on.
///
/// ```
/// use quadfill::model::{Kernel, ModelSpec};
/// use quadfill::solve::{FitConfig, Silent, fit};
/// use quadfill::{Labels, Mode, Observations, OnDuplicate};
/// use quadfill_lab::report::Recorder;
///
/// let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(2))];
/// let (rows, values) = (vec![vec![0, 0, 1], vec![0, 1, 0]], vec![1.0, 2.0, 2.0]);
/// let data = Observations::new(modes, rows, values, None, OnDuplicate::Error)?;
/// let mut silent = Silent;
/// let mut recorder = Recorder::new(&mut silent);
/// fit(data, &FitConfig::new(ModelSpec::quadratic(Kernel::pairwise(2), 1)), &mut recorder)?;
/// assert!(!recorder.into_steps().is_empty());
/// # Ok::<(), quadfill::Error>(())
/// ```
pub struct Recorder<'a, T: Real> {
    inner: &'a mut dyn Observer<T>,
    stage: Option<Stage>,
    steps: Vec<Recorded>,
}

impl<'a, T: Real> Recorder<'a, T> {
    /// Passes everything on to another observer.
    pub fn new(inner: &'a mut dyn Observer<T>) -> Self {
        Self { inner, stage: None, steps: Vec::new() }
    }

    /// The steps so far.
    pub fn into_steps(self) -> Vec<Recorded> {
        self.steps
    }
}

impl<T: Real> Observer<T> for Recorder<'_, T> {
    fn cells(&self) -> &[Vec<u32>] {
        self.inner.cells()
    }

    fn event(&mut self, event: Event<'_, T>) {
        match &event {
            Event::Stage { stage, .. } => self.stage = Some(*stage),
            Event::Step { point, .. } => {
                if let Some(stage) = self.stage {
                    self.steps.push(Recorded { stage, point: *point });
                }
            }
            Event::Checkpoint(_) => {}
        }
        self.inner.event(event);
    }
}
