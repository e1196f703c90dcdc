//! Errors.
//!
//! Messages name settings in backticks and snake case (`min_per_label`). [`LabError::settings`] lists them,
//! so that a program can replace them with the names of its own options.

use std::path::{Path, PathBuf};

use quadfill::Setting;
use quadfill_io::{ReadError, WriteError};

/// The result of a fallible function of this crate.
pub type Result<T> = std::result::Result<T, LabError>;

/// Why a tensor could not be planted or an experiment could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// The number of cells of a tensor overflows.
    #[error("a tensor of these `dims` has too many cells to count: lower them")]
    TooManyCells,
    /// Fewer observations than the labels of a mode need.
    #[error(
        "{observations} observations cannot give each of {labels} labels {min_per_label}: raise \
         `observations` to {required} or lower `min_per_label`"
    )]
    TooFewObservations {
        /// The observations asked for.
        observations: usize,
        /// The labels of the mode.
        labels: usize,
        /// The observations that each label must have.
        min_per_label: usize,
        /// The smallest number of observations that suffices.
        required: usize,
    },
    /// Fewer cells per label than observations asked for.
    #[error(
        "a label of a mode with {labels} labels has only {cells} cells, not {min_per_label}: lower \
         `min_per_label`"
    )]
    TooFewCellsPerLabel {
        /// The labels of the mode.
        labels: usize,
        /// The cells of each of them.
        cells: u128,
        /// The observations that each label must have.
        min_per_label: usize,
    },
    /// No draw gave every label enough observations.
    #[error(
        "in {draws} draws of {observations} cells some label always had fewer than {min_per_label}: \
         raise `observations` to about {suggested} or lower `min_per_label`"
    )]
    CoverageNotReached {
        /// How often the cells were drawn.
        draws: usize,
        /// The cells of each draw.
        observations: usize,
        /// The observations that each label must have.
        min_per_label: usize,
        /// A number of observations that should suffice.
        suggested: usize,
    },
    /// The operating system could not start a thread.
    #[error("no thread could be started: lower `threads`")]
    NoThread,
    /// A folder without any of the `MovieLens` rating files.
    #[error(
        "{}: none of {} is here: name the folder of MovieLens as it is unpacked",
        folder.display(),
        expected.join(", ")
    )]
    NoRatings {
        /// The folder.
        folder: PathBuf,
        /// The file names looked for.
        expected: &'static [&'static str],
    },
    /// A folder of the data for the experiment on words is missing.
    #[error(
        "{}: there is no such folder: `data` needs one with wikipedia/ (texts) and word-eval/ \
         (analogies and similarities)",
        folder.display()
    )]
    NoSuchFolder {
        /// The folder.
        folder: PathBuf,
    },
    /// A folder without a file of the right kind.
    #[error(
        "{}: there is no .{} file in this folder: put one there",
        folder.display(),
        extensions.join(" or .")
    )]
    NoFiles {
        /// The folder.
        folder: PathBuf,
        /// The file name extensions looked for.
        extensions: &'static [&'static str],
    },
    /// An image that is not an array over row, column and band.
    #[error(
        "{}: an image has three dimensions (row, column, band), this array has {dimensions}",
        path.display()
    )]
    NotAnImage {
        /// The file.
        path: PathBuf,
        /// The dimensions of its array.
        dimensions: usize,
    },
    /// Downsampling blocks that are larger than the image.
    #[error(
        "squares of {downsample} x {downsample} pixels are larger than the image, which has {rows} x \
         {columns}: choose a smaller `downsample`"
    )]
    DownsampleTooLarge {
        /// The side of a block, in pixels.
        downsample: usize,
        /// The rows of the image.
        rows: usize,
        /// The columns of the image.
        columns: usize,
    },
    /// An image with too few cells to sample from.
    #[error(
        "{} % of this image's {cells} cells are {sampled}, too few to learn from: give an image with \
         at least {required} cells",
        100.0 * rate
    )]
    ImageTooSmall {
        /// The smallest share of the cells that is sampled.
        rate: f64,
        /// The cells of the image.
        cells: usize,
        /// The cells in a sample of that share.
        sampled: usize,
        /// The smallest number of cells that suffices.
        required: usize,
    },
    /// A cell that is not one of the experiment's own.
    #[error("the experiment {experiment} has no cell {cell}")]
    UnknownCell {
        /// The name of the experiment.
        experiment: &'static str,
        /// The cell, as JSON.
        cell: String,
    },
    /// A fit rejected its data or settings.
    #[error(transparent)]
    Fit(#[from] quadfill::Error),
    /// A file could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The operating system reported an error.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system reported.
        source: std::io::Error,
    },
    /// An experiment outside this crate failed.
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

