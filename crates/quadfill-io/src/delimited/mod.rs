//! Rows of text: CSV, TSV, `::`, and the `.tns` of FROSTT.

mod delimiter;
mod layout;
mod rows;
mod stream;

pub(crate) use delimiter::Delimiter;
pub(crate) use layout::{TextLayout, resolve};
pub(crate) use rows::{PIECE, Problem, RowSink, each_row, lines_of_rows, read_rows};
pub(crate) use stream::TextPart;

use quadfill::Observations;
use quadfill::observations::TimeUnit;

use crate::column_roles::ColumnRoles;
use crate::error::Result;
use crate::number::{Number, canonical_u32, parse_number, trim};
use crate::options::{ColumnRef, ReadOptions};
use crate::query::Wanted;
use crate::recognise::{ColumnFacts, SAMPLE};
use crate::roles::{Columns, Role, Roles};
use crate::table::{ModeColumn, ModePlan, OutsideBins, Piece, RowPosition, assemble};
use crate::times::parse_time;

/// Reads delimited text, or a `.tns` file, in pieces of about `piece` bytes. Tells what the columns were
/// taken for where the format does not.
pub(crate) fn read_text(
    file: &str,
    bytes: &[u8],
    options: &ReadOptions,
    is_tns: bool,
    piece: usize,
) -> Result<(Observations, Option<ColumnRoles>)> {
    let layout =
        TextLayout::find(file, bytes, options, is_tns, |first| looks_like_header(first, options))?;
    let columns = Columns { file, names: layout.header.as_deref(), count: layout.fields };
    // The columns of a `.tns` file are what their order says.
    let facts = if is_tns { Vec::new() } else { sample(bytes, &layout) };
    let mut roles = Roles::find(columns, options, &facts)?;
    if is_tns {
        roles.labels_are_indices();
    }
    let pieces = read_pieces(file, bytes, options, &layout, &roles, piece)?;
    let data = assemble(file, &roles.modes, pieces, options.on_duplicate, |rows| {
        layout.row_positions(file, bytes, rows)
    })?;
    let data = data.with_source(roles.source(layout.header.as_deref()));
    let roles = (!is_tns).then(|| roles.describe(columns, options, &facts, data.modes()));
    Ok((data, roles))
}

/// What the first rows say about their columns.
fn sample(bytes: &[u8], layout: &TextLayout) -> Vec<ColumnFacts> {
    let mut facts = vec![ColumnFacts::default(); layout.fields];
    let mut rows = 0;
    // Rows with too many fields or too few are complained about when they are read.
    let _ = each_row(bytes, layout, |fields| {
        facts.iter_mut().zip(fields).for_each(|(facts, field)| facts.push(trim(field)));
        rows += 1;
        if rows < SAMPLE { Ok(()) } else { Err(()) }
    });
    facts
}

/// Reads the rows of a text that are for the modes of a model.
pub(crate) fn read_text_for_modes(
    file: &str,
    bytes: &[u8],
    options: &ReadOptions,
    is_tns: bool,
    wanted: &Wanted<'_>,
) -> Result<(Vec<Piece>, TextLayout)> {
    let layout = TextLayout::find(file, bytes, options, is_tns, |first| {
        wanted.looks_like_header(first, options)
    })?;
    let columns = Columns { file, names: layout.header.as_deref(), count: layout.fields };
    let found = wanted.columns(columns, options)?;
    let mut roles = Roles::for_model(wanted.modes, &found, layout.fields);
    if is_tns {
        roles.labels_are_indices();
    }
    let pieces = read_pieces(file, bytes, options, &layout, &roles, PIECE)?;
    Ok((pieces, layout))
}

fn read_pieces(
    file: &str,
    bytes: &[u8],
    options: &ReadOptions,
    layout: &TextLayout,
    roles: &Roles,
    piece: usize,
) -> Result<Vec<Piece>> {
    let pieces = read_rows(bytes, layout, piece, |rows| TableSink {
        roles: &roles.of_columns,
        plan: &roles.modes,
        piece: Piece::new(&roles.modes, roles.weighted, rows),
    })
    .map_err(|problem| layout.explain(file, bytes, problem))?;
    let mut pieces: Vec<Piece> = pieces.into_iter().map(|sink| sink.piece).collect();
    if options.values_are_ones {
        pieces.iter_mut().for_each(Piece::fill_ones);
    }
    if pieces.iter().all(|piece| piece.values.is_empty()) {
        return Err(layout.no_rows(file));
    }
    Ok(pieces)
}

impl TextLayout {
    /// The lines on which rows (from 0) stand.
    pub(crate) fn row_positions(
        &self,
        file: &str,
        bytes: &[u8],
        rows: [usize; 2],
    ) -> [RowPosition; 2] {
        lines_of_rows(bytes, self, rows)
            .map(|line| RowPosition { file: file.to_owned(), at: format!("line {line}") })
    }
}

/// Whether the first row holds names: columns are asked for by name, or its value is not a number.
fn looks_like_header(first: &[&[u8]], options: &ReadOptions) -> bool {
    let asked = options.modes.iter().flatten().chain(&options.value).chain(&options.weight);
    let is_name = |column: &ColumnRef| column.number().is_none();
    if asked.into_iter().any(is_name) {
        return true;
    }
    if options.values_are_ones {
        return false;
    }
    let modes: Vec<usize> = options.modes.iter().flatten().filter_map(ColumnRef::number).collect();
    let value = match options.value.as_ref().and_then(ColumnRef::number) {
        Some(number) => number.checked_sub(1),
        None => (0..first.len()).rev().find(|column| !modes.contains(&(column + 1))),
    };
    value.and_then(|value| first.get(value)).is_some_and(|text| is_a_name(text))
}

/// Neither a number nor a date nor nothing.
pub(crate) fn is_a_name(text: &[u8]) -> bool {
    !text.is_empty() && parse_time(text, TimeUnit::default()) == Number::Text
}

/// Takes the fields of rows into columns.
struct TableSink<'a> {
    roles: &'a [Role],
    plan: &'a [ModePlan],
    piece: Piece,
}

impl RowSink for TableSink<'_> {
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
                let time = finite_time(text, self.plan[mode].unit)?;
                piece.modes[mode].push_time(time).map_err(|OutsideBins| Problem::OutsideBins)?;
            }
            Some(Role::Value) => piece.values.push(finite(text)?),
            Some(Role::Weight) => {
                let weight = finite(text)?;
                if weight < 0.0 {
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

#[inline]
pub(crate) fn finite_time(text: &[u8], unit: TimeUnit) -> std::result::Result<f64, Problem> {
    match parse_time(text, unit) {
        Number::Finite(time) => Ok(time),
        Number::NotFinite => Err(Problem::NotFinite),
        Number::Text => Err(Problem::NotATime),
    }
}

#[cfg(test)]
mod tests;
