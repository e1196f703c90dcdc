//! How far a fit is from the global optimum over **all** ranks.
//!
//! A quadratic model depends on its factors only through `X = U U^T`, and the objective is convex in `X`
//! and the biases `b` together. With
//!
//! ```text
//! S  = (2/m) * sum over observations of w_t (pred_t - y_t) A_t + diag(row penalty + quartic gradient) + C
//! L  = diag(row penalty)
//! mu = a lower bound on the smallest eigenvalue of L^-1/2 S L^-1/2
//! nu = max(0, -mu)
//! g  = the gradient in the biases, each with the ridge lambda_b
//! ```
//!
//! every positive semidefinite `X*` and every `b*` has
//!
//! ```text
//! F(X*, b*) >= F(U, b) + <S, X* - U U^T> + sum of g (b* - b) + lambda_b (b* - b)^2
//!           >= F(U, b) - <S, U U^T> - nu <L, X*> - sum of g^2 / (4 lambda_b)
//! ```
//!
//! and, as no term of `F` is negative, `<L, X*> <= F(X*, b*)`. At the optimum `F*` this gives
//!
//! ```text
//! F(U, b) - F* <= gap = min( F(U, b), (<S, U U^T> + sum of g^2 / (4 lambda_b) + nu F(U, b)) / (1 + nu) )
//! ```
//!
//! It covers each term of the objective: weights are in `S` and `F`; penalties per row are `L`; the
//! quartic penalty `lambda2 max(0, sqrt(X_ii) - sqrt(alpha))^4` is convex in `X_ii`, with the derivative
//! `2 lambda2 max(0, |u| - sqrt(alpha))^3 / |u|`; `C` is positive semidefinite and linear in `X`. Biases
//! are part of what is certified. The mean is not: it is fixed before the fit, and the certificate
//! is for the problem with that mean. It holds for any symmetric kernel and for shared factor matrices.
//! Without a penalty (`lambda = 0`) the bound is `F(U, b)` itself, which is tight where the data are
//! fitted exactly.
//!
//! **The certificate is about the objective, not about the truth.** With few observations the optimum
//! over all ranks is a wrong tensor, and the best fit of a small rank is the right one although its
//! gap is large.
//!
//! Residuals are taken in double precision whatever the precision of the fit, and nothing here
//! depends on how the point was found.

mod curvature;
mod gradient;
mod smallest;
mod verdict;

pub use verdict::Outcome;

pub(crate) use gradient::GradientMatrix;
pub(crate) use smallest::escape_directions;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::model::{Interaction, Parameters, each_row, rotate_to_principal_axes};
use crate::objective::{Objective, squared_norm};
use quadfill_kernels::{Real, sum};
use smallest::Smallest;

/// Columns shorter than this, relative to the longest, do not count.
const NEGLIGIBLE: f64 = 1e-6;

/// What to compute besides the gap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CertifyOptions {
    /// Whether to estimate the smallest curvature, which costs a few hundred Hessian-vector products.
    pub curvature: bool,
    /// The random seed of the eigenvalue searches.
    pub seed: u64,
}

/// How far a fit is from the global optimum over all ranks, and what else is known of the point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// `F(U)`, with every term.
    pub objective: f64,
    /// The objective is at most this far above its minimum over all ranks.
    pub gap: f64,
    /// `gap` over `objective`.
    pub relative_gap: f64,
    /// An estimate of the smallest eigenvalue of `L^-1/2 S L^-1/2`; at the optimum it is 0.
    pub lambda_min: f64,
    /// A lower bound on this eigenvalue, with probability `confidence`; `None` where none is needed, without
    /// a penalty, or none could be found.
    pub lambda_min_bound: Option<f64>,
    /// 1 where the bound is certain.
    pub confidence: f64,
    /// The norm of the gradient in all factors and biases.
    pub gradient_norm: f64,
    /// An estimate of the smallest curvature, rotations aside, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub curvature_min: Option<f64>,
    /// The numerical rank of the factors.
    pub rank: usize,
    /// How many columns they have.
    pub columns: usize,
    /// The largest squared row norm over the mean one: 1 when all rows are equally long.
    #[serde(alias = "incoherence")]
    pub coherence: f64,
    /// The norm of the longest row.
    pub largest_row_norm: f64,
    /// The conclusion.
    pub outcome: Outcome,
    /// The same in words.
    pub verdict: String,
}

