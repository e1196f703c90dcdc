//! A fit seen from Python: progress, callbacks, and a way to end it.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use quadfill::solve::{Event, Observer, PathPoint};

/// Where a fit is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    pub(crate) stage: &'static str,
    pub(crate) steps: usize,
    pub(crate) done: usize,
    pub(crate) point: Option<PathPoint>,
}

/// What the thread that waits for a fit shares with the fit.
#[derive(Default)]
pub(crate) struct Shared {
    /// Set to end the fit after its current step.
    pub(crate) stop: AtomicBool,
    progress: Mutex<Option<Progress>>,
}

impl Shared {
    pub(crate) fn progress(&self) -> Option<Progress> {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The observer of a fit.
pub(crate) struct PythonObserver<'a> {
    shared: &'a Shared,
    /// Called after each step; a true answer ends the fit.
    callback: Option<&'a Py<PyAny>>,
    /// What the callback raised.
    raised: Option<PyErr>,
}

impl<'a> PythonObserver<'a> {
    pub(crate) fn new(shared: &'a Shared, callback: Option<&'a Py<PyAny>>) -> Self {
        Self { shared, callback, raised: None }
    }

    pub(crate) fn into_raised(self) -> Option<PyErr> {
        self.raised
    }

    fn call(&mut self, progress: Progress) {
        let Some(callback) = self.callback else { return };
        let answer = Python::attach(|py| {
            callback.call1(py, as_tuple(progress)).and_then(|answer| answer.is_truthy(py))
        });
        let ends = answer.unwrap_or_else(|error| {
            self.raised = Some(error);
            true
        });
        if ends {
            self.shared.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// The arguments that Python gets.
pub(crate) type ProgressTuple =
    (&'static str, usize, usize, Option<f64>, Option<f64>, Option<f64>, f64);

pub(crate) fn as_tuple(progress: Progress) -> ProgressTuple {
    let Progress { stage, steps, done, point } = progress;
    (
        stage,
        done,
        steps,
        point.map(|point| point.penalty),
        point.map(|point| point.train_rmse),
        point.and_then(|point| point.validation_rmse),
        point.map_or(0.0, |point| point.seconds),
    )
}

impl Observer for PythonObserver<'_> {
    fn event(&mut self, event: Event<'_>) -> ControlFlow<()> {
        let step = {
            let mut held = self.shared.progress.lock().unwrap_or_else(PoisonError::into_inner);
            match event {
                Event::Stage { stage, steps } => {
                    *held = Some(Progress { stage: stage.name(), steps, done: 0, point: None });
                    None
                }
                Event::Step { done, point } => {
                    if let Some(progress) = held.as_mut() {
                        progress.done = done;
                        progress.point = Some(point);
                    }
                    *held
                }
                Event::Checkpoint(_) => None,
            }
        };
        if let Some(progress) = step {
            self.call(progress);
        }
        if self.shared.stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}
