//! Rows of files for the modes of a model.

use std::path::{Path, PathBuf};

use quadfill::observations::{Binning, ColumnPositions, Source, TimeUnit};
use quadfill::{Labels, Mode, Observations, OnDuplicate};
use quadfill_io::{ReadOptions, Result, read, read_for_modes, write_npy};

fn modes() -> Vec<Mode> {
    vec![Mode::new("user", Labels::range(3)), Mode::new("film", Labels::from_names(["Heat", "Up"]))]
}

fn stars() -> Source {
    Source { value: "stars".to_owned(), positions: None }
}

fn files(folder: &Path, texts: &[&str]) -> Vec<PathBuf> {
    let write = |(number, text): (usize, &&str)| {
        let path = folder.join(format!("{number}.csv"));
        std::fs::write(&path, text).expect("written");
        path
    };
    texts.iter().enumerate().map(write).collect()
}

fn read_texts(
    texts: &[&str],
    options: &ReadOptions,
    modes: &[Mode],
    source: &Source,
) -> Result<Observations> {
    let folder = tempfile::tempdir().expect("a folder");
    read_for_modes(&files(folder.path(), texts), options, modes, source)
}

fn rows(data: &Observations) -> Vec<(String, f64)> {
    (0..data.len()).map(|row| (data.describe(row), data.values()[row])).collect()
}

#[test]
fn columns_of_several_files_are_found_by_name_each() {
    let texts =
        ["film,stars,user,seen\nUp,4,1,7\nJaws,5,8,7\n", "user;film;seen;stars\n2;Heat;7;1.5\n"];
    let data = read_texts(&texts, &ReadOptions::default(), &modes(), &stars()).expect("read");
    let expected = [("1, Up", 4.0), ("8, Jaws", 5.0), ("2, Heat", 1.5)];
    assert_eq!(rows(&data), expected.map(|(cell, value)| (cell.to_owned(), value)));
    assert!(matches!(&data.modes()[0].labels, Labels::Integers(numbers) if numbers == &[1, 2, 8]));
    assert_eq!(data.source(), &stars());
}

#[test]
fn the_value_may_have_another_name_or_none() {
    let text = "user,film,rating\n1,Up,4\n";
    let data = read_texts(&[text], &ReadOptions::default(), &modes(), &stars()).expect("the last");
    assert_eq!(rows(&data), [("1, Up".to_owned(), 4.0)]);
    let asked = ReadOptions { value: Some("note".into()), ..ReadOptions::default() };
    let text = "user,film,note,stars\n1,Up,4,5\n";
    let data = read_texts(&[text], &asked, &modes(), &stars()).expect("the one asked for");
    assert_eq!(rows(&data), [("1, Up".to_owned(), 4.0)]);
    let error = read_texts(&["user,film\n1,Up\n"], &ReadOptions::default(), &modes(), &stars());
    let error = error.expect_err("no value").to_string();
    assert!(error.contains("no column is left for the value"), "{error}");
    let ones = ReadOptions { values_are_ones: true, ..ReadOptions::default() };
    let data = read_texts(&["user,film\n1,Up\n"], &ones, &modes(), &stars()).expect("ones");
    assert_eq!(rows(&data), [("1, Up".to_owned(), 1.0)]);
}

#[test]
fn tables_without_names_go_by_position() {
    let positions = Some(ColumnPositions { modes: vec![0, 3], value: 1 });
    let nameless =
        [Mode::new("mode1", Labels::range(3)), Mode::new("mode2", Labels::from_names(["Up"]))];
    let source = Source { value: "value".to_owned(), positions };
    let data = read_texts(&["1,4.5,7,Up\n9,3,7,Up\n"], &ReadOptions::default(), &nameless, &source)
        .expect("read");
    assert_eq!(rows(&data), [("1, Up".to_owned(), 4.5), ("9, Up".to_owned(), 3.0)]);
    // The same from what a reader says of its source.
    let folder = tempfile::tempdir().expect("a folder");
    let paths = files(folder.path(), &["1::2::5::77\n2::2::4::78\n", "3::2::1::80\n"]);
    let options = ReadOptions {
        modes: Some(vec!["1".into(), "2".into()]),
        value: Some("3".into()),
        ..ReadOptions::default()
    };
    let fitted = read(&paths[0], &options).expect("read");
    let more =
        read_for_modes(&paths[1..], &ReadOptions::default(), fitted.modes(), fitted.source())
            .expect("read");
    assert_eq!(rows(&more), [("3, 2".to_owned(), 1.0)]);
}

