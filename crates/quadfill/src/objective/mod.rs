//! The objective, with its value, gradient and Hessian-vector product for every model.
//!
//! ```text
//! f(U) = (1/m) * sum over observations of w_t * (pred_t - y_t)^2
//!      + sum over rows of lambda_row * |u|^2 + lambda_bias * sum over biases of b^2
//!      + lambda2 * sum over rows of max(0, |u| - sqrt(alpha))^4
//!      + <C, U U^T>
//! ```
//!
//! In a centred model rows are drawn to the centre of their factor matrix instead of to zero, see
//! [`ModelSpec::centred`].

mod centre;
mod data_gradient;
mod implicit;
mod kernel;
mod penalties;
mod point;
mod problem;
mod row_prior;
mod rows;
mod terms;

pub use crate::model::PenaltyScale;
pub(crate) use centre::centre;
pub use data_gradient::DataGradient;
pub(crate) use implicit::RowImplicit;
pub use kernel::{KernelEntry, KernelSystem};
pub use problem::{HoldOut, Problem, Terms};
pub(crate) use row_prior::{Precision, RowPrior, RowPriors};
pub(crate) use rows::CellScratch;
pub(crate) use terms::PERTURBATION_LIMIT;
pub(crate) use terms::ScaledPerturbation;
pub use terms::{Perturbation, RowNormPenalty};

use crate::model::{Interaction, ModelSpec, Parameters, each_row};
use crate::views::{Plan, Selection};
use quadfill_kernels::{Backend, Real, sum};
use std::sync::Arc;

/// The objective of a model on data, with all its terms.
#[derive(Debug, Clone)]
pub struct Objective<'a, T: Real> {
    views: Selection<'a, T>,
    spec: ModelSpec,
    /// The `m` of the formula.
    observations: f64,
    penalty: f64,
    bias_penalty: f64,
    row_weights: Option<Vec<Vec<f64>>>,
    row_norm_penalty: Option<RowNormPenalty>,
    /// `C` for a penalty of 1.
    perturbation: Option<Arc<Perturbation>>,
    implicit: Option<implicit::Implicit>,
    /// What rows are drawn to where that does not depend on the parameters.
    fixed_centres: Option<Vec<Vec<f64>>>,
    forms: Vec<ModeForm<T>>,
    plans: Vec<Plan>,
    value_plan: Plan,
    backend: Backend,
}

/// The kernel matrix as one mode sees it.
#[derive(Debug, Clone)]
struct ModeForm<T> {
    own: T,
    cross: Vec<T>,
    among: Vec<T>,
}

impl<T: Real> ModeForm<T> {
    fn new(spec: &ModelSpec, mode: usize) -> Self {
        let Interaction::Quadratic(kernel) = &spec.interaction else {
            return Self { own: T::ZERO, cross: Vec::new(), among: Vec::new() };
        };
        let entry = |a, b| T::from_f64(kernel.get(a, b));
        let others: Vec<usize> = (0..spec.modes()).filter(|&b| b != mode).collect();
        Self {
            own: entry(mode, mode),
            cross: others.iter().map(|&b| entry(mode, b)).collect(),
            among: others.iter().flat_map(|&b| others.iter().map(move |&c| entry(b, c))).collect(),
        }
    }
}

/// The objective, term by term.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    /// The weighted mean squared residual.
    pub data: f64,
    /// Row and bias penalties.
    pub penalty: f64,
    /// The quartic penalty on long rows.
    pub row_norms: f64,
    /// `<C, U U^T>`.
    pub perturbation: f64,
}

impl Value {
    /// The sum of all terms.
    pub fn total(&self) -> f64 {
        self.data + self.penalty + self.row_norms + self.perturbation
    }
}

impl<'a, T: Real> Objective<'a, T> {
    /// The objective with a penalty alone.
    ///
    /// # Panics
    /// If the model does not match the data ([`ModelSpec::check`] returns an error instead).
    pub fn new(
        data: impl Into<Selection<'a, T>>,
        spec: &ModelSpec,
        penalty: f64,
        scale: PenaltyScale,
    ) -> Self {
        let views = data.into();
        assert!(spec.check(&views.sizes()).is_ok(), "the model fits the data");
        let plans: Vec<Plan> = (0..spec.group_count())
            .map(|group| Plan::new(views, spec.group_modes(group).collect()))
            .collect();
        // The mode with the most labels parallelises best.
        let sizes = views.sizes();
        let widest = (0..sizes.len()).max_by_key(|&mode| sizes[mode]).unwrap_or(0);
        Self {
            views,
            observations: views.len() as f64,
            penalty,
            bias_penalty: DEFAULT_BIAS_COUNT / views.len() as f64,
            row_weights: (scale == PenaltyScale::Count).then(|| {
                let rows = spec.group_sizes(&views.sizes()).iter().sum();
                count_weights(views, spec, views.len(), rows)
            }),
            row_norm_penalty: None,
            perturbation: None,
            implicit: None,
            fixed_centres: None,
            forms: (0..spec.modes()).map(|mode| ModeForm::new(spec, mode)).collect(),
            plans,
            value_plan: Plan::new(views, vec![widest]),
            backend: Backend::detect(),
            spec: spec.clone(),
        }
    }

