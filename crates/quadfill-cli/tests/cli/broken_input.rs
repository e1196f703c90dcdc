//! Whatever the user can mend gets one sentence, exit code 2, and nothing is left on disk.

use std::fs;

use crate::broken_cases::{Case, FILES, FLAGS, MODELS, SYNTH};
use crate::broken_uses::USES;
use crate::place::Place;

/// Files that are broken, each in its own way, around one that is not.
fn place() -> Place {
    let place = Place::new();
    let rows = (0..30).map(|i| format!("{},{},{}", i % 5, i % 6, i % 7));
    let lines: Vec<String> = std::iter::once("user,film,stars".to_owned()).chain(rows).collect();
    let good = lines.join("\n");
    place.write("good.csv", &good);
    for (name, text) in [
        ("empty.csv", ""),
        ("header.csv", "user,film,stars\n"),
        ("ragged.csv", "a,b,v\n1,2,3\n1,2\n"),
        ("text.csv", "a,b,v\n1,2,3\n1,3,high\n"),
        ("nan.csv", "a,b,v\n1,2,3\n1,3,nan\n"),
        ("infinite.csv", "a,b,v\n1,2,3\n1,3,1e999\n"),
        ("nolabel.csv", "a,b,v\n1,2,3\n,3,4\n"),
        ("quote.csv", "a,b,v\n\"x,2,3\n1,3,4\n"),
        ("twice.csv", "a,b,v\n1,2,3\n1,3,4\n1,2,5\n"),
        ("narrow.csv", "v\n1\n2\n"),
        ("wide.csv", "1,2,3,4,5,6,7,8,9,10\n"),
        ("zero.tns", "1 1 1 0.5\n0 1 1 0.5\n"),
        ("data.xlsx", "what\n"),
        ("broken.npy", "\u{93}NUMPY"),
        ("broken.npz", "PK what"),
        ("broken.parquet", "PAR1 what"),
        ("broken.mat", "MATLAB 5.0"),
        ("weights.csv", "a,b,w,v\n1,2,1,3\n1,3,-1,4\n"),
        ("single.csv", "a,b,v\n1,2,3\n"),
        ("times.csv", "a,t,v\n1,noon,3\n"),
        ("other.csv", "user,place\nann,Rome\n"),
        ("noval.csv", "user,film\n1,2\n"),
        ("strange.csv", "user\n1\n77\n"),
        ("strangers.csv", "user,film,stars\n77,88,3\n"),
        ("three.csv", "1,1,1,2\n2,1,2,3\n1,2,2,4\n"),
        ("badval.csv", "user,film,stars\n1,2,many\n"),
    ] {
        place.write(name, text);
    }
    place.write("latin.csv", b"a,b,v\nJos\xe9,2,3\n");
    place.write("cut.csv.gz", [0x1f, 0x8b, 8, 0, 0]);
    fs::create_dir(place.path("empty_folder")).unwrap();
    fs::create_dir(place.path("folder")).unwrap();
    place.write("folder/file", "keep me");
    place
}

/// Models that are broken, each in its own way.
fn break_models(place: &Place) {
    let fit = [
        "fit",
        "good.csv",
        "-o",
        "model",
        "--rank",
        "1",
        "--penalty",
        "0.1",
        "--on-duplicate",
        "mean",
    ];
    place.succeed(&fit);
    let product = fit.map(|word| if word == "model" { "product" } else { word });
    place.succeed(&[&product[..], &["--model", "cp"]].concat());
    let drawn = ["fit", "good.csv", "-o", "drawn", "--rank", "1", "--on-duplicate", "mean"];
    place.succeed(
        &[&drawn[..], &["--solver", "gibbs", "--burn-in", "2", "--samples", "4"]].concat(),
    );
    let copy = |name: &str| {
        fs::create_dir(place.path(name)).unwrap();
        for file in ["model.json", "model.safetensors", "labels.jsonl"] {
            let to = place.path(&format!("{name}/{file}"));
            fs::copy(place.path(&format!("model/{file}")), to).unwrap();
        }
    };
    let edit = |file: &str, change: &dyn Fn(String) -> String| {
        let text = fs::read_to_string(place.path(file)).unwrap();
        let changed = change(text.clone());
        assert_ne!(text, changed, "{file}");
        fs::write(place.path(file), changed).unwrap();
    };
    copy("lost");
    fs::remove_file(place.path("lost/model.safetensors")).unwrap();
    copy("scribbled");
    place.write("scribbled/model.json", "not json");
    copy("future");
    edit("future/model.json", &|text| text.replace("\"version\": 4", "\"version\": 99"));
    copy("short");
    let numbers = fs::read(place.path("short/model.safetensors")).unwrap();
    place.write("short/model.safetensors", &numbers[..numbers.len() - 9]);
    copy("fewer");
    edit("fewer/labels.jsonl", &|text| {
        let lines: Vec<&str> = text.lines().skip(1).collect();
        lines.join("\n")
    });
    copy("stuffed");
    place.write("stuffed/notes.txt", "keep me");
    place.write("broken.checkpoint", "what");
}

