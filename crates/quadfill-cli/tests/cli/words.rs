//! From a text to word vectors and their scores.

use std::fmt::Write;
use std::fs;

use crate::broken_cases::Case;
use crate::broken_input::check;
use crate::place::Place;

/// Sentences of who likes what: names and things that go together stand in the same places.
fn text() -> String {
    let (names, verbs) = (["ann", "bob", "eve", "joe"], ["likes", "sees", "wants"]);
    let things = ["apples", "bread", "cheese", "dates", "eggs"];
    let mut text = String::new();
    for i in 0..300usize {
        let (name, verb, thing) = (names[i % 4], verbs[i / 4 % 3], things[(i % 4 + i / 12) % 5]);
        writeln!(text, "{} {verb} {thing}.", name.to_uppercase()).unwrap();
    }
    text
}

#[test]
fn a_text_becomes_vectors_and_scores() {
    let place = Place::new();
    place.write("text.txt", text());
    let counted =
        place.json(&["words", "count", "text.txt", "-o", "triples.csv", "--vocabulary", "12"]);
    assert_eq!(counted["words"], 900);
    assert_eq!((&counted["vocabulary"], &counted["distinct_words"]), (&12.into(), &12.into()));
    assert_eq!(counted["windows"], 898);
    let triples = fs::read_to_string(place.path("triples.csv")).unwrap();
    assert_eq!(triples.lines().next(), Some("word1,word2,word3,count"));
    assert_eq!(Some(triples.lines().count() - 1), counted["triples"].as_u64().map(|n| n as usize));
    assert!(triples.lines().any(|line| line.starts_with("ann,likes,apples,")), "{triples}");

    // The same in every format and whatever the number of threads.
    let count = |out: &str, more: &[&str]| {
        let flags = ["words", "count", "text.txt", "-o", out, "--vocabulary", "12", "--quiet"];
        place.succeed(&[&flags[..], more].concat());
    };
    count("one.csv", &["--threads", "1"]);
    assert_eq!(fs::read_to_string(place.path("one.csv")).unwrap(), triples);
    count("triples.tsv", &[]);
    let tabs = fs::read_to_string(place.path("triples.tsv")).unwrap();
    assert_eq!(tabs.replace('\t', ","), triples);
    count("log.csv", &["--log"]);
    count("log.parquet", &["--log"]);
    let fit = |data: &str, model: &str| {
        place.succeed(&[
            "fit",
            data,
            "-o",
            model,
            "--rank",
            "2",
            "--solver",
            "als",
            "--penalty",
            "1e-3",
            "--sweeps",
            "20",
            "--quiet",
        ]);
    };
    fit("log.csv", "words");
    fit("log.parquet", "again");

    let exported = place.json(&["export", "words", "--all-modes", "-o", "words.vec"]);
    assert_eq!((&exported["labels"], &exported["width"]), (&12.into(), &6.into()));
    let vectors = fs::read_to_string(place.path("words.vec")).unwrap();
    assert!(vectors.starts_with("12 6\n"), "{vectors}");
    for line in vectors.lines().skip(1) {
        let squares: f64 = line.split(' ').skip(1).map(|x| x.parse::<f64>().unwrap().powi(2)).sum();
        assert!((squares - 1.0).abs() < 1e-12, "{line}");
    }

    place.write("questions.txt", ": likes\nann likes bob likes\n: odd\nAnn Bob Eve zoo\n");
    place.write("pairs.txt", "ann bob 9\r\nann eggs 1\nbob eve 8\nlikes eggs 2\nann moon 3\n");
    let judge = |of: &str| {
        let files = ["--analogies", "questions.txt", "--similarity", "pairs.txt"];
        place.json(&[&["words", "evaluate", of][..], &files].concat())
    };
    let scores = judge("words");
    assert_eq!(scores["analogies"][0]["known"], 1);
    assert_eq!(
        (&scores["analogies"][1]["questions"], &scores["analogies"][1]["known"]),
        (&1.into(), &0.into())
    );
    assert_eq!(
        (&scores["similarity"][0]["pairs"], &scores["similarity"][0]["known"]),
        (&5.into(), &4.into())
    );
    assert!(scores["similarity"][0]["spearman"].as_f64().unwrap() > 0.5, "{scores}");
    // The model and what was exported of it are the same vectors, and so are both formats of triples.
    for same in ["words.vec", "again"] {
        let other = judge(same);
        assert_eq!(other["analogies"], scores["analogies"]);
        assert_eq!(other["similarity"], scores["similarity"]);
    }
    let said = place.succeed(&["words", "evaluate", "words", "--similarity", "pairs.txt"]);
    assert!(said.stdout.contains("(4 of 5 pairs)"), "{}", said.stdout);
}

