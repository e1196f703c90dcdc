//! Tables whose columns have types: what is done with their fields, wherever the table lies.

use std::ops::Range;

use quadfill::Observations;
use quadfill::observations::TimeUnit;
use rayon::prelude::*;

use crate::column_roles::ColumnRoles;
use crate::columns::LabelColumn;
use crate::error::{ReadError, Result};
use crate::escape::escape;
use crate::number::{Number, parse_number, trim};
use crate::options::ReadOptions;
use crate::query::Wanted;
use crate::recognise::{ColumnFacts, SAMPLE};
use crate::roles::{Columns, Role, Roles};
use crate::table::{ModeColumn, OutsideBins, Piece, assemble, row_positions};
use crate::times::parse_time;

/// Fields of one column that follow one another.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fields<'a> {
    Integers(&'a [i64]),
    Reals(&'a [f64]),
    Texts(&'a [&'a [u8]]),
}

impl Fields<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Integers(fields) => fields.len(),
            Self::Reals(fields) => fields.len(),
            Self::Texts(fields) => fields.len(),
        }
    }

    /// Appends the fields to `numbers` at once, if all of them are finite numbers.
    fn append_finite(&self, numbers: &mut Vec<f64>) -> bool {
        match self {
            Self::Integers(fields) => numbers.extend(fields.iter().map(|&field| field as f64)),
            Self::Reals(fields)
                if fields.iter().fold(true, |finite, field| finite & field.is_finite()) =>
            {
                numbers.extend_from_slice(fields);
            }
            Self::Reals(_) | Self::Texts(_) => return false,
        }
        true
    }
}

/// Takes fields, and the row (from 0) of the first one.
pub(crate) type TakeFields<'a> = dyn FnMut(Fields<'_>, usize) -> Result<()> + 'a;

/// A table whose rows come in pieces, and whose columns have types. Nulls are refused by whoever reads them.
pub(crate) trait FieldSource: Sync {
    /// What it is called in messages.
    fn file(&self) -> &str;

    /// The names of its columns, if they have any.
    fn names(&self) -> Option<&[String]>;

    /// How many columns there are.
    fn column_count(&self) -> usize;

    /// How many pieces its rows come in.
    fn pieces(&self) -> usize;

    /// How many rows a piece has, as far as the table can be trusted.
    fn rows(&self, piece: usize) -> usize;

    /// How many seconds one unit of a column is, if its type is one of times.
    fn seconds_per_unit(&self, column: usize) -> Option<f64>;

    /// Hands the first fields of a column in a piece to `take`, at least `wanted` if there are so many.
    fn read_first(
        &self,
        piece: usize,
        column: usize,
        wanted: usize,
        take: &mut TakeFields<'_>,
    ) -> Result<()>;

    /// A column in a message.
    fn column_name(&self, column: usize) -> String {
        match self.names() {
            Some(names) => format!("`{}`", escape(names[column].as_bytes())),
            None => (column + 1).to_string(),
        }
    }
}

fn columns_of<S: FieldSource>(source: &S) -> Columns<'_> {
    Columns { file: source.file(), names: source.names(), count: source.column_count() }
}

/// Observations, and what the columns were taken for.
pub(crate) fn observe<S: FieldSource>(
    source: &S,
    options: &ReadOptions,
) -> Result<(Observations, Option<ColumnRoles>)> {
    let (file, columns) = (source.file(), columns_of(source));
    let facts = facts_of(source);
    let roles = Roles::find(columns, options, &facts)?;
    let pieces = read_pieces(source, &roles, options)?;
    let locate = |rows| row_positions(file, rows);
    let data = assemble(file, &roles.modes, pieces, options.on_duplicate, locate)?;
    let data = data.with_source(roles.source(columns.names));
    let roles = roles.describe(columns, options, &facts, data.modes());
    Ok((data, Some(roles)))
}