pub(crate) fn check(place: &Place, cases: &[Case]) {
    let before = place.listing();
    let mut wrong = Vec::new();
    for (line, message) in cases {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let ended = place.run(&arguments);
        let said: Vec<&str> = ended.stderr.lines().collect();
        assert_eq!(ended.code, Some(2), "{line}: {}", ended.stderr);
        let last = said.last().and_then(|last| last.strip_prefix("quadfill: ")).unwrap_or_default();
        if last != *message {
            wrong.push(format!("{line}\n  expected {message}\n  said     {last}"));
        }
        let complaints = said.iter().filter(|line| line.starts_with("quadfill: ")).count();
        assert_eq!(complaints, 1, "{line}: {}", ended.stderr);
        assert_eq!(ended.stdout, "", "{line}");
        assert_eq!(place.listing(), before, "{line}: the folder has changed");
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn broken_files() {
    check(&place(), FILES);
}

#[test]
fn broken_flags() {
    check(&place(), FLAGS);
}

#[test]
fn impossible_data() {
    check(&place(), SYNTH);
}

#[test]
fn broken_models() {
    let place = place();
    break_models(&place);
    check(&place, MODELS);
}

#[test]
fn broken_uses_of_a_model() {
    let place = place();
    break_models(&place);
    place.succeed(&["fit", "three.csv", "-o", "three", "--rank", "1", "--penalty", "0.1"]);
    check(&place, USES);
}

#[test]
fn there_are_enough_broken_inputs() {
    assert!(FILES.len() + FLAGS.len() + SYNTH.len() + MODELS.len() >= 40);
}

#[test]
fn a_checkpoint_of_other_data_is_refused_and_kept() {
    let place = place();
    place.succeed(&[
        "synth",
        "--dims",
        "60,60,60",
        "--rank",
        "3",
        "--observations",
        "4000",
        "--noise",
        "0.2",
        "-o",
        "a.tns",
    ]);
    place.succeed(&[
        "synth",
        "--dims",
        "60,60,60",
        "--rank",
        "3",
        "--observations",
        "4000",
        "--noise",
        "0.3",
        "-o",
        "b.tns",
    ]);
    let mut child = place
        .command(&["fit", "a.tns", "-o", "m", "--quiet", "--tolerance", "0"])
        .env("QUADFILL_CHECKPOINT_SECONDS", "0")
        .spawn()
        .unwrap();
    while !place.path("m.checkpoint").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = fs::read(place.path("m.checkpoint")).unwrap();
    for (data, rank, what) in [("b.tns", "10", "data"), ("a.tns", "4", "settings")] {
        let ended =
            place.run(&["fit", data, "-o", "m", "--rank", rank, "--tolerance", "0", "--resume"]);
        assert_eq!(ended.code, Some(2));
        let expected = format!(
            "quadfill: m.checkpoint: the checkpoint belongs to other {what}: resume with the same data \
             and settings, or fit without --resume"
        );
        assert_eq!(ended.stderr.lines().last(), Some(expected.as_str()));
        assert_eq!(kept, fs::read(place.path("m.checkpoint")).unwrap());
    }
}

#[test]
fn a_bad_environment_is_told() {
    let place = place();
    let before = place.listing();
    let ended = place
        .command(&["fit", "good.csv", "-o", "m"])
        .env("QUADFILL_CHECKPOINT_SECONDS", "soon")
        .output()
        .unwrap();
    let ended = crate::place::outcome(&ended);
    assert_eq!(ended.code, Some(2));
    assert_eq!(
        ended.stderr,
        "quadfill: QUADFILL_CHECKPOINT_SECONDS=soon: give a number of seconds not below 0\n"
    );
    assert_eq!(place.listing(), before);
}
