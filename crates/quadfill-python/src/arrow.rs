//! Arrow arrays as columns, read where they are.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, GenericStringArray, OffsetSizeTrait, StringViewArray};
use arrow_schema::{DataType, TimeUnit};
use quadfill_io::{Chunk, FrameColumn, Texts};

/// One column of a table: its chunks, which share the memory of whoever made them.
pub(crate) struct ArrowColumn {
    kind: DataType,
    chunks: Vec<ArrayRef>,
}

impl ArrowColumn {
    pub(crate) fn new(kind: DataType, chunks: Vec<ArrayRef>) -> Self {
        Self { kind, chunks }
    }

    pub(crate) fn column(&self) -> FrameColumn<'_> {
        FrameColumn {
            chunks: self.chunks.iter().map(|chunk| fields(chunk)).collect(),
            seconds_per_unit: seconds_per_unit(&self.kind),
            first_null: self.first_null(),
        }
    }

    fn first_null(&self) -> Option<usize> {
        let mut before = 0;
        for chunk in &self.chunks {
            if let Some(nulls) = chunk.logical_nulls().filter(|nulls| nulls.null_count() > 0) {
                let at = (0..chunk.len()).find(|&row| nulls.is_null(row))?;
                return Some(before + at);
            }
            before += chunk.len();
        }
        None
    }
}

fn seconds_per_unit(kind: &DataType) -> Option<f64> {
    match kind {
        DataType::Date32 => Some(86_400.0),
        DataType::Date64 | DataType::Timestamp(TimeUnit::Millisecond, _) => Some(1e-3),
        DataType::Timestamp(TimeUnit::Second, _) => Some(1.0),
        DataType::Timestamp(TimeUnit::Microsecond, _) => Some(1e-6),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => Some(1e-9),
        DataType::Dictionary(_, values) => seconds_per_unit(values),
        _ => None,
    }
}

fn fields(array: &dyn Array) -> Chunk<'_> {
    match array.data_type() {
        DataType::Int8 => Chunk::I8(array.as_primitive::<Int8Type>().values()),
        DataType::Int16 => Chunk::I16(array.as_primitive::<Int16Type>().values()),
        DataType::Int32 => Chunk::I32(array.as_primitive::<Int32Type>().values()),
        DataType::Int64 => Chunk::I64(array.as_primitive::<Int64Type>().values()),
        DataType::UInt8 => Chunk::U8(array.as_primitive::<UInt8Type>().values()),
        DataType::UInt16 => Chunk::U16(array.as_primitive::<UInt16Type>().values()),
        DataType::UInt32 => Chunk::U32(array.as_primitive::<UInt32Type>().values()),
        DataType::UInt64 => Chunk::U64(array.as_primitive::<UInt64Type>().values()),
        DataType::Float32 => Chunk::F32(array.as_primitive::<Float32Type>().values()),
        DataType::Float64 => Chunk::F64(array.as_primitive::<Float64Type>().values()),
        DataType::Date32 => Chunk::I32(array.as_primitive::<Date32Type>().values()),
        DataType::Date64 => Chunk::I64(array.as_primitive::<Date64Type>().values()),
        DataType::Timestamp(unit, _) => Chunk::I64(match unit {
            TimeUnit::Second => array.as_primitive::<TimestampSecondType>().values(),
            TimeUnit::Millisecond => array.as_primitive::<TimestampMillisecondType>().values(),
            TimeUnit::Microsecond => array.as_primitive::<TimestampMicrosecondType>().values(),
            TimeUnit::Nanosecond => array.as_primitive::<TimestampNanosecondType>().values(),
        }),
        DataType::Boolean => {
            Chunk::Converted(array.as_boolean().values().iter().map(i64::from).collect())
        }
        DataType::Utf8 => Chunk::Texts(Box::new(Strings(array.as_string::<i32>()))),
        DataType::LargeUtf8 => Chunk::Texts(Box::new(Strings(array.as_string::<i64>()))),
        DataType::Utf8View => Chunk::Texts(Box::new(StringViews(array.as_string_view()))),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            Chunk::Codes {
                codes: Box::new(fields(dictionary.keys())),
                values: Box::new(fields(dictionary.values().as_ref())),
            }
        }
        other => Chunk::Unsupported { kind: format!("fields of type {other}"), len: array.len() },
    }
}

struct Strings<'a, O: OffsetSizeTrait>(&'a GenericStringArray<O>);

impl<O: OffsetSizeTrait> Texts for Strings<'_, O> {
    fn len(&self) -> usize {
        Array::len(self.0)
    }

    fn text(&self, row: usize) -> &[u8] {
        self.0.value(row).as_bytes()
    }
}

struct StringViews<'a>(&'a StringViewArray);

impl Texts for StringViews<'_> {
    fn len(&self) -> usize {
        Array::len(self.0)
    }

    fn text(&self, row: usize) -> &[u8] {
        self.0.value(row).as_bytes()
    }
}
