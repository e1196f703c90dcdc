//! What every Parquet file of ours has in common: required columns in one compressed row group.

use std::fs::File;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};

/// A column in which every row has a value.
pub(crate) fn column(name: &str, physical: Physical) -> Result<TypePtr, ParquetError> {
    let logical = (physical == Physical::BYTE_ARRAY).then_some(LogicalType::String);
    Type::primitive_type_builder(name, physical)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(logical)
        .build()
        .map(Arc::new)
}

/// Writes a table of such columns; `fill` is handed one after the other with its position.
pub(crate) fn write_table(
    file: &mut File,
    name: &str,
    columns: Vec<TypePtr>,
    mut fill: impl FnMut(usize, &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError>,
) -> Result<(), ParquetError> {
    let schema = Type::group_type_builder(name).with_fields(columns).build()?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .build();
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    let mut position = 0;
    while let Some(mut column) = group.next_column()? {
        fill(position, &mut column)?;
        column.close()?;
        position += 1;
    }
    group.close()?;
    writer.close()?;
    Ok(())
}
