//! One file of several, read a few pieces at a time.

use std::path::Path;

use crate::delimited::TextPart;
use crate::error::{ReadError, Result};
use crate::fields::{FieldSource, facts_of, read_piece};
use crate::options::{Format, ReadOptions};
use crate::parquet_file::ParquetFile;
use crate::recognise::ColumnFacts;
use crate::roles::{Columns, Role, Roles};
use crate::source::Source;
use crate::table::{Piece, RowPosition, row_positions};
use rayon::prelude::*;

/// An open file.
pub(super) enum Part {
    Text(TextPart),
    Parquet(ParquetFile),
}

impl Part {
    pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<Self> {
        let Source { name, bytes, format } = Source::open(path, options)?;
        match format {
            Format::Delimited | Format::Tns => {
                TextPart::open(name, bytes, options, format == Format::Tns).map(Self::Text)
            }
            Format::Parquet => {
                ParquetFile::open(&name, bytes::Bytes::from_owner(bytes)).map(Self::Parquet)
            }
            Format::Npy | Format::Npz | Format::Mat => Err(ReadError::Unsupported {
                file: name,
                what: "an array is not read in parts".to_owned(),
                hint: "give one array by itself, or rows as text or Parquet".to_owned(),
            }),
        }
    }

    pub(super) fn file(&self) -> &str {
        match self {
            Self::Text(part) => &part.file,
            Self::Parquet(part) => part.file(),
        }
    }

    pub(super) fn columns(&self) -> Columns<'_> {
        match self {
            Self::Text(part) => part.columns(),
            Self::Parquet(part) => {
                Columns { file: part.file(), names: part.names(), count: part.column_count() }
            }
        }
    }

    pub(super) fn facts(&self) -> Vec<ColumnFacts> {
        match self {
            Self::Text(part) => part.facts(),
            Self::Parquet(part) => facts_of(part),
        }
    }

    /// About how many rows there are.
    pub(super) fn rows(&self) -> usize {
        match self {
            Self::Text(part) => part.rows(),
            Self::Parquet(part) => part.first_row(part.groups()),
        }
    }

    /// Whether the type of a column says that it holds text, where columns have types.
    fn holds_text(&self, column: usize) -> Option<bool> {
        match self {
            Self::Text(_) => None,
            Self::Parquet(part) => Some(part.holds_text(column)),
        }
    }

    /// The columns by the use that those of the first part have: of the same names, or at the same places where
    /// there are no names.
    pub(super) fn roles_like(&self, first: &Self, roles: &Roles) -> Result<Roles> {
        let (ours, theirs) = (self.columns(), first.columns());
        let mut of_columns = vec![Role::Unused; ours.count];
        for (column, &role) in roles.of_columns.iter().enumerate() {
            if role == Role::Unused {
                continue;
            }
            let found = match (ours.names, theirs.names) {
                (Some(ours), Some(theirs)) => ours.iter().position(|name| *name == theirs[column]),
                (None, None) => (ours.count == theirs.count).then_some(column),
                _ => None,
            };
            let name = || {
                theirs.names.map_or_else(|| (column + 1).to_string(), |names| names[column].clone())
            };
            let at = found.ok_or_else(|| ReadError::OtherColumns {
                file: self.file().to_owned(),
                column: name(),
                first: first.file().to_owned(),
            })?;
            if matches!(role, Role::Label(_))
                && let (Some(text), Some(was_text)) =
                    (self.holds_text(at), first.holds_text(column))
                && text != was_text
            {
                let kind = |text: bool| if text { "text" } else { "numbers" };
                return Err(ReadError::OtherType {
                    file: self.file().to_owned(),
                    column: name(),
                    got: kind(text),
                    first: first.file().to_owned(),
                    expected: kind(was_text),
                });
            }
            of_columns[at] = role;
        }
        Ok(Roles { of_columns, modes: roles.modes.clone(), weighted: roles.weighted })
    }

    /// Reads all rows; `convert` is called by several threads, `take` with what it returns in the order of the
    /// rows, and with the share of the file that is done. It ends the reading by returning false.
    pub(super) fn read<R: Send>(
        &self,
        roles: &Roles,
        options: &ReadOptions,
        convert: impl Fn(Piece) -> Result<R> + Sync,
        mut take: impl FnMut(R, f64) -> Result<bool>,
    ) -> Result<()> {
        let part = match self {
            Self::Text(part) => return part.read(roles, options, convert, take),
            Self::Parquet(part) => part,
        };
        let groups: Vec<usize> = (0..part.groups()).collect();
        for some in groups.chunks(rayon::current_num_threads()) {
            let pieces: Vec<Result<R>> = some
                .par_iter()
                .map(|&group| {
                    let mut piece = read_piece(part, group..group + 1, roles)?;
                    if options.values_are_ones {
                        piece.fill_ones();
                    }
                    convert(piece)
                })
                .collect();
            for (piece, group) in pieces.into_iter().zip(some) {
                if !take(piece?, (group + 1) as f64 / groups.len() as f64)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Where a row (from 0) stands.
    pub(super) fn position(&self, row: usize) -> RowPosition {
        match self {
            Self::Text(part) => part.position(row),
            Self::Parquet(part) => {
                let [position, _] = row_positions(part.file(), [row, row]);
                position
            }
        }
    }
}
