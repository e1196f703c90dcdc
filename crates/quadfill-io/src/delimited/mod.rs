//! Rows of text: CSV, TSV, `::`, and the `.tns` of FROSTT.

mod delimiter;
mod layout;
mod rows;

pub use delimiter::Delimiter;
pub(crate) use layout::{TextLayout, resolve};
pub(crate) use rows::{
    PIECE, Problem, Records, RowSink, lines_of_rows, read_rows, without_carriage_return,
};

use quadfill::Real;
use quadfill::observations::ColumnPlaces;

use crate::error::Result;
use crate::number::{Number, canonical_u32, parse_number, trim};
use crate::options::{ColumnRef, ReadOptions};
use crate::roles::{Columns, Role, Roles};
use crate::table::{Assembled, ModeColumn, Piece, assemble};

/// Reads delimited text, or a `.tns` file, in pieces of about `piece` bytes.
pub(crate) fn read_text<T: Real>(
    file: &str,
    bytes: &[u8],
    options: &ReadOptions,
    is_tns: bool,
    piece: usize,
) -> Result<(Assembled<T>, TextLayout, Option<ColumnPlaces>)> {
    let layout =
        TextLayout::find(file, bytes, options, is_tns, |first| looks_like_header(first, options))?;
    let columns = Columns { file, names: layout.header.as_deref(), count: layout.fields };
    let mut roles = Roles::find(columns, options)?;
    let places = if layout.header.is_none() { roles.places() } else { None };
    if is_tns {
        for role in &mut roles.of_columns {
            if let Role::Label(mode) = *role {
                *role = Role::Index(mode);
            }
        }
    }
    let pieces = read_rows(bytes, &layout, piece, |rows| TableSink {
        roles: &roles.of_columns,
        piece: Piece::new(&roles.modes, roles.weighted, rows),
    })
    .map_err(|problem| layout.explain(file, bytes, problem))?;
    let mut pieces: Vec<Piece<T>> = pieces.into_iter().map(|sink| sink.piece).collect();
    if options.ones {
        pieces.iter_mut().for_each(Piece::fill_ones);
    }
    if pieces.iter().all(|piece| piece.values.is_empty()) {
        return Err(layout.no_rows(file));
    }
    let data = assemble(file, &roles.modes, pieces, options.on_duplicate, |rows| {
        lines_of_rows(bytes, &layout, rows).map(|line| format!("line {line}"))
    })?;
    Ok((data, layout, places))
}

/// Whether the first row holds names: columns are asked for by name, or its value is no number.
fn looks_like_header(first: &[&[u8]], options: &ReadOptions) -> bool {
    let asked = options.modes.iter().flatten().chain(&options.value).chain(&options.weight);
    let is_name = |column: &ColumnRef| column.number().is_none();
    if asked.into_iter().any(is_name) {
        return true;
    }
    if options.ones {
        return false;
    }
    let modes: Vec<usize> = options.modes.iter().flatten().filter_map(ColumnRef::number).collect();
    let value = match options.value.as_ref().and_then(ColumnRef::number) {
        Some(number) => number.checked_sub(1),
        None => (0..first.len()).rev().find(|column| !modes.contains(&(column + 1))),
    };
    value.and_then(|value| first.get(value)).is_some_and(|text| is_a_name(text))
}

/// Neither a number nor nothing.
pub(crate) fn is_a_name(text: &[u8]) -> bool {
    !text.is_empty() && parse_number(text) == Number::Text
}

/// Takes the fields of rows into columns.
struct TableSink<'a, T> {
    roles: &'a [Role],
    piece: Piece<T>,
}

impl<T: Real> RowSink for TableSink<'_, T> {
    #[inline]
    fn field(&mut self, column: usize, text: &[u8]) -> std::result::Result<(), Problem> {
        let text = trim(text);
        let piece = &mut self.piece;
        match self.roles.get(column) {
            None | Some(Role::Unused) => {}
            Some(&Role::Label(mode)) => {
                if text.is_empty() {
                    return Err(Problem::NoLabel);
                }
                if let ModeColumn::Labels(labels) = &mut piece.modes[mode] {
                    labels.push(text).map_err(|_| Problem::NotUtf8)?;
                }
            }
            Some(&Role::Index(mode)) => {
                if canonical_u32(text).is_none_or(|index| index == 0) {
                    return Err(Problem::BadIndex);
                }
                if let ModeColumn::Labels(labels) = &mut piece.modes[mode] {
                    labels.push(text).map_err(|_| Problem::NotUtf8)?;
                }
            }
            Some(&Role::Time(mode)) => {
                if let ModeColumn::Times(times) = &mut piece.modes[mode] {
                    times.push(finite(text)?);
                }
            }
            Some(Role::Value) => piece.values.push(finite_in::<T>(text)?),
            Some(Role::Weight) => {
                let weight = finite_in::<T>(text)?;
                if weight < T::ZERO {
                    return Err(Problem::NegativeWeight);
                }
                if let Some(weights) = &mut piece.weights {
                    weights.push(weight);
                }
            }
        }
        Ok(())
    }
}

#[inline]
pub(crate) fn finite(text: &[u8]) -> std::result::Result<f64, Problem> {
    match parse_number(text) {
        Number::Finite(value) => Ok(value),
        Number::NotFinite => Err(Problem::NotFinite),
        Number::Text => Err(Problem::NotANumber),
    }
}

/// A number that is finite in the precision asked for too.
#[inline]
fn finite_in<T: Real>(text: &[u8]) -> std::result::Result<T, Problem> {
    let value = T::from_f64(finite(text)?);
    if value.is_finite() { Ok(value) } else { Err(Problem::NotFinite) }
}

#[cfg(test)]
mod tests;
