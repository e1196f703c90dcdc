//! Valid files of every format, read and written back.

use proptest::prelude::*;
use quadfill::{Labels, Mode, Observations, OnDuplicate};
use quadfill_io::{
    BinSpec, Predictions, QueryValues, ReadOptions, UNKNOWN, read, read_bytes, read_query,
    read_query_bytes, write_npy, write_predictions,
};

fn names(data: &Observations, mode: usize) -> Vec<String> {
    let labels = &data.modes()[mode].labels;
    (0..labels.len()).map(|index| labels.name(index).into_owned()).collect()
}

fn read_text(text: &str, options: &ReadOptions) -> Observations {
    read_bytes("t.csv", text.as_bytes(), options).expect("a valid text")
}

#[test]
fn columns_by_name_number_and_order() {
    let text = "film;stars;user\nHeat;4;ann\nUp;2.5;bob\nHeat;1;bob\n";
    let by_name = ReadOptions {
        modes: Some(vec!["user".into(), "film".into()]),
        value: Some("stars".into()),
        ..ReadOptions::default()
    };
    let by_number = ReadOptions {
        modes: Some(vec!["3".into(), "1".into()]),
        value: Some("2".into()),
        ..ReadOptions::default()
    };
    for options in [by_name, by_number] {
        let data = read_text(text, &options);
        assert_eq!(names(&data, 0), ["ann", "bob"]);
        assert_eq!(names(&data, 1), ["Heat", "Up"]);
        assert_eq!(data.modes()[1].name, "film");
        assert_eq!(data.indices(0), [0, 1, 1]);
        assert_eq!(data.values(), [4.0, 2.5, 1.0]);
    }
}

#[test]
fn headers_are_told_from_data() {
    let data = read_text("7,8,9\n1,2,3\n", &ReadOptions::default());
    assert_eq!((data.len(), data.modes()[0].name.as_str()), (2, "mode1"));
    let data = read_text("7,8,x\n1,2,3\n", &ReadOptions::default());
    assert_eq!((data.len(), data.modes()[0].name.as_str()), (1, "7"));
    let with_header = ReadOptions { header: Some(true), ..ReadOptions::default() };
    let data = read_text("7,8,9\n1,2,3\n", &with_header);
    assert_eq!((data.len(), data.modes()[0].name.as_str()), (1, "7"));
}

#[test]
fn a_byte_order_mark_carriage_returns_and_blank_lines_do_no_harm() {
    let text = "\u{feff}user,film,stars\r\n\r\nann,Heat,4\r\n  \r\nbob,Up,5";
    let data = read_text(text, &ReadOptions::default());
    assert_eq!(data.modes()[0].name, "user");
    assert_eq!(names(&data, 1), ["Heat", "Up"]);
}

#[test]
fn times_are_cut_into_bins() {
    let options = |bin: &str| ReadOptions {
        bins: vec![BinSpec::parse(bin).expect("a bin")],
        ..ReadOptions::default()
    };
    let bins = |data: &Observations| data.modes()[1].bins.expect("bins");
    let text = "user,time,stars\n1,1000,4\n2,4599.5,3\n3,4600,2\n4,11800,1\n";
    let data = read_bytes("t.csv", text.as_bytes(), &options("time=1h")).expect("read");
    assert_eq!(bins(&data).origin, 1000.0);
    assert_eq!(bins(&data).width, 3600.0);
    assert_eq!(data.indices(1), [0, 0, 1, 2]);
    assert_eq!(names(&data, 1), ["0", "1", "3"]);
    let data = read_bytes("t.csv", text.as_bytes(), &options("time=2")).expect("read");
    assert_eq!(data.indices(1), [0, 0, 0, 1]);
    assert_eq!(bins(&data).count, Some(2));

    let query = read_query_bytes(
        "q.csv",
        b"user,time\n1,11800\n1,11801\n1,999\n".to_vec(),
        &ReadOptions::default(),
        data.modes(),
        QueryValues::Ignored,
    )
    .expect("a valid query");
    assert_eq!(query.indices[1], [1, UNKNOWN, UNKNOWN]);
    assert_eq!(query.unknown(), 2);
}