#[test]
fn all_orders_are_counted_alike() {
    let place = Place::new();
    place.write("text.txt", "a b c a b");
    let flags = ["words", "count", "text.txt", "-o", "t.csv", "--vocabulary", "3", "--all-orders"];
    let counted = place.json(&flags);
    assert_eq!((&counted["triples"], &counted["windows"]), (&6.into(), &18.into()));
    let triples = fs::read_to_string(place.path("t.csv")).unwrap();
    assert!(triples.lines().skip(1).all(|line| line.ends_with(",3")), "{triples}");
}

const WORDS: &[Case] = &[
    ("words", "no command is given: see `quadfill words --help`"),
    ("words shout", "`shout` is not a command: choose count, evaluate"),
    ("words count nowhere.txt -o t.tsv", "nowhere.txt: there is no such file: check the name"),
    ("words count folder -o t.tsv", "folder: this is a folder: name a file"),
    ("words count -o t.tsv", "<CORPUS>... is missing: see `quadfill words --help`"),
    (
        "words count text.txt latin.txt -o t.tsv --vocabulary 2",
        "latin.txt, line 2: the text is not UTF-8: save the file as UTF-8",
    ),
    ("words count empty.txt -o t.tsv", "empty.txt: there are no words: give plain text"),
    (
        "words count empty.txt empty.txt -o t.tsv",
        "empty.txt, empty.txt: there are no words: give plain text",
    ),
    ("words count text.txt -o t.tsv --vocabulary 0", "--vocabulary 0: give a whole number above 0"),
    (
        "words count text.txt -o t.tsv",
        "the corpus has 12 different words, fewer than the 2000 of --vocabulary: lower it",
    ),
    (
        "words count text.txt -o t.tsv --vocabulary 9999999",
        "--vocabulary is 9999999: it must be 1 to 2097152",
    ),
    (
        "words count text.txt -o t.tsv --vocabulary 1",
        "no three words of the vocabulary follow one another: give more text or raise --vocabulary",
    ),
    (
        "words count text.txt -o t.npy --vocabulary 2",
        "t.npy: triples are written as .tsv, .csv or .parquet: choose one of these endings",
    ),
    (
        "words count text.txt -o nowhere/t.tsv --vocabulary 2",
        "nowhere: there is no such folder: make it first",
    ),
    ("words count - -o t.tsv", "a corpus is read twice, standard input only once: name a file"),
    (
        "words count cut.txt.gz -o t.tsv",
        "cut.txt.gz: the gzip archive is cut short or damaged (unexpected end of file): fetch or pack it again",
    ),
    (
        "words evaluate nowhere --similarity pairs.txt",
        "nowhere: there is no such file: check the name",
    ),
    (
        "words evaluate good.vec --similarity nowhere.txt",
        "nowhere.txt: there is no such file: check the name",
    ),
    (
        "words evaluate ragged.vec --similarity pairs.txt",
        "ragged.vec, line 3: expected 3 fields, got 2: every row needs as many fields as the first one (separated by blanks)",
    ),
    (
        "words evaluate text.vec --similarity pairs.txt",
        "text.vec, line 1: column 3 holds `much`, which is not a number: correct it or choose another column",
    ),
    (
        "words evaluate good.vec --similarity three.txt",
        "three.txt, line 1: column 3 holds `c`, which is not a number: correct it or choose another column",
    ),
    (
        "words evaluate good.vec --analogies three.txt",
        "three.txt, line 1: expected 4 fields, got 3: every row needs as many fields as the first one (separated by blanks)",
    ),
    (
        "words evaluate good.vec --analogies empty.txt",
        "empty.txt: the file has no rows: give at least one row with a value",
    ),
    (
        "export model --all-modes --mode film -o films.vec",
        "`--all-modes` cannot be used with `--mode <MODE>`: leave one of them out",
    ),
    ("reproduce words", "words is an experiment on data that you have: name them with --data"),
    (
        "reproduce words --data nowhere",
        "nowhere/wikipedia: there is no such folder: --data needs one with wikipedia/ (texts) and word-eval/ (analogies and similarities)",
    ),
    (
        "reproduce phase --data folder",
        "--data is for experiments on data that you have (movielens, hyperspectral, words): leave it out",
    ),
];

#[test]
fn broken_words() {
    let place = Place::new();
    place.write("text.txt", text());
    for (name, content) in [
        ("empty.txt", ""),
        ("pairs.txt", "up down 1\n"),
        ("three.txt", "a b c\n"),
        ("good.vec", "2 2\nup 0 1\ndown 1 0\n"),
        ("ragged.vec", "2 2\nup 0 1\ndown 1\n"),
        ("text.vec", "up 0 much\n"),
    ] {
        place.write(name, content);
    }
    place.write("latin.txt", b"fine so far\ncaf\xe9 au lait\n");
    place.write("cut.txt.gz", [0x1f, 0x8b, 8, 0, 0]);
    fs::create_dir(place.path("folder")).unwrap();
    check(&place, WORDS);
}
