//! The numeric kernels of Quadfill.

mod real;

pub use real::Real;
