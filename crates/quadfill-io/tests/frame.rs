//! Tables in memory: read as files with the same rows are.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::fmt::Write;

use proptest::prelude::*;
use quadfill::observations::Source;
use quadfill::{Labels, Mode};
use quadfill_io::{
    Chunk, Frame, FrameColumn, QueryValues, ReadOptions, UNKNOWN, read_bytes_with_roles,
};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// The same numbers in chunks of some length.
fn cut(numbers: &[i32], length: usize) -> FrameColumn<'_> {
    let chunks = numbers.chunks(length).map(Chunk::I32).collect();
    FrameColumn { chunks, seconds_per_unit: None, first_null: None }
}

proptest! {
    #[test]
    fn a_frame_is_read_as_a_file_is(
        rows in proptest::collection::vec((-3i32..40, 0i32..30, 0u8..5, -9.0f64..9.0), 1..60),
        length in 1usize..20,
    ) {
        let options = ReadOptions {
            on_duplicate: quadfill::OnDuplicate::Last,
            ..ReadOptions::default()
        };
        let mut text = String::from("user,film,word,stars\n");
        for (user, film, word, stars) in &rows {
            writeln!(text, "{user},{film},w{word},{stars}").unwrap();
        }
        let (expected, roles) = read_bytes_with_roles("x.csv", text.as_bytes(), &options).unwrap();

        let users: Vec<i32> = rows.iter().map(|row| row.0).collect();
        let films: Vec<i32> = rows.iter().map(|row| row.1).collect();
        let codes: Vec<u8> = rows.iter().map(|row| row.2).collect();
        let words: Vec<String> = (0..5).map(|word| format!("w{word}")).collect();
        let stars: Vec<f64> = rows.iter().map(|row| row.3).collect();
        let coded = Chunk::Codes {
            codes: Box::new(Chunk::U8(&codes)),
            values: Box::new(Chunk::Texts(Box::new(words))),
        };
        let columns = vec![
            cut(&users, length),
            cut(&films, length + 1),
            FrameColumn::new(coded),
            FrameColumn::new(Chunk::F64(&stars)),
        ];
        let frame = Frame::new("x", Some(names(&["user", "film", "word", "stars"])), columns).unwrap();
        let (data, found) = frame.observe(&options).unwrap();
        prop_assert_eq!(found, roles);
        prop_assert_eq!(data.values(), expected.values());
        for row in 0..data.len() {
            prop_assert_eq!(data.describe(row), expected.describe(row));
        }
        for mode in 0..3 {
            prop_assert_eq!(data.indices(mode), expected.indices(mode));
        }
    }
}

#[test]
fn rows_are_found_in_a_model_and_strangers_are_unknown() {
    let modes = [
        Mode::new("user", Labels::from_integers(vec![5, 700, 90])),
        Mode::new("film", Labels::from_names(["Up", "Heat"])),
    ];
    let films = ["Heat", "Jaws", "Up"].map(String::from).to_vec();
    let columns = vec![
        FrameColumn::new(Chunk::Texts(Box::new(films))),
        FrameColumn::new(Chunk::F32(&[90.0, 5.0, 6.5])),
        FrameColumn::new(Chunk::Converted(vec![1, 0, 1])),
    ];
    let frame = Frame::new("x", Some(names(&["film", "user", "value"])), columns).unwrap();
    let source = Source::default();
    let options = ReadOptions::default();
    let (indices, values) =
        frame.look_up(&options, &modes, QueryValues::Required, &source).unwrap();
    assert_eq!(indices, [[1, 0, UNKNOWN], [1, UNKNOWN, 0]]);
    assert_eq!(values, Some(vec![1.0, 0.0, 1.0]));
    let data = frame.observe_for_modes(&options, &modes, &source).unwrap();
    assert_eq!(data.describe(1), "5, Jaws");
}

fn refusal(column: FrameColumn<'_>) -> String {
    let columns = vec![
        FrameColumn::new(Chunk::I64(&[1, 2, 3])),
        column,
        FrameColumn::new(Chunk::F64(&[1.0, 2.0, 3.0])),
    ];
    let frame = Frame::new("X", Some(names(&["a", "b", "v"])), columns);
    frame
        .and_then(|frame| frame.observe(&ReadOptions::default()).map(|_| ()))
        .unwrap_err()
        .to_string()
}

#[test]
fn what_cannot_be_read_is_said_with_row_and_column() {
    let null = FrameColumn { first_null: Some(1), ..FrameColumn::new(Chunk::I64(&[1, 2, 3])) };
    assert!(refusal(null).starts_with("X, row 2: column `b` is null"));
    let lists = Chunk::Unsupported { kind: "lists".to_owned(), len: 3 };
    assert!(refusal(FrameColumn::new(lists)).starts_with("X: column `b` holds lists"));
    let large = refusal(FrameColumn::new(Chunk::U64(&[1, u64::MAX, 2])));
    assert!(large.contains("integers above 9223372036854775807"), "{large}");
    let short = refusal(FrameColumn::new(Chunk::I64(&[1, 2])));
    assert!(short.contains("has 2 entries where 3 were expected"), "{short}");
    let code = Chunk::Codes {
        codes: Box::new(Chunk::I8(&[0, 7, 0])),
        values: Box::new(Chunk::F64(&[1.0])),
    };
    assert!(refusal(FrameColumn::new(code)).contains("categories without values"));
    assert!(
        refusal(FrameColumn::new(Chunk::F64(&[1.0, f64::NAN, 2.0])))
            .contains("row 2: column `b` holds `NaN`")
    );
}

#[test]
fn columns_that_are_not_used_may_hold_anything() {
    let columns = vec![
        FrameColumn::new(Chunk::I64(&[1, 2])),
        FrameColumn::new(Chunk::U8(&[1, 2])),
        FrameColumn::new(Chunk::F64(&[1.0, 2.0])),
        FrameColumn::new(Chunk::Unsupported { kind: "lists".to_owned(), len: 2 }),
    ];
    let frame = Frame::new("X", None, columns).unwrap();
    let options = ReadOptions {
        modes: Some(vec!["1".into(), "2".into()]),
        value: Some("3".into()),
        ..ReadOptions::default()
    };
    let (data, _) = frame.observe(&options).unwrap();
    assert_eq!(data.source().positions.as_ref().unwrap().modes, [0, 1]);
}
