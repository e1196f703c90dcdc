//! Convex programs over the positive semidefinite `X = U U^T`, `U` being all factor matrices stacked.
//!
//! ```text
//! trace       minimise <L, X>                                            subject to <A_t, X> = y_t
//! penalised   minimise data(X) + <C, X> + quartic(X)                     subject to tr X <= n alpha
//! objective   minimise data(X) + <L, X> + <C, X> + quartic(X)
//! ```
//!
//! `A_t` is the kernel on the rows and columns that the cell `t` picks, `data` the weighted mean squared
//! residual, `L` the row penalties (in the trace form their profile, which is the identity unless
//! rows are penalised by count), `C` the perturbation, and
//! `quartic(X) = lambda2 * sum of max(0, sqrt(X_ii) - sqrt(alpha))^4`. The objective form is what the
//! factored solvers minimise, with the rank left free; so its optimum is a lower bound for all of them.
//!
//! The penalised form is the convex program of "Recovery Guarantees for Quadratic Tensors with Sparse
//! Observations", where the quartic reads `lambda_1 sum of q_alpha(X_ii)`. As its value is to be that of
//! the factored objective at `X = U U^T`, whose rows have the norm `sqrt(X_ii)` and whose quartic has
//! the weight `lambda2`, those two stand here.
//!
//! Solved by [`admm`], sped up by [`anderson`]; [`bound`] says how far the point is from the optimum.

mod admm;
mod anderson;
mod bound;
mod data_step;
mod diagonal;
mod factor;
mod program;
mod sensing;
mod size;

use std::cell::Cell;

use serde::{Deserialize, Serialize};

use super::config::FitConfig;
use super::events::{Fit, Stage, Status};
use super::runner::{Runner, Steps};
use super::step::{Step, StepReport};
use crate::error::{Error, Result};
use crate::model::{Interaction, Offsets, Parameters};
use crate::objective::Objective;
use crate::views::Views;
use admm::Admm;
use bound::Bound;
use program::Program;
use quadfill_kernels::Real;

/// The most iterations where no limit is given.
const MOST_ITERATIONS: usize = 20_000;
/// Iterations between two looks at the distance to the optimum, once the residuals are small.
const BOUND_EVERY: usize = 10;
/// The same while they are not.
const BOUND_RARELY: usize = 100;
/// Every matrix that suits the data being larger than the smallest symmetric one by this factor
/// means that none is positive semidefinite.
const INFEASIBLE: f64 = 1e7;

/// Which convex program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SdpForm {
    /// The smallest trace that reproduces the data.
    Trace,
    /// The data term under a bound on the trace, with the quartic penalty.
    Penalised,
    /// What the factored solvers minimise, over all ranks.
    Objective,
}

/// How a convex program was solved.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SdpReport {
    /// Which one.
    pub form: SdpForm,
    /// The order of `X`.
    pub order: usize,
    /// The objective of the program at the solution.
    pub objective: f64,
    /// No feasible matrix has a smaller objective.
    pub lower_bound: f64,
    /// The size of the difference of the two. In the trace form, whose solution meets the data only
    /// to the residuals, the bound may be the larger one.
    pub gap: f64,
    /// The difference over the objective.
    pub relative_gap: f64,
    /// How far the matrix that suits the data and the positive semidefinite one differ, relative to
    /// their size.
    pub primal_residual: f64,
    /// How far the slope of the Lagrangian is from zero, relative to the multipliers.
    pub dual_residual: f64,
    /// Eigenvalues of the solution above 1e-9 of the largest, or in the trace form above a hundred
    /// times the residuals (at least 1e-6, at most 1e-4).
    pub rank: usize,
    /// Whether the model has fewer columns than that, because its rank was limited.
    pub truncated: bool,
    /// The bound on the trace, where the form has one.
    pub trace_bound: Option<f64>,
}

/// The form that a configuration asks for.
fn form(config: &FitConfig, chosen: Option<SdpForm>) -> SdpForm {
    chosen.unwrap_or(match config.penalty {
        None => SdpForm::Trace,
        Some(_) => SdpForm::Objective,
    })
}

