//! A broken pipe, which is not an error.

use std::io;

use anyhow::Error;

/// Whether the reader closed our output early, as `head` does.
pub(crate) fn is_broken_pipe(error: &Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
