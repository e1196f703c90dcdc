//! From a file to observations.

use std::path::Path;

use quadfill::{Observations, Real};

use crate::arrays::read_cells;
use crate::delimited::{Delimiter, PIECE, TextLayout, read_text};
use crate::error::{ReadError, Result};
use crate::options::{Format, ReadOptions};
use crate::parquet_file::read_parquet;
use crate::source::Source;
use crate::table::Assembled;
use quadfill::observations::{Binning, ColumnPlaces};

/// What a file held.
#[derive(Debug)]
pub struct ReadData<T> {
    /// The rows.
    pub observations: Observations<T>,
    /// The bins of those modes that are times, in the order of the modes.
    pub bins: Vec<Binning>,
    /// The format it was read in.
    pub format: Format,
    /// What separated the fields, for text.
    pub delimiter: Option<Delimiter>,
    /// The names of all columns, where the file has them.
    pub header: Option<Vec<String>>,
    /// Where the columns stand in text that has no names for them.
    pub places: Option<ColumnPlaces>,
}

/// Reads a file, or standard input for `-`.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("quadfill-read-{}.tns", std::process::id()));
/// # std::fs::write(&path, "1 1 1 0.5\n2 1 3 1.5\n")?;
/// let data = quadfill_io::read::<f64>(&path, &quadfill_io::ReadOptions::default())?;
/// assert_eq!(data.observations.sizes(), vec![2, 1, 2]);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read<T: Real>(source: &Path, options: &ReadOptions) -> Result<ReadData<T>> {
    let Source { name, bytes, format } = Source::open(source, options)?;
    match format {
        // Parquet keeps its bytes, so it gets the mapped file itself.
        Format::Parquet => read_table(&name, bytes::Bytes::from_owner(bytes), options),
        _ => read_as(&name, &bytes, format, options),
    }
}

/// Reads bytes that are in memory already, and not packed; `name` stands in messages and tells the
/// format.
pub fn read_bytes<T: Real>(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<ReadData<T>> {
    let format = match options.format {
        Some(format) => format,
        None => Format::of_name(Path::new(name))
            .map_err(|ending| ReadError::UnknownEnding { file: name.to_owned(), ending })?,
    };
    read_as(name, bytes, format, options)
}

fn read_as<T: Real>(
    file: &str,
    bytes: &[u8],
    format: Format,
    options: &ReadOptions,
) -> Result<ReadData<T>> {
    match format {
        Format::Delimited | Format::Tns => {
            let is_tns = format == Format::Tns;
            let (data, layout, places) = read_text(file, bytes, options, is_tns, PIECE)?;
            let Assembled { observations, bins } = data;
            let TextLayout { delimiter, header, .. } = layout;
            let delimiter = Some(delimiter);
            Ok(ReadData { observations, bins, format, delimiter, header, places })
        }
        Format::Parquet => read_table(file, bytes::Bytes::copy_from_slice(bytes), options),
        Format::Npy | Format::Npz | Format::Mat => {
            let cells = read_cells(file, bytes, format, options)?;
            let Assembled { observations, bins } = cells.observe(file, options)?;
            Ok(ReadData { observations, bins, format, delimiter: None, header: None, places: None })
        }
    }
}

fn read_table<T: Real>(
    file: &str,
    bytes: bytes::Bytes,
    options: &ReadOptions,
) -> Result<ReadData<T>> {
    let (data, names) = read_parquet(file, bytes, options)?;
    let Assembled { observations, bins } = data;
    let format = Format::Parquet;
    Ok(ReadData { observations, bins, format, delimiter: None, header: Some(names), places: None })
}
