//! The mean of many draws as one small model.
//!
//! The mean of `S` draws of rank `R` is a model of the same kind with `S R` columns, most of which say the
//! same. Few columns say nearly all of it: rows of rank `R`, `2 R` or `4 R` are fitted by alternating least
//! squares to the mean's own predictions. How many are enough shows on all cells, or where those are too many on
//! some that were not fitted, half of them not observed either, which is where draws differ most: there
//! predictions must be so close to the mean's that, beside the held-out error, the difference does not count.
//! Where `4 R` columns are not enough, they are taken all the same if they are closer to the mean of all draws
//! than the mean of those draws that were kept is.

use super::budget::Budget;
use super::mean_cells::{MeanCells, MeanSums};
use crate::model::{Biases, Draw, GroupPrior, ModelSpec, Parameters, Posterior};
use crate::objective::{Objective, PenaltyScale};
use crate::observations::{Labels, Mode, Observations, OnDuplicate};
use crate::solve::gibbs::Chain;
use crate::solve::session::FitSession;
use crate::solve::state::{Descent, Finished};
use crate::solve::{Status, als};
use crate::views::{Selection, Views};
use quadfill_kernels::{Real, cholesky};

/// The largest relative increase of the held-out error that the differences of predictions may amount to: the
/// squares of both add up.
const INCREASE: f64 = 5e-4;
/// How many draws' columns are tried, and the largest rank.
const WIDTHS: [usize; 3] = [1, 2, 4];
const MAX_RANK: usize = 128;
const SWEEPS: usize = 12;
/// The ridge of the fit, over the penalty that the draws amount to.
const RIDGE: f64 = 1e-3;

/// To how many draws' columns a mean can be distilled within the budget.
pub(super) fn affordable_widths<T: Real>(
    budget: &Budget,
    spec: &ModelSpec,
    data: Selection<'_, T>,
) -> Vec<usize> {
    WIDTHS
        .into_iter()
        .filter(|&width| spec.rank * width <= MAX_RANK)
        .filter(|&width| {
            let small = spec.clone().with_rank(spec.rank * width);
            let cells = MeanCells::count(data, small.rank);
            budget.allows_distilling(&small, SWEEPS, cells)
        })
        .collect()
}

/// What a mean is distilled from.
pub(super) struct Source<'a, T: Real> {
    pub(super) spec: &'a ModelSpec,
    /// Draws that were kept, those of all chains after a sweep side by side.
    pub(super) kept: &'a [(Parameters<T>, Chain)],
    pub(super) chains: usize,
    pub(super) cells: &'a MeanCells,
    pub(super) sums: &'a MeanSums,
}

/// The mean of draws, whose error on held-out data is known, distilled to the first of the widths that is
/// enough, or `None` if the draws that were kept are better.
pub(super) fn mean_of<T: Real>(
    session: &FitSession<'_, T>,
    source: &Source<'_, T>,
    widths: &[usize],
    rmse: f64,
    status: Status,
) -> Option<Finished<T>> {
    let data = session.problem.data();
    let allowed = rmse * ((1.0 + INCREASE).powi(2) - 1.0).sqrt();
    let mut best: Option<Distilled<T>> = None;
    for &width in widths.iter().filter(|&&width| width <= source.kept.len()) {
        if best.as_ref().is_none_or(|best| best.difference > allowed) {
            best = Some(source.distilled(data, width));
        }
    }
    let Distilled { spec, parameters, difference } = best?;
    if difference > allowed {
        let (wide, kept) = joined(source.spec, &data.sizes(), source.kept.iter());
        if source.cells.difference(source.sums, &wide, &kept) <= difference {
            return None;
        }
    }
    let penalty = mean_penalty(data, source.kept);
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
    Some(Finished { posterior: Some(posterior), ..Finished::at(descent, penalty, status) })
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

/// A mean of draws with few columns.
struct Distilled<T: Real> {
    spec: ModelSpec,
    parameters: Parameters<T>,
    /// The root mean square of what its predictions differ by from the mean's.
    difference: f64,
}

impl<T: Real> Source<'_, T> {
    /// The mean with the columns of `width` draws.
    fn distilled(&self, data: Selection<'_, T>, width: usize) -> Distilled<T> {
        let sizes = data.sizes();
        let (small, start) = joined(self.spec, &sizes, self.some_draws(width));
        // Mean and biases are those of the mean: the interaction alone is fitted.
        let plain = small.clone().with_biases(Biases::None);
        let mut start_rows = Parameters::zeros(&plain, &sizes);
        copy_rows(&start, &mut start_rows);
        let targets = self.sums.interactions::<T>(self.cells, &small, &sizes);
        let ridge = RIDGE * mean_penalty(data, self.kept);
        let rows = fit(&plain, &sizes, self.cells, targets, start_rows, ridge);
        let mut parameters = Parameters::zeros(&small, &sizes);
        copy_rows(&rows, &mut parameters);
        self.sums.set_biases(&mut parameters);
        let difference = self.cells.difference(self.sums, &small, &parameters);
        Distilled { spec: small, parameters, difference }
    }

    /// Draws that differ as much as possible: of different chains, and long after one another.
    fn some_draws(&self, width: usize) -> impl Iterator<Item = &(Parameters<T>, Chain)> {
        let (chains, sweeps) = (self.chains, self.kept.len() / self.chains);
        let rounds = width.div_ceil(chains);
        (0..width).map(move |at| {
            let sweep = sweeps - 1 - at / chains * sweeps / rounds;
            &self.kept[sweep * chains + at % chains]
        })
    }
}

/// Alternating least squares on the mean's predictions.
fn fit<T: Real>(
    spec: &ModelSpec,
    sizes: &[usize],
    cells: &MeanCells,
    targets: Vec<f64>,
    start: Parameters<T>,
    ridge: f64,
) -> Parameters<T> {
    let modes = sizes.iter().map(|&size| Mode::new("mode", Labels::range(size))).collect();
    let columns = cells.fitted().into_iter().map(<[u32]>::to_vec).collect();
    let weights = Some(cells.weights());
    let data = Observations::new(modes, columns, targets, weights, OnDuplicate::Last)
        .expect("predictions are finite");
    let views = Views::<T>::new(data);
    let objective = Objective::new(&views, spec, ridge, PenaltyScale::Uniform);
    let mut parameters = start;
    for _ in 0..SWEEPS {
        als::sweep(&objective, &mut parameters);
    }
    parameters
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
