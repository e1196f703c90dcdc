//! The staircase: the minimum over all ranks at one penalty.
//!
//! Where the certificate shows a direction in which a new column would lower the objective, it is
//! appended, a few at a time, and the solver continues. Where there is none, the point is the global
//! optimum. Columns that vanish are dropped, so the rank is found too.

use std::ops::ControlFlow;

use super::events::{Stage, Status};
use super::gauss_newton::GaussNewton;
use super::session::{Ending, FitSession, Iteration, steps};
use super::start as starts;
use super::state::{Descent, Finished, Next, Stair, State, Trace};
use super::step::Als;
use crate::certify::{GradientMatrix, escape_directions};
use crate::model::{Biases, Parameters, each_row, rotate_to_principal_axes, with_columns};
use quadfill_kernels::lanczos::RitzPairs;
use quadfill_kernels::{Real, sum};

/// Sweeps after columns were added, and the relative decrease of the objective at which they end.
const SWEEPS_AT_RANK: usize = 60;
const SMALL_DECREASE: f64 = 1e-4;
/// The maximum number of Newton steps where the point is nearly optimal.
const NEWTON_STEPS: usize = 400;
/// Eigenvalues of the scaled gradient above minus this call for Newton's method first.
const NEARLY_OPTIMAL: f64 = 0.02;
/// Eigenvalues above minus this are zero.
const OPTIMAL: f64 = 1e-8;
/// Columns with less than this share of the longest one's square have vanished.
const VANISHED: f64 = 1e-9;

/// Begins without any column.
pub(super) fn start<T: Real>(session: &FitSession<'_, T>, penalty: f64) -> Stair<Parameters<T>> {
    let biases = session.config().biases.unwrap_or(Biases::None);
    let spec = session.base.clone().with_biases(biases).with_rank(1);
    let parameters = starts::biases_only(&spec, session.problem.data());
    Stair::Sweeps(Descent::new(spec, penalty, parameters))
}

/// Adds columns until none lowers the objective, or the largest rank is reached. The penalty is where
/// the descent began.
pub(super) fn run<T: Real>(
    session: &mut FitSession<'_, T>,
    stair: Stair<Parameters<T>>,
) -> Next<T> {
    let mut is_converging = matches!(stair, Stair::Newton(_));
    let (Stair::Sweeps(mut descent) | Stair::Newton(mut descent)) = stair;
    let penalty = descent.first_penalty;
    let status = loop {
        let mut after_sweeps = None;
        if !std::mem::take(&mut is_converging) {
            if let Some(limit) = descend_at_rank(session, &mut descent).limit() {
                break limit;
            }
            let found = directions(session, &mut descent);
            after_sweeps = (top(&found) > NEARLY_OPTIMAL).then_some(found);
        }
        let mut found = if let Some(found) = after_sweeps {
            found
        } else {
            if let Some(limit) = converge(session, &mut descent).limit() {
                break limit;
            }
            directions(session, &mut descent)
        };
        let tolerance = OPTIMAL.max(T::EPSILON.sqrt() * 1e-2);
        if top(&found) <= tolerance {
            break Status::Certified;
        }
        let room = session.base.rank.saturating_sub(descent.spec.rank);
        if room == 0 {
            break Status::RankLimit;
        }
        let least = tolerance.max(0.1 * top(&found));
        found.values.retain(|&value| value > least);
        found.vectors.truncate(found.values.len().min(room));
        append(session, &mut descent, &found.vectors);
    };
    ControlFlow::Break(Finished::at(descent, penalty, status))
}

/// Sweeps at the rank reached.
fn descend_at_rank<T: Real>(
    session: &mut FitSession<'_, T>,
    descent: &mut Descent<Parameters<T>>,
) -> Ending {
    let penalty = descent.first_penalty;
    let early = session.may_stop_early();
    let mut before = descent.trace.objective;
    let mut objective = session.problem.objective(&descent.spec, penalty);
    let iteration = Iteration {
        stage: Stage::Staircase,
        count: SWEEPS_AT_RANK,
        advance: &mut steps(Als, |_| penalty),
        checkpoint: Some(&|descent: &Descent<_>| State::Staircase(Stair::Sweeps(descent.clone()))),
        sweeps_before: None,
    };
    session.iterate(&mut objective, descent, iteration, |_, report| {
        let decrease = before - report.objective;
        before = report.objective;
        early && decrease <= SMALL_DECREASE * before.abs()
    })
}