/// Checks settings against each other and against the data's `sizes`.
pub(super) fn check(config: &FitConfig, chosen: Option<SdpForm>, sizes: &[usize]) -> Result<()> {
    let bad = |message: &str| Err(Error::Setting(message.to_owned()));
    if config.model.interaction == Interaction::Cp {
        return bad(
            "--solver sdp is for quadratic models, which are linear in U U^T: choose another \
             --solver or another --model",
        );
    }
    let ridged = config.perturb || config.incoherence.is_some();
    match form(config, chosen) {
        SdpForm::Trace if config.offsets == Some(Offsets::Modes) => {
            return bad(
                "the trace form of --solver sdp fits no biases: give a --penalty, or --bias none \
                 or mean",
            );
        }
        SdpForm::Trace if ridged || config.penalty.is_some() => {
            return bad(
                "the trace form of --solver sdp has no penalties: leave --penalty, --incoherence and \
                 --perturb out, or choose --sdp-form objective",
            );
        }
        SdpForm::Penalised if config.incoherence.is_none() => {
            return bad(
                "the penalised form of --solver sdp needs alpha and lambda2: give --incoherence \
                 ALPHA,LAMBDA2 or --theory ALPHA",
            );
        }
        SdpForm::Penalised if config.perturb && config.penalty.is_none() => {
            return bad("--perturb needs its size here: give a --penalty");
        }
        SdpForm::Objective if config.penalty.is_none_or(|penalty| penalty <= 0.0) => {
            return bad(
                "the objective form of --solver sdp needs a --penalty above 0: give one, or leave \
                 --penalty out for exact data",
            );
        }
        _ => {}
    }
    size::check(config.model.group_sizes(sizes).iter().sum(), sizes.iter().sum())
}

impl<T: Real> Runner<'_, T> {
    /// Solves the convex program and factors its solution.
    pub(super) fn sdp(mut self, views: &Views<T>, chosen: Option<SdpForm>) -> Result<Fit<T>> {
        let form = form(self.config, chosen);
        let offsets = self.config.offsets.unwrap_or(Offsets::None);
        let spec = self.config.model.clone().with_offsets(offsets);
        let mean = if offsets == Offsets::None { 0.0 } else { views.mean() };
        let narrow = spec.clone().with_rank(1);
        let mut objective = self.objective(views, &narrow, self.config.penalty.unwrap_or(0.0))?;
        let program = Program::new(form, &objective, mean);
        let ended = Cell::new(None);
        let tolerance = self.config.tolerance;
        let mut solver = SdpStep::new(&program, tolerance, &ended);
        let zero = Parameters::zeros(&narrow, &views.sizes());
        let mut progress = self.begin(Stage::Solve, &narrow, 0.0, zero, None);
        let penalty = objective.penalty();
        let count = self.config.sweeps.unwrap_or(MOST_ITERATIONS);
        let mut steps = Steps { count, solver: &mut solver, penalty: &|_| penalty };
        let end = self.run(&mut objective, &mut progress, &mut steps, |_, _| ended.get().is_some());
        if ended.get() == Some(Ended::Infeasible) {
            return Err(Error::Setting(
                "no positive semidefinite matrix reproduces the data exactly: give --solver sdp a \
                 --penalty"
                    .to_owned(),
            ));
        }
        let status = end.status(Status::SweepLimit);
        let (factors, report) = solver.finish(spec.rank);
        let spec = spec.with_rank(factors.columns());
        progress.parameters = factors.parameters(&spec, &views.sizes(), mean);
        let objective = self.objective(views, &spec, penalty)?;
        let path = progress.notes.path.clone();
        Ok(Fit { sdp: Some(report), ..self.finish(&objective, progress, status, path, None) })
    }
}

/// Why a program needs no more iterations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    Solved,
    Infeasible,
}

/// The iterations as a [`Step`] that keeps its point to itself until the end.
struct SdpStep<'p> {
    program: &'p Program,
    admm: Admm,
    tolerance: f64,
    ended: &'p Cell<Option<Ended>>,
    iterations: usize,
    work: Vec<f64>,
    /// The objective where nothing is explained.
    value_at_zero: f64,
}

impl<'p> SdpStep<'p> {
    fn new(program: &'p Program, tolerance: f64, ended: &'p Cell<Option<Ended>>) -> Self {
        let n = program.order();
        Self {
            program,
            admm: Admm::new(program),
            tolerance,
            ended,
            iterations: 0,
            work: vec![0.0; n * n],
            value_at_zero: program.data_value(&program.sensing.values),
        }
    }

