//! The experiment on words, on a synthetic text.

use std::fmt::Write;
use std::path::Path;

use quadfill_lab::experiment::{self, Effort, Experiment, Extent, Given, Options, Row, run, write};

/// A word for a number: three letters or more.
fn word(number: usize) -> String {
    let letter = |at: usize| char::from(b'a' + (at % 26) as u8);
    format!("{}{}{}", letter(number / 26), letter(number), letter(number / 26 + 7))
}

/// Many words, of which those with close numbers follow one another.
fn write_data(folder: &Path) {
    std::fs::create_dir_all(folder.join("wikipedia")).expect("a folder");
    std::fs::create_dir_all(folder.join("word-eval")).expect("a folder");
    let mut text = String::new();
    let mut state = 1usize;
    for place in 0..30_000 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number = if place < 1300 { place / 2 } else { place / 20 % 477 + (state >> 33) % 24 };
        write!(text, "{}{}", word(number), if place % 9 == 0 { ".\n" } else { " " }).expect("text");
    }
    std::fs::write(folder.join("wikipedia/a.txt"), text).expect("written");
    let ask = |a: usize| [word(a), word(a + 1), word(a + 2), word(a + 3)].join(" ");
    let google = format!(
        ": near\n{}\n{} \nunheard of words here\n: gram1-next\n{}\n",
        ask(50),
        ask(60),
        ask(70)
    );
    std::fs::write(folder.join("word-eval/google-analogies.txt"), google).expect("written");
    std::fs::write(folder.join("word-eval/msr-analogies.txt"), format!("{}\n", ask(80)))
        .expect("written");
    let mut pairs = String::from("unheard of 3\n");
    for at in 0..40 {
        writeln!(pairs, "{} {} {}", word(3 * at + 40), word(3 * at + 40 + at), 40 - at)
            .expect("text");
    }
    std::fs::write(folder.join("word-eval/pairs.txt"), pairs).expect("written");
}

fn open(folder: &Path) -> quadfill_lab::Result<Option<Box<dyn Experiment>>> {
    experiment::on_data("words", &Given { path: folder, downsample: 1 })
}

#[test]
fn words_are_counted_fitted_evaluated_and_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    write_data(folder.path());
    let words = open(folder.path()).expect("opened").expect("known");
    let options = |threads: usize| Options {
        extent: Extent { effort: Effort::Quick, seeds: None, seed: 0 },
        keep_in: None,
        threads,
    };
    let measured = run(words.as_ref(), &options(2), |_| {}).expect("measured");
    let rows = &measured.rows;
    assert_eq!(rows.len(), 12);
    for row in rows {
        assert_eq!((row.count("words"), row.count("vocabulary")), (30_000, 500), "{}", row.key());
        assert_eq!(row.count("semantic_questions"), 2, "{}", row.key());
        assert_eq!(row.count("syntactic_questions"), 2, "{}", row.key());
        assert_eq!((row.count("google_questions"), row.count("msr_questions")), (3, 1));
        assert_eq!(row.count("pairs_pairs"), 40);
        assert!(row.number("similarity").abs() <= 1.0, "{}", row.key());
        let error = if row.text("cells") == "all" { "mse_all_cells" } else { "mse_held_out" };
        assert!(row.number(error).is_finite(), "{}", row.key());
    }
    // Words that are close follow one another, and a sound fit sees it.
    let best = rows
        .iter()
        .filter(|row| row.text("model") == "quadratic" && row.text("cells") == "all")
        .map(|row| row.number("similarity"))
        .fold(f64::NEG_INFINITY, f64::max);
    assert!(best > 0.3, "{best}");

    // Fewer triples are fitted more closely.
    let seen = |share: f64| {
        let of_share = |row: &&Row| row.text("cells") == "observed" && row.number("share") == share;
        rows.iter().filter(of_share).map(|row| row.number("mse_seen")).fold(f64::INFINITY, f64::min)
    };
    assert!(seen(0.3) < seen(0.9), "{} {}", seen(0.3), seen(0.9));

    let out = folder.path().join("out");
    std::fs::create_dir(&out).expect("a folder");
    write(words.as_ref(), &measured, "quadfill reproduce words", &out).expect("written");
    let page = std::fs::read_to_string(out.join("report.html")).expect("a page");
    assert!(page.contains("paper, quadratic") && page.contains("gram1-next"));
    assert!(page.contains("are predicted better by the quadratic model from"));

    let plain = |rows: &[Row]| rows.iter().map(Row::without_times).collect::<Vec<_>>();
    let again = run(words.as_ref(), &options(1), |_| {}).expect("measured");
    assert_eq!(plain(rows), plain(&again.rows));
}

#[test]
fn a_folder_without_texts_is_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = open(folder.path()).err().expect("refused").to_string();
    assert!(error.contains("wikipedia") && error.contains("`data`"), "{error}");
}
