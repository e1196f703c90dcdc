//! The way in: which stages a fit goes through.

use std::time::Instant;

use super::config::{FitConfig, KernelChoice, RankChoice, Solver};
use super::events::{Fit, Observer};
use super::learned::Learned;
use super::progress::Progress;
use super::runner::Runner;
use crate::error::Result;
use crate::observations::Observations;
use crate::views::Views;
use quadfill_kernels::Real;

/// Fits a model to data.
///
/// ```
/// use quadfill::model::{Kernel, ModelSpec};
/// use quadfill::solve::{FitConfig, Silent, fit};
/// use quadfill::{Labels, Mode, Observations, OnDuplicate};
///
/// // A 3 x 3 multiplication table with one cell missing.
/// let modes = vec![Mode::new("a", Labels::range(3)), Mode::new("b", Labels::range(3))];
/// let indices = vec![vec![0, 0, 0, 1, 1, 1, 2, 2], vec![0, 1, 2, 0, 1, 2, 0, 1]];
/// let values = vec![1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 3.0, 6.0];
/// let data = Observations::new(modes, indices, values, None, OnDuplicate::Error)?;
///
/// let config = FitConfig::new(ModelSpec::quadratic(Kernel::pairwise(2), 1));
/// let fit = fit(data, &config, &mut Silent)?;
/// let prediction = quadfill::apply::Predictor::new(&fit.spec, &fit.parameters).cell(&[2, 2]);
/// assert!((prediction - 9.0_f64).abs() < 1e-8);
/// # Ok::<(), quadfill::Error>(())
/// ```
pub fn fit<T: Real>(
    data: Observations<T>,
    config: &FitConfig,
    observer: &mut dyn Observer<T>,
) -> Result<Fit<T>> {
    run(data, config, None, observer)
}

/// Goes on with a fit from a checkpoint of the same data and settings, to the same bits.
pub fn resume<T: Real>(
    data: Observations<T>,
    config: &FitConfig,
    progress: Progress<T>,
    observer: &mut dyn Observer<T>,
) -> Result<Fit<T>> {
    run(data, config, Some(progress), observer)
}

/// A fit in one precision.
type FitIn<T> = fn(Observations<T>, &FitConfig, &mut dyn Observer<T>) -> Result<Fit<T>>;

/// The fits of both precisions, compiled with this crate. Without them every program and every test
/// would compile all solvers anew, which takes most of the time of a debug build.
#[doc(hidden)]
pub static COMPILED: (FitIn<f32>, FitIn<f64>) = (fit::<f32>, fit::<f64>);

fn run<T: Real>(
    data: Observations<T>,
    config: &FitConfig,
    progress: Option<Progress<T>>,
    observer: &mut dyn Observer<T>,
) -> Result<Fit<T>> {
    config.check(&data.sizes())?;
    let modes = data.modes().to_vec();
    let data = match config.implicit {
        Some(weight) => data.against_zeros(weight)?,
        None => data,
    };
    let views = Views::new(data);
    let before = progress.as_ref().map_or(0.0, |p| p.notes.seconds);
    if config.kernel == KernelChoice::Given {
        return solve(views, Runner::new(config, observer, before, modes), progress);
    }
    let clock = Instant::now();
    let (kernel, views, progress) = match progress.as_ref().and_then(Learned::kernel_of) {
        Some(kernel) => (kernel, views, progress),
        None => match Runner::new(config, observer, before, modes.clone()).learn_kernel(views)? {
            Learned::Fitted(fit) => return Ok(*fit),
            Learned::Kernel(kernel, views) => (kernel, views, None),
        },
    };
    let config = config.with_kernel(kernel);
    let before = before + clock.elapsed().as_secs_f64();
    solve(views, Runner::new(&config, observer, before, modes), progress)
}

/// The stages of a fit whose kernel is known.
fn solve<T: Real>(
    views: Views<T>,
    runner: Runner<'_, T>,
    progress: Option<Progress<T>>,
) -> Result<Fit<T>> {
    let config = runner.config;
    match (config.solver, config.penalty) {
        (Solver::Gibbs(sampling), _) => runner.sample(&views, sampling, progress),
        (Solver::Sdp(form), _) => runner.sdp(&views, form),
        (Solver::Path, None) => runner.automatic(views, progress),
        (Solver::Path, Some(penalty)) if config.rank == RankChoice::Auto => {
            runner.climb(&views, penalty, progress)
        }
        (Solver::Path, Some(penalty)) => runner.path_to(&views, penalty, progress),
        _ => runner.single(&views, progress),
    }
}
