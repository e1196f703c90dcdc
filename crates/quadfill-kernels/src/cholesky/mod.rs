//! Cholesky solvers for positive definite systems: eight small ones at a time, or one of any order.
//!
//! A matrix counts as positive definite if each pivot is above the rounding error of its diagonal
//! entry.

mod blocked;
mod lanes;
mod single;

pub use lanes::{LANES, draw_lanes, solve_lanes};
pub use single::{factor, solve_factored};

/// Whether `pivot`, computed from the diagonal entry `diagonal`, is positive beyond rounding.
#[inline(always)]
fn is_pivot(pivot: f64, diagonal: f64) -> bool {
    pivot > f64::EPSILON * diagonal && pivot.is_finite()
}
