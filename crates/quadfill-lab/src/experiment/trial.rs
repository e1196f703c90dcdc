//! A planted tensor, and a fit to it by one of several methods.

use std::time::Instant;

use quadfill::model::{Biases, Evaluation, ModelKind, ModelSpec, Parameters, Predictor};
use quadfill::solve::{Choice, NoObserver, Observer, SdpForm, Solver};
use quadfill::{FitConfig, Model, Observations};

use super::row::Row;
use crate::error::Result;
use crate::planted::{Cells, Coverage, Planted, Recipe, Shape};

/// The number of test cells.
const TEST_CELLS: u128 = 20_000;

/// A tensor counts as recovered below this relative error on test cells.
pub(super) const RECOVERED: f64 = 1e-2;

/// The residuals and gap at which a convex program stops: far below the threshold for recovery.
const SDP_TOLERANCE: f64 = 1e-5;

/// A method of fitting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Alternating least squares from a random start at a single small penalty.
    Als,
    /// The regularisation path from the penalty at which zero is optimal, with default settings.
    Path,
    /// The path with default settings and a learned kernel.
    Learned,
    /// The semidefinite program: the matrix of smallest trace that reproduces the data, over all ranks.
    Sdp,
}

impl Method {
    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Als => "als",
            Self::Path => "path",
            Self::Learned => "learned",
            Self::Sdp => "sdp",
        }
    }

    /// The method with this name in results; the path if there is none.
    pub fn named(name: &str) -> Self {
        match name {
            "als" => Self::Als,
            "learned" => Self::Learned,
            "sdp" => Self::Sdp,
            _ => Self::Path,
        }
    }
}

/// The settings of a planted tensor.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The model that generates the values.
    pub spec: ModelSpec,
    /// Labels per mode.
    pub sizes: Vec<usize>,
    /// The number of training cells.
    pub observations: usize,
    /// Standard deviation of the noise relative to the root mean square of the values.
    pub noise: f64,
    /// The random seed.
    pub seed: u64,
}

/// A planted tensor in which every label has at least as many observations as the rank.
#[derive(Debug)]
pub struct DrawnTrial {
    trial: Trial,
    planted: Planted,
    test: Cells,
}

impl Trial {
    fn recipe(&self) -> Result<Recipe> {
        let shape = Shape::new(&self.sizes)?;
        let left = shape.cells().saturating_sub(self.observations as u128);
        Ok(Recipe {
            spec: self.spec.clone(),
            shape,
            observations: self.observations,
            test_observations: Some(left.min(TEST_CELLS) as usize),
            noise: self.noise,
            coverage: Coverage::Mended(self.spec.rank),
            seed: self.seed,
        })
    }

    /// The factors that generate the values.
    pub fn factors(&self) -> Result<Parameters<f64>> {
        Ok(self.recipe()?.factors())
    }

    /// Generates the tensor.
    pub fn draw(&self) -> Result<DrawnTrial> {
        let mut planted = self.recipe()?.make()?;
        let empty = Cells { columns: vec![Vec::new(); self.sizes.len()], values: Vec::new() };
        let test = planted.test.take().unwrap_or(empty);
        Ok(DrawnTrial { trial: self.clone(), planted, test })
    }

    /// The number of free parameters of the model.
    pub fn free_parameters(&self) -> usize {
        self.spec.degrees_of_freedom(&self.sizes)
    }
}

impl DrawnTrial {
    /// The settings.
    pub fn trial(&self) -> &Trial {
        &self.trial
    }

    /// The training cells.
    pub fn observations(&self) -> Result<Observations> {
        self.planted.train.observations(&self.trial.sizes)
    }

