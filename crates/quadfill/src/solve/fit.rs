//! A fit from its first step to its certificate.

use std::ops::ControlFlow;

use super::checked::CheckedConfig;
use super::checkpoint::{self, Fingerprint, Position};
use super::config::{Choice, FitConfig, Solver};
use super::events::{Observer, PathPoint, Status};
use super::race::{Race, RaceReport};
use super::session::FitSession;
use super::state::{ExactSearch, Finished, State};
use super::{
    early_stopping, exact, fixed_penalty, gibbs, hold_out, learned, race, refit, sdp, staircase,
};
use crate::certify::{Certificate, CertifyOptions, can_be_certified, certify};
use crate::error::Result;
use crate::model::{
    ModelKind, ModelSpec, Parameters, Posterior, Predictor, UnknownLabelRows, unknown_rows,
};
use crate::objective::Problem;
use crate::views::Data;
use quadfill_kernels::Real;

/// Runs the parts of a fit, each of which returns the next.
fn run<T: Real>(
    session: &mut FitSession<'_, T>,
    mut state: State<Parameters<T>>,
) -> Result<Fit<T>> {
    let finished = loop {
        let next = match state {
            // Only for a learned kernel: the rest of the fit takes it as given.
            State::LearnKernel => learned::run(session),
            // Can all data be reproduced? At the smallest rank that does it, that is the fit.
            State::Exact(search) => exact::run(session, search),
            // If not: which rank, penalty and biases predict held-out data best ...
            State::HoldOut(search) => hold_out::run(session, search),
            // ... and for how many sweeps at that penalty?
            State::EarlyStopping(trial) => early_stopping::run(session, trial),
            // All data are fitted with what was chosen.
            State::Refit(refit) => refit::run(session, refit),
            // Where a penalty or a solver is given, there is nothing to choose.
            State::FixedPenalty(approach) => fixed_penalty::run(session, approach),
            State::Staircase(descent) => staircase::run(session, descent),
            State::Sample(sampler) => gibbs::run(session, sampler)?,
            // Where nothing is given: which model predicts held-out data best ...
            State::Race(race) => race::run(session, race),
            // ... and its posterior given all data.
            State::Posterior(run) => race::run_posterior(session, run),
            State::Convex => sdp::run(session)?,
        };
        match next {
            ControlFlow::Continue(next) => state = next,
            ControlFlow::Break(finished) => break finished,
        }
    };
    Ok(certified(session, finished))
}

/// Where a fit begins, once its kernel is known.
pub(super) fn first_state<T: Real>(session: &FitSession<'_, T>) -> State<Parameters<T>> {
    let config = session.config();
    match (config.solver, config.penalty) {
        (Solver::Gibbs(_), _) if session.checked.races => State::Race(Race::default()),
        (Solver::Gibbs(sampling), _) => State::Sample(gibbs::start(session, sampling)),
        (Solver::Sdp(_), _) => State::Convex,
        (Solver::Path, Choice::Auto) if exact::is_worth_trying(session) => {
            State::Exact(ExactSearch::default())
        }
        (Solver::Path, Choice::Auto) => exact::choose(session),
        (Solver::Path, Choice::Fixed(penalty)) if session.checked.finds_rank => {
            State::Staircase(staircase::start(session, penalty))
        }
        _ => State::FixedPenalty(fixed_penalty::start(session)),
    }
}

/// The result on all data, with its certificate: computed once, for the model that is returned.
fn certified<T: Real>(session: &FitSession<'_, T>, finished: Finished<T>) -> Fit<T> {
    let Finished { spec, parameters, penalty, status, path, validation_rmse, sdp, posterior, race } =
        finished;
    let config = session.config();
    let objective = session.problem.objective(&spec, penalty);
    let options = CertifyOptions { curvature: false, seed: config.seed };
    let wanted = config.certify && status != Status::Interrupted && posterior.is_none();
    // CP has no certificate, and none is known where unobserved cells count.
    let certificate = (wanted && can_be_certified(&objective))
        .then(|| certify(&objective, &parameters, &options).expect("it can be certified"));
    Fit {
        train_rmse: objective.data_value(&parameters).sqrt(),
        centres: objective.centres(&parameters).map(UnknownLabelRows::of_centres),
        spec,
        parameters,
        penalty,
        status,
        sweeps: session.sweeps(),
        validation_rmse,
        path,
        certificate,
        sdp,
        posterior,
        race: race.map(|race| *race).or_else(|| session.race.clone()),
    }
}

/// A fitted model and how it was fitted, in one precision. [`fit`](crate::fit) returns a
/// [`Model`](crate::Model), which also has the labels.
#[derive(Debug, Clone)]
pub struct Fit<T: Real> {
    /// The model, with the rank and the biases that were chosen.
    pub spec: ModelSpec,
    /// Its parameters.
    pub parameters: Parameters<T>,
    /// What the rows of a centred model are drawn to.
    pub(crate) centres: Option<UnknownLabelRows<T>>,
    /// The `lambda` of the final objective; for a sampler, the equivalent of its draws.
    pub penalty: f64,
    /// Why the fit ended.
    pub status: Status,
    /// The total number of iterations.
    pub sweeps: usize,
    /// Root of the weighted mean squared residual on all data.
    pub train_rmse: f64,
    /// The best held-out RMSE, where data were held out.
    pub validation_rmse: Option<f64>,
    /// The penalty path: with hold-out, the one with the smallest held-out error.
    pub path: Vec<PathPoint>,
    /// How far it is from the global optimum; none for CP, or where it was not asked for.
    pub certificate: Option<Certificate>,
    /// How the convex program was solved, where there was one.
    pub sdp: Option<sdp::SdpReport>,
    /// The draws of a sampler; the model itself is their mean.
    pub posterior: Option<Posterior<T>>,
    /// How the model was chosen, where several were raced.
    pub race: Option<RaceReport>,
}

