//! Explanations of a prediction: its additive parts, and the most influential observations.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::fitted::{Model, with_numbers};
use crate::model::{Interaction, Predictor, UNKNOWN, inner};
use crate::objective::Objective;
use crate::observations::Observations;
use quadfill_kernels::{Real, cholesky};

/// One summand of a prediction.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Part {
    /// The mean of the data.
    Mean {
        /// What it adds.
        value: f64,
    },
    /// The bias of a label.
    Bias {
        /// Its mode.
        mode: usize,
        /// What it adds.
        value: f64,
    },
    /// The inner product of two rows, times its weight in the kernel.
    Pair {
        /// Their modes.
        modes: [usize; 2],
        /// What it adds.
        value: f64,
    },
    /// The squared length of a row, times its weight in the kernel.
    Length {
        /// Its mode.
        mode: usize,
        /// What it adds.
        value: f64,
    },
    /// A column of a CP model: the product over all modes.
    Column {
        /// Which one, from 0.
        column: usize,
        /// What it adds.
        value: f64,
    },
}

impl Part {
    /// What it adds to the prediction.
    pub fn value(&self) -> f64 {
        match self {
            Self::Mean { value }
            | Self::Bias { value, .. }
            | Self::Pair { value, .. }
            | Self::Length { value, .. }
            | Self::Column { value, .. } => *value,
        }
    }
}

impl<T: Real> Predictor<'_, T> {
    /// The summands of a prediction; together they are [`cell`](Self::cell). Parts of labels that
    /// are [`UNKNOWN`] are left out.
    ///
    /// ```
    /// use quadfill::apply::Part;
    /// use quadfill::model::{Kernel, ModelSpec, Parameters, Predictor};
    /// let spec = ModelSpec::quadratic(Kernel::pairwise(3), 2);
    /// let parameters = Parameters::<f64>::random(&spec, &[4, 5, 6], 1.0, 7);
    /// let predictor = Predictor::new(&spec, &parameters);
    /// let parts = predictor.parts(&[1, 2, 3]);
    /// assert_eq!(parts.len(), 3);
    /// let sum: f64 = parts.iter().map(Part::value).sum();
    /// assert!((sum - predictor.cell(&[1, 2, 3])).abs() < 1e-12);
    /// ```
    pub fn parts(&self, labels: &[u32]) -> Vec<Part> {
        let row = |mode: usize| {
            (labels[mode] != UNKNOWN)
                .then(|| self.parameters.row(self.spec.groups[mode], labels[mode] as usize))
        };
        let mut parts = Vec::new();
        if self.spec.biases != crate::model::Biases::None {
            parts.push(Part::Mean { value: self.parameters.mean });
        }
        if self.parameters.layout().has_biases() {
            for (mode, &label) in labels.iter().enumerate().filter(|&(_, &l)| l != UNKNOWN) {
                let value = self.parameters.bias(self.spec.groups[mode], label as usize).to_f64();
                parts.push(Part::Bias { mode, value });
            }
        }
        match &self.spec.interaction {
            Interaction::Quadratic(kernel) => {
                for b in 0..labels.len() {
                    for a in 0..=b {
                        let entry = kernel.get(a, b);
                        let (Some(x), Some(y), true) = (row(a), row(b), entry != 0.0) else {
                            continue;
                        };
                        let product = entry * inner(x, y);
                        parts.push(if a == b {
                            Part::Length { mode: a, value: product }
                        } else {
                            Part::Pair { modes: [a, b], value: 2.0 * product }
                        });
                    }
                }
            }
            Interaction::Cp => {
                let rows: Option<Vec<&[T]>> = (0..labels.len()).map(row).collect();
                if let Some(rows) = rows {
                    parts.extend((0..self.spec.rank).map(|column| {
                        let value = rows.iter().map(|row| row[column].to_f64()).product();
                        Part::Column { column, value }
                    }));
                }
            }
        }
        parts
    }
}

/// A prediction and its summands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The prediction.
    pub prediction: f64,
    /// Its summands.
    pub parts: Vec<Part>,
}

impl Model {
    /// The summands of a prediction, given one known label per mode in the order of the modes.
    pub fn explain(&self, labels: &[&str]) -> Result<Explanation> {
        self.explain_cell(&self.find_cell(labels)?)
    }

    /// The same for a cell given by label indices.
    pub fn explain_cell(&self, cell: &[u32]) -> Result<Explanation> {
        if self.is_sampled() && self.spec.interaction == Interaction::Cp {
            return Err(Error::Unsupported(
                "the columns of different draws have nothing to do with each other, so a sampled cp \
                 model cannot be explained: set `solver` to path"
                    .to_owned(),
            ));
        }
        with_numbers!(&self.numbers, fitted => {
            let predictor = fitted.predictor(&self.spec);
            Ok(Explanation { prediction: predictor.cell(cell), parts: predictor.parts(cell) })
        })
    }

