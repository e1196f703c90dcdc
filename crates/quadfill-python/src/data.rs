//! Observations, from wherever they come.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use quadfill::views::Data as Given;
use quadfill::{Labels, Mode, Observations};
use quadfill_io::{ColumnRoles, ReadOptions, read_bytes_with_roles, read_data};

use crate::columns::Columns;
use crate::errors::read_error;
use crate::pool::pool;
use crate::settings::Parameters;

/// Labelled observations.
#[pyclass(module = "quadfill._quadfill", frozen)]
pub(crate) struct Data {
    /// Nothing after a fit that was allowed to consume them.
    observations: Mutex<Option<Given>>,
    roles: Option<ColumnRoles>,
}

impl Data {
    pub(crate) fn new(observations: impl Into<Given>, roles: Option<ColumnRoles>) -> Self {
        Self { observations: Mutex::new(Some(observations.into())), roles }
    }

    /// Calls `with` with the data, wherever they are.
    pub(crate) fn with_any<R>(&self, with: impl FnOnce(&Given) -> PyResult<R>) -> PyResult<R> {
        let held = self.observations.lock().unwrap_or_else(PoisonError::into_inner);
        with(held.as_ref().ok_or_else(consumed)?)
    }

    /// Calls `with` with the observations, which must be in memory.
    pub(crate) fn with<R>(&self, with: impl FnOnce(&Observations) -> PyResult<R>) -> PyResult<R> {
        self.with_any(|data| match data {
            Given::Observations(data) => with(data),
            Given::Packed(data) => Err(PyRuntimeError::new_err(format!(
                "{} observations are too many to be held as they are: this can be done with a part of them",
                data.len()
            ))),
        })
    }

    pub(crate) fn copy(&self) -> PyResult<Given> {
        self.with_any(|data| Ok(data.clone()))
    }

    pub(crate) fn copy_in_memory(&self) -> PyResult<Observations> {
        self.with(|data| Ok(data.clone()))
    }

    /// The data, which nobody else may use afterwards.
    pub(crate) fn take(&self) -> PyResult<Given> {
        let mut held = self.observations.lock().unwrap_or_else(PoisonError::into_inner);
        held.take().ok_or_else(consumed)
    }
}

fn consumed() -> PyErr {
    PyRuntimeError::new_err("these data were given to a fit: make them again")
}

/// The labels of a mode as Python has them: numbers as an array, texts as a list.
pub(crate) fn labels_of<'py>(py: Python<'py>, mode: &Mode) -> PyResult<Bound<'py, PyAny>> {
    let shown = mode.shown_labels();
    match shown.as_ref() {
        Labels::Integers(numbers) => Ok(PyArray1::from_slice(py, numbers).into_any()),
        Labels::Text(texts) => {
            let names = (0..texts.len()).map(|label| texts.name(label));
            Ok(PyList::new(py, names.collect::<Vec<_>>())?.into_any())
        }
    }
}

/// Some labels of a mode by their indices, as [`labels_of`] has them.
pub(crate) fn some_labels<'py>(
    py: Python<'py>,
    mode: &Mode,
    indices: &[u32],
) -> PyResult<Bound<'py, PyAny>> {
    let shown = mode.shown_labels();
    let mut each = indices.iter().map(|&index| index as usize);
    if let Some(index) = each.clone().find(|&index| index >= shown.len()) {
        return Err(PyIndexError::new_err(format!("there is no label {index}")));
    }
    match shown.as_ref() {
        Labels::Integers(numbers) => {
            let found: Vec<i64> = each.map(|index| numbers[index]).collect();
            Ok(PyArray1::from_vec(py, found).into_any())
        }
        Labels::Text(texts) => {
            let found = PyList::empty(py);
            each.try_for_each(|index| found.append(texts.name(index)))?;
            Ok(found.into_any())
        }
    }
}

#[pymethods]
impl Data {
    /// Observations from columns.
    #[staticmethod]
    fn from_columns(
        py: Python<'_>,
        columns: &Columns,
        reading: &Bound<'_, PyDict>,
        n_jobs: Option<i64>,
    ) -> PyResult<Self> {
        let options = Parameters(reading).reading()?;
        let pool = pool(n_jobs)?;
        let (data, roles) =
            columns.with_frame(py, |frame| pool.install(|| frame.observe(&options)))?;
        Ok(Self::new(data, roles))
    }

    /// Observations from a file.
    #[staticmethod]
    fn from_file(
        py: Python<'_>,
        path: PathBuf,
        reading: &Bound<'_, PyDict>,
        n_jobs: Option<i64>,
    ) -> PyResult<Self> {
        let options = Parameters(reading).reading()?;
        let pool = pool(n_jobs)?;
        let read = py.detach(|| pool.install(|| read_data(&path, &options, None, &mut |_| ())));
        let (data, roles) = read.map_err(|error| read_error(py, &error))?;
        Ok(Self::new(data, roles))
    }

    /// The cells of a dense array, given as the bytes of an `.npy` file.
    #[staticmethod]
    fn from_npy(
        py: Python<'_>,
        bytes: &Bound<'_, PyBytes>,
        reading: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let options = ReadOptions {
            format: Some(quadfill_io::Format::Npy),
            ..Parameters(reading).reading()?
        };
        let bytes = bytes.as_bytes();
        let read = py.detach(|| read_bytes_with_roles("X", bytes, &options));
        let (data, roles) = read.map_err(|error| read_error(py, &error))?;
        Ok(Self::new(data, roles))
    }

    fn __len__(&self) -> PyResult<usize> {
        self.with_any(|data| Ok(data.len()))
    }

    /// The names of the modes.
    #[getter]
    fn modes(&self) -> PyResult<Vec<String>> {
        self.with_any(|data| Ok(data.modes().iter().map(|mode| mode.name.clone()).collect()))
    }

    /// The number of labels of each mode.
    #[getter]
    fn sizes(&self) -> PyResult<Vec<usize>> {
        self.with_any(|data| Ok(data.sizes()))
    }

    /// The name of the column of values.
    #[getter]
    fn value(&self) -> PyResult<String> {
        self.with_any(|data| Ok(data.source().value.clone()))
    }

    /// What the columns were taken for, as JSON.
    #[getter]
    fn roles(&self) -> Option<String> {
        self.roles.as_ref().and_then(|roles| serde_json::to_string(roles).ok())
    }

    /// What speaks against these roles.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        let warnings = self.roles.iter().flat_map(|roles| &roles.warnings);
        warnings.map(ToString::to_string).collect()
    }

    /// The data in numbers, as JSON.
    fn summary(&self) -> PyResult<String> {
        self.with_any(|data| Ok(serde_json::to_string(&data.summary()).unwrap_or_default()))
    }

    /// The labels of a mode.
    fn labels<'py>(&self, py: Python<'py>, mode: usize) -> PyResult<Bound<'py, PyAny>> {
        self.with_any(|data| labels_of(py, &data.modes()[mode]))
    }

    /// The label indices of a mode.
    fn indices<'py>(&self, py: Python<'py>, mode: usize) -> PyResult<Bound<'py, PyArray1<u32>>> {
        self.with(|data| Ok(PyArray1::from_slice(py, data.indices(mode))))
    }

    /// The values.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.with(|data| Ok(data.values().to_vec().into_pyarray(py)))
    }

    /// The weights, if there are any.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        self.with(|data| Ok(data.weights().map(|weights| PyArray1::from_slice(py, weights))))
    }
}
