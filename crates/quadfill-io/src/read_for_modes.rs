//! Rows of files for the modes of a model, whether or not it knows their labels.

use std::path::{Path, PathBuf};

use quadfill::observations::Source as Columns;
use quadfill::{Mode, Observations};

use crate::arrays::{Cells, read_cells};
use crate::delimited::{TextLayout, read_text_for_modes};
use crate::error::{ReadError, Result};
use crate::options::{Format, ReadOptions};
use crate::parquet_file::read_parquet_for_modes;
use crate::query::{QueryValues, Wanted};
use crate::source::{Bytes, Source};
use crate::table::{ModePlan, Piece, RowPosition, assemble, row_positions};

/// Reads the rows of one or more files (or standard input, for `-`) for the modes of a model.
///
/// Columns are found as in [`read_query`](crate::read_query). The column of values is
/// `options.value`, or else the one that is called as in `source`, or else the last one that is
/// not used; with `options.values_are_ones` there is none, and each row counts 1. Times are cut
/// into the bins of the modes. The labels are those of the rows, also where the model does not
/// know them.
///
/// ```
/// use quadfill::{Labels, Mode, observations::Source};
/// use quadfill_io::{ReadOptions, read_for_modes};
/// # let path = std::env::temp_dir().join(format!("quadfill-modes-{}.csv", std::process::id()));
/// # std::fs::write(&path, "film,stars,user,seen\nUp,4,ann,1\nJaws,5,eve,1\n")?;
/// let modes = [
///     Mode::new("user", Labels::from_names(["ann", "bob"])),
///     Mode::new("film", Labels::from_names(["Heat", "Up"])),
/// ];
/// let source = Source { value: "stars".to_owned(), positions: None };
/// let data = read_for_modes(std::slice::from_ref(&path), &ReadOptions::default(), &modes, &source)?;
/// assert_eq!(data.values(), [4.0, 5.0]);
/// assert_eq!(data.describe(1), "eve, Jaws");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_for_modes(
    sources: &[PathBuf],
    options: &ReadOptions,
    modes: &[Mode],
    source: &Columns,
) -> Result<Observations> {
    let options = options.with_positions_of(source);
    let values = if options.values_are_ones { QueryValues::Ignored } else { QueryValues::Required };
    let wanted = Wanted { modes, values, value_name: Some(&source.value) };
    let mut parts = Vec::with_capacity(sources.len());
    let mut pieces = Vec::new();
    for path in sources {
        let (part, mut more) = Part::read(path, &options, &wanted)?;
        parts.push(part);
        pieces.append(&mut more);
    }
    let files: Vec<&str> = parts.iter().map(|part| part.file.as_str()).collect();
    let plan = ModePlan::for_model(modes);
    let data = assemble(&files.join(", "), &plan, pieces, options.on_duplicate, |rows| {
        rows.map(|row| locate(&parts, row))
    })?;
    Ok(data.with_source(source.clone()))
}

/// One file, kept to tell where a row of it stands.
struct Part {
    file: String,
    rows: usize,
    text: Option<(Bytes, TextLayout)>,
}

impl Part {
    fn read(path: &Path, options: &ReadOptions, wanted: &Wanted<'_>) -> Result<(Self, Vec<Piece>)> {
        let Source { name, bytes, format } = Source::open(path, options)?;
        let (pieces, text) = match format {
            Format::Delimited | Format::Tns => {
                let is_tns = format == Format::Tns;
                let (pieces, layout) = read_text_for_modes(&name, &bytes, options, is_tns, wanted)?;
                (pieces, Some((bytes, layout)))
            }
            Format::Parquet => {
                let bytes = bytes::Bytes::from_owner(bytes);
                (read_parquet_for_modes(&name, bytes, options, wanted)?, None)
            }
            Format::Npy | Format::Npz | Format::Mat => {
                let cells = read_cells(&name, &bytes, format, options)?;
                (vec![piece_of_cells(&name, cells, wanted)?], None)
            }
        };
        let rows = pieces.iter().map(|piece| piece.values.len()).sum();
        Ok((Self { file: name, rows, text }, pieces))
    }
}

/// The cells of an array, whose dimensions are the modes in their order.
fn piece_of_cells(file: &str, cells: Cells, wanted: &Wanted<'_>) -> Result<Piece> {
    let Cells { indices, values, weights, .. } = cells;
    if indices.len() != wanted.modes.len() {
        return Err(ReadError::Unsupported {
            file: file.to_owned(),
            what: format!(
                "the array has {} dimensions where the model has {} modes",
                indices.len(),
                wanted.modes.len()
            ),
            hint: "give one dimension per mode of the model, in its order".to_owned(),
        });
    }
    let mut piece = Piece::new(&ModePlan::for_model(wanted.modes), false, 0);
    for (mode, column) in indices.into_iter().enumerate() {
        piece.modes[mode].extend(column).map_err(|index| ReadError::OutsideBins {
            file: file.to_owned(),
            at: format!("dimension {}", mode + 1),
            column: format!("`{}`", wanted.modes[mode].name),
            text: index.to_string(),
        })?;
    }
    match wanted.values {
        QueryValues::Required => piece.values = values,
        QueryValues::Ignored => piece.fill_ones(),
    }
    piece.weights = weights;
    Ok(piece)
}

/// Where a row of all files stands.
fn locate(parts: &[Part], mut row: usize) -> RowPosition {
    for part in parts {
        if row < part.rows {
            let found = match &part.text {
                Some((bytes, layout)) => layout.row_positions(&part.file, bytes, [row, row]),
                None => row_positions(&part.file, [row, row]),
            };
            let [position, _] = found;
            return position;
        }
        row -= part.rows;
    }
    unreachable!("the row is in one of the files")
}