#[test]
fn dense_arrays_in_either_order_with_nan_or_a_mask() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.npy");
    write_npy(&path, &[2, 3], [1.0, f64::NAN, 3.0, 4.0, 5.0, f64::NAN]).expect("written");
    let data = read(&path, &ReadOptions::default()).expect("read");
    assert_eq!(data.sizes(), [2, 3]);
    assert_eq!(data.indices(1), [0, 2, 0, 1]);
    assert_eq!(data.values(), [1.0, 3.0, 4.0, 5.0]);

    // The same bytes in Fortran order are another array.
    let mut bytes = std::fs::read(&path).expect("there");
    let at = bytes.windows(5).position(|text| text == b"False").expect("the flag");
    bytes[at..at + 5].copy_from_slice(b"True ");
    let data = read_bytes("a.npy", &bytes, &ReadOptions::default()).expect("read");
    assert_eq!(data.values(), [1.0, 3.0, 5.0, 4.0]);
    assert_eq!(data.indices(0), [0, 0, 0, 1]);

    let mask = folder.path().join("mask.npy");
    write_npy(&mask, &[2, 3], [1u32, 1, 0, 0, 0, 1]).expect("written");
    let options = ReadOptions { mask: Some(mask), ..ReadOptions::default() };
    let data = read(&path, &options).expect("read");
    assert_eq!(data.values(), [1.0]);
    assert_eq!(data.sizes(), [2, 3], "labels without a value stay");
}

fn npz(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    use std::io::Write;
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        let options = zip::write::SimpleFileOptions::default();
        zip.start_file(format!("{name}.npy"), options).expect("memory");
        zip.write_all(bytes).expect("memory");
    }
    zip.finish().expect("memory").into_inner()
}

fn npy_bytes<N: quadfill_io::NpyNumber>(shape: &[usize], cells: &[N]) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.npy");
    write_npy(&path, shape, cells.iter().copied()).expect("written");
    std::fs::read(path).expect("there")
}

#[test]
fn archives_of_coordinates_or_with_a_mask() {
    let values = npy_bytes(&[3], &[0.5, 1.5, 2.5]);
    let by_point = npz(&[
        ("indices", npy_bytes(&[3, 2], &[0i64, 1, 2, 0, 2, 1])),
        ("values", values.clone()),
        ("shape", npy_bytes(&[2], &[4i64, 2])),
    ]);
    let by_dimension =
        npz(&[("coords", npy_bytes(&[2, 3], &[0i64, 2, 2, 1, 0, 1])), ("data", values)]);
    for (bytes, sizes) in [(by_point, [4, 2]), (by_dimension, [3, 2])] {
        let data = read_bytes("a.npz", &bytes, &ReadOptions::default()).expect("read");
        assert_eq!(data.sizes(), sizes);
        assert_eq!(data.indices(0), [0, 2, 2]);
        assert_eq!(data.indices(1), [1, 0, 1]);
        assert_eq!(data.values(), [0.5, 1.5, 2.5]);
    }
    let masked = npz(&[
        ("picture", npy_bytes(&[2, 2], &[1.0f32, 2.0, 3.0, 4.0])),
        ("mask", npy_bytes(&[2, 2], &[1u32, 0, 0, 1])),
    ]);
    let data = read_bytes("a.npz", &masked, &ReadOptions::default()).expect("read");
    assert_eq!(data.values(), [1.0, 4.0]);
}

#[test]
fn predictions_in_every_format_can_be_read_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let modes = [
        Mode::new("user", Labels::from_names(["ann", "bob, jr"])),
        Mode::new("film", Labels::range(3)),
    ];
    let text = b"user,film,note\nann,2,x\n\"bob, jr\",0,\"say \"\"hi\"\"\"\nzoe,1,\n".to_vec();
    let query =
        read_query_bytes("q.csv", text, &ReadOptions::default(), &modes, QueryValues::Ignored)
            .expect("a valid query");
    assert_eq!(query.indices, [vec![0, 1, UNKNOWN], vec![2, 0, 1]]);
    let values = [0.1, -2.0, 1e-300];
    let options = ReadOptions { value: Some("prediction".into()), ..ReadOptions::default() };
    for name in ["p.csv", "p.tsv", "p.parquet"] {
        let path = folder.path().join(name);
        write_predictions(
            &path,
            &query,
            Predictions { values: &values, half_widths: None, mark_unknown: false },
        )
        .expect("written");
        let again = read_query(&path, &options, &modes, QueryValues::Required);
        let again = again.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(again.indices, query.indices, "{name}");
        assert_eq!(again.values.as_deref(), Some(&values[..]), "{name}");
        assert_eq!(again.names(), ["user", "film", "note", "prediction"], "{name}");
    }
    let path = folder.path().join("p.jsonl");
    write_predictions(
        &path,
        &query,
        Predictions { values: &values, half_widths: None, mark_unknown: true },
    )
    .expect("written");
    assert_eq!(
        std::fs::read_to_string(&path).expect("there").lines().nth(1),
        Some(r#"{"user":"bob, jr","film":0,"note":"say \"hi\"","prediction":-2,"unknown":false}"#)
    );
}