    /// The distance to the optimum at a matrix, scaled down to where it is feasible.
    fn bound(&mut self, matrix: &[f64]) -> Option<Bound> {
        bound::at(self.program, matrix, &mut self.admm, &mut self.work)
    }

    /// The solution so far: the positive semidefinite matrix, within the bound on the trace.
    fn solution(&self) -> Vec<f64> {
        let mut matrix = self.admm.positive.clone();
        if let Some(most) = self.program.trace_bound() {
            let n = self.program.order();
            let trace: f64 = (0..n).map(|i| matrix[i * n + i]).sum();
            if trace > most {
                for entry in &mut matrix {
                    *entry *= most / trace;
                }
            }
        }
        matrix
    }

    /// Looks whether the residuals and the gap are small enough.
    fn judge(&mut self) {
        let residual = self.admm.primal_residual.max(self.admm.dual_residual);
        // Where the point is feasible the gap alone proves how good it is; the residuals, which may
        // have a long tail, only have to be small.
        let slack = if self.program.is_exact() { 1.0 } else { 100.0 };
        let settled = residual <= slack * self.tolerance;
        let every = if settled { BOUND_EVERY } else { BOUND_RARELY };
        if self.tolerance == 0.0 || !self.iterations.is_multiple_of(every) {
            return;
        }
        let matrix = self.solution();
        let Some(bound) = self.bound(&matrix) else {
            return;
        };
        let rows = self.program.rows.iter().sum::<f64>();
        if self.program.is_exact() && bound.lower > INFEASIBLE * rows * self.admm.first_size {
            self.ended.set(Some(Ended::Infeasible));
        }
        // Where the penalised form explains everything its objective vanishes.
        let floor = match self.program.form {
            SdpForm::Penalised => 1e-3 * self.value_at_zero,
            SdpForm::Trace | SdpForm::Objective => 0.0,
        };
        let scale = bound.value.abs().max(floor);
        let enough = (self.tolerance * scale).max(self.program.sensing.rounding);
        if settled && bound.gap() <= enough {
            self.ended.set(Some(Ended::Solved));
        }
    }

    /// The share of the largest eigenvalue below which eigenvalues are dropped. Where the data are a
    /// condition, smaller ones are what the residuals leave of it; elsewhere dropping them could
    /// cost more than the gap.
    fn smallest_eigenvalue(&self) -> f64 {
        let residual = self.admm.primal_residual.max(self.admm.dual_residual);
        if self.program.is_exact() { (100.0 * residual).clamp(1e-6, 1e-4) } else { 1e-9 }
    }

    /// Factors the solution into at most `most` columns.
    fn finish(mut self, most: usize) -> (factor::Factors, SdpReport) {
        self.admm.land(self.program);
        let solution = self.solution();
        let mut factors =
            factor::Factors::new(&solution, self.program.order(), self.smallest_eigenvalue());
        let kept = factors.product();
        let bound = self.bound(&kept).unwrap_or(Bound { value: f64::INFINITY, lower: 0.0 });
        let rank = factors.columns();
        factors.truncate(most);
        factors.biases.clone_from(&self.admm.data.biases);
        let relative = if bound.value > 0.0 { bound.gap() / bound.value } else { 0.0 };
        let report = SdpReport {
            form: self.program.form,
            order: self.program.order(),
            objective: bound.value,
            lower_bound: bound.lower,
            gap: bound.gap(),
            relative_gap: relative,
            primal_residual: self.admm.primal_residual,
            dual_residual: self.admm.dual_residual,
            rank,
            truncated: factors.columns() < rank,
            trace_bound: self.program.trace_bound(),
        };
        (factors, report)
    }
}

impl<T: Real> Step<T> for SdpStep<'_> {
    fn step(&mut self, _: &Objective<'_, T>, _: &mut Parameters<T>) -> StepReport {
        let went = self.admm.step(self.program);
        self.iterations += 1;
        let (matrix, biases) = (&self.admm.positive, &self.admm.data.biases);
        let residuals = self.program.residuals(matrix, biases);
        let objective = self.program.value(matrix, biases, &residuals);
        let data = self.program.data_value(&residuals);
        if went {
            self.judge();
        }
        StepReport { objective, data, stuck: !went }
    }
}
