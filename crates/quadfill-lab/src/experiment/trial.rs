//! One planted tensor, one method, one error.

use std::time::Instant;

use quadfill::apply::{Evaluation, Predictor};
use quadfill::model::{ModelSpec, Offsets, Parameters};
use quadfill::solve::{Fit, FitConfig, KernelChoice, Observer, SdpForm, Silent, Solver};
use quadfill::{Observations, Real};

use super::row::Row;
use crate::error::Result;
use crate::planted::{Cells, Coverage, Planted, Recipe, Shape};

/// Other cells that a fit is judged by.
const TEST_CELLS: u128 = 20_000;

/// A tensor counts as recovered below this relative error on cells that the fit never saw.
pub(super) const RECOVERED: f64 = 1e-2;

/// Residuals and gap at which a convex program ends: far below what counts as recovered.
const SDP_TOLERANCE: f64 = 1e-5;

/// A way to fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Alternating least squares from a random start at one small penalty.
    Als,
    /// The penalty lowered step by step from where zero is optimal, with default settings.
    Path,
    /// The path with default settings, not told the kernel.
    Learned,
    /// The smallest trace of a positive semidefinite matrix that reproduces the data, all ranks.
    Sdp,
}

impl Method {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Als => "als",
            Self::Path => "path",
            Self::Learned => "learned",
            Self::Sdp => "sdp",
        }
    }

    /// The method of that name.
    pub fn named(name: &str) -> Self {
        match name {
            "als" => Self::Als,
            "learned" => Self::Learned,
            "sdp" => Self::Sdp,
            _ => Self::Path,
        }
    }
}

/// A planted tensor to be drawn.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The model that makes the values.
    pub spec: ModelSpec,
    /// Labels per mode.
    pub sizes: Vec<usize>,
    /// How many cells to learn from.
    pub observations: usize,
    /// Deviation of the noise over the root mean square of the values.
    pub noise: f64,
    /// Decides everything that is random.
    pub seed: u64,
}

/// A planted tensor that was drawn: every label has at least as many observations as the rank.
#[derive(Debug)]
pub struct Trialled {
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

    /// The factors that make the values.
    pub fn factors(&self) -> Result<Parameters<f64>> {
        Ok(self.recipe()?.factors())
    }

    /// Draws it.
    pub fn draw(&self) -> Result<Trialled> {
        let mut planted = self.recipe()?.make()?;
        let empty = Cells { columns: vec![Vec::new(); self.sizes.len()], values: Vec::new() };
        let test = planted.test.take().unwrap_or(empty);
        Ok(Trialled { trial: self.clone(), planted, test })
    }

    /// Free parameters of the model.
    pub fn free_parameters(&self) -> usize {
        self.spec.degrees_of_freedom(&self.sizes)
    }
}

impl Trialled {
    /// The cells to learn from.
    pub fn observations(&self) -> Result<Observations<f64>> {
        self.planted.train.observations(&self.trial.sizes)
    }

    /// The settings of a method for this tensor: there are no offsets, nobody asks for a certificate,
    /// and all but the convex program know the rank.
    pub fn config(&self, method: Method) -> FitConfig {
        let (solver, rank) = match method {
            Method::Als => (Solver::Als, self.trial.spec.rank),
            Method::Path | Method::Learned => (Solver::Path, self.trial.spec.rank),
            Method::Sdp => (Solver::Sdp(Some(SdpForm::Trace)), self.trial.sizes.iter().sum()),
        };
        let kernel = match method {
            Method::Learned => KernelChoice::Learned,
            _ => KernelChoice::Given,
        };
        FitConfig {
            offsets: Some(Offsets::None),
            solver,
            kernel,
            tolerance: if method == Method::Sdp { SDP_TOLERANCE } else { 1e-7 },
            seed: self.trial.seed,
            certify: false,
            ..FitConfig::new(self.trial.spec.clone().with_rank(rank))
        }
    }

    /// Fits, and tells the seconds it took.
    pub fn fit(&self, config: &FitConfig) -> Result<(Fit<f64>, f64)> {
        self.fit_watched(config, &mut Silent)
    }

    /// Fits with an observer.
    pub fn fit_watched(
        &self,
        config: &FitConfig,
        observer: &mut dyn Observer<f64>,
    ) -> Result<(Fit<f64>, f64)> {
        let data = self.observations()?;
        let clock = Instant::now();
        let fit = quadfill::solve::fit(data, config, observer)?;
        Ok((fit, clock.elapsed().as_secs_f64()))
    }

    /// The relative error on cells that no fit has seen, against values without noise.
    pub fn test_error<T: Real>(&self, spec: &ModelSpec, parameters: &Parameters<T>) -> f64 {
        self.judge(spec, parameters).relative_error
    }

    /// Every kind of error on cells that no fit has seen, against values without noise.
    pub fn judge<T: Real>(&self, spec: &ModelSpec, parameters: &Parameters<T>) -> Evaluation {
        let columns: Vec<&[u32]> = self.test.columns.iter().map(Vec::as_slice).collect();
        Predictor::new(spec, parameters).evaluate(&columns, &self.test.values)
    }

    /// A cell's settings with what they mean in other units, and how the draw went.
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

    /// Fits with a method, and writes down how it went.
    pub fn measure(&self, cell: &Row, method: Method) -> Result<Row> {
        let (fit, seconds) = self.fit(&self.config(method))?;
        Ok(self.outcome(cell, &fit).with("seconds", seconds))
    }

    /// Writes down how a fit went.
    pub fn outcome(&self, cell: &Row, fit: &Fit<f64>) -> Row {
        let error = self.test_error(&fit.spec, &fit.parameters);
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

/// A ratio without the digits that say nothing.
fn rounded(ratio: f64) -> f64 {
    (ratio * 1e4).round() / 1e4
}
