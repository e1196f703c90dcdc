//! Positive definite systems: eight small ones at a time, or one of any order.
//!
//! A matrix counts as positive definite as long as each pivot stays above the rounding noise of
//! the diagonal entry it came from.

mod blocked;
mod lanes;
mod single;

pub use lanes::{LANES, draw_lanes, solve_lanes};
pub use single::{factor, solve_factored};

/// Whether what is left of the diagonal entry `before` can be taken the root of.
#[inline(always)]
fn is_pivot(left: f64, before: f64) -> bool {
    left > f64::EPSILON * before && left.is_finite()
}
