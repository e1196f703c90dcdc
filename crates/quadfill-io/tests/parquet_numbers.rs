//! Numbers in Parquet files come out as they went in, however they are stored.

use std::sync::Arc;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;
use quadfill::{Observations, OnDuplicate};
use quadfill_io::{ReadOptions, read_bytes};

/// One row: two labels, a time, a weight and a value.
#[derive(Debug, Clone, Copy)]
struct Row {
    user: i64,
    film: i32,
    time: i64,
    weight: f32,
    value: f64,
}

fn any_row() -> impl Strategy<Value = Row> {
    let user = prop_oneof![0i64..9, 0i64..100_000, any::<i64>()];
    let film = prop_oneof![Just(3), 0i32..40, any::<i32>()];
    (user, film, 0i64..2_000, 0u8..5, -1e3..1e3).prop_map(|(user, film, time, weight, value)| Row {
        user,
        film,
        time,
        weight: f32::from(weight) / 4.0,
        value,
    })
}

/// A file of these groups of rows; `present` are the levels of the films.
fn file(
    settings: WriterPropertiesBuilder,
    groups: &[&[Row]],
    present: impl Fn(usize) -> bool,
) -> Vec<u8> {
    let schema = "message rows {
        required int64 user;
        optional int32 film (INTEGER(32, false));
        optional int64 time;
        required float weight;
        optional double value;
    }";
    let schema = Arc::new(parse_message_type(schema).expect("a valid schema"));
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, schema, Arc::new(settings.build()))
        .expect("a writer");
    let mut first = 0;
    for rows in groups {
        let mut group = file.next_row_group().expect("a group");
        let all = vec![1i16; rows.len()];
        macro_rules! write {
            ($type:ty, $levels:expr, $fields:expr) => {{
                let mut column = group.next_column().expect("a column").expect("one more");
                column.typed::<$type>().write_batch(&$fields, $levels, None).expect("written");
                column.close().expect("closed");
            }};
        }
        let levels: Vec<i16> = (first..first + rows.len()).map(|row| present(row).into()).collect();
        let films = rows.iter().zip(&levels).filter(|(_, level)| **level > 0);
        write!(Int64Type, None, rows.iter().map(|row| row.user).collect::<Vec<_>>());
        write!(Int32Type, Some(&levels), films.map(|(row, _)| row.film).collect::<Vec<_>>());
        write!(Int64Type, Some(&all), rows.iter().map(|row| row.time).collect::<Vec<_>>());
        write!(FloatType, None, rows.iter().map(|row| row.weight).collect::<Vec<_>>());
        write!(DoubleType, Some(&all), rows.iter().map(|row| row.value).collect::<Vec<_>>());
        group.close().expect("closed");
        first += rows.len();
    }
    file.close().expect("closed");
    bytes
}

fn options() -> ReadOptions {
    ReadOptions {
        modes: Some(vec!["user".into(), "film".into(), "time".into()]),
        value: Some("value".into()),
        weight: Some("weight".into()),
        on_duplicate: OnDuplicate::Last,
        ..ReadOptions::default()
    }
}

fn label(data: &Observations, mode: usize, row: usize) -> String {
    data.modes()[mode].labels.name(data.indices(mode)[row] as usize).into_owned()
}

/// All combinations of how a file is written.
fn all_settings() -> Vec<WriterPropertiesBuilder> {
    let mut all = Vec::new();
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        let zstd = Compression::ZSTD(ZstdLevel::default());
        for compression in [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            zstd,
            Compression::GZIP(parquet::basic::GzipLevel::default()),
        ] {
            // With a dictionary, with one that is given up, plain, and as differences.
            for way in 0..4 {
                let settings = WriterProperties::builder()
                    .set_writer_version(version)
                    .set_compression(compression)
                    .set_data_page_row_count_limit(50)
                    .set_write_batch_size(10)
                    .set_dictionary_enabled(way < 2)
                    .set_dictionary_page_size_limit(if way == 1 { 64 } else { 1 << 20 });
                all.push(match way {
                    3 => ["user", "film", "time"].into_iter().fold(settings, |settings, column| {
                        settings.set_column_encoding(column.into(), Encoding::DELTA_BINARY_PACKED)
                    }),
                    2 => settings.set_encoding(Encoding::PLAIN),
                    _ => settings,
                });
            }
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

    #[test]
    fn rows_come_back(
        rows in proptest::collection::vec(any_row(), 1..400),
        groups in 1usize..5,
        runs in any::<bool>(),
    ) {
        let mut rows = rows;
        for (row, fields) in rows.iter_mut().enumerate() {
            // No cell is given twice.
            fields.time = fields.time * 400 + row as i64;
            if runs {
                fields.film = i32::from(row > 70);
            }
        }
        let mut parts: Vec<&[Row]> = rows.chunks(rows.len().div_ceil(groups)).collect();
        parts.insert(groups / 2, &[]);
        for settings in all_settings() {
            let bytes = file(settings, &parts, |_| true);
            let data = read_bytes("a.parquet", &bytes, &options()).expect("a valid file");
            prop_assert_eq!(data.len(), rows.len());
            for (row, fields) in rows.iter().enumerate() {
                prop_assert_eq!(label(&data, 0, row), fields.user.to_string());
                prop_assert_eq!(label(&data, 1, row), (fields.film as u32).to_string());
                prop_assert_eq!(label(&data, 2, row), fields.time.to_string());
                prop_assert_eq!(data.values()[row], fields.value);
                let weights = data.weights().expect("weights");
                prop_assert_eq!(weights[row], f64::from(fields.weight));
            }
        }
    }

    #[test]
    fn damaged_files_never_panic_and_say_so(
        rows in proptest::collection::vec(any_row(), 50..300),
        way in 0usize..32,
        damages in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = file(all_settings().swap_remove(way), &[&rows], |_| true);
        for (at, byte) in damages {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Err(error) = read_bytes("a.parquet", &bytes, &options()) {
            prop_assert!(error.to_string().starts_with("a.parquet"), "{}", error);
        }
    }
}

#[test]
fn the_first_null_of_numbers_is_named() {
    let row = |row: usize| Row { user: 1, film: 2, time: row as i64, weight: 1.0, value: 0.5 };
    let rows: Vec<Row> = (0..300).map(row).collect();
    for settings in all_settings() {
        let bytes = file(settings, &[&rows[..100], &rows[100..]], |row| row != 170 && row != 290);
        let error = read_bytes("a.parquet", &bytes, &options()).expect_err("a null");
        assert_eq!(
            error.to_string(),
            "a.parquet, row 171: column `film` is null: leave out rows whose label or value is missing"
        );
    }
}
