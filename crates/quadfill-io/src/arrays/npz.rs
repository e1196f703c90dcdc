//! The `.npz` format: a dense array and maybe a mask, or the coordinates and values of cells.

use std::borrow::Cow;
use std::io::{Cursor, Read};

use super::array::Array;
use super::cells::{Cells, check_modes, too_long};
use super::npy::parse_npy;
use crate::error::{ReadError, Result};
use crate::escape::{escape, list};
use crate::options::ReadOptions;

/// Reads the cells of an archive of arrays.
pub(crate) fn read_npz(
    file: &str,
    bytes: &[u8],
    options: &ReadOptions,
    mask: Option<&Array<'_>>,
) -> Result<Cells> {
    let mut arrays = Arrays::open(file, bytes)?;
    for (name, points_first) in [("indices", true), ("coords", false)] {
        if arrays.names.iter().any(|known| known == name) {
            return arrays.coordinates(name, points_first);
        }
    }
    let own_mask = if arrays.names.iter().any(|name| name == "mask") {
        Some(arrays.get("mask")?)
    } else {
        None
    };
    let name = arrays.dense_name(options)?;
    Cells::of_dense(file, &arrays.get(&name)?, mask.or(own_mask.as_ref()), options.missing)
}

struct Arrays<'a> {
    file: &'a str,
    archive: zip::ZipArchive<Cursor<&'a [u8]>>,
    names: Vec<String>,
}

impl<'a> Arrays<'a> {
    fn open(file: &'a str, bytes: &'a [u8]) -> Result<Self> {
        let archive =
            zip::ZipArchive::new(Cursor::new(bytes)).map_err(|error| broken(file, &error))?;
        let names = archive
            .file_names()
            .filter_map(|name| name.ok()?.strip_suffix(".npy").map(str::to_owned))
            .collect();
        Ok(Self { file, archive, names })
    }

    fn get(&mut self, name: &str) -> Result<Array<'static>> {
        let mut bytes = Vec::new();
        self.archive
            .by_name(&format!("{name}.npy"))
            .map_err(|error| broken(self.file, &error))?
            .read_to_end(&mut bytes)
            .map_err(|error| broken(self.file, &error))?;
        parse_npy(self.file, Cow::Owned(bytes))
    }

    fn get_first(&mut self, names: &[&str]) -> Result<Option<Array<'static>>> {
        match names.iter().find(|name| self.names.iter().any(|known| known == *name)) {
            Some(name) => self.get(name).map(Some),
            None => Ok(None),
        }
    }

    /// The array asked for, or the only one that can be meant.
    fn dense_name(&self, options: &ReadOptions) -> Result<String> {
        let mut known: Vec<&String> = self.names.iter().filter(|name| *name != "mask").collect();
        known.sort_unstable();
        let found = match &options.variable {
            Some(variable) => known.iter().find(|name| **name == variable),
            None if known.len() == 1 => known.first(),
            None => known.iter().find(|name| matches!(name.as_str(), "data" | "values" | "arr_0")),
        };
        found.map(|name| (*name).clone()).ok_or_else(|| {
            let (file, available) = (self.file.to_owned(), list(&known));
            match &options.variable {
                _ if known.is_empty() => ReadError::Empty { file },
                Some(name) => {
                    ReadError::NoSuchArray { file, name: escape(name.as_bytes()), available }
                }
                None => ReadError::SeveralArrays { file, available },
            }
        })
    }

    /// Cells by their coordinates: one row per cell if `points_first`, else one per dimension,
    /// should both be possible.
    fn coordinates(&mut self, name: &str, points_first: bool) -> Result<Cells> {
        let file = self.file;
        let unsupported = |what: String, hint: &str| ReadError::Unsupported {
            file: file.to_owned(),
            what,
            hint: hint.to_owned(),
        };
        let points = self.get(name)?;
        let values = self.get_first(&["values", "data"])?.ok_or_else(|| {
            unsupported(
                format!("there is `{name}` but neither `values` nor `data`"),
                "store the values of the cells too",
            )
        })?;
        let weights = self.get_first(&["weights"])?;
        let shape = self.get_first(&["shape"])?;
        let count = values.len();
        let (point_axis, dimensions) = match *points.shape.as_slice() {
            [rows, columns] if rows == count && (points_first || columns != count) => (0, columns),
            [rows, columns] if columns == count => (1, rows),
            [rows, columns] if rows == count => (0, columns),
            _ => {
                return Err(unsupported(
                    format!("`{name}` has shape {:?} for {count} values", points.shape),
                    "give one row or one column of indices per value",
                ));
            }
        };
        if !points.element().is_integer() {
            return Err(unsupported(
                format!("`{name}` does not hold integers"),
                "store integers there",
            ));
        }
        check_modes(file, dimensions)?;
        if count == 0 {
            return Err(ReadError::Empty { file: file.to_owned() });
        }
        let strides = points.strides();
        let mut indices = Vec::with_capacity(dimensions);
        for dimension in 0..dimensions {
            let start = dimension * strides[1 - point_axis];
            let column = (0..count).map(|point| {
                let index = points.integer(start + point * strides[point_axis]);
                u32::try_from(index).map_err(|_| {
                    unsupported(
                        format!("row {}: `{name}` holds the index {index}", point + 1),
                        "indices count from 0 up to 4294967295",
                    )
                })
            });
            indices.push(column.collect::<Result<Vec<u32>>>()?);
        }
        let sizes = sizes(file, &indices, shape.as_ref())?;
        let values = finite_column(file, "`values`", &values)?;
        let weights = weights
            .map(|weights| {
                if weights.len() == count {
                    finite_column(file, "`weights`", &weights)
                } else {
                    Err(unsupported(
                        format!("there are {} weights for {count} values", weights.len()),
                        "give one per value",
                    ))
                }
            })
            .transpose()?;
        Ok(Cells { sizes, indices, values, weights })
    }
}