    /// The settings of a method for this tensor: no biases, no certificate, and the true rank for all
    /// methods but the convex program.
    pub fn config(&self, method: Method) -> FitConfig {
        let (solver, rank) = match method {
            Method::Als => (Solver::Als, self.trial.spec.rank),
            Method::Path | Method::Learned => (Solver::Path, self.trial.spec.rank),
            Method::Sdp => {
                (Solver::Sdp(Choice::Fixed(SdpForm::Trace)), self.trial.sizes.iter().sum())
            }
        };
        let given = FitConfig::for_spec(&self.trial.spec.clone().with_rank(rank));
        FitConfig {
            model: if method == Method::Learned { ModelKind::Learned } else { given.model.clone() },
            biases: Choice::Fixed(Biases::None),
            solver,
            tolerance: if method == Method::Sdp { SDP_TOLERANCE } else { 1e-7 },
            seed: self.trial.seed,
            certify: false,
            ..given
        }
    }

    /// Fits. Returns the model and the duration of the fit in seconds.
    pub fn fit(&self, config: &FitConfig) -> Result<(Model, f64)> {
        self.fit_watched(config, &mut NoObserver)
    }

    /// Fits with an observer.
    pub fn fit_watched(
        &self,
        config: &FitConfig,
        observer: &mut dyn Observer,
    ) -> Result<(Model, f64)> {
        let data = self.observations()?;
        let clock = Instant::now();
        let model = quadfill::fit_with(data, config, observer)?;
        Ok((model, clock.elapsed().as_secs_f64()))
    }

    /// All error measures of a model on the test cells, which have no noise.
    pub fn evaluate(&self, model: &Model) -> Evaluation {
        model.evaluate_cells(&self.test_columns(), &self.test.values)
    }

    /// The same for parameters.
    pub fn evaluate_at(&self, spec: &ModelSpec, parameters: &Parameters<f64>) -> Evaluation {
        Predictor::new(spec, parameters).evaluate(&self.test_columns(), &self.test.values)
    }

    /// The relative error of parameters on the test cells, which have no noise.
    pub fn test_error(&self, spec: &ModelSpec, parameters: &Parameters<f64>) -> f64 {
        self.evaluate_at(spec, parameters).relative_error
    }

    fn test_columns(&self) -> Vec<&[u32]> {
        self.test.columns.iter().map(Vec::as_slice).collect()
    }

    /// The settings of a cell, the same in other units, and statistics of the draw.
    pub fn row(&self, cell: &Row) -> Row {
        let (m, rank) = (self.trial.observations as f64, self.trial.spec.rank as f64);
        let stacked: usize = self.trial.sizes.iter().sum();
        let modes = self.trial.sizes.len() as f64;
        let freedom = self.trial.free_parameters();
        cell.clone()
            .with("m", self.trial.observations)
            .with("c_per_mode", rounded(m * modes / (stacked as f64 * rank)))
            .with("c_per_stacked", rounded(m / (stacked as f64 * rank)))
            .with("free_parameters", freedom)
            .with("per_free_parameter", rounded(m / freedom as f64))
            .with("draws", self.planted.draws)
            .with("mended_cells", self.planted.mended)
            .with("min_per_label", self.planted.min_per_label)
    }

    /// Fits with a method. Returns the row of results.
    pub fn measure(&self, cell: &Row, method: Method) -> Result<Row> {
        let (model, seconds) = self.fit(&self.config(method))?;
        Ok(self.outcome(cell, &model).with("seconds", seconds))
    }

    /// The row of results of a fit.
    pub fn outcome(&self, cell: &Row, model: &Model) -> Row {
        let error = self.evaluate(model).relative_error;
        let fit = model.summary();
        let row = self
            .row(cell)
            .with("sweeps", fit.sweeps)
            .with("penalty", fit.penalty)
            .with("train_rmse", fit.train_rmse)
            .with("test_error", error)
            .with("recovered", error < RECOVERED);
        match &fit.sdp {
            Some(sdp) => row.with("sdp_rank", sdp.rank).with("sdp_relative_gap", sdp.relative_gap),
            None => row,
        }
    }
}

/// A ratio rounded to four decimals.
fn rounded(ratio: f64) -> f64 {
    (ratio * 1e4).round() / 1e4
}
