//! Parquet: labels, times and values by the names of their columns.

mod claims;
mod fields;
mod guard;
mod pages;
mod query;
mod sample;
mod thrift;

use bytes::Bytes;
use quadfill::Observations;
use quadfill::observations::TimeUnit;
use rayon::prelude::*;

use fields::{Fields, ParquetFile};
pub(crate) use query::read_columns;

use crate::column_roles::ColumnRoles;
use crate::error::{ReadError, Result};
use crate::escape::escape;
use crate::number::{Number, trim};
use crate::options::ReadOptions;
use crate::query::Wanted;
use crate::roles::{Columns, Role, Roles};
use crate::table::{ModeColumn, OutsideBins, Piece, assemble, row_positions};
use crate::times::parse_time;

/// Reads observations, one piece per group of rows.
pub(crate) fn read_parquet(
    file: &str,
    bytes: Bytes,
    options: &ReadOptions,
) -> Result<(Observations, Option<ColumnRoles>)> {
    let parquet = ParquetFile::open(file, bytes)?;
    let columns = Columns { file, names: Some(&parquet.names), count: parquet.names.len() };
    let facts = parquet.sample();
    let roles = Roles::find(columns, options, &facts)?;
    let pieces = read_groups(&parquet, &roles, options)?;
    let locate = |rows| row_positions(file, rows);
    let data = assemble(file, &roles.modes, pieces, options.on_duplicate, locate)?;
    let data = data.with_source(roles.source(Some(&parquet.names)));
    let roles = roles.describe(columns, options, &facts, data.modes());
    Ok((data, Some(roles)))
}

/// Reads the rows of a file that are for the modes of a model.
pub(crate) fn read_parquet_for_modes(
    file: &str,
    bytes: Bytes,
    options: &ReadOptions,
    wanted: &Wanted<'_>,
) -> Result<Vec<Piece>> {
    let parquet = ParquetFile::open(file, bytes)?;
    let columns = Columns { file, names: Some(&parquet.names), count: parquet.names.len() };
    let found = wanted.columns(columns, options)?;
    let roles = Roles::for_model(wanted.modes, &found, columns.count);
    read_groups(&parquet, &roles, options)
}

fn read_groups(
    parquet: &ParquetFile<'_>,
    roles: &Roles,
    options: &ReadOptions,
) -> Result<Vec<Piece>> {
    let pieces: Vec<Result<Piece>> = (0..parquet.groups())
        .into_par_iter()
        .map(|group| read_group(parquet, group, roles))
        .collect();
    let mut pieces: Vec<Piece> = pieces.into_iter().collect::<Result<_>>()?;
    if options.values_are_ones {
        pieces.iter_mut().for_each(Piece::fill_ones);
    }
    if pieces.iter().all(|piece| piece.values.is_empty()) {
        return Err(ReadError::Empty { file: parquet.file.to_owned() });
    }
    Ok(pieces)
}

fn read_group(parquet: &ParquetFile<'_>, group: usize, roles: &Roles) -> Result<Piece> {
    let mut piece = Piece::new(&roles.modes, roles.weighted, 0);
    let mut counts = Vec::new();
    for (column, role) in roles.of_columns.iter().enumerate() {
        if *role == Role::Unused {
            continue;
        }
        let mut count = 0;
        parquet.read_column(group, column, |fields, row| {
            count += fields.len();
            take_fields(parquet, column, (*role, roles), fields, row, &mut piece)
        })?;
        counts.push(count);
    }
    if counts.iter().any(|&count| count != counts[0]) {
        return Err(ReadError::Malformed {
            file: parquet.file.to_owned(),
            format: "Parquet",
            reason: "its columns differ in length".to_owned(),
        });
    }
    Ok(piece)
}

