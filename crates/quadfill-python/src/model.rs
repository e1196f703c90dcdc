//! A fitted model and its uses.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use quadfill::apply::{KnownCells, Order, Ranking};
use quadfill::observations::Summary;
use quadfill_io::{QueryValues, write_atomically};
use quadfill_report::{FitStory, Recorded, fit_page, model_card};
use serde::Serialize;

use crate::cells;
use crate::data::{Data, labels_of, some_labels};
use crate::errors::{library_error, write_error};
use crate::fitting::{Plan, watch};
use crate::pool::pool;
use crate::queries::RowSource;

/// What only the fit itself knows.
pub(crate) struct Story {
    pub(crate) summary: Summary,
    pub(crate) steps: Vec<Recorded>,
    pub(crate) seconds: f64,
}

/// An observation that a prediction rests on: its labels, value, leverage and effect.
type Influence = (Vec<String>, f64, f64, f64);

/// How many observations a page shows of data that are more than the memory holds.
const SHOWN: usize = 1_000_000;

/// A fitted model.
#[pyclass(module = "quadfill._quadfill", frozen)]
pub(crate) struct Model {
    inner: Arc<quadfill::Model>,
    story: Option<Story>,
}

impl Model {
    pub(crate) fn new(model: quadfill::Model, story: Option<Story>) -> Self {
        Self { inner: Arc::new(model), story }
    }

    fn library<R>(py: Python<'_>, result: quadfill::Result<R>) -> PyResult<R> {
        result.map_err(|error| library_error(py, &error))
    }

    fn mode(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        Self::library(py, self.inner.mode_position(name))
    }
}

fn json<V: Serialize>(value: &V) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// For each answer the number of its query, its label and its score.
type Answers<'py> =
    (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>);