#[test]
fn times_are_cut_into_the_bins_of_the_model() {
    let unit = TimeUnit::Number;
    let bins = Some(Binning { origin: 100.0, width: 10.0, count: None, unit });
    let modes =
        [Mode::new("user", Labels::range(3)), Mode { bins, ..Mode::new("time", Labels::range(2)) }];
    let options = ReadOptions::default();
    let text = "user,time,stars\n0,105,1\n0,112.5,2\n5,170,3\n";
    let data = read_texts(&[text], &options, &modes, &stars()).expect("read");
    let cells: Vec<String> = rows(&data).into_iter().map(|row| row.0).collect();
    assert_eq!(cells, ["0, 100 to 110", "0, 110 to 120", "5, 170 to 180"]);
    assert_eq!(data.modes()[1].bins, bins);
    let text = "user,time,stars\n0,105,1\n0,99,2\n";
    let error = read_texts(&[text], &options, &modes, &stars()).expect_err("before the first bin");
    assert!(
        error.to_string().ends_with(
            "0.csv, line 3: column `time` holds the time 99, which is outside the bins of the model: \
             leave the row out"
        ),
        "{error}"
    );
}

#[test]
fn a_cell_that_two_files_give_is_found() {
    let texts = ["user,film,stars\n0,Up,1\n1,Up,2\n", "user,film,stars\n2,Up,1\n1,Up,3\n"];
    let options = ReadOptions::default();
    let error = read_texts(&texts, &options, &modes(), &stars()).expect_err("twice").to_string();
    let (file, rest) = error.split_once(", ").expect("where");
    assert!(file.ends_with("1.csv"), "{error}");
    assert!(rest.starts_with("line 3: cell (1, Up) was given before on line 3 of "), "{error}");
    let options = ReadOptions { on_duplicate: OnDuplicate::Sum, ..options };
    let data = read_texts(&texts, &options, &modes(), &stars()).expect("summed");
    assert_eq!(data.values(), [1.0, 5.0, 1.0]);
}

#[test]
fn broken_rows_are_named() {
    let options = ReadOptions { weight: Some("sure".into()), ..ReadOptions::default() };
    for (text, problem) in [
        ("user,film,stars,sure\n0,,1,1\n", "line 2: column `film` is empty"),
        ("user,film,stars,sure\n0,Up,x,1\n", "line 2: column `stars` holds `x`"),
        ("user,film,stars,sure\n0,Up,1,-1\n", "line 2: the weight is -1"),
        ("user,movie,stars,sure\n0,Up,1,1\n", "there is no column `film`"),
        ("user,film,stars,sure\n", "there is a header but no row below it"),
    ] {
        let error = read_texts(&[text], &options, &modes(), &stars()).expect_err(problem);
        assert!(error.to_string().contains(problem), "{error}");
    }
}

#[test]
fn arrays_go_by_the_order_of_their_dimensions() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.npy");
    write_npy(&path, &[2, 2], [1.0, f64::NAN, 3.0, 4.0]).expect("written");
    let data =
        read_for_modes(std::slice::from_ref(&path), &ReadOptions::default(), &modes(), &stars());
    let data = data.expect("read");
    let expected = [("0, 0", 1.0), ("1, 0", 3.0), ("1, 1", 4.0)];
    assert_eq!(rows(&data), expected.map(|(cell, value)| (cell.to_owned(), value)));
    write_npy(&path, &[2, 1, 2], [1.0, 2.0, 3.0, 4.0]).expect("written");
    let error = read_for_modes(&[path], &ReadOptions::default(), &modes(), &stars());
    let error = error.expect_err("three dimensions").to_string();
    assert!(error.contains("the array has 3 dimensions where the model has 2 modes"), "{error}");
}
