use std::fs;
use std::path::Path;

use quadfill::{Observations, OnDuplicate};

use super::{Parts, ReadProgress, data_files};
use crate::options::ReadOptions;
use crate::read::read;

fn ignore(_: ReadProgress) {}

/// Reads all files of a folder in parts, whatever their size.
fn read_parts(folder: &Path, options: &ReadOptions) -> Result<Observations, String> {
    let files = data_files(folder).map_err(|error| error.to_string())?;
    let parts = Parts { files, options, storage: None };
    let (data, _) = parts.read(&mut ignore).map_err(|error| error.to_string())?;
    Ok(data.unpack())
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

/// Rows with the names of their labels, in order.
fn rows(data: &Observations) -> Vec<(String, f64, Option<f64>)> {
    let mut rows: Vec<_> = (0..data.len())
        .map(|row| {
            (data.describe(row), data.values()[row], data.weights().map(|weights| weights[row]))
        })
        .collect();
    rows.sort_by(|x, y| x.0.cmp(&y.0));
    rows
}

/// One file in memory, and the same rows cut into files that are read in parts: the same observations, labels in
/// the same order.
fn assert_same(header: &str, lines: &[String], options: &ReadOptions) {
    let text = |lines: &[String]| format!("{header}{}\n", lines.join("\n"));
    let whole = folder(&[("all.csv", &text(lines))]);
    let expected = read(whole.path().join("all.csv"), options).expect("read");
    for part in [lines.len(), lines.len().div_ceil(3), 7] {
        let files: Vec<(String, String)> = lines
            .chunks(part)
            .enumerate()
            .map(|(number, lines)| (format!("part-{number:03}.csv"), text(lines)))
            .collect();
        let files: Vec<(&str, &str)> =
            files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let found = read_parts(folder(&files).path(), options).expect("read");
        assert_eq!(rows(&found), rows(&expected), "{part} rows in a file");
        assert_eq!(found.source(), expected.source());
        for (ours, theirs) in found.modes().iter().zip(expected.modes()) {
            let names = |mode: &quadfill::Mode| {
                (0..mode.labels.len())
                    .map(|label| mode.labels.name(label).into_owned())
                    .collect::<Vec<_>>()
            };
            assert_eq!(
                (names(ours), ours.bins, &ours.name),
                (names(theirs), theirs.bins, &theirs.name)
            );
        }
    }
}

#[test]
fn numbers_texts_and_times_are_those_of_one_file() {
    let lines: Vec<String> = (0..200u32)
        .map(|i| {
            // The first labels of the second column are numbers, and a text comes late.
            let item =
                if i > 150 && i % 3 == 0 { format!("x{}", i % 10) } else { (i % 13).to_string() };
            format!("{},{item},{}.5,{}", i * 7_919 % 10_007, i % 4, 881_250_949 + 700_000 * i)
        })
        .collect();
    assert_same("userId,movieId,rating,timestamp\n", &lines, &ReadOptions::default());
    let numbers: Vec<String> =
        (0..90i64).map(|i| format!("{},{},{}", i - 40, (i % 11) << 33, i % 3)).collect();
    assert_same("", &numbers, &ReadOptions::default());
}

#[test]
fn quotes_weights_and_repeated_cells_are_those_of_one_file() {
    let lines: Vec<String> =
        (0..120).map(|i| format!("\"u,{}\",m{},{},{}", i % 9, i % 8, i % 5, i % 3)).collect();
    for on_duplicate in [OnDuplicate::Mean, OnDuplicate::Last, OnDuplicate::Sum] {
        let options = ReadOptions {
            weight: Some("w".into()),
            value: Some("stars".into()),
            on_duplicate,
            ..ReadOptions::default()
        };
        assert_same("user,film,stars,w\n", &lines, &options);
    }
    let options = ReadOptions {
        values_are_ones: true,
        on_duplicate: OnDuplicate::Sum,
        modes: Some(vec!["user".into(), "film".into()]),
        ..ReadOptions::default()
    };
    assert_same("user,film,stars,w\n", &lines, &options);
}

#[test]
fn columns_are_found_by_their_names_in_every_file() {
    let parts = folder(&[
        ("a.csv", "user,film,stars\nann,Heat,4\n"),
        ("b.csv", "extra,stars,film,user\n9,5,Heat,bob\n"),
        ("_SUCCESS", ""),
    ]);
    let data = read_parts(parts.path(), &ReadOptions::default()).expect("read");
    assert_eq!(
        rows(&data),
        [("ann, Heat".to_owned(), 4.0, None), ("bob, Heat".to_owned(), 5.0, None)]
    );
}

#[test]
fn what_is_wrong_with_a_part_is_one_sentence_with_its_file() {
    let message = |files: &[(&str, &str)]| {
        read_parts(folder(files).path(), &ReadOptions::default()).expect_err("refused")
    };
    let first = ("a.csv", "user,film,stars\nann,Heat,4\n");
    let of_b = |text: &str| message(&[first, ("b.csv", text)]);
    assert!(of_b("user,stars,item\nann,3,Up\n").contains("there is no column `film`, which"));
    assert!(of_b("user,film,stars\nann,Up\n").contains("b.csv, line 2: expected 3 fields, got 2"));
    assert!(of_b("user,film,stars\nann,Up,x\n").contains("b.csv, line 2"));
    let repeated = of_b("user,film,stars\nbob,Up,1\nann,Heat,5\n");
    assert!(
        repeated.contains("b.csv, line 3: cell (ann, Heat) was given before on line 2 of"),
        "{repeated}"
    );
    assert!(message(&[("a.csv", "user,film,stars\n")]).contains("no row"));
    assert!(message(&[]).contains("the folder has no files"));
    assert!(message(&[("a.npy", "x")]).contains("not read in parts"));
    let pattern = folder(&[]).path().join("part-*.csv");
    let error = data_files(&pattern).expect_err("no files").to_string();
    assert!(error.contains("no file has such a name"), "{error}");
}

#[test]
fn a_part_that_is_damaged_is_named() {
    let parts = folder(&[("a.parquet", "PAR1 and nothing else"), ("b.parquet", "PAR1")]);
    let error = read_parts(parts.path(), &ReadOptions::default()).expect_err("refused");
    assert!(error.contains("a.parquet"), "{error}");
}
