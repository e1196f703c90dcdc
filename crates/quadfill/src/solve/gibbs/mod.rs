//! Posterior sampling: the same normal equations as ALS, drawn from instead of solved.
//!
//! The model behind it, `U` being the factor matrices and `b` the biases:
//!
//! ```text
//! y_t            ~ N(mean + biases + interaction of rows, 1 / (tau w_t))
//! U[a][i][l]     ~ N(mu_al, 1 / lambda_al)         one mean and one precision per matrix and column
//! b[a][i]        ~ N(mu_a,  1 / lambda_a)          the biases of a matrix are one more column
//! mu | lambda    ~ N(0, 1 / lambda)                normal-gamma
//! lambda         ~ Gamma(1/2, unit^2 / 2)
//! tau            ~ Gamma(1/2, variance / 200)
//! mean           ~ N(mean of the data, variance of the data)
//! ```
//!
//! `unit` is the size of factors whose products are as large as the data, so nothing changes when
//! values are measured in other units. Given everything else each of these is a draw from a standard
//! distribution. Rows of one matrix are independent then: with `G = sum w x x^T` and
//! `g = sum w x r` from the residuals `r` at the current row `u`,
//!
//! ```text
//! (G + L / tau) d = g + (L / tau) (mu - u),    u + d + R^-T z / sqrt(tau),    R R^T = G + L / tau
//! ```
//!
//! with `L = diag(lambda)` and `z` standard normal: one Cholesky factorization and both its triangular
//! solves as in ALS, with `z` added between them ([`draw_lanes`]).
//!
//! With [`RowPriorKind::Wishart`] rows have a whole precision matrix per mode in place of `L`, from a
//! normal-Wishart distribution with `n` degrees of freedom and the same units on the diagonal of its
//! inverse scale (`n` entries to a row, the bias being the last). That is better where columns are
//! correlated, which those of CP are; one matrix is factored per mode and sweep.
//!
//! [`NoisePrior`] adds to the prior of `tau`: `share * m` observations with residuals of a known root
//! mean square. Without it, few observations can be fitted almost exactly, `tau` grows from sweep to sweep
//! and the draws follow the noise.
//!
//! [`draw_lanes`]: quadfill_kernels::cholesky::draw_lanes

mod chain;
mod prior;
mod rows;
mod sampler;
mod settings;
#[cfg(test)]
mod tests;
mod wishart;

pub use chain::{Chain, SweepId, sweep};
pub use prior::HyperPrior;
pub(crate) use rows::move_to_mean;
pub(super) use sampler::{SamplerState, mean_of, run, start, start_from};
pub use settings::{NoisePrior, RowPriorKind, Sampling};
pub(super) use settings::{check, check_size};
