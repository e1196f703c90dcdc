//! The columns of a Parquet file as a query keeps them.

use bytes::Bytes;

use super::fields::{Fields, ParquetFile};
use crate::error::{ReadError, Result};
use crate::query_rows::QueryColumn;

/// Reads all flat columns of a query as they are, with their names.
pub(crate) fn read_columns(file: &str, bytes: Bytes) -> Result<(Vec<String>, Vec<QueryColumn>)> {
    let parquet = ParquetFile::open(file, bytes)?;
    let mut names = Vec::new();
    let mut columns = Vec::new();
    for column in (0..parquet.names.len()).filter(|&column| parquet.is_flat(column)) {
        let unit = parquet.seconds_per_unit(column);
        let mut whole: Option<QueryColumn> = None;
        for group in 0..parquet.groups() {
            parquet.read_column(group, column, |fields, _| {
                match fields {
                    Fields::Integers(fields) if unit == 1.0 => {
                        integers(&mut whole).extend_from_slice(fields);
                    }
                    Fields::Integers(fields) => {
                        reals(&mut whole).extend(fields.iter().map(|&field| field as f64 * unit));
                    }
                    Fields::Reals(fields) => {
                        reals(&mut whole).extend_from_slice(fields);
                    }
                    // Not every text of a query is a label, so any will do.
                    Fields::Texts(fields) => texts(&mut whole).extend(
                        fields.iter().map(|field| String::from_utf8_lossy(field.data()).into()),
                    ),
                }
                Ok(())
            })?;
        }
        if let Some(whole) = whole {
            names.push(parquet.names[column].clone());
            columns.push(whole);
        }
    }
    let rows = columns.first().map_or(0, QueryColumn::len);
    if columns.iter().any(|column| column.len() != rows) {
        return Err(ReadError::Malformed {
            file: file.to_owned(),
            format: "Parquet",
            reason: "its columns differ in length".to_owned(),
        });
    }
    Ok((names, columns))
}

fn integers(column: &mut Option<QueryColumn>) -> &mut Vec<i64> {
    match column.get_or_insert_with(|| QueryColumn::Integers(Vec::new())) {
        QueryColumn::Integers(fields) => fields,
        _ => unreachable!("the fields of one column are all of one kind"),
    }
}

fn reals(column: &mut Option<QueryColumn>) -> &mut Vec<f64> {
    match column.get_or_insert_with(|| QueryColumn::Reals(Vec::new())) {
        QueryColumn::Reals(fields) => fields,
        _ => unreachable!("the fields of one column are all of one kind"),
    }
}

fn texts(column: &mut Option<QueryColumn>) -> &mut Vec<Box<str>> {
    match column.get_or_insert_with(|| QueryColumn::Texts(Vec::new())) {
        QueryColumn::Texts(fields) => fields,
        _ => unreachable!("the fields of one column are all of one kind"),
    }
}
