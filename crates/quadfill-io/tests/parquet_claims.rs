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
    let schema = "message rows {
        required binary user (UTF8);
        optional binary film (UTF8);
        required double stars;
    }";
    let schema = Arc::new(parse_message_type(schema).expect("a sound schema"));
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, schema, Arc::new(settings.build()))
        .expect("a writer");
    let mut group = file.next_row_group().expect("a group");
    for (mode, levels) in [("user", None), ("film", Some([1i16; ROWS]))] {
        let texts: Vec<ByteArray> =
            (0..ROWS).map(|row| text(mode, row).into_bytes().into()).collect();
        let mut column = group.next_column().expect("a column").expect("one more");
        let levels = levels.as_ref().map(|levels| &levels[..]);
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
                let data = read_bytes::<f64>("a.parquet", &file(settings), &ReadOptions::default())
                    .expect("a sound file")
                    .observations;
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

/// Puts `new` in the place of the first `old` after `from`.
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
    let sound = file(packed());
    let sizes = &sound[4..];
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
                let mut file = sound.clone();
                replace(&mut file, 4, &entries, &with(&[0x4c, 0x15]));
                file
            },
            "a page claims more than its".into(),
        ),
        (
            "bytes of a page",
            {
                let mut file = sound.clone();
                replace(&mut file, 4, unpacked, &with(&[0x15]));
                file
            },
            "a page claims more than its".into(),
        ),
        (
            "values of a page",
            {
                let mut file = sound.clone();
                // Of the same length, so that the page still ends where it should.
                replace(&mut file, 4, &values, &[0x2c, 0x15, 0xfe, 0x7f]);
                file
            },
            "a page claims more than its".into(),
        ),
        (
            "columns",
            {
                let mut file = sound.clone();
                replace_in_footer(&mut file, b"rows\x15\x06", &with(b"rows\x15"));
                file
            },
            "its footer is damaged".into(),
        ),
        (
            "rows",
            {
                let mut file = sound.clone();
                let huge_rows = [&[0x16][..], &huge, &[0x26]].concat();
                replace_in_footer(&mut file, &rows, &huge_rows);
                file
            },
            format!("it claims 6442450941 fields in {} bytes", sound.len() + 3),
        ),
    ];
    for (what, file, reason) in table {
        let error = read_bytes::<f64>("a.parquet", &file, &ReadOptions::default())
            .expect_err(what)
            .to_string();
        let start = "a.parquet: this is no sound Parquet file: Parquet error: ";
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
    let error = read_bytes::<f64>("a.parquet", &bytes, &ReadOptions::default())
        .expect_err("too many lengths")
        .to_string();
    assert!(error.contains("a page claims more texts than it has values"), "{error}");
}
