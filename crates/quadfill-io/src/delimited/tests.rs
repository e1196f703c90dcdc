//! What must not change what is read: pieces, threads, quotes.

use proptest::prelude::*;
use quadfill::OnDuplicate;

use super::*;

type Contents = (Vec<Vec<String>>, Vec<Vec<u32>>, Vec<f64>);

fn contents(text: &str, piece: usize) -> std::result::Result<Contents, String> {
    let options = ReadOptions {
        on_duplicate: OnDuplicate::Last,
        delimiter: Some(",".to_owned()),
        ..ReadOptions::default()
    };
    let (data, _) = read_text("t.csv", text.as_bytes(), &options, false, piece)
        .map_err(|error| error.to_string())?;
    let modes = data.modes();
    let names = modes.iter().map(|mode| {
        (0..mode.labels.len()).map(|index| mode.labels.name(index).into_owned()).collect()
    });
    let names = names.collect();
    let indices = (0..modes.len()).map(|mode| data.indices(mode).to_vec()).collect();
    Ok((names, indices, data.values().to_vec()))
}

fn on_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads").install(work)
}

/// Rows whose labels are numbers, words, or numbers that are not canonical integers, and now and
/// then something broken.
fn rows() -> impl Strategy<Value = Vec<(String, String, String)>> {
    let label = "[0-9]{1,3}|[a-c]{1,2}|-?[0-9]|0[0-9]";
    let value = prop_oneof![50 => "-?[0-9]{1,3}(\\.[0-9]{1,3})?", 1 => "x|nan"];
    proptest::collection::vec((label, "[1-9][0-9]?", value), 1..60)
}

proptest! {
    #[test]
    fn pieces_and_threads_make_no_difference(rows in rows(), piece in 1usize..80, ends in "\n|\r\n|\n\n") {
        let text: String =
            rows.iter().map(|(a, b, value)| [a, ",", b, ",", value, &ends].concat()).collect();
        let whole = contents(&text, PIECE);
        for threads in [1, 2, 4] {
            prop_assert_eq!(&on_threads(threads, || contents(&text, piece)), &whole);
        }
    }

    #[test]
    fn quotes_around_every_field_make_no_difference(rows in rows()) {
        let line = |(a, b, value): &(String, String, String)| format!("{a},{b},{value}\n");
        let quoted = |(a, b, value): &(String, String, String)| format!("\"{a}\",\"{b}\",\"{value}\"\n");
        let plain: String = rows.iter().map(line).collect();
        let quoted: String = rows.iter().map(quoted).collect();
        prop_assert_eq!(contents(&quoted, PIECE), contents(&plain, PIECE));
    }
}

#[test]
fn quoted_labels_may_hold_anything() {
    let text = "\"a,b\",\"two\nlines\",1\n\"say \"\"hi\"\"\",x,2\n";
    let (names, _, values) = contents(text, PIECE).expect("valid");
    assert_eq!(names, [["a,b", "say \"hi\""], ["two\nlines", "x"]]);
    assert_eq!(values, [1.0, 2.0]);
}

#[test]
fn rows_are_found_on_their_lines() {
    for (text, expected) in [
        ("user,film,stars\n\na,b,1\n\r\nc,d,2\ne,f,3\n", [3, 6]),
        ("user,film,stars\n\"a\nx\",b,1\n\nc,d,2\ne,\"f\",3\n", [2, 6]),
    ] {
        let options = ReadOptions::default();
        let is_header = |first: &[&[u8]]| looks_like_header(first, &options);
        let layout =
            TextLayout::find("t.csv", text.as_bytes(), &options, false, is_header).expect("valid");
        assert_eq!(lines_of_rows(text.as_bytes(), &layout, [0, 2]), expected);
    }
}

#[test]
fn a_multi_byte_delimiter_is_not_found_across_fields() {
    let options = ReadOptions { delimiter: Some("::".to_owned()), ..ReadOptions::default() };
    let text = b"a:b::d::2\na:b::c:::1\n";
    let error = read_text("t.dat", text, &options, false, PIECE).expect_err("no number");
    // `:::` is a delimiter and then a field that begins with a colon.
    assert_eq!(
        error.to_string(),
        "t.dat, line 2: column 3 holds `:1`, which is not a number: correct it or choose another column"
    );
}
