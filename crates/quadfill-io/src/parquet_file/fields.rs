//! The columns of a Parquet file, batch by batch.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use parquet::basic::{LogicalType, TimeUnit, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use super::claims::{check_pages, check_rows, check_schema, may_unpack, wrong};
use super::guard::guarded;
use super::numbers::{NumberColumn, Stopped};
use super::pages::CheckedPages;
use super::unpack::Unpacker;
use crate::error::{ReadError, Result};
use crate::escape::one_line;
use crate::fields::{FieldSource, Fields, TakeFields};

/// How many rows are taken at a time.
const BATCH: usize = 1 << 14;

const TOO_LARGE: &str = "integers above 9223372036854775807";

/// An open Parquet file.
pub(crate) struct ParquetFile {
    pub file: String,
    pub names: Vec<String>,
    reader: SerializedFileReader<Bytes>,
    bytes: Bytes,
    /// Whether room is made for all rows at once, as the file has a byte or more for each.
    trusts_rows: bool,
    /// Buffers that no thread uses at the moment.
    unpackers: Mutex<Vec<Unpacker>>,
}

impl ParquetFile {
    pub(crate) fn open(file: &str, bytes: Bytes) -> Result<Self> {
        let reader = guarded(|| {
            check_schema(&bytes)?;
            let reader = SerializedFileReader::new(bytes.clone())?;
            check_rows(reader.metadata(), bytes.len())?;
            Ok(reader)
        })
        .map_err(|error| malformed(file, &error))?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let names = schema.columns().iter().map(|column| column.path().string()).collect();
        let mut parquet = Self {
            file: file.to_owned(),
            names,
            reader,
            bytes,
            trusts_rows: false,
            unpackers: Mutex::default(),
        };
        parquet.trusts_rows = parquet.first_row(parquet.groups()) <= parquet.bytes.len();
        Ok(parquet)
    }

    pub(crate) fn groups(&self) -> usize {
        self.reader.num_row_groups()
    }

    /// The row (from 0) with which a group begins, as the file claims.
    pub(crate) fn first_row(&self, group: usize) -> usize {
        let groups = &self.reader.metadata().row_groups()[..group];
        groups.iter().fold(0usize, |rows, group| {
            rows.saturating_add(usize::try_from(group.num_rows()).unwrap_or(0))
        })
    }

    fn descriptor(&self, column: usize) -> &ColumnDescriptor {
        &self.reader.metadata().file_metadata().schema_descr().columns()[column]
    }

    /// Hands the fields of a column in a group to `take`, with the row (from 0) of the first one.
    pub(crate) fn read_column(
        &self,
        group: usize,
        column: usize,
        mut take: impl FnMut(Fields<'_>, usize) -> Result<()>,
    ) -> Result<()> {
        self.read_first(group, column, usize::MAX, &mut take)
    }

    /// A reader whose claims were checked, and how many fields it may decode at a time.
    fn column_reader(
        &self,
        group: usize,
        column: usize,
    ) -> std::result::Result<(ColumnReader, usize), ParquetError> {
        let group = self.reader.get_row_group(group)?;
        let metadata = group.metadata();
        let rows = usize::try_from(metadata.num_rows())?;
        let batch_limit = check_pages(&self.bytes, metadata.column(column), rows)?;
        let descriptor = metadata.column(column).column_descr_ptr();
        let pages = CheckedPages {
            physical: descriptor.physical_type(),
            has_levels: descriptor.max_def_level() > 0,
            pages: group.get_column_page_reader(column)?,
        };
        Ok((get_column_reader(descriptor, Box::new(pages)), batch_limit))
    }

    /// Reads a column of numbers, if it can be decoded without the general decoder.
    fn read_numbers(
        &self,
        group: usize,
        column: usize,
        wanted: usize,
        take: &mut TakeFields<'_>,
    ) -> Option<Result<()>> {
        let metadata = self.reader.metadata().row_group(group);
        let rows = usize::try_from(metadata.num_rows()).ok()?;
        check_pages(&self.bytes, metadata.column(column), rows).ok()?;
        let numbers = NumberColumn::new(&self.bytes, metadata.column(column), rows)?;
        let pool = || self.unpackers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut unpacker = pool().pop().unwrap_or_default();
        let first = self.first_row(group);
        let result = numbers
            .each(&mut unpacker, wanted, &mut |fields, row| take(fields, first + row))
            .map_err(|stopped| match stopped {
                Stopped::Damaged(what) => malformed(&self.file, &wrong(what)),
                Stopped::TooLarge => self.unsupported(column, TOO_LARGE),
                Stopped::Null(row) => self.null(column, first + row),
                Stopped::Refused(error) => error,
            });
        pool().push(unpacker);
        Some(result)
    }

    fn null(&self, column: usize, row: usize) -> ReadError {
        ReadError::Null { file: self.file.clone(), row: row + 1, column: self.column_name(column) }
    }

    fn unsupported(&self, column: usize, kind: &str) -> ReadError {
        ReadError::Unsupported {
            file: self.file.clone(),
            what: format!("column {} holds {kind}", self.column_name(column)),
            hint: "store it as integers, doubles or strings".to_owned(),
        }
    }

    /// Whether a column holds text.
    pub(crate) fn holds_text(&self, column: usize) -> bool {
        self.descriptor(column).physical_type() == Physical::BYTE_ARRAY
    }

    /// Whether a column can be read at all.
    pub(crate) fn is_flat(&self, column: usize) -> bool {
        let descriptor = self.descriptor(column);
        descriptor.max_rep_level() == 0
            && !matches!(
                descriptor.physical_type(),
                Physical::INT96 | Physical::FIXED_LEN_BYTE_ARRAY
            )
    }
}

impl FieldSource for ParquetFile {
    fn file(&self) -> &str {
        &self.file
    }

