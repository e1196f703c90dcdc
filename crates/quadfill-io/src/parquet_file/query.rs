//! The columns of a Parquet file as a query keeps them.

use bytes::Bytes;

use super::fields::ParquetFile;
use crate::error::{ReadError, Result};
use crate::fields::{FieldSource, Fields};
use crate::query_rows::{NamedColumns, QueryColumn};

/// Reads all flat columns of a query as they are.
pub(crate) fn read_columns(file: &str, bytes: Bytes) -> Result<NamedColumns> {
    let parquet = ParquetFile::open(file, bytes)?;
    let (mut names, mut columns, mut seconds_per_unit) = (Vec::new(), Vec::new(), Vec::new());
    for column in (0..parquet.names.len()).filter(|&column| parquet.is_flat(column)) {
        let mut whole: Option<QueryColumn> = None;
        for group in 0..parquet.groups() {
            parquet.read_column(group, column, |fields, _| {
                match fields {
                    Fields::Integers(fields) => {
                        integers(&mut whole).extend_from_slice(fields);
                    }
                    Fields::Reals(fields) => {
                        reals(&mut whole).extend_from_slice(fields);
                    }
                    // Not every text of a query is a label, so any will do.
                    Fields::Texts(fields) => texts(&mut whole)
                        .extend(fields.iter().map(|field| String::from_utf8_lossy(field).into())),
                }
                Ok(())
            })?;
        }
        if let Some(whole) = whole {
            names.push(parquet.names[column].clone());
            columns.push(whole);
            seconds_per_unit.push(parquet.seconds_per_unit(column));
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
    Ok(NamedColumns { names, columns, seconds_per_unit })
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
