//! The numeric kernels of Quadfill.
//!
//! This crate contains the performance-critical code and all `unsafe` code of the project: the
//! contributions of observations to the equations of a row ([`cells`]), the scores of all rows for
//! a query ([`scan`]), predictions for cells ([`predict`]), small linear systems ([`cholesky`]), dense and iterative eigenproblems
//! ([`dense`], [`lanczos`]), sums in a fixed order ([`sum`]) and seeded random streams
//! ([`streams`]).
//!
//! For a given instruction set ([`Isa`]), results are bit-identical for the same inputs,
//! independent of the number of threads and of the alignment of buffers.

#![expect(
    clippy::inline_always,
    reason = "code uses an instruction set only when inlined into a function that enables it"
)]

mod aligned;
mod backend;
pub mod bits;
pub mod cells;
pub mod cholesky;
pub mod dense;
mod isa;
pub mod lanczos;
pub mod mapped;
pub mod peak;
pub mod predict;
mod products;
mod real;
pub mod scan;
mod simd;
pub mod streams;
pub mod sum;

pub use aligned::AlignedVec;
pub use backend::Backend;
pub use cells::{Direction, Form, ModeContext, RowCells, Workspace};
pub use isa::Isa;
pub use real::Real;
