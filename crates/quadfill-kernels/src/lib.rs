//! The numeric kernels of Quadfill.
//!
//! Everything that has to be fast, and every `unsafe` of the project, is here: what the
//! observations of one row contribute to its equations ([`cells`]), the scores of all rows for a
//! query ([`scan`]), small linear systems
//! ([`cholesky`]), dense and iterative eigenproblems ([`dense`], [`lanczos`]), sums in a fixed
//! order ([`sum`]) and seeded random streams ([`streams`]).
//!
//! For one instruction set ([`Isa`]) results depend on the inputs alone: not on threads, not on
//! where buffers lie in memory.

#![expect(
    clippy::inline_always,
    reason = "code that is not inlined into a function with an instruction set enabled does not use it"
)]

mod aligned;
pub mod cells;
pub mod cholesky;
pub mod dense;
mod isa;
mod kernels;
pub mod lanczos;
pub mod mapped;
pub mod peak;
mod products;
mod real;
pub mod scan;
mod simd;
pub mod streams;
pub mod sum;

pub use aligned::AlignedVec;
pub use cells::{Direction, Form, ModeContext, RowCells, Workspace};
pub use isa::Isa;
pub use kernels::Kernels;
pub use real::Real;
