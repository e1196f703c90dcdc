//! Parquet files that claim more than they hold get one sentence instead of all the memory.

use std::sync::Arc;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use quadfill_io::{ReadOptions, read_bytes};

const ROWS: usize = 1000;

fn text(mode: &str, row: usize) -> String {
    format!("{mode} number {}", row * 7 % 13 + row)
}

/// A file of two columns of texts and one of numbers.
fn file(settings: WriterPropertiesBuilder) -> Vec<u8> {
    file_with_levels(settings, &[1; ROWS])
}

/// The same with these definition levels of the films: 0 for null.
fn file_with_levels(settings: WriterPropertiesBuilder, levels: &[i16; ROWS]) -> Vec<u8> {
    let schema = "message rows {
        required binary user (UTF8);
        optional binary film (UTF8);
        required double stars;
    }";
    let schema = Arc::new(parse_message_type(schema).expect("a valid schema"));
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, schema, Arc::new(settings.build()))
        .expect("a writer");
    let mut group = file.next_row_group().expect("a group");
    for (mode, levels) in [("user", None), ("film", Some(levels))] {
        let is_there = |row: &usize| levels.is_none_or(|levels| levels[*row] > 0);
        let texts: Vec<ByteArray> =
            (0..ROWS).filter(is_there).map(|row| text(mode, row).into_bytes().into()).collect();
        let mut column = group.next_column().expect("a column").expect("one more");
        let levels = levels.map(|levels| &levels[..]);
        column.typed::<ByteArrayType>().write_batch(&texts, levels, None).expect("written");
        column.close().expect("closed");
    }
    let stars: Vec<f64> = (0..ROWS).map(|row| row as f64).collect();
    let mut column = group.next_column().expect("a column").expect("one more");
    column.typed::<DoubleType>().write_batch(&stars, None, None).expect("written");
    column.close().expect("closed");
    group.close().expect("closed");
    file.close().expect("closed");
    bytes
}

#[test]
fn every_encoding_of_texts_is_read() {
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        for encoding in
            [Encoding::PLAIN, Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY]
        {
            for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY] {
                let settings = WriterProperties::builder()
                    .set_writer_version(version)
                    .set_dictionary_enabled(false)
                    .set_compression(compression)
                    .set_data_page_row_count_limit(300)
                    .set_write_batch_size(100)
                    .set_column_encoding("user".into(), encoding)
                    .set_column_encoding("film".into(), encoding);
                let data = read_bytes("a.parquet", &file(settings), &ReadOptions::default())
                    .expect("a valid file");
                assert_eq!(data.len(), ROWS);
                for row in [0, 299, 300, ROWS - 1] {
                    for (mode, name) in ["user", "film"].into_iter().enumerate() {
                        let label = data.indices(mode)[row] as usize;
                        assert_eq!(data.modes()[mode].labels.name(label), text(name, row));
                    }
                    assert_eq!(data.values()[row], row as f64);
                }
            }
        }
    }
}

/// Puts `new` instead of the first `old` after `from`.
fn replace(bytes: &mut Vec<u8>, from: usize, old: &[u8], new: &[u8]) {
    let at = from
        + bytes[from..].windows(old.len()).position(|window| window == old).expect("it is there");
    bytes.splice(at..at + old.len(), new.iter().copied());
}

/// The same within the footer, whose length stands at the end of the file.
fn replace_in_footer(bytes: &mut Vec<u8>, old: &[u8], new: &[u8]) {
    let end = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[end..end + 4].try_into().expect("four bytes"));
    replace(bytes, end - length as usize, old, new);
    let end = bytes.len() - 8;
    let grown = length + (new.len() - old.len()) as u32;
    bytes[end..end + 4].copy_from_slice(&grown.to_le_bytes());
}

