//! Every command as a new user would run it.

use std::fmt::Write;
use std::fs;

use crate::place::{Place, SYNTH, place_with_data};

/// Films that users like by taste: a sum of three products, as a pairwise model makes.
fn films() -> (String, String) {
    let (mut train, mut test) =
        (String::from("user,film,day,stars\n"), String::from("film,user,stars,day\n"));
    let users = ["ann", "bob", "eve", "joe", "kim", "lea", "max", "zoe"];
    let films = ["Alien", "Brazil", "Heat", "Jaws", "\"M, the film\"", "Up"];
    let days = ["mon", "tue", "wed", "thu"];
    for (u, user) in users.iter().enumerate() {
        for (f, film) in films.iter().enumerate() {
            for (d, day) in days.iter().enumerate() {
                let (a, b, c) = (u as f64 - 3.0, f as f64 * 0.5 - 1.0, 0.3 * d as f64 + 0.2);
                let stars = a * b + a * c + b * c;
                if (u * 7 + f * 3 + d * 5) % 4 == 0 {
                    writeln!(test, "{film},{user},{stars},{day}").unwrap();
                } else {
                    writeln!(train, "{user},{film},{day},{stars}").unwrap();
                }
            }
        }
    }
    (train, test)
}

#[test]
fn a_new_user_gets_from_a_csv_to_predictions() {
    let place = Place::new();
    let (train, test) = films();
    place.write("train.csv", train);
    place.write("test.csv", test);
    let fit =
        place.succeed(&["fit", "train.csv", "-o", "model", "--rank", "1", "--test", "test.csv"]);
    assert!(fit.stderr.contains("144 observations of 8 x 6 x 4 cells"), "{}", fit.stderr);
    assert!(fit.stdout.contains("exact: the data are reproduced"), "{}", fit.stdout);

    let judged = place.json(&["evaluate", "model", "test.csv"]);
    assert!(judged["relative_error"].as_f64().unwrap() < 1e-8, "{judged}");
    assert_eq!((judged["count"].as_u64(), judged["unknown"].as_u64()), (Some(48), Some(0)));

    place.write("wanted.csv", "user,film,day,note\nann,\"M, the film\",mon,old\nbob,Up,tue,new\n");
    let said = place.succeed(&["predict", "model", "wanted.csv", "-o", "filled.csv"]);
    assert_eq!(said.stdout, "2 predictions -> filled.csv\n");
    let filled = fs::read_to_string(place.path("filled.csv")).unwrap();
    let lines: Vec<&str> = filled.lines().collect();
    assert_eq!(lines[0], "user,film,day,note,prediction");
    assert!(lines[1].starts_with("ann,\"M, the film\",mon,old,"), "{filled}");
    let value: f64 = lines[1].rsplit(',').next().unwrap().parse().unwrap();
    assert!((value - (-3.0 * 1.0 - 3.0 * 0.2 + 0.2)).abs() < 1e-6, "{filled}");
}

#[test]
fn files_without_names_are_read_as_the_data_were() {
    let place = Place::new();
    let mut rows: Vec<String> = Vec::new();
    for (u, f, d) in (0..210).map(|i| (i / 30, i / 5 % 6, i % 5)) {
        let (a, b, c) = (f64::from(u) - 3.0, f64::from(f) * 0.5 - 1.0, f64::from(d) * 0.3 + 0.2);
        rows.push(format!("{u}::{f}::{}::{d}", a * b + a * c + b * c));
    }
    place.write("train.dat", rows.join("\n"));
    place.write("test.dat", rows[7..40].join("\n"));
    let columns = ["--modes", "1,2,4", "--value", "3"];
    place.succeed(&[&["fit", "train.dat", "-o", "model", "--rank", "1"], &columns[..]].concat());
    let judged = place.json(&["evaluate", "model", "test.dat"]);
    assert!(judged["relative_error"].as_f64().unwrap() < 1e-8, "{judged}");
    place.succeed(&["predict", "model", "test.dat", "-o", "filled.csv"]);
    let filled = fs::read_to_string(place.path("filled.csv")).unwrap();
    let last: Vec<f64> =
        filled.lines().last().unwrap().split("::").map(|field| field.parse().unwrap()).collect();
    assert!((last[2] - last[4]).abs() < 1e-6, "{filled}");
    // A query of the modes alone, in their order, and one whose flags say where they are.
    place.write("modes.dat", "0::1::2\n");
    place.succeed(&["predict", "model", "modes.dat", "-o", "few.csv"]);
    place.write("moved.dat", "2::0::1\n");
    place.succeed(&["predict", "model", "moved.dat", "-o", "moved.csv", "--modes", "2,3,1"]);
    let value = |name| {
        let text = fs::read_to_string(place.path(name)).unwrap();
        text.trim_end().rsplit("::").next().unwrap().parse::<f64>().unwrap()
    };
    assert!((value("few.csv") - value("moved.csv")).abs() < 1e-12);
}

