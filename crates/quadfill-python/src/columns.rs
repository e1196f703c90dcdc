//! The columns of a table as Python hands them over: numpy arrays, Arrow streams, lists of texts.

use numpy::{Element, PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;
use quadfill_io::{Chunk, Frame, FrameColumn, ReadError};

use crate::arrow::ArrowColumn;
use crate::errors::read_error;

/// A table whose columns stay where they are.
#[pyclass(module = "quadfill._quadfill")]
pub(crate) struct Columns {
    /// What messages call it.
    title: String,
    /// Whether the columns have names; else they go by their numbers.
    is_named: bool,
    names: Vec<String>,
    held: Vec<Held>,
}

/// One column, kept alive.
struct Held {
    fields: HeldFields,
    seconds_per_unit: Option<f64>,
    first_null: Option<usize>,
}

enum HeldFields {
    Numpy(Box<dyn NumpyColumn>),
    Texts(Vec<String>),
    Arrow(ArrowColumn),
}

/// An array of numpy, whatever its numbers are.
trait NumpyColumn: Send + Sync {
    fn borrow<'py>(&self, py: Python<'py>) -> PyResult<Box<dyn BorrowedColumn + 'py>>;
}

/// An array of numpy that nothing of ours writes to.
trait BorrowedColumn {
    fn chunk(&self) -> PyResult<Chunk<'_>>;
}

/// A type of numbers that arrays have.
trait Field: Element + Sized + 'static {
    fn chunk(fields: &[Self]) -> Chunk<'_>;
}

macro_rules! field {
    ($($number:ty => $variant:ident,)*) => {
        $(impl Field for $number {
            fn chunk(fields: &[Self]) -> Chunk<'_> {
                Chunk::$variant(fields)
            }
        })*

        /// The array, if it is one-dimensional and has numbers that are known.
        fn numpy_column(array: &Bound<'_, PyAny>) -> Option<Box<dyn NumpyColumn>> {
            $(if let Ok(array) = array.cast::<PyArray1<$number>>() {
                return Some(Box::new(array.clone().unbind()));
            })*
            None
        }
    };
}

field! {
    i8 => I8, i16 => I16, i32 => I32, i64 => I64,
    u8 => U8, u16 => U16, u32 => U32, u64 => U64,
    f32 => F32, f64 => F64,
}

impl<T: Field> NumpyColumn for Py<PyArray1<T>> {
    fn borrow<'py>(&self, py: Python<'py>) -> PyResult<Box<dyn BorrowedColumn + 'py>> {
        Ok(Box::new(self.bind(py).try_readonly()?))
    }
}

impl<T: Field> BorrowedColumn for PyReadonlyArray1<'_, T> {
    fn chunk(&self) -> PyResult<Chunk<'_>> {
        Ok(T::chunk(self.as_slice()?))
    }
}

#[pymethods]
impl Columns {
    #[new]
    fn new(title: String, is_named: bool) -> Self {
        Self { title, is_named, names: Vec::new(), held: Vec::new() }
    }

    /// Adds a contiguous, one-dimensional array of numbers.
    #[pyo3(signature = (name, array, seconds_per_unit=None, first_null=None))]
    fn add_numpy(
        &mut self,
        name: String,
        array: &Bound<'_, PyAny>,
        seconds_per_unit: Option<f64>,
        first_null: Option<usize>,
    ) -> PyResult<()> {
        let array = numpy_column(array).ok_or_else(|| {
            PyTypeError::new_err(format!(
                "{}: column `{name}` is not an array of numbers",
                self.title
            ))
        })?;
        self.add(name, Held { fields: HeldFields::Numpy(array), seconds_per_unit, first_null });
        Ok(())
    }

    /// Adds a list of texts.
    #[pyo3(signature = (name, texts, first_null=None))]
    fn add_texts(&mut self, name: String, texts: Vec<String>, first_null: Option<usize>) {
        let fields = HeldFields::Texts(texts);
        self.add(name, Held { fields, seconds_per_unit: None, first_null });
    }

    /// Adds all columns of whatever has `__arrow_c_stream__`.
    fn add_arrow(&mut self, table: PyTable) {
        let (batches, schema) = table.into_inner();
        for (at, field) in schema.fields().iter().enumerate() {
            let chunks = batches.iter().map(|batch| batch.column(at).clone()).collect();
            let column = ArrowColumn::new(field.data_type().clone(), chunks);
            let fields = HeldFields::Arrow(column);
            self.add(
                field.name().clone(),
                Held { fields, seconds_per_unit: None, first_null: None },
            );
        }
    }

    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }
}

impl Columns {
    fn add(&mut self, name: String, held: Held) {
        self.names.push(name);
        self.held.push(held);
    }

    /// Calls `with` with the table, other threads of Python running.
    pub(crate) fn with_frame<R: Send>(
        &self,
        py: Python<'_>,
        with: impl FnOnce(&Frame<'_>) -> Result<R, ReadError> + Send,
    ) -> PyResult<R> {
        let mut borrowed: Vec<Option<Box<dyn BorrowedColumn + '_>>> = Vec::new();
        for held in &self.held {
            borrowed.push(match &held.fields {
                HeldFields::Numpy(array) => Some(array.borrow(py)?),
                HeldFields::Texts(_) | HeldFields::Arrow(_) => None,
            });
        }
        let mut columns = Vec::with_capacity(self.held.len());
        for (held, borrowed) in self.held.iter().zip(&borrowed) {
            let chunk = match (&held.fields, borrowed) {
                (HeldFields::Arrow(column), _) => {
                    columns.push(column.column());
                    continue;
                }
                (HeldFields::Texts(texts), _) => Chunk::Texts(Box::new(TextSlice(texts))),
                (HeldFields::Numpy(_), Some(array)) => array.chunk()?,
                (HeldFields::Numpy(_), None) => unreachable!("it was borrowed above"),
            };
            columns.push(FrameColumn {
                chunks: vec![chunk],
                seconds_per_unit: held.seconds_per_unit,
                first_null: held.first_null,
            });
        }
        let names = self.is_named.then(|| self.names.clone());
        let frame =
            Frame::new(&self.title, names, columns).map_err(|error| read_error(py, &error))?;
        py.detach(|| with(&frame)).map_err(|error| read_error(py, &error))
    }
}

struct TextSlice<'a>(&'a [String]);

impl quadfill_io::Texts for TextSlice<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn text(&self, row: usize) -> &[u8] {
        self.0[row].as_bytes()
    }
}
