//! Experiments: what is measured, how results are stored, and how they are reported.
//!
//! An [`Experiment`] lists its cells (combinations of settings), measures one cell at a time, and
//! summarises the rows of results. [`run()`] does the rest: it measures cells in parallel, stores each as it
//! finishes, and resumes from what is stored. To add an experiment, write a file beside the others and
//! list it in [`all`].

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
pub use trial::{DrawnTrial, Method, Trial};
pub use write::{write, write_overview};

use std::path::Path;

use quadfill_report::Block;

use crate::error::Result;

/// The size of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Minutes for all experiments together.
    Quick,
    /// The size of the paper's figures.
    Usual,
    /// As large as is practical; hours.
    Full,
}

impl Effort {
    /// One of three values, by effort.
    pub(crate) fn pick<T>(self, quick: T, usual: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Usual => usual,
            Self::Full => full,
        }
    }
}

/// Which cells to measure.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// The size of the experiment.
    pub effort: Effort,
    /// Repetitions of every setting; `None` leaves the number to the effort.
    pub seeds: Option<usize>,
    /// The random seed of the first repetition; the others follow.
    pub seed: u64,
}

impl Extent {
    /// The random seeds of the repetitions.
    pub(crate) fn seeds(&self, quick: usize, usual: usize, full: usize) -> Vec<u64> {
        let count = self.seeds.unwrap_or_else(|| self.effort.pick(quick, usual, full));
        (0..count as u64).map(|place| self.seed.wrapping_add(place)).collect()
    }
}

/// An experiment, measured cell by cell.
pub trait Experiment: Sync {
    /// The name, as users type it.
    fn name(&self) -> &'static str;
    /// The title of its report.
    fn title(&self) -> &'static str;
    /// The question it answers.
    fn question(&self) -> &'static str;
    /// What the paper reports.
    fn paper(&self) -> &'static str;
    /// The cells to measure. A cell contains every setting that determines its results.
    fn cells(&self, extent: &Extent) -> Vec<Row>;
    /// Measures one cell. Returns one or more rows of its settings and results.
    fn measure(&self, cell: &Row) -> Result<Vec<Row>>;
    /// The estimated cost of a cell, in any unit.
    fn work(&self, cell: &Row) -> f64;
    /// Whether cells must run one at a time because they measure time.
    fn is_timed(&self) -> bool {
        false
    }
    /// The findings: text, tables and charts.
    fn findings(&self, rows: &[Row]) -> Vec<Block>;
    /// Writes additional files to `folder`, and returns what the report shows of them.
    fn write_extras(&self, _rows: &[Row], _folder: &Path) -> Result<Vec<Block>> {
        Ok(Vec::new())
    }
    /// Remarks on the units and the data.
    fn remarks(&self, rows: &[Row]) -> Vec<Block> {
        vec![Block::Text(words::UNITS.to_owned()), Block::Text(words::draws(rows))]
    }
}

/// All experiments on planted tensors, in the order in which they are best read.
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

/// The names of the experiments on data supplied by the user.
pub const ON_DATA: [&str; 3] = ["movielens", "hyperspectral", "words"];

/// Data supplied by the user.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// The file or folder.
    pub path: &'a Path,
    /// Each block of this many by this many pixels of an image is averaged into one; 1 keeps all.
    pub downsample: usize,
}

/// An experiment on data supplied by the user, by its name.
///
/// - `movielens`: an unpacked `MovieLens` folder.
/// - `hyperspectral`: a `.npy` or `.mat` array over row, column and band.
/// - `words`: a folder with texts in `wikipedia/` and, in `word-eval/`, analogies (files with `analog` in
///   their names) and similarity ratings (all other files).
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
