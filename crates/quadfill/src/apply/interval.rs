//! How far a new observation may be from its prediction.

use rayon::prelude::*;

use super::draws::DrawIntervals;
use crate::error::{Error, Result};
use crate::fitted::{Model, with_numbers};
use crate::model::{Predictor, UNKNOWN};
use crate::objective::{CellScratch, Objective};
use crate::observations::Observations;
use quadfill_kernels::{Real, cholesky, sum};

/// Prediction intervals from the normal equations of the rows.
///
/// A prediction errs because observations are noisy and because its rows were learned from noisy ones.
/// The variance of the noise, `s^2`, is the weighted sum of squared residuals over their degrees of
/// freedom; the variance that a row adds is `s^2 x^T A^-1 x`, `A` being the matrix of its normal
/// equations and `x` the derivative of the prediction in the row. That assumes: noise that is
/// independent, homoscedastic and about normal; a model that can represent the truth; a fit at its
/// optimum; and errors of the rows of one cell that are independent of each other.
#[derive(Debug, Clone)]
pub struct Intervals<'a, T: Real> {
    predictor: Predictor<'a, T>,
    /// The variance of the noise on an observation of weight 1.
    variance: f64,
    /// Degrees of freedom that the fit uses.
    freedom: f64,
    /// For each factor matrix the Cholesky factors of its rows' matrices, if they have any.
    factors: Vec<Vec<Option<Box<[f64]>>>>,
}

impl<'a, T: Real> Intervals<'a, T> {
    /// Estimates the noise from the data that a model was fitted to.
    pub fn new(objective: &Objective<'_, T>, predictor: Predictor<'a, T>) -> Result<Self> {
        let parameters = predictor.parameters;
        let n = parameters.layout().row_unknowns();
        let point = objective.point(parameters);
        let size = (n + 1) * (n + 1);
        let m = objective.observations();
        let mut freedom = Vec::new();
        let mut factors = Vec::new();
        for group in 0..objective.spec().group_count() {
            let accumulate = |segment: &_, scratch: &mut CellScratch<'_, T>, out: &mut [f64]| {
                let segment: &crate::views::Segment = segment;
                let cells = point.row_cells(&mut scratch.reader, segment);
                let context = point.context(segment.mode);
                objective.backend().normal_equations(&context, &cells, &mut scratch.workspace, out);
            };
            let systems = objective.row_sums(group, size, &accumulate);
            let priors = objective.row_priors(parameters, group);
            let solved: Vec<(Option<Box<[f64]>>, f64)> = systems
                .par_chunks_exact(size)
                .enumerate()
                .map(|(row, system)| {
                    let prior = priors.of(row);
                    let ridge = |j: usize| m * prior.precision(j);
                    let mut matrix = vec![0.0; n * n];
                    for i in 0..n {
                        matrix[i * n..=i * n + i].copy_from_slice(&system[i * (n + 1)..][..=i]);
                        matrix[i * n + i] += ridge(i);
                    }
                    if !cholesky::factor(&mut matrix, n, n) {
                        return (None, 0.0);
                    }
                    // The trace of A^-1 (A - ridge).
                    let mut taken = n as f64;
                    for j in 0..n {
                        let mut unit = vec![0.0; n];
                        unit[j] = 1.0;
                        cholesky::solve_factored(&matrix, n, n, &mut unit);
                        taken -= ridge(j) * unit[j];
                    }
                    (Some(matrix.into_boxed_slice()), taken)
                })
                .collect();
            freedom.extend(solved.iter().map(|(_, taken)| *taken));
            factors.push(solved.into_iter().map(|(factor, _)| factor).collect());
        }
        // Directions that change no prediction use no degrees of freedom of the data.
        let most = objective.spec().degrees_of_freedom(&objective.views().sizes()) as f64;
        let freedom = sum::ordered_sum(&freedom).min(most);
        let count = objective.views().len() as f64;
        if count <= freedom {
            return Err(Error::Unsupported(format!(
                "{count} observations leave nothing to estimate the noise from: the fit takes up \
                 {freedom:.0} of them, so give more data or a larger penalty"
            )));
        }
        let squares = objective.data_value(parameters) * m;
        Ok(Self { predictor, variance: squares / (count - freedom), freedom, factors })
    }

    /// The standard deviation of the noise on one observation.
    pub fn noise(&self) -> f64 {
        self.variance.sqrt()
    }

    /// The degrees of freedom that the fit uses.
    pub fn degrees_of_freedom(&self) -> f64 {
        self.freedom
    }

    /// The standard deviation of a new observation of a cell about its prediction; infinite where a
    /// label is unknown or not determined by its observations.
    pub fn deviation(&self, cell: &[u32]) -> f64 {
        let Predictor { spec, parameters, .. } = self.predictor;
        let rank = parameters.layout().rank();
        let n = parameters.layout().row_unknowns();
        let mut share = 1.0;
        for (mode, &label) in cell.iter().enumerate() {
            let group = spec.groups[mode];
            if label == UNKNOWN {
                return f64::INFINITY;
            }
            let Some(factor) = &self.factors[group][label as usize] else {
                return f64::INFINITY;
            };
            let context = self.predictor.context(mode, cell);
            let row = parameters.row(group, label as usize);
            let mut x = vec![1.0; n];
            for (j, x) in x[..rank].iter_mut().enumerate() {
                *x = context.jacobian[j].to_f64() + 2.0 * context.own * row[j].to_f64();
            }
            let mut solved = x.clone();
            cholesky::solve_factored(factor, n, n, &mut solved);
            share += x.iter().zip(&solved).map(|(x, s)| x * s).sum::<f64>();
        }
        (self.variance * share).sqrt()
    }

    /// Half the width of the interval about a prediction that a new observation falls into with
    /// probability `level`.
    pub fn half_width(&self, cell: &[u32], level: f64) -> f64 {
        normal_quantile(0.5 + 0.5 * level) * self.deviation(cell)
    }
}

