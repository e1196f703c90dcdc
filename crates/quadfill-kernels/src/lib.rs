//! The numeric kernels of Quadfill.

pub mod mapped;
mod real;

pub use real::Real;
