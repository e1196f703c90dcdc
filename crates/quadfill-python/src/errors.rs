//! Errors of the library as exceptions, with the names that settings have in Python.

use std::io;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use quadfill::{Error, Setting};
use quadfill_io::{ReadError, WriteError};
use quadfill_lab::LabError;

/// The classes in `quadfill._errors`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Data,
    Setting,
    Label,
    Unsupported,
    ModelFile,
    File,
    MissingFile,
}

impl Kind {
    fn class(self) -> &'static str {
        match self {
            Self::Data => "DataError",
            Self::Setting => "SettingError",
            Self::Label => "LabelError",
            Self::Unsupported => "UnsupportedError",
            Self::ModelFile => "ModelFileError",
            Self::File => "FileError",
            Self::MissingFile => "MissingFileError",
        }
    }
}

/// An exception of one of our classes.
pub(crate) fn exception(py: Python<'_>, kind: Kind, message: String) -> PyErr {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module =
        MODULE.get_or_try_init(py, || PyModule::import(py, "quadfill._errors").map(Bound::unbind));
    match module.and_then(|module| module.bind(py).getattr(kind.class())) {
        Ok(class) => match class.call1((message,)) {
            Ok(exception) => PyErr::from_value(exception),
            Err(error) => error,
        },
        Err(error) => PyRuntimeError::new_err(format!("{message} ({error})")),
    }
}

/// What a setting is called in Python.
fn parameter(setting: Setting) -> &'static str {
    match setting {
        Setting::Ties => "tie",
        Setting::Biases => "bias",
        Setting::Validation => "hold_out",
        other => other.name(),
    }
}

/// Puts the names of parameters in place of those of settings. They come last in a message, so a column of
/// the same name is left alone where it comes first.
fn with_parameters(text: String, settings: &[Setting]) -> String {
    settings.iter().fold(text, |text, &setting| {
        let name = setting.to_string();
        match text.rfind(&name) {
            Some(at) => {
                let after = &text[at + name.len()..];
                format!("{}`{}`{after}", &text[..at], parameter(setting))
            }
            None => text,
        }
    })
}

fn file_kind(error: &io::Error) -> Kind {
    if error.kind() == io::ErrorKind::NotFound { Kind::MissingFile } else { Kind::File }
}

fn library_kind(error: &Error) -> Kind {
    match error {
        Error::Setting(_) => Kind::Setting,
        Error::UnknownMode { .. }
        | Error::UnknownLabel { .. }
        | Error::UnknownTime { .. }
        | Error::MissingLabel { .. }
        | Error::RepeatedMode { .. } => Kind::Label,
        Error::Unsupported(_) => Kind::Unsupported,
        Error::ModelFile { .. } => Kind::ModelFile,
        Error::Io { source, .. } => file_kind(source),
        _ => Kind::Data,
    }
}

fn library_message(error: &Error) -> String {
    match error {
        Error::Setting(_) | Error::Unsupported(_) => {
            error.settings().iter().fold(error.to_string(), |text, &setting| {
                text.replace(&setting.to_string(), &format!("`{}`", parameter(setting)))
            })
        }
        Error::Io { path, source } if source.kind() == io::ErrorKind::NotFound => {
            format!("{}: there is no such file: check the name", path.display())
        }
        other => with_parameters(other.to_string(), &other.settings()),
    }
}

/// An error of the library.
pub(crate) fn library_error(py: Python<'_>, error: &Error) -> PyErr {
    exception(py, library_kind(error), library_message(error))
}

/// An error about data, whether they are a file or not.
pub(crate) fn read_error(py: Python<'_>, error: &ReadError) -> PyErr {
    match error {
        ReadError::Io { file, source } if source.kind() == io::ErrorKind::NotFound => exception(
            py,
            Kind::MissingFile,
            format!("{file}: there is no such file: check the name"),
        ),
        ReadError::Io { source, .. } => exception(py, file_kind(source), error.to_string()),
        ReadError::Data { file, source } => {
            exception(py, library_kind(source), format!("{file}: {}", library_message(source)))
        }
        ReadError::UnknownFormat { .. }
        | ReadError::EmptyDelimiter { .. }
        | ReadError::InvalidBins { .. } => {
            exception(py, Kind::Setting, with_parameters(error.to_string(), &error.settings()))
        }
        other => exception(py, Kind::Data, with_parameters(other.to_string(), &other.settings())),
    }
}

/// A file that could not be written.
pub(crate) fn write_error(py: Python<'_>, error: &WriteError) -> PyErr {
    let WriteError { path, source } = error;
    let message = format!("{}: this could not be written ({source})", path.display());
    exception(py, Kind::File, message)
}

/// An error about a planted tensor.
pub(crate) fn lab_error(py: Python<'_>, error: &LabError) -> PyErr {
    match error {
        LabError::Fit(error) => library_error(py, error),
        LabError::Read(error) => read_error(py, error),
        other => exception(py, Kind::Setting, other.to_string()),
    }
}