impl Model {
    /// Half the width of the interval about each prediction that a new observation falls into with
    /// probability `level`, for cells given as one column of label indices per mode.
    ///
    /// A sampled model has its draws for that. Any other needs the data that it was fitted to, from
    /// which it takes the noise and the uncertainty of its rows; see [`Intervals`] for what that assumes.
    pub fn half_widths(
        &self,
        columns: &[&[u32]],
        level: f64,
        data: Option<Observations>,
    ) -> Result<Vec<f64>> {
        if !(level > 0.0 && level < 1.0) {
            return Err(Error::Unsupported(format!(
                "an interval with probability {level} does not exist: choose a number between 0 and 1, \
                 such as 0.9"
            )));
        }
        self.refuse_implicit("there are no intervals for a model fitted with `implicit`")?;
        with_numbers!(&self.numbers, fitted => {
            let predictor = fitted.predictor(&self.spec);
            if let Some(posterior) = &fitted.posterior {
                let intervals = DrawIntervals::new(predictor, posterior);
                return Ok(each_cell(columns, |cell| intervals.half_width(cell, level)));
            }
            let Some(data) = data else {
                return Err(Error::Unsupported(
                    "intervals need the data that the model was fitted to: give them".to_owned(),
                ));
            };
            let problem = self.problem(data)?;
            let objective = problem.objective(&self.spec, self.summary.penalty);
            let intervals = Intervals::new(&objective, predictor)?;
            Ok(each_cell(columns, |cell| intervals.half_width(cell, level)))
        })
    }
}

fn each_cell(columns: &[&[u32]], width: impl Fn(&[u32]) -> f64 + Sync) -> Vec<f64> {
    let rows = 0..columns.first().map_or(0, |column| column.len());
    rows.into_par_iter()
        .map(|row| {
            let cell: Vec<u32> = columns.iter().map(|column| column[row]).collect();
            width(&cell)
        })
        .collect()
}

/// Where the standard normal distribution function has the value `p` (Acklam's approximation, good to
/// nine digits).
pub(super) fn normal_quantile(p: f64) -> f64 {
    const A: [f64; 6] = [
        -39.696_830_286_653_76,
        220.946_098_424_520_5,
        -275.928_510_446_968_7,
        138.357_751_867_269,
        -30.664_798_066_147_16,
        2.506_628_277_459_239,
    ];
    const B: [f64; 6] = [
        -54.476_098_798_224_06,
        161.585_836_858_040_9,
        -155.698_979_859_886_6,
        66.801_311_887_719_72,
        -13.280_681_552_885_72,
        1.0,
    ];
    const C: [f64; 6] = [
        -0.007_784_894_002_430_293,
        -0.322_396_458_041_136_5,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 5] = [
        0.007_784_695_709_041_462,
        0.322_467_129_070_039_8,
        2.445_134_137_142_996,
        3.754_408_661_907_416,
        1.0,
    ];
    let at = |coefficients: &[f64], x: f64| coefficients.iter().fold(0.0, |sum, c| sum * x + c);
    if p > 0.975_75 {
        let q = (-2.0 * (1.0 - p).ln()).sqrt();
        return -at(&C, q) / at(&D, q);
    }
    if p < 0.024_25 {
        return -normal_quantile(1.0 - p);
    }
    let q = p - 0.5;
    q * at(&A, q * q) / at(&B, q * q)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        for (p, x) in
            [(0.5, 0.0), (0.95, 1.644_853_627), (0.975, 1.959_963_985), (0.999, 3.090_232_306)]
        {
            assert!((normal_quantile(p) - x).abs() < 1e-7, "{p}");
            assert!((normal_quantile(1.0 - p) + x).abs() < 1e-7, "{p}");
        }
    }
}
