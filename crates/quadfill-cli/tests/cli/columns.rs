//! Files as people have them, read without a flag.

use std::fmt::Write;

use crate::place::Place;

/// 2003-05-01, in seconds since 1970.
const MAY: u32 = 1_051_747_200;
const FEW: [&str; 4] = ["--rank", "1", "--penalty", "0.01"];

/// 600 rows over 300 days: user, movie, rating and the seconds since 1970.
fn rows() -> impl Iterator<Item = (u32, u32, f64, u32)> {
    (0..600).map(|i| {
        let (user, movie) = (i % 7, i % 11);
        (user, movie, f64::from(user % 5 + movie % 5) / 2.0 + 1.0, MAY + 36_000 + i * 43_200)
    })
}

/// A table of the rows, each written by `row`.
fn table(header: &str, row: impl Fn(u32, u32, f64, u32) -> String) -> String {
    let mut text = header.to_owned();
    for (user, movie, rating, time) in rows() {
        writeln!(text, "{}", row(user, movie, rating, time)).unwrap();
    }
    text
}

fn with_names() -> String {
    table("userId,movieId,rating,timestamp\n", |u, m, r, t| format!("{u},{m},{r},{t}"))
}

fn fitted(place: &Place, data: &str) -> serde_json::Value {
    place.json(&[&["fit", data, "-o", "model"][..], &FEW].concat())
}

#[test]
fn ratings_with_time_stamps_need_no_flag() {
    let place = Place::new();
    place.write("ratings.csv", with_names());
    let fit = place.succeed(&[&["fit", "ratings.csv", "-o", "model"][..], &FEW].concat());
    let line = "userId, movieId, timestamp (in bins of 1 week) are modes; rating is the value \
                (change with --modes, --value, --bin)";
    assert!(fit.stderr.contains(line), "{}", fit.stderr);
    assert!(fit.stderr.contains("43 bins of 1 week (2003-05-01 to 2004-02-25)"), "{}", fit.stderr);
    assert!(!fit.stderr.contains("warning: the values"), "{}", fit.stderr);

    let fit = fitted(&place, "ratings.csv");
    assert_eq!(fit["columns"]["value"], "rating");
    assert_eq!(fit["columns"]["modes"][2]["column"], "timestamp");
    assert_eq!(fit["columns"]["modes"][2]["bins"], "1 week");
    let inspected = place.json(&["inspect", "ratings.csv"]);
    assert_eq!(inspected["columns"], fit["columns"]);
    assert_eq!(inspected["modes"][2]["bins"]["first"], "2003-05-01");

    // The model reads other files in the same way.
    let judged = place.json(&["evaluate", "model", "ratings.csv"]);
    assert_eq!((judged["count"].as_u64(), judged["unknown"].as_u64()), (Some(600), Some(0)));
    let model = place.succeed(&["inspect", "model"]).stdout;
    assert!(model.contains("43 labels, bins of 1 week from 2003-05-01 to 2004-02-25"), "{model}");
}

#[test]
fn bins_go_by_dates() {
    let place = Place::new();
    place.write("ratings.csv", with_names());
    fitted(&place, "ratings.csv");
    let week = "2003-05-29 to 2003-06-04";
    for time in ["2003-06", "2003-06-01", "2003-05-29T10:00", "1054200000", "4", week] {
        let given = format!("userId=3,timestamp={time}");
        let top = place.json(&["top", "model", "--given", &given, "--mode", "movieId", "-k", "2"]);
        assert_eq!(top["given"]["timestamp"], week, "{time}");
    }
    let top =
        place.succeed(&["top", "model", "--given", "userId=3,movieId=2", "--mode", "timestamp"]);
    assert!(top.stdout.lines().all(|line| line.contains(" to 200")), "{}", top.stdout);
    let cell = ["userId=3", "movieId=2", "timestamp=2003"];
    let data = ["--data", "ratings.csv"];
    let told = place.succeed(&[&["explain", "model"][..], &cell, &data].concat());
    assert!(told.stdout.contains("3, 2, 2003-"), "{}", told.stdout);
    place.succeed(&["export", "model", "--mode", "timestamp", "-o", "weeks.csv"]);
    let weeks = std::fs::read_to_string(place.path("weeks.csv")).unwrap();
    assert!(weeks.lines().nth(5).unwrap().starts_with(week), "{weeks}");

    for time in ["2009", "1999-12-31", "soon", "99"] {
        let given = format!("userId=3,timestamp={time}");
        let refused = place.run(&["top", "model", "--given", &given, "--mode", "movieId"]);
        assert_eq!(refused.code, Some(2));
        assert_eq!(
            refused.stderr,
            format!(
                "quadfill: `{time}` is not among the times of mode `timestamp` in this model: give a time \
                 with data from 2003-05-01 to 2004-02-25\n"
            )
        );
    }
}

#[test]
fn files_without_names_may_end_with_a_time() {
    for (name, data) in [
        ("u.data", table("", |u, m, r, t| format!("{u}\t{m}\t{r}\t{t}"))),
        ("ratings.dat", table("", |u, m, r, t| format!("{u}::{m}::{r}::{t}"))),
        ("ms.csv", table("", |u, m, r, t| format!("{u},{m},{r},{t}000"))),
    ] {
        let place = Place::new();
        place.write(name, data);
        let fit = fitted(&place, name);
        assert_eq!(fit["columns"]["value"], "3", "{name}");
        assert_eq!(fit["columns"]["modes"][2]["bins"], "1 week", "{name}");
        let judged = place.json(&["evaluate", "model", name]);
        assert_eq!((judged["count"].as_u64(), judged["unknown"].as_u64()), (Some(600), Some(0)));
        let top = ["top", "model", "--given", "mode1=3,mode3=2003-06", "--mode", "mode2"];
        assert_eq!(place.json(&top)["given"]["mode3"], "2003-05-29 to 2003-06-04", "{name}");
    }
}

