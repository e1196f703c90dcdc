//! Predictions as Parquet.

use std::fs::File;
use std::io;

use parquet::basic::Type as Physical;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedColumnWriter;
use parquet::schema::types::TypePtr;
use quadfill::observations::canonical_integer;

use super::parquet_table::{column, write_table};
use super::predictions::Predictions;
use crate::number::{Number, parse_number};
use crate::query::Query;

/// How many fields are handed over at a time.
const BATCH: usize = 1 << 16;

/// What the fields of one column have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Integer,
    Real,
    Text,
}

impl Kind {
    fn of(field: &str) -> Self {
        if canonical_integer(field.as_bytes()).is_some() {
            Self::Integer
        } else if matches!(parse_number(field.as_bytes()), Number::Finite(_)) {
            Self::Real
        } else {
            Self::Text
        }
    }
}

/// Whole numbers become 64-bit integers, other numbers doubles, anything else strings.
pub(crate) fn write_parquet(
    file: &mut File,
    query: &Query,
    predictions: Predictions<'_>,
) -> io::Result<()> {
    let kinds = kinds_of_columns(query);
    columns(query, &kinds, predictions)
        .and_then(|columns| {
            write_table(file, "predictions", columns, |position, column| {
                fill(column, position, query, predictions, &kinds)
            })
        })
        .map_err(io::Error::other)
}

fn kinds_of_columns(query: &Query) -> Vec<Kind> {
    let mut kinds = vec![Kind::Integer; query.rows.names().len()];
    let Ok(()) = query.rows.for_each(|fields| {
        for (kind, field) in kinds.iter_mut().zip(fields) {
            if *kind != Kind::Text {
                *kind = Kind::of(field).max(*kind);
            }
        }
        Ok::<(), std::convert::Infallible>(())
    });
    kinds
}

fn columns(
    query: &Query,
    kinds: &[Kind],
    predictions: Predictions<'_>,
) -> Result<Vec<TypePtr>, ParquetError> {
    let mut columns = Vec::new();
    for (name, kind) in query.rows.names().iter().zip(kinds) {
        columns.push(match kind {
            Kind::Integer => column(name, Physical::INT64)?,
            Kind::Real => column(name, Physical::DOUBLE)?,
            Kind::Text => column(name, Physical::BYTE_ARRAY)?,
        });
    }
    columns.push(column("prediction", Physical::DOUBLE)?);
    if predictions.half_widths.is_some() {
        columns.push(column("lower", Physical::DOUBLE)?);
        columns.push(column("upper", Physical::DOUBLE)?);
    }
    if predictions.mark_unknown {
        columns.push(column("unknown", Physical::BOOLEAN)?);
    }
    Ok(columns)
}

/// Writes one column: a field of the query, the prediction, its bounds, or whether a label is unknown.
fn fill(
    column: &mut SerializedColumnWriter<'_>,
    position: usize,
    query: &Query,
    predictions: Predictions<'_>,
    kinds: &[Kind],
) -> Result<(), ParquetError> {
    match kinds.get(position) {
        Some(Kind::Integer) => {
            write_column::<Int64Type>(column, query, position, |field| {
                canonical_integer(field.as_bytes()).unwrap_or_default()
            })?;
        }
        Some(Kind::Real) => write_column::<DoubleType>(column, query, position, |field| {
            match parse_number(field.as_bytes()) {
                Number::Finite(value) => value,
                Number::NotFinite | Number::Text => f64::NAN,
            }
        })?,
        Some(Kind::Text) => {
            write_column::<ByteArrayType>(column, query, position, |field| ByteArray::from(field))?;
        }
        None if position == kinds.len() => {
            for batch in predictions.values.chunks(BATCH) {
                column.typed::<DoubleType>().write_batch(batch, None, None)?;
            }
        }
        None if predictions.half_widths.is_some() && position <= kinds.len() + 2 => {
            let bound = position - kinds.len() - 1;
            let bounds: Vec<f64> = (0..query.len())
                .filter_map(|row| predictions.interval(row))
                .map(|bounds| bounds[bound])
                .collect();
            column.typed::<DoubleType>().write_batch(&bounds, None, None)?;
        }
        None => {
            let unknown: Vec<bool> = (0..query.len()).map(|row| query.is_unknown(row)).collect();
            column.typed::<BoolType>().write_batch(&unknown, None, None)?;
        }
    }
    Ok(())
}

fn write_column<D: DataType>(
    column: &mut SerializedColumnWriter<'_>,
    query: &Query,
    position: usize,
    convert: impl Fn(&str) -> D::T,
) -> Result<(), ParquetError> {
    let mut batch = Vec::with_capacity(BATCH);
    query.rows.for_each(|fields| {
        batch.push(convert(&fields[position]));
        if batch.len() == BATCH {
            column.typed::<D>().write_batch(&batch, None, None)?;
            batch.clear();
        }
        Ok::<(), ParquetError>(())
    })?;
    column.typed::<D>().write_batch(&batch, None, None)?;
    Ok(())
}