/// The sizes given, or those that the indices need.
fn sizes(file: &str, indices: &[Vec<u32>], shape: Option<&Array<'_>>) -> Result<Vec<usize>> {
    let unsupported = |what: String, hint: &str| ReadError::Unsupported {
        file: file.to_owned(),
        what,
        hint: hint.to_owned(),
    };
    if let Some(shape) = shape
        && (shape.len() != indices.len() || !shape.element().is_integer())
    {
        return Err(unsupported(
            format!("`shape` is not {} integers", indices.len()),
            "give one size per dimension",
        ));
    }
    let mut sizes = Vec::with_capacity(indices.len());
    for (dimension, column) in indices.iter().enumerate() {
        let needed = column.iter().max().map_or(0, |&largest| largest as usize + 1);
        let size = match shape {
            None => needed,
            Some(shape) => usize::try_from(shape.integer(dimension)).map_err(|_| too_long(file))?,
        };
        if size < needed {
            return Err(unsupported(
                format!("index {} is past the size {size} that `shape` gives", needed - 1),
                "indices count from 0",
            ));
        }
        // Every label takes room, also those that nothing is known about.
        if size > column.len().saturating_mul(64).max(1 << 22) || u32::try_from(size).is_err() {
            return Err(unsupported(
                format!(
                    "dimension {} has {size} entries for {} cells",
                    dimension + 1,
                    column.len()
                ),
                "number the labels without such gaps",
            ));
        }
        sizes.push(size);
    }
    Ok(sizes)
}

fn finite_column(file: &str, column: &str, array: &Array<'_>) -> Result<Vec<f64>> {
    (0..array.len())
        .map(|row| {
            let value = array.number(row);
            if value.is_finite() {
                return Ok(value);
            }
            Err(ReadError::NotFinite {
                file: file.to_owned(),
                at: format!("row {}", row + 1),
                column: column.to_owned(),
                text: array.number(row).to_string(),
            })
        })
        .collect()
}

fn broken(file: &str, error: &dyn std::fmt::Display) -> ReadError {
    ReadError::BrokenArchive { file: file.to_owned(), kind: "zip", reason: error.to_string() }
}
