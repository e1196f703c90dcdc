//! Convex programs over the positive semidefinite `X = U U^T`, `U` being all factor matrices stacked.
//!
//! ```text
//! trace       minimise <L, X>                                            subject to <A_t, X> = y_t
//! penalised   minimise data(X) + <C, X> + quartic(X)                     subject to tr X <= n alpha
//! objective   minimise data(X) + <L, X> + <C, X> + quartic(X)
//! ```
//!
//! `A_t` is the kernel on the rows and columns that the cell `t` picks, `data` the weighted mean squared
//! residual, `L` the row penalties (in the trace form the row weights, which are the identity unless rows
//! are penalised by count), `C` the perturbation, and
//! `quartic(X) = lambda2 * sum of max(0, sqrt(X_ii) - sqrt(alpha))^4`. The objective form is what the
//! factored solvers minimise, with the rank left free; so its optimum is a lower bound for all of them.
//!
//! The penalised form is the convex program of "Recovery Guarantees for Quadratic Tensors with Sparse
//! Observations", where the quartic reads `lambda_1 sum of q_alpha(X_ii)`. As its value is to be that of
//! the factored objective at `X = U U^T`, whose rows have the norm `sqrt(X_ii)` and whose quartic has
//! the weight `lambda2`, those two stand here.
//!
//! Solved by [`admm`], accelerated by [`anderson`]; [`bound`] bounds the distance to the optimum.

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
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::checked::bad;
use super::config::{Choice, FitConfig, Solver};
use super::events::{Stage, Status};
use super::session::{FitSession, Iteration, steps};
use super::state::{Descent, Finished, Next};
use super::step::{Step, StepReport};
use crate::error::Result;
use crate::model::{Biases, ModelKind, Parameters};
use crate::objective::Objective;
use admm::Admm;
use bound::Bound;
use program::Program;
use quadfill_kernels::Real;
pub(super) use size::check_size;

/// The default iteration limit.
const MAX_ITERATIONS: usize = 20_000;
/// Iterations between two computations of the bound, once the residuals are small.
const BOUND_EVERY: usize = 10;
/// The same while they are not.
const BOUND_RARELY: usize = 100;
/// If the lower bound on the trace exceeds the size of the smallest symmetric matrix that fits the data
/// by this factor, no positive semidefinite matrix fits them.
const INFEASIBLE: f64 = 1e7;

/// The form of the convex program.
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
    /// The difference of the matrix that fits the data and the positive semidefinite one, relative to
    /// their size.
    pub primal_residual: f64,
    /// How far the gradient of the Lagrangian is from zero, relative to the multipliers.
    pub dual_residual: f64,
    /// Eigenvalues of the solution above 1e-9 of the largest, or in the trace form above a hundred
    /// times the residuals (at least 1e-6, at most 1e-4).
    pub rank: usize,
    /// Whether the model has fewer columns than that, because its rank was limited.
    pub truncated: bool,
    /// The bound on the trace, where the form has one.
    pub trace_bound: Option<f64>,
}

/// Checks settings against each other.
pub(super) fn check(config: &FitConfig, chosen: Choice<SdpForm>) -> Result<()> {
    if config.model == ModelKind::Cp {
        return bad(
            "the solver sdp is for quadratic models, which are linear in U U^T: choose another `solver` \
             or another `model`",
        );
    }
    let penalised = config.perturb || config.row_norm_penalty.is_some();
    match config.sdp_form(chosen) {
        SdpForm::Trace if config.biases == Choice::Fixed(Biases::Modes) => bad(
            "the trace form of the solver sdp fits no biases: give a `penalty`, or set `biases` to none \
             or mean",
        ),
        SdpForm::Trace if penalised || !config.penalty.is_auto() => bad(
            "the trace form of the solver sdp has no penalties: leave `penalty`, `row_norm_penalty` and \
             `perturb` out, or set `sdp_form` to objective",
        ),
        SdpForm::Penalised if config.row_norm_penalty.is_none() => bad(
            "the penalised form of the solver sdp needs alpha and lambda2: give a `row_norm_penalty`, or \
             `theory` with alpha",
        ),
        SdpForm::Penalised if config.perturb && config.penalty.is_auto() => {
            bad("`perturb` needs its size here: give a `penalty`")
        }
        SdpForm::Objective if config.penalty.fixed().is_none_or(|penalty| penalty <= 0.0) => bad(
            "the objective form of the solver sdp needs a `penalty` above 0: give one, or leave \
             `penalty` out for exact data",
        ),
        _ => Ok(()),
    }
}

/// Solves the convex program and factors its solution.
pub(super) fn run<T: Real>(session: &mut FitSession<'_, T>) -> Result<Next<T>> {
    let config = session.config();
    let Solver::Sdp(chosen) = config.solver else {
        unreachable!("a convex program is asked for by name");
    };
    let data = session.problem.data();
    let biases = config.biases.unwrap_or(Biases::None);
    let spec = session.base.clone().with_biases(biases);
    let mean = if biases == Biases::None { 0.0 } else { data.mean() };
    let narrow = spec.clone().with_rank(1);
    let penalty = config.penalty.unwrap_or(0.0);
    let mut objective = session.problem.objective(&narrow, penalty);
    let program = Program::new(config.sdp_form(chosen), &objective, mean);
    let ended = Cell::new(None);
    let mut solver = SdpStep::new(&program, config.tolerance, &ended);
    let zero = Parameters::zeros(&narrow, &data.sizes());
    let mut descent = Descent::new(narrow, 0.0, zero);
    let ending = {
        let iteration = Iteration {
            stage: Stage::Solve,
            count: config.sweeps.unwrap_or(MAX_ITERATIONS),
            advance: &mut steps(&mut solver, |_| penalty),
            checkpoint: None,
            sweeps_before: None,
        };
        session.iterate(&mut objective, &mut descent, iteration, |_, _| ended.get().is_some())
    };
    if ended.get() == Some(Ended::Infeasible) {
        return bad(
            "no positive semidefinite matrix reproduces the data exactly: give the solver sdp a `penalty`",
        );
    }
    let (factors, report) = solver.finish(spec.rank);
    let spec = spec.with_rank(factors.columns());
    let parameters = factors.parameters(&spec, &data.sizes(), mean);
    let descent = Descent { spec, parameters, ..descent };
    let finished = Finished::at(descent, penalty, ending.status(Status::SweepLimit));
    Ok(ControlFlow::Break(Finished { sdp: Some(report), ..finished }))
}

/// Why the iterations ended.
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

    /// Checks whether the residuals and the gap are small enough.
    fn check_gap(&mut self) {
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
        self.admm.revert_jump(self.program);
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
            self.check_gap();
        }
        StepReport { objective, data, stuck: !went }
    }
}
