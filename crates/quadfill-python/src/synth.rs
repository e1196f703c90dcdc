//! Planted tensors.

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use quadfill::model::ModelSpec;
use quadfill_lab::planted::{Cells, Coverage, Recipe, Shape};

use crate::errors::{lab_error, library_error};
use crate::settings::Parameters;

/// One column of labels per mode, and the values.
type Columns<'py> = (Vec<Bound<'py, PyArray1<u32>>>, Bound<'py, PyArray1<f64>>);

fn columns(py: Python<'_>, cells: Cells) -> Columns<'_> {
    let labels = cells.columns.into_iter().map(|column| column.into_pyarray(py));
    (labels.collect(), cells.values.into_pyarray(py))
}

/// Cells of a tensor with known factors, and test cells if they are asked for.
#[pyfunction]
#[pyo3(signature = (dims, rank, model, observations, test_observations, noise, min_per_label, seed))]
#[expect(clippy::too_many_arguments, reason = "each is a parameter of the Python function")]
pub(crate) fn synth<'py>(
    py: Python<'py>,
    dims: Vec<usize>,
    rank: usize,
    model: &Bound<'py, PyDict>,
    observations: usize,
    test_observations: Option<usize>,
    noise: f64,
    min_per_label: Option<usize>,
    seed: u64,
) -> PyResult<(Columns<'py>, Option<Columns<'py>>)> {
    let library = |error| library_error(py, &error);
    let model = Parameters(model).model()?;
    let spec = ModelSpec::new(model.interaction(dims.len()).map_err(library)?, dims.len(), rank);
    spec.check(&dims).map_err(library)?;
    let recipe = Recipe {
        spec,
        shape: Shape::new(&dims).map_err(|error| lab_error(py, &error))?,
        observations,
        test_observations,
        noise,
        coverage: min_per_label.map_or(Coverage::Aim, Coverage::AtLeast),
        seed,
    };
    let planted = py.detach(|| recipe.make()).map_err(|error| lab_error(py, &error))?;
    Ok((columns(py, planted.train), planted.test.map(|cells| columns(py, cells))))
}
