//! The cells of arrays that hold a value.

use quadfill::{Labels, Mode, Observations};

use super::array::Array;
use crate::error::{ReadError, Result};
use crate::options::ReadOptions;
use crate::table::{explain, row_positions};

/// Cells by their indices from 0.
#[derive(Debug)]
pub(crate) struct Cells {
    pub sizes: Vec<usize>,
    pub indices: Vec<Vec<u32>>,
    pub values: Vec<f64>,
    pub weights: Option<Vec<f64>>,
}

impl Cells {
    /// All cells of a dense array that are neither NaN nor `missing` nor masked out, the last index
    /// running fastest.
    pub(crate) fn of_dense(
        file: &str,
        array: &Array<'_>,
        mask: Option<&Array<'_>>,
        missing: Option<f64>,
    ) -> Result<Self> {
        let shape = &array.shape;
        check_modes(file, shape.len())?;
        if let Some(mask) = mask
            && &mask.shape != shape
        {
            return Err(ReadError::Unsupported {
                file: file.to_owned(),
                what: format!("the mask has shape {:?} and the array {shape:?}", mask.shape),
                hint: "give a mask of the same shape".to_owned(),
            });
        }
        let empty = || ReadError::Empty { file: file.to_owned() };
        if array.len() == 0 {
            return Err(empty());
        }
        if shape.iter().any(|&size| u32::try_from(size).is_err()) {
            return Err(too_long(file));
        }
        let missing = missing.map(|missing| array.as_stored(missing));
        let mask = mask.map(|mask| (mask, mask.strides()));
        let value_at = |cell: &Cell| {
            let shown = mask
                .as_ref()
                .is_none_or(|(mask, strides)| mask.number(cell.position(strides)) != 0.0);
            let value = array.number(cell.position(&cell.strides));
            (shown && !value.is_nan() && missing != Some(value)).then_some(value)
        };

        let mut count = 0;
        let mut cell = Cell::first(array);
        while let Some(()) = cell.there() {
            count += usize::from(value_at(&cell).is_some());
            cell.next(shape);
        }
        if count == 0 {
            return Err(empty());
        }
        let mut indices: Vec<Vec<u32>> = shape.iter().map(|_| Vec::with_capacity(count)).collect();
        let mut values = Vec::with_capacity(count);
        let mut cell = Cell::first(array);
        while let Some(()) = cell.there() {
            if let Some(value) = value_at(&cell) {
                if !value.is_finite() {
                    return Err(ReadError::NotFinite {
                        file: file.to_owned(),
                        at: format!("cell {:?}", cell.index),
                        column: "of the array".to_owned(),
                        text: value.to_string(),
                    });
                }
                values.push(value);
                for (column, &index) in indices.iter_mut().zip(&cell.index) {
                    column.push(index as u32);
                }
            }
            cell.next(shape);
        }
        Ok(Self { sizes: shape.clone(), indices, values, weights: None })
    }

    /// Observations whose labels are the indices, all of each dimension.
    pub(crate) fn observe(self, file: &str, options: &ReadOptions) -> Result<Observations> {
        if !options.bins.is_empty() {
            return Err(ReadError::BinsOfArray { file: file.to_owned() });
        }
        let names = mode_names(file, self.sizes.len(), options)?;
        let modes = names
            .into_iter()
            .zip(&self.sizes)
            .map(|(name, &size)| Mode::new(name, Labels::range(size)))
            .collect();
        Observations::new(modes, self.indices, self.values, self.weights, options.on_duplicate)
            .map_err(|error| explain(file, error, |rows| row_positions(file, rows)))
    }
}

/// The names asked for, in the order of the dimensions, or `mode1..`.
fn mode_names(file: &str, dimensions: usize, options: &ReadOptions) -> Result<Vec<String>> {
    match &options.modes {
        None => Ok((1..=dimensions).map(|mode| format!("mode{mode}")).collect()),
        Some(names) if names.len() == dimensions => {
            Ok(names.iter().map(|name| name.text().to_owned()).collect())
        }
        Some(names) => {
            Err(ReadError::ArrayModes { file: file.to_owned(), named: names.len(), dimensions })
        }
    }
}

pub(crate) fn check_modes(file: &str, dimensions: usize) -> Result<()> {
    if (2..=8).contains(&dimensions) {
        return Ok(());
    }
    Err(ReadError::Unsupported {
        file: file.to_owned(),
        what: format!(
            "the array has {dimensions} dimension{}",
            if dimensions == 1 { "" } else { "s" }
        ),
        hint: "give one with 2 to 8".to_owned(),
    })
}

pub(crate) fn too_long(file: &str) -> ReadError {
    ReadError::Unsupported {
        file: file.to_owned(),
        what: "a dimension has more than 4294967295 entries".to_owned(),
        hint: "cut it into smaller ones".to_owned(),
    }
}

/// A position in a dense array, walked in C order.
struct Cell {
    index: Vec<usize>,
    strides: Vec<usize>,
    past_the_end: bool,
}

impl Cell {
    fn first(array: &Array<'_>) -> Self {
        Self {
            index: vec![0; array.shape.len()],
            strides: array.strides(),
            past_the_end: array.len() == 0,
        }
    }

    fn there(&self) -> Option<()> {
        (!self.past_the_end).then_some(())
    }

    #[inline]
    fn position(&self, strides: &[usize]) -> usize {
        self.index.iter().zip(strides).map(|(index, stride)| index * stride).sum()
    }

    fn next(&mut self, shape: &[usize]) {
        for (index, &size) in self.index.iter_mut().zip(shape).rev() {
            *index += 1;
            if *index < size {
                return;
            }
            *index = 0;
        }
        self.past_the_end = true;
    }
}