    /// Adds the quartic penalty.
    #[must_use]
    pub fn with_row_norm_penalty(mut self, penalty: Option<RowNormPenalty>) -> Self {
        self.row_norm_penalty = penalty;
        self
    }

    /// Adds the perturbation `C`, given for a penalty of 1: its norm is at most `lambda`, so it grows and
    /// shrinks with the penalty.
    #[must_use]
    pub fn with_perturbation(mut self, perturbation: Option<Arc<Perturbation>>) -> Self {
        self.perturbation = perturbation;
        self
    }

    /// The same with the penalties of a larger problem with this many observations, and this many
    /// rows in all factor matrices together. A row of it then has the same equations as here.
    #[must_use]
    pub fn scaled_as(mut self, observations: usize, rows: usize) -> Self {
        self.observations = observations as f64;
        self.bias_penalty = DEFAULT_BIAS_COUNT / self.observations;
        if self.row_weights.is_some() {
            self.row_weights = Some(count_weights(self.views, &self.spec, observations, rows));
        }
        self
    }

    /// The number of observations `m` that sums over them are divided by.
    pub fn observations(&self) -> f64 {
        self.observations
    }

    /// Whether the data are implicit: unobserved cells count as zeros.
    pub(crate) fn has_implicit(&self) -> bool {
        self.implicit.is_some()
    }

    /// Changes the penalty, keeping everything else.
    pub fn set_penalty(&mut self, penalty: f64) {
        self.penalty = penalty;
    }

    /// The penalty `lambda`.
    pub fn penalty(&self) -> f64 {
        self.penalty
    }

    /// The ridge on every bias.
    pub fn bias_penalty(&self) -> f64 {
        self.bias_penalty
    }

    /// The penalty of one row.
    pub fn row_penalty(&self, group: usize, label: usize) -> f64 {
        self.penalty * self.row_weight(group, label)
    }

    /// The penalty of one row over `lambda`.
    pub(crate) fn row_weight(&self, group: usize, label: usize) -> f64 {
        self.row_weights.as_ref().map_or(1.0, |row_weights| row_weights[group][label])
    }

    /// The data.
    pub fn views(&self) -> Selection<'a, T> {
        self.views
    }

    /// The model.
    pub fn spec(&self) -> &ModelSpec {
        &self.spec
    }

    pub(crate) fn row_norm_penalty(&self) -> Option<&RowNormPenalty> {
        self.row_norm_penalty.as_ref()
    }

    /// The perturbation at the current penalty.
    pub(crate) fn perturbation(&self) -> Option<ScaledPerturbation<'_>> {
        let matrix = self.perturbation.as_deref()?;
        Some(ScaledPerturbation { matrix, scale: self.penalty })
    }

    /// The weighted mean squared residual alone.
    pub fn data_value(&self, parameters: &Parameters<T>) -> f64 {
        let point = self.point(parameters);
        let sums = self.unit_sums(&self.value_plan, |segment, scratch| {
            if self.has_linear_cells() {
                return self.linear_value(&point, segment, scratch);
            }
            self.backend.squared_residuals(
                &point.context(segment.mode),
                &point.row_cells(&mut scratch.reader, segment),
                &mut scratch.workspace,
            )
        });
        (sum::ordered_sum(&sums) + self.implicit_value(parameters)) / self.observations
    }

    /// The objective at a point, term by term.
    pub fn value(&self, parameters: &Parameters<T>) -> Value {
        Value { data: self.data_value(parameters), ..self.penalties(parameters) }
    }

    /// Writes the gradient into `out` and returns the weighted mean squared residual.
    pub fn gradient_into(&self, parameters: &Parameters<T>, out: &mut Parameters<T>) -> f64 {
        let point = self.point(parameters);
        let scale = -2.0 / self.observations;
        let unknowns = parameters.layout().row_unknowns();
        let mut squares = Vec::new();
        for group in 0..self.plans.len() {
            let sums = self.row_sums(group, unknowns + 1, &|segment, scratch, sums| {
                sums[unknowns] += self.backend.gradient(
                    &point.context(segment.mode),
                    &point.row_cells(&mut scratch.reader, segment),
                    &mut scratch.workspace,
                    &mut sums[..unknowns],
                );
            });
            if self.spec.groups[0] == group {
                // In a group of several modes every residual is counted once per mode.
                let times = self.plans[group].modes().len() as f64;
                squares.extend(sums.chunks_exact(unknowns + 1).map(|row| row[unknowns] / times));
            }
            for (label, sums) in sums.chunks_exact(unknowns + 1).enumerate() {
                write_row(out, group, label, |column| scale * sums[column]);
            }
        }
        self.add_penalty_gradient(parameters, out);
        sum::ordered_sum(&squares) / self.observations
    }

    /// Writes the product of the Hessian with `direction` into `out`.
    pub fn hessian_vec_into(
        &self,
        parameters: &Parameters<T>,
        direction: &Parameters<T>,
        out: &mut Parameters<T>,
    ) {
        self.curvature_into(parameters, direction, out, true);
    }

    /// The same with the Gauss-Newton approximation of the data term.
    pub fn gauss_newton_vec_into(
        &self,
        parameters: &Parameters<T>,
        direction: &Parameters<T>,
        out: &mut Parameters<T>,
    ) {
        self.curvature_into(parameters, direction, out, false);
    }

    fn curvature_into(
        &self,
        parameters: &Parameters<T>,
        direction: &Parameters<T>,
        out: &mut Parameters<T>,
        second_order: bool,
    ) {
        let point = self.point(parameters);
        let along = self.point(direction);
        let scale = 2.0 / self.observations;
        let unknowns = parameters.layout().row_unknowns();
        for group in 0..self.plans.len() {
            let sums = self.row_sums(group, unknowns, &|segment, scratch, sums| {
                self.backend.hessian_vec(
                    &point.context(segment.mode),
                    &point.row_cells(&mut scratch.reader, segment),
                    &along.direction(segment),
                    &mut scratch.workspace,
                    sums,
                    second_order,
                );
            });
            for (label, sums) in sums.chunks_exact(unknowns).enumerate() {
                write_row(out, group, label, |column| scale * sums[column]);
            }
        }
        self.add_penalty_curvature(parameters, direction, out);
    }
}

