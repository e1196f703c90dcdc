//! Quadfill for Python: the module `quadfill._quadfill`, on which the package `quadfill` stands.
//!
//! Columns come in without copies ([`columns`]), become [`Data`](data::Data), and a fit of them a
//! [`Model`](model::Model). What users see is written in Python, in `python/quadfill`.

#![expect(clippy::needless_pass_by_value, reason = "Python hands over values")]

mod arrow;
mod cells;
mod columns;
mod command;
mod data;
mod errors;
mod fitting;
mod model;
mod observer;
mod pool;
mod queries;
mod settings;
mod synth;

use pyo3::prelude::*;

/// The compiled part of Quadfill.
#[pymodule]
mod _quadfill {
    #[pymodule_export]
    use crate::columns::Columns;
    #[pymodule_export]
    use crate::command::run_command;
    #[pymodule_export]
    use crate::data::Data;
    #[pymodule_export]
    use crate::fitting::fit;
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::synth::synth;

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