#[pymethods]
impl Model {
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let model = py.detach(|| quadfill::Model::load(&path));
        Ok(Self::new(Self::library(py, model)?, None))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &Bound<'_, PyBytes>) -> PyResult<Self> {
        let bytes = bytes.as_bytes();
        let model = py.detach(|| quadfill::Model::from_bytes(bytes));
        Ok(Self::new(Self::library(py, model)?, None))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.inner.to_bytes());
        Ok(PyBytes::new(py, &Self::library(py, bytes)?))
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let saved =
            py.detach(|| quadfill::check_target(&path).and_then(|()| self.inner.save(&path)));
        Self::library(py, saved)
    }

    /// The model at a glance, as HTML.
    fn card(&self) -> String {
        model_card(&self.inner)
    }

    /// The names of the modes.
    #[getter]
    fn modes(&self) -> Vec<String> {
        self.inner.modes().iter().map(|mode| mode.name.clone()).collect()
    }

    /// The modes whose labels are bins of times.
    #[getter]
    fn binned(&self) -> Vec<bool> {
        self.inner.modes().iter().map(|mode| mode.bins.is_some()).collect()
    }

    #[getter]
    fn value(&self) -> String {
        self.inner.source().value.clone()
    }

    /// Where the columns of its data stood, if they had no names.
    #[getter]
    fn positions(&self) -> Option<(Vec<usize>, usize)> {
        let positions = self.inner.source().positions.as_ref()?;
        Some((positions.modes.clone(), positions.value))
    }

    #[getter]
    fn kind(&self) -> String {
        self.inner.kind().to_string()
    }

    #[getter]
    fn rank(&self) -> usize {
        self.inner.rank()
    }

    #[getter]
    fn is_sampled(&self) -> bool {
        self.inner.is_sampled()
    }

    #[getter]
    fn degrees_of_freedom(&self) -> usize {
        self.inner.degrees_of_freedom()
    }

    /// Seconds that the fit took, where that is known.
    #[getter]
    fn seconds(&self) -> Option<f64> {
        self.story.as_ref().map(|story| story.seconds)
    }

    /// How it was fitted, as JSON.
    fn summary(&self) -> String {
        json(self.inner.summary())
    }

    /// How its data are spread over its labels, as JSON, where that is known.
    fn data_summary(&self) -> Option<String> {
        self.story.as_ref().map(|story| json(&story.summary))
    }

    fn labels<'py>(&self, py: Python<'py>, mode: usize) -> PyResult<Bound<'py, PyAny>> {
        labels_of(py, &self.inner.modes()[mode])
    }

    /// Some labels of a mode, by their indices.
    fn labels_at<'py>(
        &self,
        py: Python<'py>,
        mode: usize,
        indices: PyReadonlyArray1<'py, u32>,
    ) -> PyResult<Bound<'py, PyAny>> {
        some_labels(py, &self.inner.modes()[mode], indices.as_slice()?)
    }

    fn find_mode(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        self.mode(py, name)
    }

    fn factors<'py>(&self, py: Python<'py>, mode: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let factors = self.inner.factors(mode);
        let rows = self.inner.modes()[mode].labels.len();
        // Modes that share their factors have the same labels.
        factors.into_pyarray(py).reshape([rows, self.inner.spec().rank])
    }

    fn biases<'py>(&self, py: Python<'py>, mode: usize) -> Option<Bound<'py, PyArray1<f64>>> {
        self.inner.biases(mode).map(|biases| biases.into_pyarray(py))
    }

    #[getter]
    fn mean(&self) -> f64 {
        self.inner.mean()
    }

    fn predict<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        reading: &Bound<'py, PyDict>,
        n_jobs: Option<i64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let predictions = RowSource::new(rows, reading, n_jobs)?.predict(&self.inner)?;
        Ok(predictions.into_pyarray(py))
    }

    /// Half the widths of intervals about the predictions. `data` are those of the fit.
    fn half_widths<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        reading: &Bound<'py, PyDict>,
        level: f64,
        data: Option<&Data>,
        n_jobs: Option<i64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let source = RowSource::new(rows, reading, n_jobs)?;
        let (columns, _) = source.look_up(&self.inner, self.inner.modes(), QueryValues::Ignored)?;
        let data = data.map(Data::copy_in_memory).transpose()?;
        let pool = pool(n_jobs)?;
        let widths = py.detach(|| {
            let columns: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
            pool.install(|| self.inner.half_widths(&columns, level, data))
        });
        Ok(Self::library(py, widths)?.into_pyarray(py))
    }

    /// Errors of predictions as JSON, and predictions and values.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        reading: &Bound<'py, PyDict>,
        n_jobs: Option<i64>,
    ) -> PyResult<(String, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
        let source = RowSource::new(rows, reading, n_jobs)?;
        let (columns, values) =
            source.look_up(&self.inner, self.inner.modes(), QueryValues::Required)?;
        let values = values.unwrap_or_default();
        let pool = pool(n_jobs)?;
        let (evaluation, predictions) = py.detach(|| {
            let columns: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
            let predictions = pool.install(|| self.inner.predict_cells(&columns));
            (quadfill::model::Evaluation::of(&predictions, &columns, &values), predictions)
        });
        Ok((json(&evaluation), predictions.into_pyarray(py), values.into_pyarray(py)))
    }

    /// Ranks the labels of cells, as JSON: one entry per mode, and all together.
    fn rank_metrics(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        reading: &Bound<'_, PyDict>,
        modes: Vec<String>,
        filters: Vec<Bound<'_, PyAny>>,
        n_jobs: Option<i64>,
    ) -> PyResult<(String, Vec<String>)> {
        let look_up = |rows: &Bound<'_, PyAny>| {
            let source = RowSource::new(rows, reading, n_jobs)?;
            let found = source.look_up(&self.inner, self.inner.modes(), QueryValues::Ignored)?;
            PyResult::Ok(found.0)
        };
        let cells = look_up(rows)?;
        let filters = filters.iter().map(look_up).collect::<PyResult<Vec<_>>>()?;
        let modes = modes.iter().map(|name| self.mode(py, name)).collect::<PyResult<Vec<_>>>()?;
        let pool = pool(n_jobs)?;
        let rankings: Vec<Ranking> = py.detach(|| {
            let columns: Vec<&[u32]> = cells.iter().map(Vec::as_slice).collect();
            let rank = |&mode: &usize| {
                let mut known = KnownCells::new(mode);
                for filter in &filters {
                    known.add(&filter.iter().map(Vec::as_slice).collect::<Vec<_>>());
                }
                pool.install(|| self.inner.ranker(mode).ranking(&columns, &known))
            };
            modes.iter().map(rank).collect()
        });
        Ok((json(&Ranking::together(&rankings)), rankings.iter().map(json).collect()))
    }

    /// The best labels of a mode for each of some queries, which are given by labels or as rows.
    #[pyo3(signature = (given, mode, k, *, rows, reading, exclude, exclude_by, exclude_labels, candidates, lowest, n_jobs))]
    #[expect(clippy::too_many_arguments, reason = "each is a parameter of the Python method")]
    fn top<'py>(
        &self,
        py: Python<'py>,
        given: Vec<Vec<(String, String)>>,
        mode: usize,
        k: usize,
        rows: Option<&Bound<'py, PyAny>>,
        reading: &Bound<'py, PyDict>,
        exclude: Option<&Bound<'py, PyAny>>,
        exclude_by: Option<Vec<String>>,
        exclude_labels: Vec<String>,
        candidates: Option<Vec<String>>,
        lowest: Option<bool>,
        n_jobs: Option<i64>,
    ) -> PyResult<Answers<'py>> {
        let model = &self.inner;
        let queries = match rows {
            Some(rows) => cells::query_rows(model, &RowSource::new(rows, reading, n_jobs)?, mode)?,
            None => given
                .iter()
                .map(|given| cells::query(py, model, given, mode))
                .collect::<PyResult<_>>()?,
        };
        let find = |label: &String| Self::library(py, model.find_label(mode, label));
        let always = exclude_labels.iter().map(find).collect::<PyResult<Vec<u32>>>()?;
        let mut ranker = model.ranker(mode);
        if let Some(lowest) = lowest {
            ranker = ranker.with_order(if lowest { Order::Lowest } else { Order::Highest });
        }
        if let Some(candidates) = candidates {
            ranker = ranker.among(&candidates.iter().map(find).collect::<PyResult<Vec<_>>>()?);
        }
        let seen = exclude.map(|rows| RowSource::new(rows, reading, n_jobs)).transpose()?;
        let by = exclude_by.as_deref();
        let excluded =
            cells::excluded(model, &queries, mode, seen.as_ref().map(|seen| (seen, by)), &always)?;
        let pool = pool(n_jobs)?;
        let found = py.detach(|| {
            pool.install(|| match &queries[..] {
                [query] => vec![ranker.top(query, k, &excluded[0])],
                _ => ranker.top_batch(&queries, k, &excluded),
            })
        });
        let all = || {
            found.iter().enumerate().flat_map(|(query, best)| best.iter().map(move |b| (query, b)))
        };
        let query: Vec<u32> = all().map(|(query, _)| query as u32).collect();
        let label: Vec<u32> = all().map(|(_, best)| best.label).collect();
        let score: Vec<f64> = all().map(|(_, best)| best.score).collect();
        Ok((query.into_pyarray(py), label.into_pyarray(py), score.into_pyarray(py)))
    }

    /// The labels whose rows point in the most similar direction, with the cosines of the angles.
    fn similar<'py>(
        &self,
        py: Python<'py>,
        mode: usize,
        label: &str,
        k: usize,
    ) -> PyResult<(Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>)> {
        let label = Self::library(py, self.inner.find_label(mode, label))?;
        let best = py.detach(|| self.inner.similar(mode, label, k));
        let labels: Vec<u32> = best.iter().map(|best| best.label).collect();
        let scores: Vec<f64> = best.iter().map(|best| best.score).collect();
        Ok((labels.into_pyarray(py), scores.into_pyarray(py)))
    }

    /// The summands of a prediction, as JSON.
    fn explain(&self, py: Python<'_>, given: Vec<(String, String)>) -> PyResult<String> {
        let cell = cells::whole(py, &self.inner, &given)?;
        Ok(json(&Self::library(py, self.inner.explain_cell(&cell))?))
    }

    /// For each mode the most influential observations of a cell's label.
    fn influences(
        &self,
        py: Python<'_>,
        given: Vec<(String, String)>,
        data: &Data,
        k: usize,
    ) -> PyResult<Vec<Vec<Influence>>> {
        let cell = cells::whole(py, &self.inner, &given)?;
        let data = data.copy_in_memory()?;
        let influences = py.detach(|| self.inner.influences(data, &cell));
        let modes = self.inner.modes();
        let named = |cell: &[u32]| {
            let labels = cell.iter().zip(modes);
            labels.map(|(&label, mode)| mode.label(label as usize).into_owned()).collect()
        };
        let first = |influences: Vec<quadfill::apply::Influence>| {
            let first = influences.into_iter().take(k);
            first.map(|one| (named(&one.cell), one.value, one.leverage, one.effect)).collect()
        };
        Ok(Self::library(py, influences)?.into_iter().map(first).collect())
    }

    fn fold_in(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        reading: &Bound<'_, PyDict>,
        n_jobs: Option<i64>,
    ) -> PyResult<Self> {
        let data = RowSource::new(rows, reading, n_jobs)?.observe(&self.inner)?;
        let pool = pool(n_jobs)?;
        let folded = py.detach(|| pool.install(|| self.inner.fold_in(data)));
        Ok(Self::new(Self::library(py, folded)?, None))
    }

    fn update(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        reading: &Bound<'_, PyDict>,
        n_jobs: Option<i64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Self, bool)> {
        let data = RowSource::new(rows, reading, n_jobs)?.observe(&self.inner)?;
        let watched = watch(py, n_jobs, None, progress.as_ref(), |observer| {
            self.inner.update_with(data, observer)
        })?;
        Ok((Self::new(Self::library(py, watched.result)?, None), watched.is_interrupted))
    }

    /// Writes the page about the fit. `data` and `parameters` are those of the fit.
    fn report(
        &self,
        py: Python<'_>,
        path: PathBuf,
        title: String,
        data: &Data,
        parameters: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        let plan = Plan::new(parameters)?;
        let shown = data.with_any(|data| Ok(data.shown(SHOWN)))?;
        let page = py.detach(|| {
            let (data, _, summary) = plan.prepare(shown)?;
            let data = data.shown(SHOWN);
            let story = self.story.as_ref();
            let story = FitStory {
                name: title,
                data: &data,
                summary: story.map_or(&summary, |story| &story.summary),
                model: &self.inner,
                steps: story.map_or(&[], |story| &story.steps),
                test: None,
                test_cells: None,
                seconds: story.map_or(0.0, |story| story.seconds),
            };
            Ok(fit_page(&story).html())
        });
        let page = Self::library(py, page)?;
        let written = py.detach(|| write_atomically(&path, |out| out.write_all(page.as_bytes())));
        written.map_err(|error| write_error(py, &error))
    }
}