/// Certifies a point of a quadratic model's objective.
///
/// ```
/// use quadfill::certify::{CertifyOptions, certify};
/// use quadfill::model::{Kernel, ModelSpec};
/// use quadfill::objective::Problem;
/// use quadfill::solve::{Choice, NoObserver, fit};
/// use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate};
///
/// let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(2))];
/// let indices = vec![vec![0, 0, 1], vec![0, 1, 0]];
/// let data = Observations::new(modes, indices, vec![1.0, 2.0, 3.0], None, OnDuplicate::Error)?;
/// let mut config = FitConfig::for_spec(&ModelSpec::quadratic(Kernel::pairwise(2), 2));
/// config.penalty = Choice::Fixed(0.1);
/// config.tolerance = 1e-14;
/// let fit = fit::<f64>(data.clone(), &config, &mut NoObserver)?;
///
/// let problem = Problem::new(data, &fit.spec, &config.terms(), None)?;
/// let objective = problem.objective(&fit.spec, fit.penalty);
/// let certificate = certify(&objective, &fit.parameters, &CertifyOptions::default())?;
/// assert!(certificate.relative_gap < 1e-6, "{}", certificate.verdict);
/// # Ok::<(), quadfill::Error>(())
/// ```
pub fn certify<T: Real>(
    objective: &Objective<'_, T>,
    parameters: &Parameters<T>,
    options: &CertifyOptions,
) -> Result<Certificate> {
    if objective.has_implicit() {
        return Err(Error::Unsupported(
            "no certificate is known where unobserved cells count as zeros: fit without `implicit` for \
             one"
                .to_owned(),
        ));
    }
    let matrix = GradientMatrix::new(objective, parameters).ok_or_else(no_certificate)?;
    let others = objective.penalties(parameters);
    let value = matrix.data.data() + others.penalty + others.row_norms + others.perturbation;
    let columns = parameters.layout().rank();
    let penalised = objective.penalty() > 0.0;
    // Without a penalty the gap is the objective itself, whatever the eigenvalue is.
    let smallest = if penalised {
        Smallest::new(&matrix, columns, options.seed)
    } else {
        Smallest::estimated(&matrix, options.seed)
    };
    let along = matrix.along_point(parameters, others.perturbation);
    let (gradient_norm, weighted_gradient) = gradient_norms(objective, parameters, &matrix);

    let slack = bias_slack(objective, parameters, &matrix);
    let nu = if penalised { (-smallest.bound).max(0.0) } else { f64::INFINITY };
    // The rounding error of sums of numbers of this size.
    let rounding = 64.0 * f64::EPSILON * (value + along.abs());
    let bound = (along + slack + nu * value) / (1.0 + nu) + rounding;
    let gap = if bound.is_finite() { bound.clamp(0.0, value) } else { value };

    let rows = RowNorms::new(parameters);
    let squares = rotate_to_principal_axes(&mut parameters.clone());
    let longest = squares.first().copied().unwrap_or(0.0);
    let rank = squares.iter().filter(|&&s| s > NEGLIGIBLE * NEGLIGIBLE * longest).count();
    let mut certificate = Certificate {
        objective: value,
        gap,
        relative_gap: if value > 0.0 { gap / value } else { 0.0 },
        lambda_min: smallest.estimate,
        lambda_min_bound: smallest.bound.is_finite().then_some(smallest.bound),
        confidence: smallest.confidence,
        gradient_norm,
        curvature_min: options
            .curvature
            .then(|| curvature::smallest(objective, parameters, options.seed)),
        rank,
        columns,
        coherence: rows.coherence(),
        largest_row_norm: rows.largest,
        outcome: Outcome::NotConverged,
        verdict: String::new(),
    };
    let unfitted = objective.data_value(&parameters.zeros_like());
    certificate.outcome = Outcome::of(&certificate, unfitted, weighted_gradient / 4.0);
    certificate.verdict = certificate.outcome.in_words(&certificate);
    Ok(certificate)
}

/// Whether there is a certificate for this kind of objective.
pub(crate) fn can_be_certified<T: Real>(objective: &Objective<'_, T>) -> bool {
    objective.spec().interaction != Interaction::Cp && !objective.has_implicit()
}

fn no_certificate() -> Error {
    Error::Unsupported(
        "no certificate exists for CP: its objective is not a convex function of anything known, so \
         the distance to the global optimum cannot be bounded; fit a quadratic model, such as \
         pairwise, for one"
            .to_owned(),
    )
}

/// The norm of the gradient, and its square weighted by `1 / row penalty`.
fn gradient_norms<T: Real>(
    objective: &Objective<'_, T>,
    parameters: &Parameters<T>,
    matrix: &GradientMatrix<'_, '_, T>,
) -> (f64, f64) {
    let mut gradient = parameters.zeros_like();
    objective.gradient_into(parameters, &mut gradient);
    let (mut plain, mut weighted) = (Vec::new(), Vec::new());
    let mut scales = matrix.scales.iter();
    for (group, label) in each_row(gradient.layout().rows()) {
        let square = squared_norm(gradient.row(group, label));
        plain.push(square + gradient.bias(group, label).to_f64().powi(2));
        weighted.push(square * scales.next().map_or(1.0, |s| s * s));
    }
    (sum::ordered_sum(&plain).sqrt(), sum::ordered_sum(&weighted))
}

/// An upper bound on the gain from better biases: `sum of g^2 / (4 lambda_b)`.
fn bias_slack<T: Real>(
    objective: &Objective<'_, T>,
    parameters: &Parameters<T>,
    matrix: &GradientMatrix<'_, '_, T>,
) -> f64 {
    if !parameters.layout().has_biases() {
        return 0.0;
    }
    let ridge = objective.bias_penalty();
    let mut gradient = matrix.data.bias_gradient();
    for ((group, label), g) in each_row(parameters.layout().rows()).zip(&mut gradient) {
        *g += 2.0 * ridge * parameters.bias(group, label).to_f64();
    }
    sum::dot(&gradient, &gradient) / (4.0 * ridge)
}

/// The norms of the rows.
struct RowNorms {
    largest: f64,
    mean_square: f64,
}

impl RowNorms {
    fn new<T: Real>(parameters: &Parameters<T>) -> Self {
        let norms: Vec<f64> = each_row(parameters.layout().rows())
            .map(|(group, label)| squared_norm(parameters.row(group, label)).sqrt())
            .collect();
        let mean_square = sum::dot(&norms, &norms) / norms.len().max(1) as f64;
        Self { largest: norms.iter().copied().fold(0.0, f64::max), mean_square }
    }

    fn coherence(&self) -> f64 {
        if self.mean_square > 0.0 { self.largest * self.largest / self.mean_square } else { 1.0 }
    }
}
