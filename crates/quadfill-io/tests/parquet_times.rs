//! Dates and timestamps of Parquet are the same labels, and the same times, wherever they are read.

use std::sync::Arc;

use parquet::data_type::{DoubleType, Int32Type, Int64Type};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use quadfill_io::{
    BinSpec, QueryValues, ReadOptions, read_bytes, read_for_modes, read_query_bytes,
};

/// Rows of a user, a day and a value.
fn file() -> Vec<u8> {
    let schema = "message rows {
        required int64 user;
        required int32 day (DATE);
        required double stars;
    }";
    let schema = Arc::new(parse_message_type(schema).expect("a valid schema"));
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, schema, Arc::default()).expect("a writer");
    let mut group = file.next_row_group().expect("a group");
    let mut column = group.next_column().expect("a column").expect("one more");
    column.typed::<Int64Type>().write_batch(&[7, 8, 7], None, None).expect("written");
    column.close().expect("closed");
    let mut column = group.next_column().expect("a column").expect("one more");
    column.typed::<Int32Type>().write_batch(&[19000, 19001, 19010], None, None).expect("written");
    column.close().expect("closed");
    let mut column = group.next_column().expect("a column").expect("one more");
    column.typed::<DoubleType>().write_batch(&[1.0, 2.0, 3.0], None, None).expect("written");
    column.close().expect("closed");
    group.close().expect("closed");
    file.close().expect("closed");
    bytes
}

#[test]
fn dates_are_found_again() {
    let weeks = ReadOptions {
        bins: vec![BinSpec::parse("day=1w").expect("bins")],
        ..ReadOptions::default()
    };
    for (options, labels) in [(ReadOptions::default(), 3), (weeks, 2)] {
        let data = read_bytes("a.parquet", &file(), &options).expect("read");
        assert_eq!(data.sizes(), [2, labels]);
        let plain = ReadOptions::default();
        let query =
            read_query_bytes("a.parquet", file(), &plain, data.modes(), QueryValues::Required);
        let query = query.expect("read");
        assert_eq!(query.indices, [data.indices(0), data.indices(1)]);
        assert_eq!(query.values.as_deref(), Some(data.values()));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.parquet");
        std::fs::write(&path, file()).expect("written");
        let same = read_for_modes(&[path], &plain, data.modes(), data.source()).expect("read");
        assert_eq!(same.columns(), data.columns());
        assert_eq!(same.modes()[1].bins, data.modes()[1].bins);
    }
}