#[test]
fn claims_beyond_the_file_are_refused() {
    let packed =
        || WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default()));
    let huge = [0xfe, 0xff, 0xff, 0xff, 0x0f];
    let with = |field: &[u8]| [field, &huge[..]].concat();
    // Headers of pages begin with kind, unpacked size and stored size; each number follows a byte
    // that says so, here 0x15.
    let valid = file(packed());
    let sizes = &valid[4..];
    assert_eq!(sizes[..3], [0x15, 4, 0x15], "the first page is a dictionary");
    let unpacked = &sizes[2..5];
    let thousand = [0xd0, 0x0f];
    let entries = [&[0x4c, 0x15][..], &thousand].concat();
    let values = [&[0x2c, 0x15][..], &thousand].concat();
    let rows = [&[0x16][..], &thousand, &[0x26]].concat();
    let table: Vec<(&str, Vec<u8>, String)> = vec![
        (
            "entries of a dictionary",
            {
                let mut file = valid.clone();
                replace(&mut file, 4, &entries, &with(&[0x4c, 0x15]));
                file
            },
            "a page claims more than its".into(),
        ),
        (
            "bytes of a page",
            {
                let mut file = valid.clone();
                replace(&mut file, 4, unpacked, &with(&[0x15]));
                file
            },
            "a page claims more than its".into(),
        ),
        (
            "values of a page",
            {
                let mut file = valid.clone();
                // Of the same length, so that the page still ends where it should.
                replace(&mut file, 4, &values, &[0x2c, 0x15, 0xfe, 0x7f]);
                file
            },
            "a page claims more than its".into(),
        ),
        (
            "columns",
            {
                let mut file = valid.clone();
                replace_in_footer(&mut file, b"rows\x15\x06", &with(b"rows\x15"));
                file
            },
            "its footer is damaged".into(),
        ),
        (
            "rows",
            {
                let mut file = valid.clone();
                let huge_rows = [&[0x16][..], &huge, &[0x26]].concat();
                replace_in_footer(&mut file, &rows, &huge_rows);
                file
            },
            format!("it claims 6442450941 fields in {} bytes", valid.len() + 3),
        ),
    ];
    for (what, file, reason) in table {
        let error =
            read_bytes("a.parquet", &file, &ReadOptions::default()).expect_err(what).to_string();
        let start = "a.parquet: this is not a valid Parquet file: Parquet error: ";
        assert!(error.starts_with(&format!("{start}{reason}")), "{what}: {error}");
        assert!(error.ends_with(": write or fetch the file again"), "{what}: {error}");
    }
}

#[test]
fn lengths_of_texts_are_counted() {
    let settings = || {
        WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_column_encoding("user".into(), Encoding::DELTA_LENGTH_BYTE_ARRAY)
    };
    let mut bytes = file(settings());
    // Blocks of 128 lengths in four parts, 1000 lengths.
    replace(&mut bytes, 4, &[0x80, 1, 4, 0xe8, 7], &[0x80, 1, 4, 0xe8, 0x7f]);
    let error = read_bytes("a.parquet", &bytes, &ReadOptions::default())
        .expect_err("too many lengths")
        .to_string();
    assert!(error.contains("the texts of a page do not fit into it"), "{error}");
}

#[test]
fn texts_that_reach_past_their_page_are_refused() {
    let plain = || WriterProperties::builder().set_dictionary_enabled(false);
    for encoding in [Encoding::PLAIN, Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY]
    {
        let bytes = file(plain().set_column_encoding("user".into(), encoding));
        let page = bytes.windows(4).position(|text| text == b"user").expect("the first text");
        let mut refused = 0;
        for at in page.saturating_sub(300)..page {
            let mut damaged = bytes.clone();
            damaged[at] = 0xff;
            if let Err(error) = read_bytes("a.parquet", &damaged, &ReadOptions::default()) {
                assert!(
                    !error.to_string().contains("its contents are damaged"),
                    "{encoding}: {at}"
                );
                refused += usize::from(error.to_string().contains("the texts of a page"));
            }
        }
        assert!(refused > 0, "{encoding}");
    }
}

#[test]
fn the_first_null_is_named() {
    let mut levels = [1; ROWS];
    levels[700] = 0;
    levels[800] = 0;
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        for encoding in
            [Encoding::PLAIN, Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY]
        {
            let settings = WriterProperties::builder()
                .set_writer_version(version)
                .set_dictionary_enabled(false)
                .set_column_encoding("film".into(), encoding);
            let bytes = file_with_levels(settings, &levels);
            let error = read_bytes("a.parquet", &bytes, &ReadOptions::default());
            assert_eq!(
                error.expect_err("a null").to_string(),
                "a.parquet, row 701: column `film` is null: leave out rows whose label or value is \
                 missing"
            );
        }
    }
}
