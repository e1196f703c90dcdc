//! The `quadfill` command.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the program; the first argument is its name. Returns its exit code.
#[pyfunction]
pub(crate) fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| quadfill_cli::run_command(arguments))
}
