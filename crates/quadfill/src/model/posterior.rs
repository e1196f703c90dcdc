//! The result of a sampler: draws of the parameters, side by side.
//!
//! A mean of predictions is the prediction of a model of the same kind: with draws `U^1 .. U^S`,
//! `(1/S) sum over s of <u_a^s, u_b^s>` is `<u_a, u_b>` for rows `u = [u^1 .. u^S] / sqrt(S)`, and a
//! mean of CP models is one of rows over `S^(1/N)`. So the posterior mean is exactly an ordinary model with
//! `S` times the columns, and can be used like any other. The rest, which only single draws need, is kept
//! here: their biases, their noise, and the priors of their rows.

use serde::{Deserialize, Serialize};

use super::{Biases, Interaction, ModelSpec, Parameters};
use quadfill_kernels::{Real, cholesky};

/// The prior of the rows of a factor matrix: a row is normal about the means of the columns; the bias,
/// where there is one, is the last entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupPrior {
    /// The means.
    pub means: Vec<f64>,
    /// The precisions, one over the variances, of independent entries; or a whole precision matrix, row
    /// by row.
    pub precisions: Vec<f64>,
}

impl GroupPrior {
    /// The number of entries of a row.
    pub fn len(&self) -> usize {
        self.means.len()
    }

    /// Whether a row has no entries.
    pub fn is_empty(&self) -> bool {
        self.means.is_empty()
    }

    /// Whether the entries of a row are independent.
    pub fn is_diagonal(&self) -> bool {
        self.precisions.len() == self.means.len()
    }

    /// An entry of the diagonal of the precision matrix.
    pub(crate) fn diagonal(&self, j: usize) -> f64 {
        self.precisions[if self.is_diagonal() { j } else { j * self.len() + j }]
    }

    /// The covariance matrix of a row, row by row, or `None` if the precisions have none.
    pub(crate) fn covariance(&self) -> Option<Vec<f64>> {
        let n = self.len();
        let mut covariance = vec![0.0; n * n];
        if self.is_diagonal() {
            for (j, precision) in self.precisions.iter().enumerate() {
                covariance[j * n + j] = 1.0 / precision;
            }
            return self.precisions.iter().all(|&p| p > 0.0).then_some(covariance);
        }
        let mut factor = self.precisions.clone();
        if factor.len() != n * n || !cholesky::factor(&mut factor, n, n) {
            return None;
        }
        for (j, column) in covariance.chunks_exact_mut(n).enumerate() {
            column[j] = 1.0;
            cholesky::solve_factored(&factor, n, n, column);
        }
        Some(covariance)
    }
}

/// A draw without its factors.
#[derive(Debug, Clone, PartialEq)]
pub struct Draw {
    /// Precision of the noise on an observation of weight 1.
    pub noise: f64,
    /// The global mean.
    pub mean: f64,
    /// The biases of each factor matrix; none without biases.
    pub biases: Vec<Vec<f32>>,
    /// The prior of the rows of each factor matrix.
    pub priors: Vec<GroupPrior>,
}

/// Rows for labels that a model does not know: the prior means, which in a centred model are the centres.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UnknownLabelRows<T> {
    rows: Vec<Vec<T>>,
    biases: Vec<f64>,
}

impl<T: Real> UnknownLabelRows<T> {
    /// For one draw, whose factors have `rank` columns.
    pub(crate) fn of(priors: &[GroupPrior], rank: usize) -> Self {
        let row =
            |prior: &GroupPrior| prior.means[..rank].iter().map(|&x| T::from_f64(x)).collect();
        Self {
            rows: priors.iter().map(row).collect(),
            biases: priors.iter().map(|p| p.means.get(rank).copied().unwrap_or(0.0)).collect(),
        }
    }

    /// For a centred model, given the centre of each factor matrix. Biases are drawn to zero.
    pub(crate) fn of_centres(centres: Vec<Vec<T>>) -> Self {
        Self { biases: vec![0.0; centres.len()], rows: centres }
    }

    /// The centres, with a zero for the bias as the priors of rows have it.
    pub(crate) fn to_centres(&self) -> Vec<Vec<f64>> {
        let centre = |row: &Vec<T>| row.iter().map(|mu| mu.to_f64()).chain([0.0]).collect();
        self.rows.iter().map(centre).collect()
    }

    /// For every factor matrix.
    pub(crate) fn rows(&self) -> &[Vec<T>] {
        &self.rows
    }

    /// For a factor matrix.
    pub(crate) fn row(&self, group: usize) -> &[T] {
        &self.rows[group]
    }

    /// Its bias.
    pub(crate) fn bias(&self, group: usize) -> f64 {
        self.biases[group]
    }
}

/// The rows for unknown labels of a model with these draws or these centres, if it has either.
pub(crate) fn unknown_rows<'a, T: Real>(
    posterior: Option<&'a Posterior<T>>,
    centres: Option<&'a UnknownLabelRows<T>>,
) -> Option<&'a UnknownLabelRows<T>> {
    posterior.map(Posterior::unknown_rows).or(centres)
}

/// Draws from the posterior of a model; their factors are blocks of the columns of the model's own.
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior<T> {
    draws: Vec<Draw>,
    unknown_rows: UnknownLabelRows<T>,
    /// Means over all draws, also those not kept, of the predictions for cells that were asked for.
    pub cell_means: Option<Vec<f64>>,
}

