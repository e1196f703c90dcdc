//! Help, silence, pipes and Ctrl-C.

use std::fs;
use std::process::Stdio;

use crate::place::{Place, outcome, place_with_data};

#[test]
fn help_has_examples_and_completions_name_the_commands() {
    let place = Place::new();
    for command in ["synth", "fit", "predict", "evaluate", "inspect", "demo", "completions"] {
        let help = place.succeed(&[command, "--help"]).stdout;
        assert!(help.contains("Examples:\n  "), "{command}: {help}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.succeed(&["completions", shell]).stdout;
        assert!(script.contains("evaluate"), "{shell}");
    }
    assert!(place.succeed(&["--version"]).stdout.starts_with("quadfill "));
}

#[test]
fn quiet_says_nothing_and_json_says_it_once() {
    let place = place_with_data();
    let fit = ["fit", "train.tns", "-o", "model", "--rank", "2", "--penalty", "0.1", "--quiet"];
    let said = place.succeed(&fit);
    assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("", ""));
    let said = place.succeed(&["evaluate", "model", "test.tns", "-q"]);
    assert!(said.stdout.starts_with("rmse"));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = place_with_data();
    place.succeed(&["fit", "train.tns", "-o", "model", "--rank", "2", "--penalty", "0.1"]);
    let many = "1 1 1 0\n".repeat(200_000);
    place.write("many.tns", many);
    let mut child = place
        .command(&["predict", "model", "many.tns"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = outcome(&child.wait_with_output().unwrap());
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn data_can_come_from_standard_input() {
    let place = place_with_data();
    let train = fs::File::open(place.path("train.tns")).unwrap();
    let fit = place
        .command(&["fit", "-", "-o", "model", "--rank", "2", "--penalty", "0.1", "--format", "tns"])
        .stdin(train)
        .output()
        .unwrap();
    assert!(fit.status.success(), "{}", outcome(&fit).stderr);
    let test = fs::File::open(place.path("test.tns")).unwrap();
    let judged = place
        .command(&["evaluate", "model", "-", "--format", "tns", "--json"])
        .stdin(test)
        .output()
        .unwrap();
    assert!(outcome(&judged).stdout.contains("\"unknown\":0"));
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_fit_says_how_to_go_on() {
    let place = Place::new();
    place.succeed(&[
        "synth",
        "--dims",
        "200,200,200",
        "--rank",
        "5",
        "--observations",
        "20000",
        "--noise",
        "0.2",
        "-o",
        "train.tns",
    ]);
    let child = place
        .command(&["fit", "train.tns", "-o", "model", "--tolerance", "0"])
        .env("QUADFILL_CHECKPOINT_SECONDS", "0")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !place.path("model.checkpoint").exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let killed = std::process::Command::new("sh")
        .args(["-c", &format!("kill -INT {}", child.id())])
        .status()
        .unwrap();
    assert!(killed.success());
    let ended = outcome(&child.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(130));
    assert_eq!(
        ended.stderr.lines().last(),
        Some("quadfill: interrupted: the same command with --resume continues from here")
    );
    let names: Vec<_> =
        fs::read_dir(place.path("")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}
