//! A fit ends in the same bits on any number of threads, and after any number of deaths.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use crate::place::{Place, model_bytes};

fn place_with_data(noise: &str) -> Place {
    let place = Place::new();
    place.succeed(&[
        "synth",
        "--dims",
        "30,25,20",
        "--rank",
        "2",
        "--observations",
        "900",
        "--noise",
        noise,
        "--seed",
        "5",
        "-o",
        "train.tns",
    ]);
    place
}

#[test]
fn threads_make_no_difference_to_any_solver() {
    let place = place_with_data("0.1");
    for solver in [
        &["--solver", "path"][..],
        &["--solver", "path", "--penalty", "0.01", "--precision", "f32"],
        &["--solver", "als", "--penalty", "0.01", "--bias", "modes"],
        &["--solver", "gd", "--penalty", "0.01", "--sweeps", "60"],
        &["--solver", "lbfgs", "--penalty", "0.01", "--sweeps", "60"],
        &["--solver", "gauss-newton", "--penalty", "0.01", "--sweeps", "8"],
        &["--model", "learned", "--path-steps", "60"],
        &["--solver", "gibbs", "--burn-in", "5", "--samples", "10", "--chains", "2"],
    ] {
        let fitted = |threads: &str| {
            let fit = ["fit", "train.tns", "-o", "model", "--rank", "2", "--threads", threads];
            place.succeed(&[&fit[..], solver].concat());
            model_bytes(&place.path("model"))
        };
        let one = fitted("1");
        assert_eq!(one.len(), 3);
        assert!(one == fitted("2"), "{solver:?}: 2 threads");
        assert!(one == fitted("4"), "{solver:?}: 4 threads");
    }
}

/// Cut into files of a folder, the rows are the same data.
#[test]
fn many_files_are_fitted_as_one() {
    let place = Place::new();
    let header = "user,film,stars,timestamp\n";
    let line = |i: u32| {
        let (user, film) = (i * 7 % 23, i * 11 % 19);
        format!("{user},f{film},{},{}\n", (user * film + i) % 9, 881_250_949 + 90_000 * (i % 311))
    };
    let lines: Vec<String> = (0..400).map(line).collect();
    place.write("all.csv", format!("{header}{}", lines.concat()));
    fs::create_dir(place.path("parts")).unwrap();
    for (number, part) in lines.chunks(90).enumerate() {
        place.write(&format!("parts/part-{number}.csv"), format!("{header}{}", part.concat()));
    }
    let fitted = |data: &str, views: &str| {
        let settings = ["--solver", "als", "--penalty", "0.01", "--rank", "2", "--views", views];
        let data = ["fit", data, "-o", "model", "--on-duplicate", "mean"];
        place.succeed(&[&data[..], &settings].concat());
        model_bytes(&place.path("model"))
    };
    let one = fitted("all.csv", "plain");
    for data in ["parts", "parts/part-*.csv"] {
        for views in ["plain", "packed", "mapped"] {
            assert!(one == fitted(data, views), "{data}, {views} views");
        }
    }
    let told = place.json(&["inspect", "parts/part-?.csv"]);
    assert_eq!(told["observations"].as_u64(), Some(400), "{told}");
}

#[test]
fn the_seed_decides() {
    let place = place_with_data("0.1");
    let fitted = |seed: &str| {
        place.succeed(&[
            "fit",
            "train.tns",
            "-o",
            "model",
            "--rank",
            "2",
            "--solver",
            "als",
            "--sweeps",
            "5",
            "--penalty",
            "0.01",
            "--seed",
            seed,
        ]);
        model_bytes(&place.path("model"))
    };
    assert!(fitted("1") == fitted("1"));
    assert!(fitted("1") != fitted("2"));
}

/// Kills a fit again and again, later each time, and lets the last run finish.
fn killed_and_resumed(place: &Place, fit: &[&str]) -> Vec<(String, Vec<u8>)> {
    let mut kills = 0;
    for milliseconds in [30, 45, 60, 80, 110, 150, 190, 240, 300, 370, 450] {
        let resume: &[&str] =
            if place.path("model.checkpoint").exists() { &["--resume"] } else { &[] };
        let mut child = place
            .command(&[fit, resume].concat())
            .env("QUADFILL_CHECKPOINT_SECONDS", "0")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        if child.try_wait().unwrap().is_some() {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
    }
    assert!(kills > 0, "the fit was over before it could be killed");
    let resume: &[&str] = if place.path("model.checkpoint").exists() { &["--resume"] } else { &[] };
    let mut last = place.command(&[fit, resume].concat());
    let last = last.env("QUADFILL_CHECKPOINT_SECONDS", "0").status().unwrap();
    assert!(last.success());
    assert!(!place.path("model.checkpoint").exists(), "a finished fit needs no checkpoint");
    model_bytes(&place.path("model"))
}

#[test]
fn a_killed_fit_resumes_and_ends_in_the_same_bits() {
    for (noise, settings) in [
        ("0.1", &["--path-steps", "120"][..]),
        ("0", &["--path-steps", "200"]),
        ("0.1", &["--solver", "als", "--penalty", "1e-4", "--sweeps", "400", "--tolerance", "0"]),
        ("0.1", &["--solver", "gibbs", "--samples", "100", "--chains", "2", "--test", "train.tns"]),
    ] {
        let place = place_with_data(noise);
        let fit = ["fit", "train.tns", "-o", "model", "--rank", "2", "--quiet"];
        let resumed = killed_and_resumed(&place, &[&fit, settings].concat());
        let fit = ["fit", "train.tns", "-o", "whole", "--rank", "2", "--quiet"];
        place.succeed(&[&fit, settings].concat());
        assert!(resumed == model_bytes(&place.path("whole")), "{settings:?}");
        let files: Vec<String> = place
            .listing()
            .iter()
            .filter_map(|(path, _)| Some(path.file_name()?.to_string_lossy().into_owned()))
            .filter(|name| name.starts_with('.'))
            .collect();
        assert!(files.is_empty(), "left behind: {files:?}");
    }
}
