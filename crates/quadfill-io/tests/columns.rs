//! Columns are recognised in every format, and read again in the same way.

use std::fmt::Write;
use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;
use quadfill::observations::TimeUnit;
use quadfill_io::{
    BinSpec, QueryValues, ReadOptions, read_bytes, read_bytes_with_roles, read_query_bytes,
    write_npy,
};

const MAY: i64 = 1_051_747_200;

fn stamp(row: i64) -> i64 {
    MAY + 36_000 + row * 43_200
}

/// A Parquet file of a user, a film, a rating and a time, whose type is `kind`.
fn parquet_file(kind: &str, rows: i64, time: impl Fn(i64) -> i64) -> Vec<u8> {
    let schema = format!(
        "message rows {{ required int64 user; required double rating; required {kind}; required int64 film; }}"
    );
    let schema = Arc::new(parse_message_type(&schema).expect("a valid schema"));
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, schema, Arc::default()).expect("a writer");
    let mut group = file.next_row_group().expect("a group");
    for position in 0.. {
        let Some(mut column) = group.next_column().expect("a column") else {
            break;
        };
        match position {
            0 | 3 => {
                let labels: Vec<i64> = (0..rows).map(|row| row % (7 + position)).collect();
                column.typed::<Int64Type>().write_batch(&labels, None, None).expect("written");
            }
            1 => {
                let values: Vec<f64> = (0..rows).map(|row| (row % 5) as f64).collect();
                column.typed::<DoubleType>().write_batch(&values, None, None).expect("written");
            }
            _ if kind.starts_with("binary") => {
                let day = |row: i64| format!("2003-05-{:02}", (time(row) - MAY) / 86_400 % 28 + 1);
                let texts: Vec<ByteArray> =
                    (0..rows).map(|row| day(row).into_bytes().into()).collect();
                column.typed::<ByteArrayType>().write_batch(&texts, None, None).expect("written");
            }
            _ => {
                let times: Vec<i64> = (0..rows).map(&time).collect();
                column.typed::<Int64Type>().write_batch(&times, None, None).expect("written");
            }
        }
        column.close().expect("closed");
    }
    group.close().expect("closed");
    file.close().expect("closed");
    bytes
}

#[test]
fn times_of_parquet_are_recognised_by_type_or_by_name() {
    for (kind, factor) in [
        ("int64 seen (TIMESTAMP(MILLIS,true))", 1000),
        ("int64 seen (TIMESTAMP(MICROS,true))", 1_000_000),
        ("int64 timestamp", 1),
        ("int64 timestamp", 1000),
        ("binary date (UTF8)", 1),
    ] {
        let rows = if kind.starts_with("binary") { 70 } else { 600 };
        let file = parquet_file(kind, rows, |row| stamp(row) * factor);
        let options = ReadOptions::default();
        let (data, roles) = read_bytes_with_roles("a.parquet", &file, &options).expect(kind);
        let roles = roles.expect("columns");
        assert_eq!(roles.value.as_deref(), Some("rating"), "{kind}");
        let bins = data.modes()[1].bins.expect(kind);
        assert_eq!((bins.origin, roles.modes[1].bins.is_some()), (MAY as f64, true), "{kind}");
        let query =
            read_query_bytes("a.parquet", file, &options, data.modes(), QueryValues::Required);
        assert_eq!(query.expect(kind).indices, data.columns(), "{kind}");
        // The same moment as text.
        let text = format!("user,{},film\n0,2003-05-01,0\n", data.modes()[1].name);
        let query =
            read_query_bytes("q.csv", text.into(), &options, data.modes(), QueryValues::Ignored);
        assert_eq!(query.expect(kind).indices[1], [0], "{kind}");
    }
    // Without its name a number is a label.
    let file = parquet_file("int64 visit", 600, stamp);
    let data = read_bytes("a.parquet", &file, &ReadOptions::default()).expect("read");
    assert!(data.modes()[1].bins.is_none());
}

#[test]
fn dates_that_are_none_are_told() {
    let mut text = String::from("user,film,date,stars\n");
    for row in 0..60 {
        writeln!(text, "{},{row},2003-05-{:02},3", row % 7, row % 28 + 1).expect("memory");
    }
    text.push_str("1,99,2003-02-30,4\n");
    let error = read_bytes("a.csv", text.as_bytes(), &ReadOptions::default()).expect_err("no date");
    assert_eq!(
        error.to_string(),
        "a.csv, line 62: column `date` holds `2003-02-30`, which is not a time: write seconds since 1970 or a date such as 2003-05-17"
    );
}

