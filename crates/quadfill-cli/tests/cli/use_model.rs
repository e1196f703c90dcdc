//! What is done with a model once it is there.

use std::fmt::Write;
use std::fs;

use serde_json::Value;

use crate::place::{Place, model_bytes};

/// Films that users like by taste, all but every fourth.
fn rows(users: std::ops::Range<u32>) -> String {
    let mut text = String::from("user,film,stars\n");
    for user in users {
        for film in 0..9u32 {
            if (user * 7 + film * 3) % 4 != 0 {
                let stars = f64::from(user % 4) * 0.5 * f64::from(film % 3) + 1.0;
                writeln!(text, "u{user},f{film},{stars}").unwrap();
            }
        }
    }
    text
}

fn place() -> Place {
    let place = Place::new();
    place.write("old.csv", rows(0..12));
    place.write("new.csv", rows(12..16));
    place.succeed(&[
        "fit",
        "old.csv",
        "-o",
        "model",
        "--rank",
        "2",
        "--penalty",
        "1e-4",
        "--bias",
        "modes",
    ]);
    place
}

fn labels(answer: &Value) -> Vec<&str> {
    let items = answer["items"].as_array().unwrap().iter();
    items.map(|item| item["label"].as_str().unwrap()).collect()
}

#[test]
fn top_finds_what_predict_says_is_best() {
    let place = place();
    let answer = place.json(&["top", "model", "--given", "user=u3", "--mode", "film", "-k", "9"]);
    let query: String =
        (0..9).fold("user,film\n".to_owned(), |text, f| text + &format!("u3,f{f}\n"));
    place.write("q.csv", query);
    let said = place.succeed(&["predict", "model", "q.csv"]).stdout;
    let mut scores: Vec<(String, f64)> = said
        .lines()
        .skip(1)
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            (fields[1].to_owned(), fields[2].parse().unwrap())
        })
        .collect();
    scores.sort_by(|x, y| y.1.total_cmp(&x.1));
    assert_eq!(labels(&answer), scores.iter().map(|s| s.0.as_str()).collect::<Vec<_>>());
    assert_eq!(answer["items"][0]["score"].as_f64(), Some(scores[0].1));

    let base = ["top", "model", "--mode", "film", "-k", "2"];
    let given = ["--given", "user=u3", "--exclude", "old.csv"];
    let unseen = place.json(&[&base[..], &given].concat());
    let seen = fs::read_to_string(place.path("old.csv")).unwrap();
    assert!(labels(&unseen).iter().all(|film| !seen.contains(&format!("u3,{film},"))), "{unseen}");
    place.write("some.txt", "f7\nf0\n");
    let some =
        place.json(&[&base[..], &["--given", "user=u3", "--candidates", "some.txt"]].concat());
    assert_eq!(labels(&some).len(), 2);
    assert!(labels(&some).iter().all(|film| ["f0", "f7"].contains(film)));

    place.write("users.csv", "user\nu3\nu5\n");
    let batch =
        place.json(&[&base[..], &["--batch", "users.csv", "--exclude", "old.csv"]].concat());
    assert_eq!(batch["queries"][0]["items"], unseen["items"]);
    assert_eq!(batch["queries"][1]["given"]["user"], "u5");
    let lowest = place.json(&[&base[..], &["--given", "user=u3", "--order", "lowest"]].concat());
    assert_eq!(labels(&lowest)[0], scores[8].0);
}

#[test]
fn explain_adds_up_and_names_observations() {
    let place = place();
    let told = place.json(&["explain", "model", "user=u3", "film=f4", "--data", "old.csv"]);
    let parts = told["parts"].as_array().unwrap();
    let sum: f64 = parts.iter().map(|part| part["value"].as_f64().unwrap()).sum();
    assert!((sum - told["prediction"].as_f64().unwrap()).abs() < 1e-9);
    let names: Vec<&str> = parts.iter().map(|part| part["part"].as_str().unwrap()).collect();
    assert_eq!(names, ["mean", "bias of user", "bias of film", "user and film"]);
    let seen = told["observations"].as_array().unwrap();
    assert!(seen.iter().any(|o| o["mode"] == "user" && o["cell"][0] == "u3"), "{told}");
    assert!(seen.iter().any(|o| o["mode"] == "film" && o["cell"][1] == "f4"), "{told}");
    let text =
        place.succeed(&["explain", "model", "user=u3", "film=f4", "--data", "old.csv"]).stdout;
    assert!(text.contains("through film") && text.contains("leverage"), "{text}");
}