    fn names(&self) -> Option<&[String]> {
        Some(&self.names)
    }

    fn column_count(&self) -> usize {
        self.names.len()
    }

    fn pieces(&self) -> usize {
        self.groups()
    }

    fn rows(&self, group: usize) -> usize {
        let claimed = self.reader.metadata().row_group(group).num_rows();
        if self.trusts_rows { usize::try_from(claimed).unwrap_or(0) } else { 0 }
    }

    fn seconds_per_unit(&self, column: usize) -> Option<f64> {
        match self.descriptor(column).logical_type_ref()? {
            LogicalType::Timestamp(timestamp) => Some(match timestamp.unit {
                TimeUnit::MILLIS => 1e-3,
                TimeUnit::MICROS => 1e-6,
                TimeUnit::NANOS => 1e-9,
            }),
            LogicalType::Date => Some(86_400.0),
            _ => None,
        }
    }

    fn read_first(
        &self,
        group: usize,
        column: usize,
        wanted: usize,
        take: &mut TakeFields<'_>,
    ) -> Result<()> {
        let descriptor = self.descriptor(column);
        let is_decimal = matches!(descriptor.logical_type_ref(), Some(LogicalType::Decimal(_)));
        if descriptor.max_rep_level() > 0 || is_decimal {
            let kind = if is_decimal { "decimals" } else { "lists" };
            return Err(self.unsupported(column, kind));
        }
        if let Some(result) = self.read_numbers(group, column, wanted, take) {
            return result;
        }
        let is_unsigned = matches!(descriptor.logical_type_ref(),
            Some(LogicalType::Integer(integer)) if !integer.is_signed);
        let (reader, batch_limit) = guarded(|| self.column_reader(group, column))
            .map_err(|error| malformed(&self.file, &error))?;
        let mut integers = Vec::new();
        let mut reals = Vec::new();
        let batch = BATCH.min(batch_limit).min(wanted);
        let walk = Walk { file: self, group, column, batch, wanted };
        match reader {
            ColumnReader::BoolColumnReader(reader) => walk.batches(reader, |batch, row| {
                integers.clear();
                integers.extend(batch.iter().map(|&field| i64::from(field)));
                take(Fields::Integers(&integers), row)
            }),
            ColumnReader::Int32ColumnReader(reader) => walk.batches(reader, |batch, row| {
                integers.clear();
                integers.extend(batch.iter().map(|&field| {
                    if is_unsigned { i64::from(field as u32) } else { i64::from(field) }
                }));
                take(Fields::Integers(&integers), row)
            }),
            ColumnReader::Int64ColumnReader(reader) => walk.batches(reader, |batch, row| {
                if is_unsigned && batch.iter().any(|&field| field < 0) {
                    return Err(self.unsupported(column, TOO_LARGE));
                }
                take(Fields::Integers(batch), row)
            }),
            ColumnReader::FloatColumnReader(reader) => walk.batches(reader, |batch, row| {
                reals.clear();
                reals.extend(batch.iter().map(|&field| f64::from(field)));
                take(Fields::Reals(&reals), row)
            }),
            ColumnReader::DoubleColumnReader(reader) => {
                walk.batches(reader, |batch, row| take(Fields::Reals(batch), row))
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                let mut bytes = 0;
                walk.batches(reader, |batch, row| {
                    bytes += batch.iter().map(ByteArray::len).sum::<usize>();
                    if !may_unpack(self.bytes.len(), bytes) {
                        let reason = "its texts are far longer than the file";
                        return Err(malformed(&self.file, &wrong(reason)));
                    }
                    let texts: Vec<&[u8]> = batch.iter().map(ByteArray::data).collect();
                    take(Fields::Texts(&texts), row)
                })
            }
            ColumnReader::Int96ColumnReader(_) | ColumnReader::FixedLenByteArrayColumnReader(_) => {
                Err(self.unsupported(column, "values of a fixed number of bytes"))
            }
        }
    }
}

/// Where a walk over batches is.
struct Walk<'a> {
    file: &'a ParquetFile,
    group: usize,
    column: usize,
    batch: usize,
    wanted: usize,
}

impl Walk<'_> {
    fn batches<D: DataType>(
        &self,
        mut reader: ColumnReaderImpl<D>,
        mut take: impl FnMut(&[D::T], usize) -> Result<()>,
    ) -> Result<()> {
        let file = self.file;
        let full = file.descriptor(self.column).max_def_level();
        let first = file.first_row(self.group);
        let claimed = file.reader.metadata().row_group(self.group).num_rows();
        let mut rows = 0usize;
        let mut values = Vec::new();
        let mut levels = Vec::new();
        loop {
            values.clear();
            levels.clear();
            let (records, _, _) = guarded(|| {
                reader.read_records(
                    self.batch,
                    (full > 0).then_some(&mut levels),
                    None,
                    &mut values,
                )
            })
            .map_err(|error| malformed(&file.file, &error))?;
            if let Some(null) = levels.iter().position(|&level| level < full) {
                return Err(file.null(self.column, first + rows + null));
            }
            if records == 0 {
                return Ok(());
            }
            take(&values, first + rows)?;
            rows += records;
            if values.len() != records || usize::try_from(claimed).is_ok_and(|limit| rows > limit) {
                return Err(malformed(&file.file, &wrong("a count of rows is wrong")));
            }
            if rows >= self.wanted {
                return Ok(());
            }
        }
    }
}

pub(crate) fn malformed(file: &str, error: &ParquetError) -> ReadError {
    ReadError::Malformed {
        file: file.to_owned(),
        format: "Parquet",
        // The decoder quotes the file in some of its messages.
        reason: one_line(&error.to_string()),
    }
}