/// Newton's method to working precision. Its damping is not kept, so a checkpoint has the point where
/// it began.
fn converge<T: Real>(
    session: &mut FitSession<'_, T>,
    descent: &mut Descent<Parameters<T>>,
) -> Ending {
    let penalty = descent.first_penalty;
    let mut before = descent.trace.objective;
    let beginning = descent.clone();
    descent.trace = Trace { path: std::mem::take(&mut descent.trace.path), ..Trace::default() };
    let mut objective = session.problem.objective(&descent.spec, penalty);
    let iteration = Iteration {
        stage: Stage::Polish,
        count: NEWTON_STEPS,
        advance: &mut steps(GaussNewton::newton(), |_| penalty),
        checkpoint: Some(&|_: &Descent<_>| State::Staircase(Stair::Newton(beginning.clone()))),
        sweeps_before: Some(session.sweeps()),
    };
    session.iterate(&mut objective, descent, iteration, |_, report| {
        let decrease = before - report.objective;
        before = report.objective;
        let least = (10.0 * T::EPSILON).max(1e-14);
        decrease <= least * before.abs()
    })
}

/// Drops columns that vanished and searches for descent directions.
fn directions<T: Real>(
    session: &FitSession<'_, T>,
    descent: &mut Descent<Parameters<T>>,
) -> RitzPairs {
    let squares = rotate_to_principal_axes(&mut descent.parameters);
    let kept = squares.iter().filter(|&&s| s > VANISHED * squares[0]).count().max(1);
    if kept < descent.spec.rank {
        let sizes = session.problem.data().sizes();
        descent.spec.rank = kept;
        descent.parameters = with_columns(&descent.parameters, &descent.spec, &sizes);
    }
    let objective = session.problem.objective(&descent.spec, descent.first_penalty);
    let gradient = GradientMatrix::new(&objective, &descent.parameters)
        .expect("only quadratic models have a certificate");
    escape_directions(&gradient, direction_count(descent.spec.rank), session.config().seed)
}

/// Appends directions as columns, with the common length that lowers the objective most.
fn append<T: Real>(
    session: &FitSession<'_, T>,
    descent: &mut Descent<Parameters<T>>,
    directions: &[Vec<f64>],
) {
    let sizes = session.problem.data().sizes();
    let before = descent.spec.clone();
    // A single column of zeros is not a column yet.
    let empty = before.rank == 1 && descent.parameters.factors(0).iter().all(|u| *u == T::ZERO);
    let first = if empty { 0 } else { before.rank };
    let spec = before.with_rank(first + directions.len());
    let mut wider = with_columns(&descent.parameters, &spec, &sizes);
    let objective = session.problem.objective(&spec, descent.first_penalty);
    let n = wider.layout().rows().iter().sum::<usize>() as f64;
    let deviation = objective.data_value(&wider.zeros_like()).sqrt();
    let mut best = (f64::INFINITY, 0.0);
    // Squared lengths that halve from what would explain all data.
    for halvings in 0..24 {
        let square = n * deviation * 0.5f64.powi(halvings);
        write_columns(&mut wider, first, directions, square);
        let value = objective.value(&wider).total();
        if value < best.0 {
            best = (value, square);
        }
    }
    write_columns(&mut wider, first, directions, best.1);
    let path = std::mem::take(&mut descent.trace.path);
    *descent = Descent::new(spec, descent.first_penalty, wider);
    descent.trace.path = path;
}

/// The number of descent directions to compute at a rank.
fn direction_count(rank: usize) -> usize {
    (rank / 2).clamp(2, 16)
}

fn top(found: &RitzPairs) -> f64 {
    found.values.first().copied().unwrap_or(0.0)
}

/// Writes directions over all rows as columns of squared length `square`.
fn write_columns<T: Real>(
    parameters: &mut Parameters<T>,
    first: usize,
    directions: &[Vec<f64>],
    square: f64,
) {
    let rows = parameters.layout().rows().to_vec();
    for (column, direction) in directions.iter().enumerate() {
        let size = square.sqrt() / sum::norm2(direction).max(f64::MIN_POSITIVE);
        for ((group, label), entry) in each_row(&rows).zip(direction) {
            parameters.row_mut(group, label)[first + column] = T::from_f64(size * entry);
        }
    }
}