#[test]
fn queries_go_by_name_or_by_position() {
    let modes = [Mode::new("user", Labels::range(3)), Mode::new("film", Labels::range(3))];
    let find = |text: &str, values| {
        let bytes = text.as_bytes().to_vec();
        read_query_bytes("q.csv", bytes, &ReadOptions::default(), &modes, values)
    };
    let query = find("film,stars,user\n1,4,2\n", QueryValues::Required).expect("by name");
    assert_eq!(query.indices, [[2], [1]]);
    assert_eq!(query.values, Some(vec![4.0]));
    let query = find("1,2\n0,7\n", QueryValues::Ignored).expect("by position");
    assert_eq!(query.indices, [[1, 0], [2, UNKNOWN]]);
    let error = find("user,movie\n1,2\n", QueryValues::Ignored).expect_err("no film");
    assert_eq!(
        error.to_string(),
        "q.csv: there is no column `film`: the columns are `user`, `movie`"
    );
}

#[test]
fn parquet_columns_are_read_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("p.parquet");
    let modes = [Mode::new("user", Labels::range(3)), Mode::new("film", Labels::range(3))];
    let text = b"user,film,note\n10,2.5,x\n7,0.5,y\n10,0.5,x\n".to_vec();
    let query =
        read_query_bytes("q.csv", text, &ReadOptions::default(), &modes, QueryValues::Ignored)
            .expect("a valid query");
    let predictions =
        Predictions { values: &[1.0, 2.0, 3.0], half_widths: None, mark_unknown: false };
    write_predictions(&path, &query, predictions).expect("written");
    let data = read(&path, &ReadOptions::default()).expect("read");
    assert_eq!(names(&data, 0), ["7", "10"]);
    assert_eq!(names(&data, 1), ["2.5", "0.5"]);
    assert_eq!(names(&data, 2), ["x", "y"]);
    assert_eq!(data.values(), [1.0, 2.0, 3.0]);
    let wrong = ReadOptions { value: Some("stars".into()), ..ReadOptions::default() };
    let error = read(&path, &wrong).expect_err("no such column").to_string();
    assert!(error.ends_with(
        "there is no column `stars`: the columns are `user`, `film`, `note`, `prediction`"
    ));
    let text_value = ReadOptions { value: Some("note".into()), ..ReadOptions::default() };
    let error = read(&path, &text_value).expect_err("no number").to_string();
    assert!(error.contains("row 1: column `note` holds `x`, which is not a number"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rows_of_tns_come_back(rows in proptest::collection::vec((1u32..9, 1u32..9, any::<f64>()), 1..50)) {
        let rows: Vec<_> = rows.into_iter().filter(|row| row.2.is_finite()).collect();
        prop_assume!(!rows.is_empty());
        let lines: Vec<String> = rows.iter().map(|(a, b, value)| format!("{a} {b} {value}")).collect();
        let text = lines.join("\n");
        let options = ReadOptions { on_duplicate: OnDuplicate::Last, ..ReadOptions::default() };
        let data = read_bytes("a.tns", text.as_bytes(), &options).expect("read");
        for row in 0..data.len() {
            let same = |(a, b, _): &&(u32, u32, f64)| format!("{a}, {b}") == data.describe(row);
            let last = rows.iter().rfind(same).expect("a row of the file");
            prop_assert_eq!(data.values()[row], last.2);
        }
    }
}

#[test]
fn archives_of_text_read_like_the_text() {
    use std::io::Write;
    let folder = tempfile::tempdir().expect("a folder");
    let text = b"1::2::3.5\n2::2::4\n";
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text).expect("memory");
    let files: [(&str, Vec<u8>); 3] = [
        ("a.dat", text.to_vec()),
        ("a.dat.gz", gzip.finish().expect("memory")),
        ("a.dat.zst", zstd::encode_all(&text[..], 1).expect("memory")),
    ];
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        let data = read(&path, &ReadOptions::default()).expect(name);
        assert_eq!(data.values(), [3.5, 4.0], "{name}");
    }
}
