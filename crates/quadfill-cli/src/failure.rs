//! What to say about an error, and which errors are none.

use std::io;

use anyhow::Error;
use quadfill_io::{ReadError, WriteError};

use crate::places;

/// Whether the reader of our output went away, as `head` does.
pub(crate) fn is_broken_pipe(error: &Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// The error in one sentence, with the way out where the system only said what is wrong.
pub(crate) fn sentence(error: &Error) -> String {
    if let Some(ReadError::Io { file, source }) = error.downcast_ref() {
        return places::describe_input(file, source);
    }
    if let Some(quadfill::Error::Io { path, source }) = error.downcast_ref() {
        return places::describe_input(&path.display().to_string(), source);
    }
    if let Some(WriteError { path, source }) = error.downcast_ref() {
        return format!(
            "{}: this could not be written ({source}): make room or choose another place",
            path.display()
        );
    }
    error.to_string()
}