/// The rows that are for the modes of a model.
pub(crate) fn pieces_for_modes<S: FieldSource>(
    source: &S,
    options: &ReadOptions,
    wanted: &Wanted<'_>,
) -> Result<Vec<Piece>> {
    let columns = columns_of(source);
    let found = wanted.columns(columns, options)?;
    read_pieces(source, &Roles::for_model(wanted.modes, &found, columns.count), options)
}

/// Facts about all columns.
pub(crate) fn facts_of<S: FieldSource>(source: &S) -> Vec<ColumnFacts> {
    (0..source.column_count()).map(|column| facts_about(source, column)).collect()
}

/// Facts about a column, from the first piece. What cannot be read says nothing, and is complained about
/// when it is used.
fn facts_about<S: FieldSource>(source: &S, column: usize) -> ColumnFacts {
    let mut facts = ColumnFacts::default();
    if source.seconds_per_unit(column).is_some() {
        facts.set_typed();
    }
    if source.pieces() > 0 {
        let _ = source.read_first(0, column, SAMPLE, &mut |fields, _| {
            match fields {
                Fields::Integers(fields) => {
                    for field in fields {
                        facts.push(field.to_string().as_bytes());
                    }
                }
                Fields::Reals(fields) => {
                    for field in fields {
                        facts.push(field.to_string().as_bytes());
                    }
                }
                Fields::Texts(fields) => {
                    for field in fields {
                        facts.push(trim(field));
                    }
                }
            }
            Ok(())
        });
    }
    facts
}

fn read_pieces<S: FieldSource>(
    source: &S,
    roles: &Roles,
    options: &ReadOptions,
) -> Result<Vec<Piece>> {
    let pieces: Vec<Result<Piece>> = cut(source.pieces(), roles)
        .into_par_iter()
        .map(|numbers| read_piece(source, numbers, roles))
        .collect();
    let mut pieces: Vec<Piece> = pieces.into_iter().collect::<Result<_>>()?;
    if options.values_are_ones {
        pieces.iter_mut().for_each(Piece::fill_ones);
    }
    if pieces.iter().all(|piece| piece.values.is_empty()) {
        return Err(ReadError::Empty { file: source.file().to_owned() });
    }
    Ok(pieces)
}

