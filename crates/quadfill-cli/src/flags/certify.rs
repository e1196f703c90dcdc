//! `quadfill certify`.

use std::path::PathBuf;

use clap::Args;

use super::reading::DataFlags;

/// Bound how far a fit is from the best possible one
///
/// Bounds how much lower the objective of the fit could be, over factors of any rank. It is about
/// the objective (data, penalty, all other terms), not about the truth: with few observations a small rank
/// may be right although a larger one fits better. For quadratic models; CP has no such bound.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  quadfill certify model train.csv
  quadfill certify model train.csv --curvature --json")]
pub(crate) struct CertifyFlags {
    /// The model
    pub(crate) model: PathBuf,
    /// The data that it was fitted to, `-` for standard input
    pub(crate) data: PathBuf,
    /// Also estimate the smallest curvature: is it a local minimum or a saddle?
    #[arg(long)]
    pub(crate) curvature: bool,
    #[command(flatten)]
    pub(crate) reading: DataFlags,
}