/// The ridge on a bias is that of this many observations of zero.
const DEFAULT_BIAS_COUNT: f64 = 5.0;

/// `count(row) * n / (N m)`, and for rows without observations as if they had one.
fn count_weights<T: Real>(
    views: Selection<'_, T>,
    spec: &ModelSpec,
    observations: usize,
    all: usize,
) -> Vec<Vec<f64>> {
    let rows = spec.group_sizes(&views.sizes());
    let unit = all as f64 / (spec.modes() as f64 * observations as f64);
    (0..rows.len())
        .map(|group| {
            (0..rows[group])
                .map(|label| {
                    let count: usize =
                        spec.group_modes(group).map(|mode| views.mode(mode).count(label)).sum();
                    count.max(1) as f64 * unit
                })
                .collect()
        })
        .collect()
}

pub(crate) fn squared_norm<T: Real>(row: &[T]) -> f64 {
    row.iter().map(|u| u.to_f64() * u.to_f64()).sum()
}

fn stacked_rows<T: Real>(parameters: &Parameters<T>) -> impl Iterator<Item = &[T]> {
    each_row(parameters.layout().rows()).map(|(group, label)| parameters.row(group, label))
}

/// `C U`, row-major without padding.
pub(crate) fn perturbed_rows<T: Real>(
    perturbation: ScaledPerturbation<'_>,
    parameters: &Parameters<T>,
) -> Vec<f64> {
    let rank = parameters.layout().rank();
    let rows: Vec<&[T]> = stacked_rows(parameters).collect();
    let mut out = vec![0.0; rows.len() * rank];
    for (i, out) in out.chunks_exact_mut(rank).enumerate() {
        for (c, row) in perturbation.row(i).zip(&rows) {
            for (o, u) in out.iter_mut().zip(*row) {
                *o += c * u.to_f64();
            }
        }
    }
    out
}

fn write_row<T: Real>(
    out: &mut Parameters<T>,
    group: usize,
    label: usize,
    value: impl Fn(usize) -> f64,
) {
    map_row(out, group, label, |column, _| value(column));
}

fn add_to_row<T: Real>(
    out: &mut Parameters<T>,
    group: usize,
    label: usize,
    value: impl Fn(usize) -> f64,
) {
    map_row(out, group, label, |column, before| before + value(column));
}

/// Replaces every number of a row; its bias, where there is one, comes as the column after the last.
fn map_row<T: Real>(
    out: &mut Parameters<T>,
    group: usize,
    label: usize,
    change: impl Fn(usize, f64) -> f64,
) {
    for (column, o) in out.row_mut(group, label).iter_mut().enumerate() {
        *o = T::from_f64(change(column, o.to_f64()));
    }
    if out.layout().has_biases() {
        let bias = change(out.layout().rank(), out.bias(group, label).to_f64());
        out.set_bias(group, label, T::from_f64(bias));
    }
}