    /// For each mode the observations of the cell's label, those with the largest effect on the
    /// prediction first. `data` are those of the fit.
    pub fn influences(&self, data: Observations, cell: &[u32]) -> Result<Vec<Vec<Influence>>> {
        self.refuse_draws(
            "the influence of single observations is not known for a mean of draws: set `solver` to path",
        )?;
        self.refuse_implicit(
            "the influence of single observations is not known for a model fitted with `implicit`",
        )?;
        self.require_labels(cell, None)?;
        with_numbers!(&self.numbers, fitted => {
            let problem = self.problem(data)?;
            let objective = problem.objective(&self.spec, self.summary.penalty);
            let predictor = fitted.predictor(&self.spec);
            let modes = 0..self.modes.len();
            Ok(modes.map(|mode| influences(&objective, predictor, cell, mode)).collect())
        })
    }
}

/// The effect of an observation on a prediction, through one of its rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Influence {
    /// The observed cell.
    pub cell: Vec<u32>,
    /// What was observed.
    pub value: f64,
    /// The leverage of the observation on its own prediction, from 0 to 1.
    pub leverage: f64,
    /// By how much the prediction is higher than if the row had been fitted without it, everything
    /// else left as it is.
    pub effect: f64,
}

/// The observations of the label of `cell` in `mode`, those with the largest effect on the
/// prediction of `cell` first.
///
/// The row is taken as the solution of its least squares problem given all other rows, which makes
/// the effects exact (for kernels with a diagonal: to first order).
///
/// # Panics
/// If the label is unknown.
fn influences<T: Real>(
    objective: &Objective<'_, T>,
    predictor: Predictor<'_, T>,
    cell: &[u32],
    mode: usize,
) -> Vec<Influence> {
    let spec = objective.spec();
    let group = spec.groups[mode];
    let label = cell[mode];
    let rank = spec.rank;
    let has_biases = predictor.parameters.layout().has_biases();
    let n = rank + usize::from(has_biases);
    let row: Vec<f64> =
        predictor.parameters.row(group, label as usize).iter().map(|u| u.to_f64()).collect();
    let feature = |labels: &[u32], at: usize| -> Vec<f64> {
        let context = predictor.context(at, labels);
        let jacobian = context.jacobian.iter().take(rank).zip(&row);
        jacobian
            .map(|(s, u)| s.to_f64() + 2.0 * context.own * u)
            .chain(has_biases.then_some(1.0))
            .collect()
    };
    let mut seen = Vec::new();
    for own in spec.group_modes(group) {
        let mut reader = objective.views().mode(own).reader();
        let cells = reader.cells(label as usize);
        let width = cell.len() - 1;
        for (at, value) in cells.values.iter().enumerate() {
            let mut labels = cells.others[at * width..(at + 1) * width].to_vec();
            labels.insert(own, label);
            let weight = cells.weights.map_or(1.0, |w| w[at].to_f64());
            let residual = value.to_f64() - predictor.cell(&labels);
            seen.push((feature(&labels, own), labels, value.to_f64(), weight, residual));
        }
    }
    let m = objective.observations();
    let mut matrix = vec![0.0; n * n];
    let mut step = vec![0.0; n];
    let priors = objective.row_priors(predictor.parameters, group);
    let prior = priors.of(label as usize);
    let bias = predictor.parameters.bias(group, label as usize).to_f64();
    for (j, entry) in row.iter().copied().chain(has_biases.then_some(bias)).enumerate() {
        let ridge = m * prior.precision(j);
        matrix[j * n + j] = ridge;
        step[j] = -ridge * prior.excess(j, entry);
    }
    for (x, _, _, weight, residual) in &seen {
        for i in 0..n {
            step[i] += weight * residual * x[i];
            for j in 0..=i {
                matrix[i * n + j] += weight * x[i] * x[j];
            }
        }
    }
    if !cholesky::factor(&mut matrix, n, n) {
        // Fewer observations than unknowns and no penalty: the row is not determined.
        return Vec::new();
    }
    cholesky::solve_factored(&matrix, n, n, &mut step);
    let mut wanted = feature(cell, mode);
    cholesky::solve_factored(&matrix, n, n, &mut wanted);
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let mut influences: Vec<Influence> = seen
        .into_iter()
        .map(|(x, cell, value, weight, residual)| {
            let mut solved = x.clone();
            cholesky::solve_factored(&matrix, n, n, &mut solved);
            let leverage = weight * dot(&x, &solved);
            let left = residual - dot(&x, &step);
            let without = (1.0 - leverage).max(f64::EPSILON);
            Influence { cell, value, leverage, effect: weight * dot(&wanted, &x) * left / without }
        })
        .collect();
    influences.sort_by(|x, y| y.effect.abs().total_cmp(&x.effect.abs()));
    influences
}
