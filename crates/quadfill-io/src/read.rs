//! From a file to observations.

use std::path::Path;

use quadfill::Observations;

use crate::arrays::read_cells;
use crate::column_roles::ColumnRoles;
use crate::delimited::{PIECE, read_text};
use crate::error::Result;
use crate::options::{Format, ReadOptions};
use crate::parquet_file::read_parquet;
use crate::source::Source;

/// Reads a file, or standard input for `-`.
///
/// The observations know the name of the column of their values, and where the columns stand if
/// the file has no names for them.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("quadfill-read-{}.csv", std::process::id()));
/// # std::fs::write(&path, "user,film,stars\nann,Heat,4\nbob,Heat,5\n")?;
/// let data = quadfill_io::read(&path, &quadfill_io::ReadOptions::default())?;
/// assert_eq!(data.sizes(), vec![2, 1]);
/// assert_eq!(data.source().value, "stars");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(source: impl AsRef<Path>, options: &ReadOptions) -> Result<Observations> {
    read_with_roles(source, options).map(|(data, _)| data)
}

/// Reads a file as [`read`] does, and tells what its columns were taken for. Arrays and `.tns` files have no
/// columns to be told about.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("quadfill-roles-{}.csv", std::process::id()));
/// # std::fs::write(&path, "film,stars,user\nHeat,4,ann\nHeat,5,bob\n")?;
/// let (data, roles) = quadfill_io::read_with_roles(&path, &quadfill_io::ReadOptions::default())?;
/// assert_eq!(data.values(), [4.0, 5.0]);
/// assert_eq!(roles.expect("columns").value.as_deref(), Some("stars"));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_with_roles(
    source: impl AsRef<Path>,
    options: &ReadOptions,
) -> Result<(Observations, Option<ColumnRoles>)> {
    let Source { name, bytes, format } = Source::open(source.as_ref(), options)?;
    match format {
        // Parquet keeps its bytes, so it gets the mapped file itself.
        Format::Parquet => read_parquet(&name, bytes::Bytes::from_owner(bytes), options),
        _ => read_as(&name, &bytes, format, options),
    }
}

/// Reads bytes that are in memory already, and not packed; `name` stands in messages and tells the
/// format.
///
/// ```
/// use quadfill_io::{ReadOptions, read_bytes};
/// let data = read_bytes("ratings.dat", b"1::122::5\n2::122::3\n", &ReadOptions::default())?;
/// assert_eq!(data.values(), [5.0, 3.0]);
/// # Ok::<(), quadfill_io::ReadError>(())
/// ```
pub fn read_bytes(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Observations> {
    read_bytes_with_roles(name, bytes, options).map(|(data, _)| data)
}

/// Reads bytes as [`read_bytes`] does, and tells what the columns were taken for.
///
/// ```
/// use quadfill_io::{ReadOptions, read_bytes_with_roles};
/// let text = b"user,film,votes,film_id\nann,Heat,4,1\nbob,Heat,5,1\n";
/// let (_, roles) = read_bytes_with_roles("r.csv", text, &ReadOptions::default())?;
/// assert_eq!(roles.expect("columns").value.as_deref(), Some("votes"));
/// # Ok::<(), quadfill_io::ReadError>(())
/// ```
pub fn read_bytes_with_roles(
    name: &str,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(Observations, Option<ColumnRoles>)> {
    let format = Format::for_name(name, options)?;
    read_as(name, bytes, format, options)
}

fn read_as(
    file: &str,
    bytes: &[u8],
    format: Format,
    options: &ReadOptions,
) -> Result<(Observations, Option<ColumnRoles>)> {
    match format {
        Format::Delimited | Format::Tns => {
            read_text(file, bytes, options, format == Format::Tns, PIECE)
        }
        Format::Parquet => read_parquet(file, bytes::Bytes::copy_from_slice(bytes), options),
        Format::Npy | Format::Npz | Format::Mat => {
            Ok((read_cells(file, bytes, format, options)?.observe(file, options)?, None))
        }
    }
}
