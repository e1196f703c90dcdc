//! Files of arrays: `.npy`, `.npz` and `.mat`.

mod array;
mod cells;
mod mat;
mod npy;
mod npz;

pub(crate) use cells::Cells;

use std::borrow::Cow;

use crate::error::Result;
use crate::options::{Format, ReadOptions};
use crate::source::Source;

/// The cells of an array file that hold a value.
pub(crate) fn read_cells(
    file: &str,
    bytes: &[u8],
    format: Format,
    options: &ReadOptions,
) -> Result<Cells> {
    let mask = match &options.mask {
        None => None,
        Some(path) => Some(Source::open(path, &ReadOptions::default())?),
    };
    let mask = mask
        .as_ref()
        .map(|mask| npy::parse_npy(&mask.name, Cow::Borrowed(&mask.bytes)))
        .transpose()?;
    match format {
        Format::Npz => npz::read_npz(file, bytes, options, mask.as_ref()),
        Format::Mat => {
            let array = mat::parse_mat(file, bytes, options.variable.as_deref())?;
            Cells::of_dense(file, &array, mask.as_ref(), options.missing)
        }
        _ => {
            let array = npy::parse_npy(file, Cow::Borrowed(bytes))?;
            Cells::of_dense(file, &array, mask.as_ref(), options.missing)
        }
    }
}
