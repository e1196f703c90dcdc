//! Experiments: what is measured, how it is kept, and what is told about it.
//!
//! An [`Experiment`] names its cells, measures one of them at a time, and tells what the rows say.
//! [`run()`] does the rest: it measures cells side by side, keeps each as it is done, and goes on from
//! what was kept. To add an experiment, write one file beside the others and name it in [`all`].

mod convergence;
mod convex;
mod descent;
mod grid;
mod hyperspectral;
mod incoherence;
mod kernels;
mod landscape;
mod movielens;
mod phase;
mod recovery;
mod recovery_als;
mod recovery_gd;
mod recovery_sdp;
mod robustness;
mod row;
mod run;
mod store;
mod theorem;
mod timing;
mod trial;
mod tune;
mod word_vectors;
mod words;
mod write;

pub use row::Row;
pub use run::{Measured, Options, Progress, run};
pub use trial::{Method, Trial, Trialled};
pub use write::{write, write_overview};

use std::path::Path;

use crate::error::Result;
use crate::report::Block;

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// All experiments together in minutes.
    Quick,
    /// As large as the paper's figures.
    Usual,
    /// As large as patience allows.
    Full,
}

impl Effort {
    /// One of three, by effort.
    pub(crate) fn pick<T>(self, quick: T, usual: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Usual => usual,
            Self::Full => full,
        }
    }
}

/// What to measure.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// How much.
    pub effort: Effort,
    /// Repetitions of every setting, or as many as the effort suggests.
    pub seeds: Option<usize>,
    /// The first of the seeds.
    pub seed: u64,
}

impl Extent {
    /// The seeds of the repetitions.
    pub(crate) fn seeds(&self, quick: usize, usual: usize, full: usize) -> Vec<u64> {
        let count = self.seeds.unwrap_or_else(|| self.effort.pick(quick, usual, full));
        (0..count as u64).map(|place| self.seed.wrapping_add(place)).collect()
    }
}

/// Something that can be measured cell by cell.
pub trait Experiment: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;
    /// Its name for people.
    fn title(&self) -> &'static str;
    /// What is asked.
    fn question(&self) -> &'static str;
    /// What the paper found.
    fn paper(&self) -> &'static str;
    /// The settings to measure, each a row of everything that decides the outcome.
    fn cells(&self, extent: &Extent) -> Vec<Row>;
    /// Measures one cell: its settings and what came out, in one row or more.
    fn measure(&self, cell: &Row) -> Result<Vec<Row>>;
    /// How much work a cell is, in any unit.
    fn work(&self, cell: &Row) -> f64;
    /// Whether cells must not run side by side, as they measure time.
    fn is_timed(&self) -> bool {
        false
    }
    /// What was found: words, tables and charts.
    fn findings(&self, rows: &[Row]) -> Vec<Block>;
    /// Leaves files of its own in `folder`, and tells what is to be shown of them.
    fn leave(&self, _rows: &[Row], _folder: &Path) -> Result<Vec<Block>> {
        Ok(Vec::new())
    }
    /// What is to be known about the units and the data.
    fn remarks(&self, rows: &[Row]) -> Vec<Block> {
        vec![Block::Text(words::UNITS.to_owned()), Block::Text(words::draws(rows))]
    }
}

/// Every experiment, in the order in which they are best read.
///
/// ```
/// let names: Vec<&str> = quadfill_lab::experiment::all().iter().map(|e| e.name()).collect();
/// assert!(names.contains(&"phase"));
/// ```
pub fn all() -> Vec<Box<dyn Experiment>> {
    vec![
        Box::new(phase::Phase),
        Box::new(recovery_als::RecoveryAls),
        Box::new(recovery_sdp::RecoverySdp),
        Box::new(convergence::Convergence),
        Box::new(recovery_gd::RecoveryGd),
        Box::new(robustness::Robustness),
        Box::new(timing::Timing),
        Box::new(kernels::Kernels),
        Box::new(landscape::Landscape),
        Box::new(incoherence::Incoherence),
        Box::new(theorem::Theorem),
    ]
}

/// The names of the experiments on data that the user has.
pub const ON_DATA: [&str; 3] = ["movielens", "hyperspectral", "words"];

/// Data that the user has.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// The file or folder.
    pub path: &'a Path,
    /// Squares of so many by so many pixels of an image become one.
    pub downsample: usize,
}

/// An experiment on data that the user has, by its name.
///
/// - `movielens`: a folder of `MovieLens`, as it is unpacked.
/// - `hyperspectral`: a `.npy` or `.mat` array over row, column and band.
/// - `words`: a folder with texts in `wikipedia/` and, in `word-eval/`, analogies (files with `analog` in
///   their names) and similarities (all others).
///
/// ```
/// let given = quadfill_lab::experiment::Given { path: "data".as_ref(), downsample: 1 };
/// assert!(quadfill_lab::experiment::on_data("phase", &given)?.is_none());
/// # Ok::<(), quadfill_lab::LabError>(())
/// ```
pub fn on_data(name: &str, data: &Given<'_>) -> Result<Option<Box<dyn Experiment>>> {
    Ok(match name {
        "movielens" => Some(Box::new(movielens::Movielens::open(data.path)?)),
        "hyperspectral" => {
            Some(Box::new(hyperspectral::Hyperspectral::open(data.path, data.downsample)?))
        }
        "words" => Some(Box::new(word_vectors::WordVectors::open(data.path)?)),
        _ => None,
    })
}