#[test]
fn a_row_that_ends_with_a_date_is_not_a_header() {
    let text = "1,7,4.5,2003-05-17\n2,7,3,2003-05-18\n2,8,1,2004-05-18\n";
    let (data, roles) =
        read_bytes_with_roles("a.csv", text.as_bytes(), &ReadOptions::default()).expect("read");
    assert_eq!(data.values(), [4.5, 3.0, 1.0]);
    assert_eq!(roles.expect("columns").value.as_deref(), Some("3"));
}

#[test]
fn weights_are_neither_values_nor_labels() {
    let text = "user,film,rating,weight\n1,7,4,0.5\n2,7,3,2\n";
    let read = |options: &ReadOptions| {
        read_bytes_with_roles("a.csv", text.as_bytes(), options).expect("read")
    };
    let (data, roles) = read(&ReadOptions::default());
    assert_eq!((data.sizes(), data.weights()), (vec![2, 1], None));
    assert_eq!(roles.expect("columns").unused, ["weight"]);
    let asked = ReadOptions { weight: Some("weight".into()), ..ReadOptions::default() };
    let (data, roles) = read(&asked);
    assert_eq!(data.weights(), Some(&[0.5, 2.0][..]));
    assert_eq!(roles.expect("columns").weight.as_deref(), Some("weight"));
    // With nothing else that could be a value, it is one.
    let data = read_bytes("a.csv", b"from,to,weight\n1,2,0.5\n2,3,1.5\n", &ReadOptions::default());
    assert_eq!(data.expect("read").values(), [0.5, 1.5]);
}

#[test]
fn bins_may_be_cut_automatically_on_request() {
    let mut text = String::from("user,step,effect\n");
    for row in 0..200 {
        writeln!(text, "u{row},{row},{}", row % 5).expect("memory");
    }
    let bins = |bin: &str| {
        let bins = vec![BinSpec::parse(bin).expect("bins")];
        let options = ReadOptions { bins, ..ReadOptions::default() };
        read_bytes("a.csv", text.as_bytes(), &options).map(|data| data.modes()[1].bins)
    };
    let equal = bins("step=auto").expect("read").expect("bins");
    assert_eq!((equal.count, equal.unit), (Some(10), TimeUnit::Number));
    assert_eq!(bins("step=none").expect("read"), None);
    assert!(bins("effect=none").is_err());
}

#[test]
fn a_value_can_mean_missing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.npy");
    write_npy(&path, &[2, 3], [0.0, 1.5, f64::NAN, 2.0, 0.0, -1.0]).expect("written");
    let values = |missing| {
        let options = ReadOptions { missing, ..ReadOptions::default() };
        quadfill_io::read(&path, &options).map(|data| data.values().to_vec())
    };
    assert_eq!(values(None).expect("read"), [0.0, 1.5, 2.0, 0.0, -1.0]);
    assert_eq!(values(Some(0.0)).expect("read"), [1.5, 2.0, -1.0]);
    assert_eq!(values(Some(-1.0)).expect("read"), [0.0, 1.5, 2.0, 0.0]);
    assert_eq!(values(Some(f64::NAN)).expect("read").len(), 5);
    write_npy(&path, &[2, 2], [0.1f32, 0.5, 0.1, 0.7]).expect("written");
    assert_eq!(values(Some(0.1)).expect("read").len(), 2, "as the array holds it");
    write_npy(&path, &[2, 2], [9u32; 4]).expect("written");
    let error = values(Some(9.0)).expect_err("nothing left");
    assert!(error.to_string().contains("the file has no rows"), "{error}");
}

proptest! {
    /// Whatever the columns are called and hold, there is an answer, and it is the same for the same rows.
    #[test]
    fn any_table_is_read_or_refused(
        names in proptest::collection::vec("rating|time|date|userId|y|x|weight|[a-c]|", 3..6),
        rows in proptest::collection::vec("[0-9]{1,2}|88125094[0-9]|2003-05-[0-9]{2}|w[0-9]|", 3..60),
    ) {
        let mut text = names.join(",") + "\n";
        for row in rows.chunks_exact(names.len()) {
            text += &(row.join(",") + "\n");
        }
        let read = || {
            read_bytes_with_roles("a.csv", text.as_bytes(), &ReadOptions::default())
                .map(|(data, roles)| (data.columns().concat(), data.values().to_vec(), roles))
                .map_err(|error| error.to_string())
        };
        let first = read();
        prop_assert_eq!(&first, &read());
        match first {
            Ok((_, _, roles)) => prop_assert!(roles.is_some()),
            Err(message) => prop_assert!(!message.contains('\n')),
        }
    }
}
