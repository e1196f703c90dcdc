//! A fit that runs without the interpreter's lock, and that Ctrl-C ends with the model so far.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use quadfill::Error;
use quadfill::observations::Summary;
use quadfill::solve::{Choice, FitConfig, Observer, Theory};
use quadfill::views::Data as Given;
use quadfill_report::{Recorded, Recorder};

use crate::data::Data;
use crate::errors::library_error;
use crate::model::{Model, Story};
use crate::observer::{PythonObserver, Shared, as_tuple};
use crate::pool::pool;
use crate::settings::Parameters;

/// How often signals are looked at and progress is shown.
const WATCH: Duration = Duration::from_millis(50);

/// What a fit is made from besides the data.
pub(crate) struct Plan {
    config: FitConfig,
    /// How many unobserved cells are drawn for each observation, and in which modes.
    negatives: Option<(usize, Vec<String>)>,
    theory: Option<Choice<f64>>,
}

impl Plan {
    pub(crate) fn new(parameters: &Bound<'_, PyDict>) -> PyResult<Self> {
        let parameters = Parameters(parameters);
        let is_auto = parameters.get::<String>("theory", "a number or \"auto\"");
        let theory = match is_auto {
            Ok(Some(word)) if word == "auto" => Some(Choice::Auto),
            Ok(None) => None,
            _ => parameters.get::<f64>("theory", "a number or \"auto\"")?.map(Choice::Fixed),
        };
        let modes: Option<Vec<String>> = parameters.get("negative_modes", "a list of modes")?;
        let negatives = parameters.get::<usize>("negatives", "a whole number above 0")?;
        Ok(Self {
            config: parameters.config()?,
            negatives: negatives.map(|count| (count, modes.unwrap_or_default())),
            theory,
        })
    }

    /// The data as they are fitted, the settings for them, and a summary of both.
    pub(crate) fn prepare(
        &self,
        data: impl Into<Given>,
    ) -> Result<(Given, FitConfig, Summary), Error> {
        let mut config = self.config.clone();
        let mut data = config.share_labels(data)?;
        if let Some((count, names)) = &self.negatives {
            let modes = if names.is_empty() {
                vec![0, data.modes().len() - 1]
            } else {
                let position = |name: &String| quadfill::Mode::position(data.modes(), name);
                names.iter().map(position).collect::<Result<_, _>>()?
            };
            let interaction = config.model.interaction(data.modes().len())?;
            let given = data.in_memory("`negatives`")?;
            data = interaction.draw_negatives(given, *count, &modes, config.seed)?.into();
        }
        let theory = self.theory.map(|alpha| Theory::choose(alpha, &data, &config)).transpose()?;
        let summary = match &theory {
            Some(theory) => {
                theory.apply(&mut config);
                data.summary()
            }
            None => config.summarise(&data)?,
        };
        Ok((data, config, summary))
    }
}

/// What came of a watched piece of work.
pub(crate) struct Watched<R> {
    pub(crate) result: R,
    /// Whether Ctrl-C ended it.
    pub(crate) is_interrupted: bool,
    pub(crate) steps: Vec<Recorded>,
}

/// Runs work with an observer in a pool of threads, while this thread looks after signals and progress.
pub(crate) fn watch<R: Send>(
    py: Python<'_>,
    n_jobs: Option<i64>,
    callback: Option<&Py<PyAny>>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut dyn Observer) -> R + Send,
) -> PyResult<Watched<R>> {
    let pool = pool(n_jobs)?;
    let shared = Shared::default();
    let (result, raised, steps, signalled) = py.detach(|| {
        let (sender, done) = channel();
        let mut signalled: Option<PyErr> = None;
        let (result, raised, steps) = std::thread::scope(|scope| {
            let shared = &shared;
            let worker = scope.spawn(move || {
                let worked = pool.install(|| {
                    let mut observer = PythonObserver::new(shared, callback);
                    let mut recorder = Recorder::new(&mut observer);
                    let result = work(&mut recorder);
                    let steps = recorder.into_steps();
                    (result, observer.into_raised(), steps)
                });
                // The receiver waits as long as this thread runs.
                let _ = sender.send(());
                worked
            });
            while done.recv_timeout(WATCH) == Err(RecvTimeoutError::Timeout) {
                let seen = Python::attach(|py| {
                    py.check_signals()?;
                    match (progress, shared.progress()) {
                        (Some(show), Some(now)) => show.call1(py, as_tuple(now)).map(|_| ()),
                        _ => Ok(()),
                    }
                });
                if let Err(error) = seen {
                    shared.stop.store(true, Ordering::Relaxed);
                    signalled.get_or_insert(error);
                }
            }
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        (result, raised, steps, signalled)
    });
    if let Some(error) = raised {
        return Err(error);
    }
    let is_interrupted = match signalled {
        Some(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => true,
        Some(error) => return Err(error),
        None => false,
    };
    Ok(Watched { result, is_interrupted, steps })
}

/// Fits a model; `consume` allows the data to be used up. Returns it, and whether Ctrl-C ended the fit.
#[pyfunction]
#[pyo3(signature = (data, parameters, *, consume, n_jobs=None, callback=None, progress=None))]
pub(crate) fn fit(
    py: Python<'_>,
    data: &Data,
    parameters: &Bound<'_, PyDict>,
    consume: bool,
    n_jobs: Option<i64>,
    callback: Option<Py<PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Model, bool)> {
    let plan = Plan::new(parameters)?;
    let observations = if consume { data.take()? } else { data.copy()? };
    let begun = Instant::now();
    let watched = watch(py, n_jobs, callback.as_ref(), progress.as_ref(), |observer| {
        let (data, config, summary) = plan.prepare(observations)?;
        Ok((quadfill::fit_with(data, &config, observer)?, summary))
    })?;
    let (model, summary) = watched.result.map_err(|error: Error| library_error(py, &error))?;
    let seconds = begun.elapsed().as_secs_f64();
    let story = Story { summary, steps: watched.steps, seconds };
    Ok((Model::new(model, Some(story)), watched.is_interrupted))
}