#[test]
fn export_writes_every_format() {
    let place = place();
    for file in ["films.npy", "films.csv", "films.parquet", "films.vec"] {
        let report = place.json(&["export", "model", "--mode", "film", "-o", file]);
        assert_eq!((report["labels"].as_u64(), report["width"].as_u64()), (Some(9), Some(3)));
        assert_eq!(report["query"], "the first 2 entries of vector(user), then a 1");
    }
    let csv = fs::read_to_string(place.path("films.csv")).unwrap();
    assert!(csv.starts_with("film,v1,v2,offset\n") && csv.lines().count() == 10, "{csv}");
    let words = fs::read_to_string(place.path("films.vec")).unwrap();
    assert!(words.starts_with("9 3\n"), "{words}");
    assert_eq!(fs::read_to_string(place.path("films.labels.txt")).unwrap().lines().count(), 9);
    for file in ["films.npy", "films.parquet"] {
        assert!(fs::metadata(place.path(file)).unwrap().len() > 100);
    }
}

#[test]
fn new_users_are_folded_in_and_old_ones_stay() {
    let place = place();
    let folded = place.json(&["fold-in", "model", "new.csv", "-o", "folded"]);
    assert_eq!(folded["new_labels"][0]["mode"], "user");
    assert_eq!(folded["new_labels"][0]["count"], 4);
    let judged = place.json(&["evaluate", "folded", "new.csv"]);
    assert_eq!(judged["unknown"], 0);
    assert!(judged["rmse"].as_f64().unwrap() < 0.3, "{judged}");
    let predict = |model: &str| place.succeed(&["predict", model, "old.csv"]).stdout;
    assert_eq!(predict("model"), predict("folded"));
    let updated = place.json(&["update", "model", "old.csv", "new.csv", "-o", "updated"]);
    assert!(updated["train_rmse"].as_f64().unwrap() < 0.3, "{updated}");
    assert_eq!(place.json(&["inspect", "updated"])["observations"], 108);
    // The same on one thread.
    place.succeed(&["update", "model", "old.csv", "new.csv", "-o", "again", "--threads", "1"]);
    assert_eq!(model_bytes(&place.path("updated")), model_bytes(&place.path("again")));
}

#[test]
fn intervals_bound_the_predictions() {
    let place = place();
    let said = place
        .succeed(&["predict", "model", "new.csv", "--interval", "0.9", "--data", "old.csv"])
        .stdout;
    assert!(said.starts_with("user,film,stars,prediction,lower,upper,unknown\n"), "{said}");
    place.write("q.csv", "user,film\nu1,f2\n");
    place.succeed(&[
        "predict",
        "model",
        "q.csv",
        "--interval",
        "0.9",
        "--data",
        "old.csv",
        "-o",
        "out.jsonl",
    ]);
    let line: Value =
        serde_json::from_str(&fs::read_to_string(place.path("out.jsonl")).unwrap()).unwrap();
    let number = |key: &str| line[key].as_f64().unwrap();
    assert!(number("lower") < number("prediction") && number("prediction") < number("upper"));
}

/// The number in a column of the only row.
fn only(place: &Place, arguments: &[&str], column: usize) -> f64 {
    let said = place.succeed(arguments).stdout;
    said.lines().nth(1).unwrap().split(',').nth(column).unwrap().parse().unwrap()
}

