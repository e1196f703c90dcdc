//! Rows that are found among the labels of a model.

use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use quadfill::{Mode, Model, Observations};
use quadfill_io::{
    QueryValues, ReadError, ReadOptions, read_for_modes, read_query, read_query_values,
};

use crate::columns::Columns;
use crate::data::Data;
use crate::errors::{Kind, exception, library_error, read_error};
use crate::pool::pool;
use crate::settings::Parameters;

/// One column of label indices per mode, and the values if they were wanted.
pub(crate) type Found = (Vec<Vec<u32>>, Option<Vec<f64>>);

/// Where rows are.
pub(crate) enum Rows<'a, 'py> {
    Columns(PyRef<'py, Columns>),
    Data(&'a Bound<'py, Data>),
    File(PathBuf),
}

/// Rows, how they are read, and by how many threads.
pub(crate) struct RowSource<'a, 'py> {
    py: Python<'py>,
    rows: Rows<'a, 'py>,
    options: ReadOptions,
    n_jobs: Option<i64>,
}

impl<'a, 'py> RowSource<'a, 'py> {
    pub(crate) fn new(
        rows: &'a Bound<'py, PyAny>,
        reading: &Bound<'py, PyDict>,
        n_jobs: Option<i64>,
    ) -> PyResult<Self> {
        let py = rows.py();
        let rows = if let Ok(columns) = rows.cast::<Columns>() {
            Rows::Columns(columns.try_borrow()?)
        } else if let Ok(data) = rows.cast::<Data>() {
            Rows::Data(data)
        } else {
            let path = rows.extract().map_err(|_| PyTypeError::new_err("these are not rows"))?;
            Rows::File(path)
        };
        Ok(Self { py, rows, options: Parameters(reading).reading()?, n_jobs })
    }

    pub(crate) fn py(&self) -> Python<'py> {
        self.py
    }

    /// Finds the rows among the labels of `modes`, which are all or some of a model's.
    pub(crate) fn look_up(
        &self,
        model: &Model,
        modes: &[Mode],
        values: QueryValues,
    ) -> PyResult<Found> {
        let (py, options, source) = (self.py, &self.options, model.source());
        let pool = pool(self.n_jobs)?;
        match &self.rows {
            Rows::Columns(columns) => columns.with_frame(py, |frame| {
                pool.install(|| frame.look_up(options, modes, values, source))
            }),
            Rows::Data(data) => data.get().with(|data| {
                self.check_bins(modes, data)?;
                let indices =
                    model.find_columns(data).map_err(|error| library_error(py, &error))?;
                Ok((indices, Some(data.values().to_vec())))
            }),
            Rows::File(path) => {
                let positions = source.positions.clone();
                let options = ReadOptions { positions, ..options.clone() };
                let read = || match values {
                    QueryValues::Ignored => read_query(path, &options, modes, values),
                    QueryValues::Required => read_query_values(path, &options, modes, source),
                };
                let query = py.detach(|| pool.install(read));
                let query = query.map_err(|error| read_error(py, &error))?;
                Ok((query.indices, query.values))
            }
        }
    }

    /// The predictions for the rows.
    pub(crate) fn predict(&self, model: &Model) -> PyResult<Vec<f64>> {
        let (options, pool) = (&self.options, pool(self.n_jobs)?);
        if let Rows::Columns(columns) = &self.rows {
            let predict = |cells: &[&[u32]], out: &mut [f64]| model.predict_into(cells, out);
            return columns.with_frame(self.py, |frame| {
                pool.install(|| frame.answer_rows(options, model.modes(), model.source(), predict))
            });
        }
        let (cells, _) = self.look_up(model, model.modes(), QueryValues::Ignored)?;
        Ok(self.py.detach(|| {
            let cells: Vec<&[u32]> = cells.iter().map(Vec::as_slice).collect();
            pool.install(|| model.predict_cells(&cells))
        }))
    }

    /// Bins of other data stand for other times.
    fn check_bins(&self, modes: &[Mode], data: &Observations) -> PyResult<()> {
        let other = modes.iter().zip(data.modes()).find(|(own, mode)| own.bins != mode.bins);
        match other {
            None => Ok(()),
            Some((mode, _)) => Err(exception(
                self.py,
                Kind::Data,
                format!(
                    "these data have other bins for mode `{}` than the model: give the rows themselves, or \
                     their file",
                    mode.name
                ),
            )),
        }
    }

    /// Observations for the modes of a model.
    pub(crate) fn observe(&self, model: &Model) -> PyResult<Observations> {
        let (py, source, modes) = (self.py, model.source(), model.modes());
        let is_implicit = model.summary().config.implicit.is_some();
        let options = ReadOptions {
            values_are_ones: is_implicit && self.options.value.is_none(),
            positions: source.positions.clone(),
            ..self.options.clone()
        };
        let pool = pool(self.n_jobs)?;
        match &self.rows {
            Rows::Columns(columns) => columns.with_frame(py, |frame| {
                pool.install(|| frame.observe_for_modes(&options, modes, source))
            }),
            Rows::Data(data) => data.get().with(|data| {
                self.check_bins(modes, data)?;
                Ok(data.clone())
            }),
            Rows::File(path) => {
                let path = std::slice::from_ref(path);
                let read = || read_for_modes(path, &options, modes, source);
                py.detach(|| pool.install(read)).map_err(|error: ReadError| read_error(py, &error))
            }
        }
    }
}
