//! The mean of many draws as one small model.
//!
//! The mean of `S` draws of rank `R` is a model of the same kind with `S R` columns, most of which say the
//! same. Few columns say nearly all of it: rows of rank `R`, `2 R` or `4 R` are fitted by alternating least
//! squares to the mean's own predictions, on the observed cells and on others. How many are enough is
//! decided on held-out data, with the draws of the winning heat; where `4 R` are not, a few draws are kept.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::arena::Fold;
use super::budget::Budget;
use crate::model::{Biases, Draw, GroupPrior, ModelSpec, Parameters, Posterior, Predictor};
use crate::objective::{Objective, PenaltyScale};
use crate::observations::{Labels, Mode, Observations, OnDuplicate};
use crate::solve::gibbs::Chain;
use crate::solve::session::FitSession;
use crate::solve::state::{Descent, Finished};
use crate::solve::{Status, als};
use crate::views::{Selection, Views};
use quadfill_kernels::{Real, cholesky, streams};

/// The largest relative increase of the held-out error.
const INCREASE: f64 = 5e-4;
/// How many draws' columns are tried, and the largest rank.
const WIDTHS: [usize; 3] = [1, 2, 4];
const MAX_RANK: usize = 128;
/// At most so many observed cells are fitted.
const OBSERVED: usize = 400_000;
/// Cells of every row besides, for each of its columns.
const PER_COLUMN: usize = 3;
const SWEEPS: usize = 8;
/// The ridge of the fit, over the penalty that the draws amount to.
const RIDGE: f64 = 1e-3;
const CELL_STREAM: u64 = 0x64_6973_7469_6c01;

/// How many draws' columns the mean of draws is distilled to, or `None` if the held-out error would be
/// larger by more than [`INCREASE`].
pub(super) fn choose_width<T: Real>(
    budget: &Budget,
    fold: &Fold<'_, T>,
    spec: &ModelSpec,
    draws: &[(Parameters<T>, Chain)],
    seed: u64,
) -> Option<usize> {
    let sizes = fold.training.sizes();
    let mean = joined(spec, &sizes, draws.iter());
    let error = |(spec, parameters): &(ModelSpec, Parameters<T>)| {
        fold.held_out.squared_error(spec, parameters)
    };
    let allowed = error(&mean) * (1.0 + INCREASE).powi(2);
    WIDTHS
        .into_iter()
        .filter(|&width| width <= draws.len() && spec.rank * width <= MAX_RANK)
        .filter(|&width| {
            let small = spec.clone().with_rank(spec.rank * width);
            budget.allows_distilling(&small, SWEEPS, PER_COLUMN, OBSERVED)
        })
        .find(|&width| error(&distilled(fold.training, spec, draws, width, seed)) <= allowed)
}

/// The distilled mean of draws, whose error on held-out data is known.
pub(super) fn mean_of<T: Real>(
    session: &FitSession<'_, T>,
    spec: &ModelSpec,
    draws: &[(Parameters<T>, Chain)],
    width: usize,
    rmse: f64,
    status: Status,
) -> Finished<T> {
    let data = session.problem.data();
    let penalty = mean_penalty(data, draws);
    let (spec, parameters) = distilled(data, spec, draws, width, session.config().seed);
    let draw = Draw {
        // What a prediction may be off by, which the draws are no longer there to tell.
        noise: (rmse * rmse).max(f64::MIN_POSITIVE).recip(),
        mean: parameters.mean,
        biases: (0..spec.group_count())
            .map_while(|group| parameters.biases(group))
            .map(|biases| biases.iter().map(|bias| bias.to_f64() as f32).collect())
            .collect(),
        priors: (0..spec.group_count()).map(|group| prior_of(&parameters, group)).collect(),
    };
    let posterior = Posterior::new(&spec, vec![draw]);
    let descent = Descent::new(spec, penalty, parameters);
    Finished { posterior: Some(posterior), ..Finished::at(descent, penalty, status) }
}

/// Draws side by side: the model of their mean.
fn joined<'d, T: Real>(
    spec: &ModelSpec,
    sizes: &[usize],
    draws: impl Iterator<Item = &'d (Parameters<T>, Chain)>,
) -> (ModelSpec, Parameters<T>) {
    let kept = draws.map(|(point, chain)| (point.clone(), chain.noise, chain.priors.clone()));
    let (spec, parameters, _) = Posterior::join(spec, sizes, kept.collect());
    (spec, parameters)
}

/// The penalty that the draws amount to, on average.
fn mean_penalty<T: Real>(data: Selection<'_, T>, draws: &[(Parameters<T>, Chain)]) -> f64 {
    let observations = data.len() as f64;
    let penalties = draws.iter().map(|(point, chain)| chain.penalty(point, observations));
    penalties.sum::<f64>() / draws.len() as f64
}

/// The mean of draws with the columns of `width` of them.
fn distilled<T: Real>(
    data: Selection<'_, T>,
    spec: &ModelSpec,
    draws: &[(Parameters<T>, Chain)],
    width: usize,
    seed: u64,
) -> (ModelSpec, Parameters<T>) {
    let sizes = data.sizes();
    let (wide, mean) = joined(spec, &sizes, draws.iter());
    // Mean and biases stay as they are: the interaction alone is fitted.
    let wide = wide.with_biases(Biases::None);
    let interaction = without_biases(&wide, &mean, &sizes);
    let target = Predictor::new(&wide, &interaction);
    let some = (0..width).map(|at| &draws[draws.len() - 1 - at * draws.len() / width]);
    let (small, start) = joined(spec, &sizes, some);
    let small = small.with_biases(Biases::None);
    let start = without_biases(&small, &start, &sizes);
    let cells = fitted_cells(data, &small, &mut streams::stream(seed, CELL_STREAM, 0));
    let rows = fit(&small, &sizes, cells, &target, start, RIDGE * mean_penalty(data, draws));
    let whole = small.with_biases(spec.biases);
    let parameters = with_biases(&whole, &rows, &mean, &sizes);
    (whole, parameters)
}