/// The part of a piece that one column of the table fills.
enum PieceColumn<'a> {
    Mode(usize, &'a mut ModeColumn),
    Values(&'a mut Vec<f64>),
    Weights(&'a mut Vec<f64>),
}

impl Piece {
    /// The parts, each with the column that fills it.
    fn columns(&mut self, roles: &[Role]) -> Vec<(usize, PieceColumn<'_>)> {
        let position = |wanted: &dyn Fn(Role) -> bool| roles.iter().position(|&role| wanted(role));
        let modes = self.modes.iter_mut().enumerate().filter_map(|(mode, column)| {
            Some((position(&|role| role.mode() == Some(mode))?, PieceColumn::Mode(mode, column)))
        });
        let values = position(&|role| role == Role::Value)
            .map(|column| (column, PieceColumn::Values(&mut self.values)));
        let weights = position(&|role| role == Role::Weight)
            .zip(self.weights.as_mut())
            .map(|(column, weights)| (column, PieceColumn::Weights(weights)));
        modes.chain(values).chain(weights).collect()
    }
}

/// Pieces to be read as one. As columns are read in parallel, few are enough for all threads, and the fewer there
/// are, the less is left to be put together.
fn cut(pieces: usize, roles: &Roles) -> Vec<Range<usize>> {
    let used = roles.of_columns.iter().filter(|&&role| role != Role::Unused).count().max(1);
    let wanted = (2 * rayon::current_num_threads()).div_ceil(used).min(pieces);
    (0..wanted).map(|part| part * pieces / wanted..(part + 1) * pieces / wanted).collect()
}

/// The rows of some pieces, as one.
pub(crate) fn read_piece<S: FieldSource>(
    source: &S,
    numbers: Range<usize>,
    roles: &Roles,
) -> Result<Piece> {
    let rows = numbers.clone().map(|number| source.rows(number)).sum();
    let mut piece = Piece::new(&roles.modes, roles.weighted, rows);
    let (mut counts, mut problems) = (Vec::new(), Vec::new());
    let columns: Vec<_> = piece
        .columns(&roles.of_columns)
        .into_par_iter()
        .map(|(column, mut to)| read_column(source, numbers.clone(), (column, roles), &mut to))
        .collect();
    for column in columns {
        match column {
            Ok(rows) => counts.push(rows),
            Err(problem) => problems.push(problem),
        }
    }
    // The first one in the table, however it was cut.
    if let Some((_, error)) = problems.into_iter().min_by_key(|(place, _)| *place) {
        return Err(error);
    }
    if counts.iter().any(|rows| *rows != counts[0]) {
        return Err(ReadError::Malformed {
            file: source.file().to_owned(),
            format: "Parquet",
            reason: "its columns differ in length".to_owned(),
        });
    }
    Ok(piece)
}

/// Reads a column of some pieces and returns how many rows it has in each. An error comes with its piece and
/// column.
fn read_column<S: FieldSource>(
    source: &S,
    numbers: Range<usize>,
    (column, roles): (usize, &Roles),
    to: &mut PieceColumn<'_>,
) -> std::result::Result<Vec<usize>, ((usize, usize), ReadError)> {
    numbers
        .map(|number| {
            let mut count = 0;
            source
                .read_first(number, column, usize::MAX, &mut |fields, row| {
                    count += fields.len();
                    take_fields(source, column, roles, fields, row, to)
                })
                .map_err(|error| ((number, column), error))?;
            Ok(count)
        })
        .collect()
}

fn take_fields<S: FieldSource>(
    source: &S,
    column: usize,
    roles: &Roles,
    fields: Fields<'_>,
    row: usize,
    to: &mut PieceColumn<'_>,
) -> Result<()> {
    match to {
        PieceColumn::Mode(_, ModeColumn::Labels(labels)) => {
            push_labels(source, column, fields, row, labels)
        }
        PieceColumn::Mode(mode, times) => {
            let unit = roles.modes[*mode].unit;
            if let ModeColumn::Times(times) = times
                && let Fields::Integers(fields) = fields
            {
                let seconds = source.seconds_per_unit(column).unwrap_or_else(|| unit.seconds());
                times.push_integers(fields, seconds);
                return Ok(());
            }
            each_time(source, column, fields, row, unit, |time| {
                times.push_time(time).map_err(|OutsideBins| Wrong::OutsideBins)
            })
        }
        PieceColumn::Values(values) => {
            if fields.append_finite(values) {
                return Ok(());
            }
            each_number(source, column, fields, row, |number| {
                values.push(number);
                Ok(())
            })
        }
        PieceColumn::Weights(weights) => each_number(source, column, fields, row, |number| {
            if number < 0.0 {
                return Err(Wrong::Negative);
            }
            weights.push(number);
            Ok(())
        }),
    }
}

/// What a number cannot be.
pub(crate) enum Wrong {
    NotFinite,
    Negative,
    OutsideBins,
}

/// The whole number that a real label prints as; such labels meet those that are integers.
pub(crate) fn whole(label: f64) -> Option<i64> {
    let is_exact = label.fract() == 0.0 && label.abs() < (1i64 << 53) as f64;
    (is_exact && (label != 0.0 || label.is_sign_positive())).then_some(label as i64)
}

/// A number that cannot be a label.
pub(crate) fn not_a_label<S: FieldSource>(
    source: &S,
    column: usize,
    row: usize,
    label: f64,
) -> ReadError {
    ReadError::NotFinite {
        file: source.file().to_owned(),
        at: format!("row {}", row + 1),
        column: source.column_name(column),
        text: label.to_string(),
    }
}

fn push_labels<S: FieldSource>(
    source: &S,
    column: usize,
    fields: Fields<'_>,
    first_row: usize,
    labels: &mut LabelColumn,
) -> Result<()> {
    let at = |position: usize| format!("row {}", first_row + position + 1);
    let no_label = |position: usize| ReadError::NoLabel {
        file: source.file().to_owned(),
        at: at(position),
        column: source.column_name(column),
    };
    match fields {
        Fields::Integers(fields) => labels.push_integers(fields),
        Fields::Reals(fields) => {
            for (position, &field) in fields.iter().enumerate() {
                if !field.is_finite() {
                    return Err(not_a_label(source, column, first_row + position, field));
                }
                match whole(field) {
                    Some(number) => labels.push_integer(number),
                    None => labels.push_text(&field.to_string()),
                }
            }
        }
        Fields::Texts(fields) => {
            for (position, field) in fields.iter().enumerate() {
                let text = trim(field);
                if text.is_empty() {
                    return Err(no_label(position));
                }
                labels.push(text).map_err(|_| ReadError::Unsupported {
                    file: source.file().to_owned(),
                    what: format!(
                        "{}: column {} is not UTF-8",
                        at(position),
                        source.column_name(column)
                    ),
                    hint: "store the labels as strings".to_owned(),
                })?;
            }
        }
    }
    Ok(())
}

/// Hands every field to `take` as a time in seconds; `unit` is that of numbers where the table has no type
/// for times.
pub(crate) fn each_time<S: FieldSource>(
    source: &S,
    column: usize,
    fields: Fields<'_>,
    first_row: usize,
    unit: TimeUnit,
    mut take: impl FnMut(f64) -> std::result::Result<(), Wrong>,
) -> Result<()> {
    let Fields::Texts(texts) = fields else {
        let seconds = source.seconds_per_unit(column).unwrap_or_else(|| unit.seconds());
        return each_number(source, column, fields, first_row, |time| take(time * seconds));
    };
    for (position, text) in texts.iter().enumerate() {
        let row = first_row + position;
        match parse_time(trim(text), unit) {
            Number::Finite(time) => {
                each_number(source, column, Fields::Reals(&[time]), row, &mut take)?;
            }
            Number::NotFinite | Number::Text => {
                return Err(ReadError::NotATime {
                    file: source.file().to_owned(),
                    at: format!("row {}", row + 1),
                    column: source.column_name(column),
                    text: escape(text),
                });
            }
        }
    }
    Ok(())
}

/// Hands every field to `take` as a finite number.
pub(crate) fn each_number<S: FieldSource>(
    source: &S,
    column: usize,
    fields: Fields<'_>,
    first_row: usize,
    mut take: impl FnMut(f64) -> std::result::Result<(), Wrong>,
) -> Result<()> {
    let file = || source.file().to_owned();
    let name = || source.column_name(column);
    let mut number = |position: usize, number: f64| {
        let result = if number.is_finite() { take(number) } else { Err(Wrong::NotFinite) };
        let at = || format!("row {}", first_row + position + 1);
        let text = || number.to_string();
        result.map_err(|wrong| match wrong {
            Wrong::NotFinite => {
                ReadError::NotFinite { file: file(), at: at(), column: name(), text: text() }
            }
            Wrong::OutsideBins => {
                ReadError::OutsideBins { file: file(), at: at(), column: name(), text: text() }
            }
            Wrong::Negative => ReadError::NegativeWeight { file: file(), at: at(), text: text() },
        })
    };
    match fields {
        Fields::Integers(fields) => {
            fields.iter().enumerate().try_for_each(|(at, &field)| number(at, field as f64))
        }
        Fields::Reals(fields) => {
            fields.iter().enumerate().try_for_each(|(at, &field)| number(at, field))
        }
        Fields::Texts(fields) => {
            fields.iter().enumerate().try_for_each(|(at, field)| match parse_number(trim(field)) {
                Number::Finite(value) => number(at, value),
                Number::NotFinite => number(at, f64::NAN),
                Number::Text => Err(ReadError::NotANumber {
                    file: file(),
                    at: format!("row {}", first_row + at + 1),
                    column: name(),
                    text: escape(field),
                }),
            })
        }
    }
}
