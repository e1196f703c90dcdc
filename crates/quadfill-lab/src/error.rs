//! What can go wrong.

use std::path::{Path, PathBuf};

use quadfill_io::{ReadError, WriteError};

/// The result of anything that can go wrong here.
pub type Result<T> = std::result::Result<T, LabError>;

/// An experiment or a report that could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// Something was asked for that cannot be, in words.
    #[error("{0}")]
    Setting(String),
    /// A fit refused its data or settings.
    #[error(transparent)]
    Fit(#[from] quadfill::Error),
    /// A file could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The operating system said no.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl LabError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}