fn columns(cells: &[Vec<u32>]) -> Vec<&[u32]> {
    cells.iter().map(Vec::as_slice).collect()
}

/// The cells that are fitted: observed ones, and some of every row besides, so that no row is left
/// undetermined.
fn fitted_cells<T: Real>(
    data: Selection<'_, T>,
    spec: &ModelSpec,
    rng: &mut ChaCha8Rng,
) -> Vec<Vec<u32>> {
    let sizes = data.sizes();
    let mut cells = vec![Vec::new(); sizes.len()];
    let share = (OBSERVED as f64 / data.len() as f64).min(1.0);
    data.for_each(|cell, _, _| {
        if rng.random::<f64>() < share {
            for (column, &label) in cells.iter_mut().zip(cell) {
                column.push(label);
            }
        }
    });
    let observed = cells[0].len();
    for (mode, &labels) in sizes.iter().enumerate() {
        for label in 0..labels as u32 {
            for _ in 0..PER_COLUMN * spec.rank {
                for (other, column) in cells.iter_mut().enumerate() {
                    // Other labels as often as they occur.
                    let drawn = column[rng.random_range(0..observed)];
                    column.push(if other == mode { label } else { drawn });
                }
            }
        }
    }
    cells
}

/// Alternating least squares on the predictions for cells.
fn fit<T: Real>(
    spec: &ModelSpec,
    sizes: &[usize],
    cells: Vec<Vec<u32>>,
    target: &Predictor<'_, T>,
    start: Parameters<T>,
    ridge: f64,
) -> Parameters<T> {
    let values = target.cells(&columns(&cells));
    let modes = sizes.iter().map(|&size| Mode::new("mode", Labels::range(size))).collect();
    let data = Observations::new(modes, cells, values, None, OnDuplicate::Last)
        .expect("predictions are finite");
    let views = Views::<T>::new(data);
    let objective = Objective::new(&views, spec, ridge, PenaltyScale::Uniform);
    let mut parameters = start;
    for _ in 0..SWEEPS {
        als::sweep(&objective, &mut parameters);
    }
    parameters
}

/// The same rows without mean and biases.
fn without_biases<T: Real>(
    spec: &ModelSpec,
    parameters: &Parameters<T>,
    sizes: &[usize],
) -> Parameters<T> {
    let mut plain = Parameters::zeros(spec, sizes);
    copy_rows(parameters, &mut plain);
    plain
}

/// Rows with the mean and the biases of another model.
fn with_biases<T: Real>(
    spec: &ModelSpec,
    rows: &Parameters<T>,
    biases: &Parameters<T>,
    sizes: &[usize],
) -> Parameters<T> {
    let mut whole = Parameters::zeros(spec, sizes);
    copy_rows(rows, &mut whole);
    whole.mean = biases.mean;
    if spec.biases == Biases::Modes {
        for (group, label) in crate::model::each_row(rows.layout().rows()) {
            whole.set_bias(group, label, biases.bias(group, label));
        }
    }
    whole
}

fn copy_rows<T: Real>(from: &Parameters<T>, to: &mut Parameters<T>) {
    for (group, label) in crate::model::each_row(from.layout().rows()) {
        to.row_mut(group, label).copy_from_slice(from.row(group, label));
    }
}

/// The distribution of the rows of a factor matrix: what is known of a label without observations.
fn prior_of<T: Real>(parameters: &Parameters<T>, group: usize) -> GroupPrior {
    let layout = parameters.layout();
    let (rank, n, rows) = (layout.rank(), layout.row_unknowns(), layout.rows()[group]);
    let entry = |label: usize, j: usize| {
        if j < rank {
            parameters.row(group, label)[j].to_f64()
        } else {
            parameters.bias(group, label).to_f64()
        }
    };
    let count = rows as f64;
    let means: Vec<f64> =
        (0..n).map(|j| (0..rows).map(|label| entry(label, j)).sum::<f64>() / count).collect();
    let mut covariance = vec![0.0; n * n];
    for label in 0..rows {
        let row: Vec<f64> = (0..n).map(|j| entry(label, j) - means[j]).collect();
        for i in 0..n {
            for j in 0..=i {
                covariance[i * n + j] += row[i] * row[j] / count;
            }
        }
    }
    // Fewer rows than columns leave directions without spread.
    let size: f64 = (0..n).map(|j| covariance[j * n + j]).sum::<f64>() / n as f64;
    for j in 0..n {
        covariance[j * n + j] += 1e-3 * size.max(f64::MIN_POSITIVE.sqrt());
    }
    let mut precisions = vec![0.0; n * n];
    let factored = cholesky::factor(&mut covariance, n, n);
    for (j, column) in precisions.chunks_exact_mut(n).enumerate() {
        column[j] = 1.0;
        if factored {
            cholesky::solve_factored(&covariance, n, n, column);
        }
    }
    // Symmetric to the last bit.
    for i in 0..n {
        for j in 0..i {
            precisions[i * n + j] = precisions[j * n + i];
        }
    }
    GroupPrior { means, precisions }
}