#[test]
fn dates_are_times() {
    let place = Place::new();
    let date = |t: u32| {
        format!("2003-{:02}-{:02}", (t - MAY) / 2_592_000 + 1, (t - MAY) / 86_400 % 28 + 1)
    };
    place.write(
        "days.csv",
        table("user,film,watched_date,stars\n", |u, m, r, t| format!("{u},{m},{},{r}", date(t))),
    );
    let merged = ["--on-duplicate", "mean"];
    let fit = place.json(&[&["fit", "days.csv", "-o", "model"][..], &FEW, &merged].concat());
    assert_eq!(fit["columns"]["modes"][2]["bins"], "1 week");
    assert_eq!(fit["columns"]["value"], "stars");
    place.write("q.csv", "user,film,watched_date\n1,2,2003-01-03T12:00:00Z\n1,2,1041552000\n");
    place.succeed(&["predict", "model", "q.csv", "-o", "filled.csv"]);
    let filled = std::fs::read_to_string(place.path("filled.csv")).unwrap();
    let predictions: Vec<&str> =
        filled.lines().skip(1).map(|line| line.rsplit(',').next().unwrap()).collect();
    assert_eq!(predictions[0], predictions[1], "{filled}");
    place.write("bad.csv", "user,film,watched_date\n1,2,yesterday\n");
    assert_eq!(
        place.run(&["predict", "model", "bad.csv"]).stderr,
        "quadfill: bad.csv, line 2: column `watched_date` holds `yesterday`, which is not a time: write \
         seconds since 1970 or a date such as 2003-05-17\n"
    );
}

#[test]
fn times_stay_labels_where_that_is_asked_for() {
    let place = Place::new();
    place.write("ratings.csv", with_names());
    let columns = |flags: &[&str]| {
        let inspect = ["inspect", "ratings.csv", "--on-duplicate", "mean"];
        place.json(&[&inspect[..], flags].concat())["columns"].clone()
    };
    assert_eq!(columns(&["--bin", "timestamp=none"])["modes"][2]["bins"], serde_json::Value::Null);
    assert_eq!(columns(&["--bin", "timestamp=20w"])["modes"][2]["bins"], "20 weeks");
    // No two rows have the same time, so it is cut although it is listed.
    let listed = columns(&["--modes", "userId,movieId,timestamp"]);
    assert_eq!(listed["modes"][2]["bins"], "1 week");
    let listed = columns(&["--modes", "userId,movieId"]);
    assert_eq!((&listed["value"], &listed["unused"][0]), (&"rating".into(), &"timestamp".into()));
}

#[test]
fn values_that_are_identifiers_or_times_are_doubted() {
    let place = Place::new();
    place.write(
        "seen.csv",
        table("user,movie,shop,seen\n", |u, m, _, t| format!("{u},{m}-{t},s{},{t}", u % 3)),
    );
    let told = place.succeed(&["inspect", "seen.csv"]).stdout;
    assert!(
        told.contains(
            "warning: the values are those of column `seen`, which looks like a time: choose another column \
             with --value"
        ),
        "{told}"
    );
    place.write("rows.csv", table("a,b,rowId\n", |u, m, _, t| format!("{u},{m}{t},{t}")));
    let fit = place.succeed(&[&["fit", "rows.csv", "-o", "model"][..], &FEW].concat());
    assert!(
        fit.stderr.contains("`rowId`, which looks like a time: choose another"),
        "{}",
        fit.stderr
    );
    place.write(
        "ids.csv",
        table("a,b,orderid\n", |u, m, _, t| format!("{u},{m}-{t},{}", t / 43_200)),
    );
    let told = place.json(&["inspect", "ids.csv"]);
    assert_eq!(told["columns"]["warnings"][0]["value_is_identifier"]["column"], "orderid");
}

#[test]
fn a_number_can_stand_for_missing_cells() {
    let place = Place::new();
    let cells = (0..120u32).map(|i| if i % 3 == 0 { 0.0 } else { f64::from(i % 7 + 1) });
    quadfill_io::write_npy(&place.path("dense.npy"), &[10, 12], cells).unwrap();
    let missing = ["--missing", "0"];
    let fit = [&["fit", "dense.npy", "-o", "model"][..], &FEW, &missing].concat();
    assert_eq!(place.json(&fit)["data"]["observations"], 80);
    assert_eq!(place.json(&["inspect", "dense.npy"])["observations"], 120);
    for command in [&["evaluate", "model", "dense.npy"][..], &["certify", "model", "dense.npy"]] {
        let told = place.json(&[command, &missing].concat());
        let count = told.get("count").unwrap_or(&told["observations"]);
        assert_eq!(count.as_u64(), Some(80), "{command:?}");
    }
    place.succeed(&["inspect", "dense.npy", "--missing", "nan"]);
    let refused = place.run(&["inspect", "dense.npy", "--missing", "none"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("give a number such as"), "{}", refused.stderr);
}