impl<T: Real> Posterior<T> {
    /// Of draws whose factors stand side by side in a model of this kind.
    ///
    /// # Panics
    /// If the number of columns is not a multiple of the number of draws.
    pub fn new(spec: &ModelSpec, draws: Vec<Draw>) -> Self {
        let count = draws.len();
        assert!(count > 0 && spec.rank.is_multiple_of(count), "columns for every draw");
        let rank = spec.rank / count;
        let scale = draw_scale(spec, count);
        let unknown_rows = UnknownLabelRows {
            rows: (0..spec.group_count())
                .map(|group| {
                    let means = draws.iter().flat_map(|draw| &draw.priors[group].means[..rank]);
                    means.map(|mean| T::from_f64(mean * scale)).collect()
                })
                .collect(),
            biases: (0..spec.group_count())
                .map(|group| {
                    let biases = draws.iter().map(|d| d.priors[group].means.get(rank));
                    biases.map(|bias| bias.copied().unwrap_or(0.0)).sum::<f64>() / count as f64
                })
                .collect(),
        };
        Self { draws, unknown_rows, cell_means: None }
    }

    /// Puts draws of one model side by side: the model of their mean, its parameters, and the rest.
    ///
    /// # Panics
    /// Without any draw.
    pub fn join(
        spec: &ModelSpec,
        sizes: &[usize],
        kept: Vec<(Parameters<T>, f64, Vec<GroupPrior>)>,
    ) -> (ModelSpec, Parameters<T>, Self) {
        let count = kept.len();
        let joined = spec.clone().with_rank(spec.rank * count);
        let scale = draw_scale(&joined, count);
        let mut parameters = Parameters::<T>::zeros(&joined, sizes);
        let rows = parameters.layout().rows().to_vec();
        // Rounded to single precision, in which they are stored.
        let narrow = |x: f64| T::from_f64(f64::from(x as f32));
        let mut biases: Vec<Vec<f64>> = rows.iter().map(|&rows| vec![0.0; rows]).collect();
        let mut draws = Vec::with_capacity(count);
        for (at, (draw, noise, priors)) in kept.into_iter().enumerate() {
            for (group, &rows) in rows.iter().enumerate() {
                for label in 0..rows {
                    let target = &mut parameters.row_mut(group, label)[at * spec.rank..];
                    for (t, &u) in target.iter_mut().zip(draw.row(group, label)) {
                        *t = narrow(u.to_f64() * scale);
                    }
                }
                for (sum, &b) in biases[group].iter_mut().zip(draw.biases(group).unwrap_or(&[])) {
                    *sum += b.to_f64();
                }
            }
            parameters.mean += draw.mean / count as f64;
            let single = |biases: &[T]| biases.iter().map(|b| b.to_f64() as f32).collect();
            let biases = (0..rows.len()).map_while(|g| draw.biases(g).map(single)).collect();
            draws.push(Draw { noise, mean: draw.mean, biases, priors });
        }
        if joined.biases == Biases::Modes {
            for (group, biases) in biases.iter().enumerate() {
                for (label, sum) in biases.iter().enumerate() {
                    parameters.set_bias(group, label, narrow(sum / count as f64));
                }
            }
        }
        let posterior = Self::new(&joined, draws);
        (joined, parameters, posterior)
    }

    /// Moves the labels of a factor matrix that now has `rows` rows to their new indices. New labels have
    /// zero biases.
    pub(crate) fn move_labels(&mut self, group: usize, index_map: &[u32], rows: usize) {
        for draw in &mut self.draws {
            if let Some(biases) = draw.biases.get_mut(group) {
                let mut moved = vec![0.0; rows];
                for (&index, &bias) in index_map.iter().zip(biases.iter()) {
                    moved[index as usize] = bias;
                }
                *biases = moved;
            }
        }
    }

    /// Sets a bias of one draw.
    pub(crate) fn set_bias(&mut self, draw: usize, group: usize, label: usize, bias: f32) {
        self.draws[draw].biases[group][label] = bias;
    }

    /// The draws that were kept.
    pub fn draws(&self) -> &[Draw] {
        &self.draws
    }

    /// Whether every draw is made of finite numbers.
    pub fn is_finite(&self) -> bool {
        self.draws.iter().all(|draw| {
            let biases = draw.biases.iter().flatten().map(|&bias| f64::from(bias));
            let priors = draw.priors.iter().flat_map(|p| p.means.iter().chain(&p.precisions));
            [draw.noise, draw.mean]
                .into_iter()
                .chain(biases)
                .chain(priors.copied())
                .all(f64::is_finite)
        })
    }

    /// The rows for unknown labels.
    pub(crate) fn unknown_rows(&self) -> &UnknownLabelRows<T> {
        &self.unknown_rows
    }
}

/// The scale of the factors of one of `count` draws where they are side by side.
pub(crate) fn draw_scale(spec: &ModelSpec, count: usize) -> f64 {
    match &spec.interaction {
        Interaction::Quadratic(_) => (count as f64).sqrt().recip(),
        Interaction::Cp => (count as f64).powf(-1.0 / spec.modes() as f64),
    }
}