impl<T: Real> Fit<T> {
    /// The rank of the fitted model: of one draw, where this is a mean of draws.
    pub fn rank(&self) -> usize {
        self.spec.rank / self.posterior.as_ref().map_or(1, |posterior| posterior.draws().len())
    }

    /// Predicts with the fitted model.
    pub fn predictor(&self) -> Predictor<'_, T> {
        Predictor::new(&self.spec, &self.parameters)
            .with_unknown_rows(unknown_rows(self.posterior.as_ref(), self.centres.as_ref()))
    }
}

/// Fits a model to data in one precision: the layer below [`quadfill::fit`](crate::fit).
///
/// ```
/// use quadfill::model::{Kernel, ModelSpec};
/// use quadfill::solve::{NoObserver, fit};
/// use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate};
///
/// // A 3 x 3 multiplication table with one cell missing.
/// let modes = vec![Mode::new("a", Labels::range(3)), Mode::new("b", Labels::range(3))];
/// let indices = vec![vec![0, 0, 0, 1, 1, 1, 2, 2], vec![0, 1, 2, 0, 1, 2, 0, 1]];
/// let values = vec![1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 3.0, 6.0];
/// let data = Observations::new(modes, indices, values, None, OnDuplicate::Error)?;
///
/// let config = FitConfig::for_spec(&ModelSpec::quadratic(Kernel::pairwise(2), 1));
/// let fit = fit::<f64>(data, &config, &mut NoObserver)?;
/// assert!((fit.predictor().cell(&[2, 2]) - 9.0).abs() < 1e-8);
/// # Ok::<(), quadfill::Error>(())
/// ```
pub fn fit<T: Real>(
    data: impl Into<Data>,
    config: &FitConfig,
    observer: &mut dyn Observer,
) -> Result<Fit<T>> {
    start(data.into(), config, Beginning::New, observer)
}

/// Resumes a fit from the bytes of a checkpoint of the same data and settings, bit-identically.
pub fn resume<T: Real>(
    data: impl Into<Data>,
    config: &FitConfig,
    checkpoint: &[u8],
    observer: &mut dyn Observer,
) -> Result<Fit<T>> {
    start(data.into(), config, Beginning::Checkpoint(checkpoint), observer)
}

/// Continues from parameters at a given penalty, by alternating least squares.
pub(crate) fn fit_from<T: Real>(
    data: Data,
    config: &FitConfig,
    parameters: Parameters<T>,
    observer: &mut dyn Observer,
) -> Result<Fit<T>> {
    start(data, config, Beginning::At(parameters), observer)
}

/// Where a fit begins.
enum Beginning<'b, T: Real> {
    New,
    Checkpoint(&'b [u8]),
    At(Parameters<T>),
}

fn start<T: Real>(
    data: Data,
    config: &FitConfig,
    beginning: Beginning<'_, T>,
    observer: &mut dyn Observer,
) -> Result<Fit<T>> {
    let data = config.share_labels(data)?;
    let checked = CheckedConfig::new(config, data.modes())?;
    let fingerprint = Fingerprint::new::<T>(&data, config);
    let sizes = data.sizes();
    let base = checked.spec.clone().with_biases(crate::model::Biases::None);
    let (position, state) = match beginning {
        Beginning::Checkpoint(bytes) => {
            let (position, state) = checkpoint::parse(bytes, &fingerprint, &sizes)?;
            (position, Some(state))
        }
        Beginning::At(parameters) => {
            let penalty = config.penalty.fixed().expect("parameters belong to a penalty");
            let state = fixed_penalty::start_at(&checked.spec, penalty, parameters);
            (Position::new(base), Some(State::FixedPenalty(state)))
        }
        Beginning::New => (Position::new(base), None),
    };
    let folds = race::folds(&data, &checked)?;
    let (terms, storage) = (checked.terms(), config.views.fixed());
    let hold_out = checked.hold_out().filter(|_| !race::is_on_sample(&data, &checked));
    let problem = Problem::stored(data, &checked.spec, &terms, hold_out, storage)?;
    let mut session = FitSession::new(&checked, &problem, &folds, observer, fingerprint, position);
    let state = state.unwrap_or_else(|| match config.model {
        ModelKind::Learned => State::LearnKernel,
        _ => first_state(&session),
    });
    run(&mut session, state)
}

/// A fit in one precision.
type FitIn<T> = fn(Data, &FitConfig, &mut dyn Observer) -> Result<Fit<T>>;

/// The fits of both precisions, compiled with this crate. Without them every program and every test
/// would compile all solvers again, which takes most of the time of a debug build.
#[doc(hidden)]
pub static COMPILED: (FitIn<f32>, FitIn<f64>) = (fit::<f32>, fit::<f64>);