#[test]
fn a_fit_tells_its_story_on_a_page() {
    let place = Place::new();
    place.write("train.csv", films().0);
    let flags = ["fit", "train.csv", "-o", "model", "--rank", "1", "--report", "fit.html"];
    let fit = place.json(&flags);
    assert_eq!(fit["report"].as_str(), Some("fit.html"));
    let page = fs::read_to_string(place.path("fit.html")).unwrap();
    for words in ["train.csv", "Path", "Convergence", "Residuals", "Effective rank", "<svg", "film"]
    {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn an_experiment_leaves_results_charts_and_a_page() {
    let place = Place::new();
    let flags = ["reproduce", "convergence", "--quick", "--seeds", "1", "--out", "c"];
    let said = place.json(&flags);
    assert_eq!(said["experiments"][0]["experiment"].as_str(), Some("convergence"));
    for file in
        ["results.json", "results.csv", "convergence-als.svg", "convergence-als.png", "report.html"]
    {
        assert!(place.path("c").join(file).is_file(), "{file}");
    }
}

#[test]
fn labels_that_are_not_known_are_counted_and_marked() {
    let place = Place::new();
    place.write("train.csv", films().0);
    place.succeed(&["fit", "train.csv", "-o", "model", "--rank", "1"]);
    place.write("q.csv", "user,film,day,stars\nann,Up,mon,1\nnobody,Up,mon,2\n");
    let said = place.succeed(&["predict", "model", "q.csv"]);
    let lines: Vec<&str> = said.stdout.lines().collect();
    assert_eq!(lines[0], "user,film,day,stars,prediction,unknown");
    assert!(lines[1].ends_with(",0") && lines[2].ends_with(",1"), "{}", said.stdout);
    assert!(said.stderr.contains("1 of 2 rows have labels that the model does not know"));
    let judged = place.json(&["evaluate", "model", "q.csv"]);
    assert_eq!((judged["count"].as_u64(), judged["unknown"].as_u64()), (Some(2), Some(1)));
}

#[test]
fn synth_tells_what_it_made() {
    let place = Place::new();
    let made =
        place.json(&[&SYNTH[..], &["--test", "test.tns", "--test-observations", "300"]].concat());
    assert_eq!(made["draws"], 1);
    assert_eq!(made["min_per_label"], 2);
    assert_eq!(made["model"], "pairwise");
    let lines = |name: &str| fs::read_to_string(place.path(name)).unwrap().lines().count();
    assert_eq!((lines("train.tns"), lines("test.tns")), (500, 300));
    // The same seed makes the same file, with or without a test file, in either format.
    let train = fs::read_to_string(place.path("train.tns")).unwrap();
    place.succeed(&SYNTH);
    assert_eq!(train, fs::read_to_string(place.path("train.tns")).unwrap());
    let csv: Vec<&str> =
        SYNTH.iter().map(|&a| if a == "train.tns" { "train.csv" } else { a }).collect();
    place.succeed(&csv);
    let csv = fs::read_to_string(place.path("train.csv")).unwrap();
    assert_eq!(csv, format!("mode1,mode2,mode3,value\n{}", train.replace(' ', ",")));
}

#[test]
fn synth_makes_any_model_and_fills_a_tensor_to_the_last_cell() {
    let place = Place::new();
    for model in ["cp", "transe", "norms", "matrix", "pairs:1-2,2-4"] {
        let made = place.json(&[
            "synth",
            "--dims",
            "4,5,3,2",
            "--model",
            model,
            "--rank",
            "1",
            "--observations",
            "119",
            "-o",
            "a.tns",
            "--test",
            "b.tns",
        ]);
        assert_eq!(made["test_observations"], 1, "{model}");
        assert_eq!(made["model"], model);
    }
    let noisy = place.json(&[
        "synth",
        "--dims",
        "9,9",
        "--kernel",
        "1 -2; -2 0.5",
        "--rank",
        "2",
        "--observations",
        "81",
        "--noise",
        "0.5",
        "-o",
        "a.tns",
    ]);
    assert_eq!(noisy["model"], "kernel");
}

#[test]
fn fit_answers_with_the_keys_that_scripts_rely_on() {
    let place = place_with_data();
    let fit = place.json(&["fit", "train.tns", "-o", "model", "--rank", "2", "--test", "test.tns"]);
    assert_eq!(fit["model"], "pairwise");
    assert_eq!(fit["rank"], 2);
    assert_eq!(fit["status"], "exact");
    assert_eq!(fit["penalty"], 0.0);
    assert!(fit["sweeps"].as_u64().unwrap() > 10);
    assert!(fit["seconds"].as_f64().unwrap() > 0.0);
    assert!(fit.as_object().unwrap().contains_key("cpu_seconds"));
    assert!(fit["train"]["rmse"].as_f64().unwrap() < 1e-8);
    assert!(fit["validation"].as_object().unwrap().contains_key("rmse"));
    let path = fit["path"].as_array().unwrap();
    for key in ["penalty", "train_rmse", "validation_rmse", "seconds"] {
        assert!(path[0].as_object().unwrap().contains_key(key), "{key}");
    }
    for key in ["rmse", "mse", "mae", "relative_error", "count", "unknown"] {
        assert!(fit["test"][key].is_number(), "{key}");
    }
    assert!(fit["test"]["relative_error"].as_f64().unwrap() < 1e-8);
    assert_eq!(fit["test"], place.json(&["evaluate", "model", "test.tns"]));
}

#[test]
fn a_fit_is_certified_and_certify_says_the_same() {
    let place = Place::new();
    place.succeed(&[&SYNTH[..], &["--noise", "0.3"]].concat());
    let fit = place.json(&["fit", "train.tns", "-o", "model", "--penalty", "0.1"]);
    assert_eq!(fit["status"], "certified");
    let certificate = &fit["certificate"];
    assert!(certificate["relative_gap"].as_f64().unwrap() < 1e-6, "{certificate}");
    assert!(certificate["verdict"].as_str().unwrap().starts_with("globally optimal"));
    assert_eq!(certificate["rank"], fit["rank"]);

    let again = place.json(&["certify", "model", "train.tns", "--curvature"]);
    for key in [
        "gap",
        "relative_gap",
        "lambda_min",
        "lambda_min_bound",
        "gradient_norm",
        "curvature_min",
        "rank",
        "coherence",
        "verdict",
        "objective",
    ] {
        assert!(!again[key].is_null(), "{key}: {again}");
        if key != "curvature_min" {
            assert_eq!(again[key], certificate[key], "{key}");
        }
    }
    assert!(again["curvature_min"].as_f64().unwrap() > 0.0);
    assert_eq!(again["unknown"], 0);
    let text = place.succeed(&["certify", "model", "train.tns"]).stdout;
    assert!(text.contains("verdict") && text.contains("globally optimal"), "{text}");
    let model = std::fs::read_to_string(place.path("model/model.json")).unwrap();
    assert!(model.contains("globally optimal"), "the model carries its certificate");
}

#[test]
fn a_convex_program_makes_a_model_and_tells_its_gap() {
    let place = place_with_data();
    let base = ["fit", "train.tns", "-o", "model", "--solver", "sdp", "--test", "test.tns"];
    let fit = place.json(&base);
    assert!(fit["test"]["relative_error"].as_f64().unwrap() < 1e-5, "{fit}");
    assert_eq!((fit["rank"].as_u64(), &fit["sdp"]["form"]), (Some(2), &"trace".into()));
    for key in ["objective", "lower_bound", "gap", "relative_gap", "primal_residual"] {
        assert!(fit["sdp"][key].is_number(), "{key}");
    }
    assert_eq!(fit["test"], place.json(&["evaluate", "model", "test.tns"]));
    assert_eq!(place.json(&["inspect", "model"])["rank"], 2);
    let cut = place.succeed(&[&base[..], &["--penalty", "0.01", "--rank", "1"]].concat());
    assert!(cut.stdout.contains("objective over all ranks"), "{}", cut.stdout);
    assert!(cut.stdout.contains("its rank 2 cut to --rank"), "{}", cut.stdout);
}

#[test]
fn the_theorems_settings_are_taken_and_told() {
    let place = place_with_data();
    let base = ["fit", "train.tns", "-o", "model", "--sweeps", "5"];
    let said = place.succeed(&[&base[..], &["--theory", "9"]].concat());
    for part in ["alpha 9 (as given)", "lambda1", "lambda2", "every local minimum is global"] {
        assert!(said.stderr.contains(part), "{}", said.stderr);
    }
    let fit = place.json(&[&base[..], &["--theory", "auto", "--rank", "2"]].concat());
    assert_eq!(fit["theory"]["estimated"], true);
    assert_eq!(
        (&fit["rank"], &fit["penalty"]),
        (&fit["theory"]["rank"], &fit["theory"]["lambda1"])
    );
    let convex = place.json(&[&base[..], &["--theory", "9", "--solver", "sdp"]].concat());
    assert_eq!(convex["sdp"]["form"], "penalised");
    assert!(convex["sdp"]["trace_bound"].as_f64().unwrap() > 0.0, "{convex}");
    // The rank of the fit that alpha is taken from does not limit the program's.
    let base = ["fit", "train.tns", "-o", "model", "--sweeps", "60"];
    let convex = place.json(&[&base[..], &["--theory", "auto", "--solver", "sdp"]].concat());
    assert_eq!(
        (&convex["rank"], &convex["sdp"]["truncated"]),
        (&convex["sdp"]["rank"], &false.into())
    );
    assert!(convex["rank"].as_u64().unwrap() > 10, "{convex}");
}

#[test]
fn held_out_data_choose_the_penalty_of_noisy_data() {
    let place = Place::new();
    place.succeed(&[&SYNTH[..], &["--noise", "0.3", "--test", "test.tns"]].concat());
    let fit = place.json(&["fit", "train.tns", "-o", "model", "--rank", "2", "--path-steps", "60"]);
    assert!(fit["validation"]["rmse"].as_f64().unwrap() > 0.0);
    assert!(fit["penalty"].as_f64().unwrap() > 0.0);
    assert!(fit["path"][0]["validation_rmse"].is_number());
    assert!(fit["test"].is_null());
}

#[test]
fn every_setting_of_fit_is_taken() {
    let place = place_with_data();
    for settings in [
        &["--solver", "gd", "--step", "0.01", "--sweeps", "3", "--penalty", "0.1"][..],
        &["--solver", "lbfgs", "--sweeps", "3", "--incoherence", "4,0.1"],
        &["--solver", "gauss-newton", "--sweeps", "2", "--perturb"],
        &["--solver", "als", "--sweeps", "3", "--model", "cp", "--bias", "mean"],
        &["--solver", "als", "--sweeps", "3", "--kernel", "1 .5 -1; .5 0 0; -1 0 1"],
        &[
            "--penalty",
            "0.1",
            "--penalty-scale",
            "count",
            "--precision",
            "f32",
            "--tolerance",
            "0.01",
        ],
        &["--time-limit", "0.05", "--model", "transe", "--validation", "0.2"],
        &["--split-latest", "3=0.2", "--penalty", "0.1", "--sweeps", "5"],
        &["--tie", "1,2", "--penalty", "0.1", "--sweeps", "5"],
    ] {
        let base = ["fit", "train.tns", "-o", "model", "--rank", "2"];
        let fit = place.json(&[&base[..], settings].concat());
        assert!(fit["train"]["rmse"].is_number(), "{settings:?}: {fit}");
        let inspected = place.json(&["inspect", "model"]);
        for key in ["model", "rank", "biases", "penalty", "status", "sweeps", "precision"] {
            assert_eq!(fit[key], inspected[key], "{settings:?}: {key}");
        }
    }
}

#[test]
fn inspect_shows_data_and_models() {
    let place = place_with_data();
    let data = place.json(&["inspect", "train.tns"]);
    assert_eq!(data["observations"], 500);
    assert!(data["degrees_of_freedom"].is_null());
    let data = place.json(&["inspect", "train.tns", "--rank", "2"]);
    assert_eq!(data["degrees_of_freedom"], 45 * 2 - 1);
    let data = place.json(&["inspect", "train.tns", "--model", "cp", "--rank", "20"]);
    assert!(
        data["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .any(|w| w.as_str().unwrap().contains("free parameters"))
    );
    place.succeed(&["fit", "train.tns", "-o", "model", "--rank", "2"]);
    let text = place.succeed(&["inspect", "model"]).stdout;
    assert!(text.contains("pairwise of rank 2 with no biases"), "{text}");
    let model = place.json(&["inspect", "model"]);
    assert_eq!(model["modes"][1]["labels"], 15);
    assert_eq!(model["degrees_of_freedom"], 89);
}

#[test]
fn times_are_cut_into_bins_that_the_model_remembers() {
    let place = Place::new();
    let mut rows = String::new();
    for i in 0..200u32 {
        writeln!(rows, "{}\t{}\t{}\t{}", i % 7, i % 11, (i % 7) * (i % 11), 1000 + i * 3600)
            .unwrap();
    }
    place.write("u.data", rows);
    let columns = ["--modes", "1,2,4", "--value", "3"];
    let fit = [
        "fit",
        "u.data",
        "-o",
        "model",
        "--bin",
        "4=1d",
        "--on-duplicate",
        "mean",
        "--rank",
        "1",
        "--penalty",
        "0.01",
    ];
    place.succeed(&[&fit[..], &columns].concat());
    let model = place.json(&["inspect", "model"]);
    assert_eq!(model["modes"][2]["labels"], 9);
    assert_eq!(model["modes"][2]["bin_seconds"], 86400.0);
    let judged = place.json(&[&["evaluate", "model", "u.data"][..], &columns].concat());
    assert_eq!((judged["count"].as_u64(), judged["unknown"].as_u64()), (Some(200), Some(0)));
}

#[test]
fn the_demo_leaves_everything_to_look_at() {
    let place = Place::new();
    let said = place.succeed(&["demo"]);
    let summary = fs::read_to_string(place.path("demo/summary.txt")).unwrap();
    assert_eq!(said.stdout, summary);
    assert!(summary.contains("given        4,000 cells"), "{summary}");
    let judged = place.json(&["evaluate", "demo/model", "demo/test.tns"]);
    assert!(judged["relative_error"].as_f64().unwrap() < 1e-6, "{judged}");
    // It can be run again, and answers in JSON, too.
    let demo = place.json(&["demo", "--seed", "2"]);
    assert_eq!(demo["given"], 4000);
    assert_eq!(demo["cells"], 8_000_000);
}

#[test]
fn a_learned_kernel_is_told_and_kept() {
    let place = Place::new();
    place.succeed(&[
        "synth",
        "--dims",
        "20,20,20",
        "--model",
        "transe",
        "--rank",
        "2",
        "--observations",
        "500",
        "--seed",
        "1",
        "-o",
        "train.tns",
        "--test",
        "test.tns",
    ]);
    let base = ["fit", "train.tns", "-o", "model", "--model", "learned", "--rank", "2"];
    let fit = place.json(&[&base[..], &["--test", "test.tns"]].concat());
    assert_eq!((fit["model"].as_str(), fit["status"].as_str()), (Some("learned"), Some("exact")));
    assert!(fit["test"]["relative_error"].as_f64().unwrap() < 1e-8);
    // A squared distance has a diagonal.
    assert!(fit["kernel"][0][0].as_f64().unwrap().abs() > 0.1);
    assert_eq!(fit["kernel"], place.json(&["inspect", "model"])["kernel"]);
    assert_eq!(fit["test"], place.json(&["evaluate", "model", "test.tns"]));
    place.succeed(&["certify", "model", "train.tns"]);
    assert!(place.succeed(&base).stdout.lines().any(|line| line.starts_with("kernel")));
}