impl LabError {
    /// The settings that the message names in backticks, in the order in which they occur. Errors of
    /// fits and files ([`LabError::Fit`], [`LabError::Read`]) answer for themselves.
    ///
    /// ```
    /// use quadfill_lab::planted::Shape;
    /// let error = Shape::new(&[10, 20])?.check_coverage(30, 2).unwrap_err();
    /// assert_eq!(error.settings(), ["observations", "min_per_label"]);
    /// assert!(error.to_string().contains("raise `observations` to 40"));
    /// # Ok::<(), quadfill_lab::LabError>(())
    /// ```
    pub fn settings(&self) -> Vec<&'static str> {
        match self {
            Self::TooManyCells => vec!["dims"],
            Self::TooFewObservations { .. } | Self::CoverageNotReached { .. } => {
                vec!["observations", "min_per_label"]
            }
            Self::TooFewCellsPerLabel { .. } => vec!["min_per_label"],
            Self::NoThread => vec!["threads"],
            Self::NoSuchFolder { .. } => vec!["data"],
            Self::DownsampleTooLarge { .. } => vec!["downsample"],
            Self::Fit(error) => names(error.settings()),
            Self::Read(error) => names(error.settings()),
            Self::NoRatings { .. }
            | Self::NoFiles { .. }
            | Self::NotAnImage { .. }
            | Self::ImageTooSmall { .. }
            | Self::UnknownCell { .. }
            | Self::Write(_)
            | Self::Io { .. }
            | Self::Other(_) => Vec::new(),
        }
    }

    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}

fn names(settings: Vec<Setting>) -> Vec<&'static str> {
    settings.into_iter().map(Setting::name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadfill::FitConfig;

    #[test]
    fn settings_are_those_in_backticks() {
        let folder = PathBuf::from("folder");
        let errors = [
            LabError::TooManyCells,
            LabError::TooFewObservations {
                observations: 9,
                labels: 5,
                min_per_label: 2,
                required: 10,
            },
            LabError::TooFewCellsPerLabel { labels: 5, cells: 2, min_per_label: 3 },
            LabError::CoverageNotReached {
                draws: 20,
                observations: 300,
                min_per_label: 3,
                suggested: 836,
            },
            LabError::NoThread,
            LabError::NoRatings { folder: folder.clone(), expected: &["u.data"] },
            LabError::NoSuchFolder { folder: folder.clone() },
            LabError::NoFiles { folder: folder.clone(), extensions: &["txt", "gz"] },
            LabError::NotAnImage { path: folder, dimensions: 2 },
            LabError::DownsampleTooLarge { downsample: 11, rows: 10, columns: 20 },
            LabError::ImageTooSmall { rate: 0.001, cells: 1000, sampled: 1, required: 50_000 },
            LabError::UnknownCell { experiment: "kernels", cell: "{}".to_owned() },
            LabError::Fit(
                FitConfig { tolerance: -1.0, ..FitConfig::default() }.check().expect_err("refused"),
            ),
            LabError::Read(ReadError::NoValueColumn { file: "u.data".to_owned() }),
            LabError::Other("stopped".into()),
        ];
        for error in errors {
            let message = error.to_string();
            let named: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
            assert_eq!(named, error.settings(), "{message}");
            assert!(!message.contains("--"), "{message}");
        }
    }
}