#[test]
fn a_mean_of_draws_is_used_like_any_model() {
    let place = place();
    let draws = ["--solver", "gibbs", "--burn-in", "40", "--samples", "80", "--thin", "4"];
    let fit = ["fit", "old.csv", "-o", "drawn", "--rank", "2", "--test", "new.csv"];
    let fitted = place.json(&[&fit[..], &draws].concat());
    assert_eq!((&fitted["status"], &fitted["rank"]), (&"sampled".into(), &2.into()), "{fitted}");
    assert_eq!((&fitted["draws"]["kept"], &fitted["sweeps"]), (&20.into(), &120.into()));
    assert!(fitted["train"]["rmse"].as_f64().unwrap() < 0.3, "{fitted}");
    // New users have the means of the old ones: better than nothing.
    assert!(fitted["test"]["rmse"].as_f64().unwrap() < 1.1, "{fitted}");
    let judged = place.json(&["evaluate", "drawn", "old.csv"]);
    let difference = judged["rmse"].as_f64().unwrap() - fitted["train"]["rmse"].as_f64().unwrap();
    assert!(difference.abs() < 1e-6, "{judged}");
    assert_eq!(place.json(&["inspect", "drawn"])["draws"], 20);

    place.write("q.csv", "user,film\nu1,f2\n");
    let bounded = ["predict", "drawn", "q.csv", "--interval", "0.9"];
    let prediction = only(&place, &["predict", "drawn", "q.csv"], 2);
    let (lower, upper) = (only(&place, &bounded, 3), only(&place, &bounded, 4));
    assert!(lower < prediction && prediction < upper && upper - lower < 3.0);
    place.write("u.csv", "user,film\nu99,f2\n");
    let unknown = ["predict", "drawn", "u.csv", "--interval", "0.9"];
    assert!(only(&place, &unknown, 4) - only(&place, &unknown, 3) > upper - lower);

    // The same number by every other way.
    let explained = place.json(&["explain", "drawn", "user=u1", "film=f2"]);
    assert!((explained["prediction"].as_f64().unwrap() - prediction).abs() < 1e-9, "{explained}");
    let top = place.json(&["top", "drawn", "--given", "user=u1", "--mode", "film", "-k", "9"]);
    let items = top["items"].as_array().unwrap();
    let item = items.iter().find(|item| item["label"] == "f2").unwrap();
    assert!((item["score"].as_f64().unwrap() - prediction).abs() < 1e-9, "{top}");
    place.succeed(&["export", "drawn", "--mode", "film", "-o", "films.csv"]);
}

#[test]
fn what_was_seen_is_ranked_above_what_was_not() {
    let place = Place::new();
    let (mut train, mut test) = (String::new(), String::new());
    for user in 0..30u32 {
        for film in 0..20u32 {
            if user % 2 == film % 2 {
                let part = if (user * 3 + film) % 5 == 0 { &mut test } else { &mut train };
                writeln!(part, "u{user}\tf{film}").unwrap();
            }
        }
    }
    place.write("train.tsv", train);
    place.write("test.tsv", test);
    place.succeed(&[
        "fit",
        "train.tsv",
        "-o",
        "seen",
        "--implicit",
        "0.1",
        "--penalty",
        "1e-3",
        "--rank",
        "2",
    ]);
    let filter = ["--rank-mode", "2", "--filter", "train.tsv"];
    let judged = place.json(&[&["evaluate", "seen", "test.tsv"][..], &filter].concat());
    assert!(judged["mrr"].as_f64().unwrap() > 0.9, "{judged}");
    assert!(judged["recall_at_10"].as_f64().unwrap() > 0.9, "{judged}");
    assert_eq!(judged["modes"]["mode2"]["count"], judged["count"]);
    place.succeed(&[
        "fit",
        "train.tsv",
        "-o",
        "near",
        "--model",
        "transe",
        "--negatives",
        "3",
        "--penalty",
        "1e-5",
        "--rank",
        "2",
        "--sweeps",
        "40",
    ]);
    let judged = place.json(&[&["evaluate", "near", "test.tsv"][..], &filter].concat());
    assert!(judged["mrr"].as_f64().unwrap() > 0.5, "{judged}");
}
