//! Fill in the missing entries of sparse multi-way data with quadratic tensor models.
//!
//! A cell `t = (t_1..t_N)` of a tensor with `N` modes is predicted from one short vector per
//! label, `u_a` being the row that `t_a` picks in mode `a`:
//!
//! ```text
//! quadratic   T_t = sum over a, b of K[a][b] <u_a, u_b>        (pairwise, transe, any kernel K)
//! cp          T_t = sum over l of product over a of u_a[l]
//! ```
//!
//! The modules follow the way of the data: [`observations`] → [`views`] → [`model`] →
//! [`objective`] → [`solve`] and [`certify`](mod@certify) → [`file`](mod@file) → [`apply`].

pub mod apply;
pub mod certify;
pub mod error;
pub mod file;
pub mod model;
pub mod objective;
pub mod observations;
pub mod solve;
pub mod views;

pub use error::{Error, Result};
pub use observations::{Labels, Mode, Observations, OnDuplicate};
pub use quadfill_kernels::Real;
