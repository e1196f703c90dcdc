//! Parameters as named tensors, and back.
//!
//! Factor matrices are stored as `n x rank` without the padding that rows have in memory, so that any
//! reader of safetensors sees plain matrices. A matrix that modes share is stored once.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;

use safetensors::tensor::{Dtype, SafeTensors, TensorView, View};

use super::{Biases, ModelSpec, Parameters};
use quadfill_kernels::Real;

/// The end of messages about damaged files.
pub(crate) const DAMAGED: &str = "the file is damaged, fit the model again or use an intact copy";

/// The numbers of one tensor, ready to be written.
pub(crate) struct Tensor {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl View for Tensor {
    fn dtype(&self) -> Dtype {
        self.dtype
    }
    fn shape(&self) -> &[usize] {
        &self.shape
    }
    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }
    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

impl Tensor {
    pub(crate) fn new<'a, T: Real>(
        shape: Vec<usize>,
        numbers: impl Iterator<Item = &'a T>,
    ) -> Self {
        Self::with_precision(shape, numbers, T::NAME == "f32")
    }

    /// Bytes that are not numbers.
    pub(crate) fn bytes(bytes: Vec<u8>) -> Self {
        Self { dtype: Dtype::U8, shape: vec![bytes.len()], bytes }
    }

    /// In single precision whatever the numbers are, or in double.
    fn with_precision<'a, T: Real>(
        shape: Vec<usize>,
        numbers: impl Iterator<Item = &'a T>,
        narrow: bool,
    ) -> Self {
        let mut bytes = Vec::with_capacity(shape.iter().product::<usize>() * size_of::<T>());
        for &number in numbers {
            if narrow {
                bytes.extend((number.to_f64() as f32).to_le_bytes());
            } else {
                bytes.extend(number.to_f64().to_le_bytes());
            }
        }
        Self { dtype: if narrow { Dtype::F32 } else { Dtype::F64 }, shape, bytes }
    }
}

/// The name of a factor matrix.
pub(crate) fn factors_name(prefix: &str, group: usize) -> String {
    format!("{prefix}factors.{group}")
}

/// The name of the biases that go with it.
pub(crate) fn biases_name(prefix: &str, group: usize) -> String {
    format!("{prefix}biases.{group}")
}

/// Every tensor of `parameters`, its name beginning with `prefix`.
pub(crate) fn collect<T: Real>(prefix: &str, parameters: &Parameters<T>) -> Vec<(String, Tensor)> {
    collect_as(prefix, parameters, T::NAME == "f32")
}

/// The same in single precision or in double.
pub(crate) fn collect_as<T: Real>(
    prefix: &str,
    parameters: &Parameters<T>,
    narrow: bool,
) -> Vec<(String, Tensor)> {
    let layout = parameters.layout();
    let rank = layout.rank();
    let mut tensors = Vec::new();
    for (group, &rows) in layout.rows().iter().enumerate() {
        let numbers = (0..rows).flat_map(|label| parameters.row(group, label));
        let factors = Tensor::with_precision(vec![rows, rank], numbers, narrow);
        tensors.push((factors_name(prefix, group), factors));
        if let Some(biases) = parameters.biases(group) {
            let biases = Tensor::with_precision(vec![rows], biases.iter(), narrow);
            tensors.push((biases_name(prefix, group), biases));
        }
    }
    let mean = Tensor::new(vec![1], std::iter::once(&parameters.mean));
    tensors.push((format!("{prefix}mean"), mean));
    tensors
}

/// The bytes of a safetensors file with one entry of metadata: with more, their order in the file
/// would change from run to run. A text of more than 100 MB does not fit into the format.
pub(crate) fn to_bytes(
    tensors: Vec<(String, Tensor)>,
    key: &str,
    text: String,
) -> io::Result<Vec<u8>> {
    let metadata = HashMap::from([(key.to_owned(), text)]);
    safetensors::serialize(tensors, Some(metadata)).map_err(io::Error::other)
}

/// Opens the bytes of a safetensors file.
pub(crate) fn open(bytes: &[u8]) -> Result<SafeTensors<'_>, String> {
    SafeTensors::deserialize(bytes)
        .map_err(|error| format!("the tensors cannot be read, {error}: {DAMAGED}"))
}

/// Reads the tensors that [`collect`] made, checking each against the model. Precisions below that
/// of `T` widen; a wider one is refused.
pub(crate) fn read<T: Real>(
    tensors: &SafeTensors<'_>,
    prefix: &str,
    spec: &ModelSpec,
    sizes: &[usize],
) -> Result<Parameters<T>, String> {
    let rows = spec.group_sizes(sizes);
    // Memory is allocated only when every shape is known to be backed by bytes.
    let mut found = Vec::new();
    for (group, &rows) in rows.iter().enumerate() {
        let factors = find::<T>(tensors, &factors_name(prefix, group), &[rows, spec.rank])?;
        let biases = (spec.biases == Biases::Modes)
            .then(|| find::<T>(tensors, &biases_name(prefix, group), &[rows]))
            .transpose()?;
        found.push((factors, biases));
    }
    let mean = find::<f64>(tensors, &format!("{prefix}mean"), &[1])?;

    let mut parameters = Parameters::zeros(spec, sizes);
    for (group, (factors, biases)) in found.into_iter().enumerate() {
        let mut entries = numbers(&factors);
        for label in 0..rows[group] {
            let row = parameters.row_mut(group, label);
            for (target, number) in row.iter_mut().zip(&mut entries) {
                *target = T::from_f64(number);
            }
        }
        for (label, bias) in biases.iter().flat_map(numbers).enumerate() {
            parameters.set_bias(group, label, T::from_f64(bias));
        }
    }
    parameters.mean = numbers(&mean).sum();
    Ok(parameters)
}

/// All numbers of a tensor that must have this shape.
pub(crate) fn vector(
    tensors: &SafeTensors<'_>,
    name: &str,
    shape: &[usize],
) -> Result<Vec<f64>, String> {
    Ok(numbers(&find::<f64>(tensors, name, shape)?).collect())
}

/// A tensor by its name, if it has the expected shape, a precision that fits into `T` and only
/// finite numbers.
fn find<'t, T: Real>(
    tensors: &SafeTensors<'t>,
    name: &str,
    shape: &[usize],
) -> Result<TensorView<'t>, String> {
    let tensor =
        tensors.tensor(name).map_err(|_| format!("tensor `{name}` is missing: {DAMAGED}"))?;
    if tensor.shape() != shape {
        return Err(format!(
            "tensor `{name}` has the shape {:?} where {shape:?} was expected: {DAMAGED}",
            tensor.shape()
        ));
    }
    let fits = match tensor.dtype() {
        Dtype::F32 => true,
        Dtype::F64 => T::NAME == "f64",
        _ => false,
    };
    if !fits {
        return Err(format!(
            "tensor `{name}` is of type {} where {} was expected: {DAMAGED}",
            tensor.dtype(),
            T::NAME
        ));
    }
    if numbers(&tensor).any(|number| !number.is_finite()) {
        return Err(format!("tensor `{name}` has a number that is not finite: {DAMAGED}"));
    }
    Ok(tensor)
}

/// The numbers of a tensor of either precision.
fn numbers<'t>(tensor: &TensorView<'t>) -> impl Iterator<Item = f64> + use<'t> {
    let width = if tensor.dtype() == Dtype::F32 { 4 } else { 8 };
    let data: &'t [u8] = tensor.data();
    data.chunks_exact(width).map(|bytes| match *bytes {
        [a, b, c, d] => f64::from(f32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => unreachable!("chunks are 4 or 8 bytes long"),
    })
}