fn take_fields(
    parquet: &ParquetFile<'_>,
    column: usize,
    (role, roles): (Role, &Roles),
    fields: Fields<'_>,
    row: usize,
    piece: &mut Piece,
) -> Result<()> {
    match role {
        Role::Unused => Ok(()),
        Role::Label(mode) | Role::Index(mode) | Role::Time(mode) => {
            match &mut piece.modes[mode] {
                ModeColumn::Labels(labels) => {
                    each_label(parquet, column, fields, row, |text| {
                        // Every text was checked to be UTF-8.
                        let _ = labels.push(text.as_bytes());
                    })
                }
                times => {
                    let unit = roles.modes[mode].unit;
                    each_time(parquet, column, fields, row, unit, |time| {
                        times.push_time(time).map_err(|OutsideBins| Wrong::OutsideBins)
                    })
                }
            }
        }
        Role::Value | Role::Weight => each_number(parquet, column, fields, row, |number| {
            if role == Role::Value {
                piece.values.push(number);
            } else if number < 0.0 {
                return Err(Wrong::Negative);
            } else if let Some(weights) = &mut piece.weights {
                weights.push(number);
            }
            Ok(())
        }),
    }
}

/// What a number cannot be.
enum Wrong {
    NotFinite,
    Negative,
    OutsideBins,
}

/// Hands every field to `take` as the text of a label.
fn each_label(
    parquet: &ParquetFile<'_>,
    column: usize,
    fields: Fields<'_>,
    first_row: usize,
    mut take: impl FnMut(&str),
) -> Result<()> {
    let at = |position: usize| format!("row {}", first_row + position + 1);
    let file = || parquet.file.to_owned();
    let name = || parquet.column_name(column);
    match fields {
        Fields::Integers(fields) => {
            for field in fields {
                take(&field.to_string());
            }
        }
        Fields::Reals(fields) => {
            for (position, field) in fields.iter().enumerate() {
                if field.is_nan() {
                    return Err(ReadError::NoLabel {
                        file: file(),
                        at: at(position),
                        column: name(),
                    });
                }
                // Whole numbers print without a point, so they meet labels that are integers.
                take(&field.to_string());
            }
        }
        Fields::Texts(fields) => {
            for (position, field) in fields.iter().enumerate() {
                let text = field.as_utf8().map_err(|_| ReadError::Unsupported {
                    file: file(),
                    what: format!("{}: column {} is not UTF-8", at(position), name()),
                    hint: "store the labels as strings".to_owned(),
                })?;
                let text = text.trim_matches([' ', '\t']);
                if text.is_empty() {
                    return Err(ReadError::NoLabel {
                        file: file(),
                        at: at(position),
                        column: name(),
                    });
                }
                take(text);
            }
        }
    }
    Ok(())
}

/// Hands every field to `take` as a time in seconds; `unit` is that of numbers where the file has no type
/// for times.
fn each_time(
    parquet: &ParquetFile<'_>,
    column: usize,
    fields: Fields<'_>,
    first_row: usize,
    unit: TimeUnit,
    mut take: impl FnMut(f64) -> std::result::Result<(), Wrong>,
) -> Result<()> {
    let Fields::Texts(texts) = fields else {
        let seconds = parquet.seconds_per_unit(column).unwrap_or_else(|| unit.seconds());
        return each_number(parquet, column, fields, first_row, |time| take(time * seconds));
    };
    for (position, text) in texts.iter().enumerate() {
        let row = first_row + position;
        match parse_time(trim(text.data()), unit) {
            Number::Finite(time) => {
                each_number(parquet, column, Fields::Reals(&[time]), row, &mut take)?;
            }
            Number::NotFinite | Number::Text => {
                return Err(ReadError::NotATime {
                    file: parquet.file.to_owned(),
                    at: format!("row {}", row + 1),
                    column: parquet.column_name(column),
                    text: escape(text.data()),
                });
            }
        }
    }
    Ok(())
}

/// Hands every field to `take` as a finite number.
fn each_number(
    parquet: &ParquetFile<'_>,
    column: usize,
    fields: Fields<'_>,
    first_row: usize,
    mut take: impl FnMut(f64) -> std::result::Result<(), Wrong>,
) -> Result<()> {
    let file = || parquet.file.to_owned();
    let name = || parquet.column_name(column);
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
        Fields::Texts(fields) => match fields.first() {
            None => Ok(()),
            Some(field) => Err(ReadError::NotANumber {
                file: file(),
                at: format!("row {}", first_row + 1),
                column: name(),
                text: escape(field.data()),
            }),
        },
    }
}
