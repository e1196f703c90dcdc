//! Running experiments: identical rows on any number of threads, and no cell measured twice.

use std::sync::Mutex;

use quadfill::model::{Kernel, ModelSpec};
use quadfill_lab::experiment::{
    self, Effort, Experiment, Extent, Method, Options, Row, Trial, run, write,
};
use quadfill_lab::{LabError, Result};
use quadfill_report::Block;

/// Small fits; cells from seed `broken` on fail, as if the run were killed there.
struct Small {
    broken: usize,
    measured: Mutex<Vec<String>>,
}

impl Small {
    fn new(broken: usize) -> Self {
        Self { broken, measured: Mutex::new(Vec::new()) }
    }
}

impl Experiment for Small {
    fn name(&self) -> &'static str {
        "small"
    }
    fn title(&self) -> &'static str {
        "Small"
    }
    fn question(&self) -> &'static str {
        "Does it run?"
    }
    fn paper(&self) -> &'static str {
        "Nothing."
    }
    fn cells(&self, extent: &Extent) -> Vec<Row> {
        let cell = |place: u64| {
            let method = if place.is_multiple_of(2) { "path" } else { "als" };
            Row::new().with("method", method).with("d", 12).with("seed", extent.seed + place)
        };
        (0..6).map(cell).collect()
    }
    fn measure(&self, cell: &Row) -> Result<Vec<Row>> {
        if cell.count("seed") >= self.broken {
            return Err(LabError::Other("killed".into()));
        }
        self.measured.lock().expect("sound").push(cell.key());
        let trial = Trial {
            spec: ModelSpec::quadratic(Kernel::pairwise(3), 2),
            sizes: vec![12; 3],
            observations: 240,
            noise: 0.05,
            seed: cell.count("seed") as u64,
        };
        Ok(vec![trial.draw()?.measure(cell, Method::named(cell.text("method")))?])
    }
    fn work(&self, cell: &Row) -> f64 {
        100.0 - cell.number("seed")
    }
    fn findings(&self, rows: &[Row]) -> Vec<Block> {
        vec![Block::Text(format!("{} rows.", rows.len()))]
    }
}

fn options(threads: usize, keep_in: Option<&std::path::Path>) -> Options {
    Options {
        extent: Extent { effort: Effort::Quick, seeds: None, seed: 0 },
        keep_in: keep_in.map(std::path::Path::to_owned),
        threads,
    }
}

#[test]
fn rows_do_not_depend_on_threads() {
    let rows = |threads: usize| -> Vec<Row> {
        let measured = run(&Small::new(99), &options(threads, None), |_| {}).expect("measured");
        measured.rows.iter().map(Row::without_times).collect()
    };
    let one = rows(1);
    assert_eq!(one.len(), 6);
    assert!(one.iter().all(|row| row.number("test_error").is_finite()));
    assert_eq!(one, rows(2));
    assert_eq!(one, rows(4));
}

#[test]
fn an_interrupted_run_resumes_without_repeating_cells() {
    let folder = tempfile::tempdir().expect("a folder");
    let stopped = Small::new(4);
    let error = run(&stopped, &options(1, Some(folder.path())), |_| {}).expect_err("killed");
    assert_eq!(error.to_string(), "killed");
    let before = stopped.measured.into_inner().expect("sound");
    assert!(!before.is_empty());

    let going_on = Small::new(99);
    let mut last = None;
    let measured =
        run(&going_on, &options(2, Some(folder.path())), |now| last = Some(now)).expect("measured");
    let after = going_on.measured.into_inner().expect("sound");
    assert_eq!((measured.kept, measured.measured), (before.len(), 6 - before.len()));
    assert!(after.iter().all(|cell| !before.contains(cell)));
    assert_eq!(last.map(|now| (now.done, now.cells)), Some((6, 6)));

    let whole = run(&Small::new(99), &options(1, None), |_| {}).expect("measured");
    let plain = |rows: &[Row]| rows.iter().map(Row::without_times).collect::<Vec<_>>();
    assert_eq!(plain(&measured.rows), plain(&whole.rows));
}

#[test]
fn output_files_are_readable() {
    let folder = tempfile::tempdir().expect("a folder");
    let small = Small::new(99);
    let measured = run(&small, &options(2, None), |_| {}).expect("measured");
    write(&small, &measured, "quadfill reproduce small", folder.path()).expect("written");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect(name);
    let json: serde_json::Value = serde_json::from_str(&read("results.json")).expect("JSON");
    assert_eq!(json["experiment"], "small");
    assert!(json["seconds"].is_number());
    let rows = json["rows"].as_array().expect("rows");
    let flat = rows.iter().all(|row| {
        row.as_object().is_some_and(|row| row.values().all(|v| !v.is_object() && !v.is_array()))
    });
    assert!(rows.len() == 6 && flat);
    for name in ["c_per_mode", "c_per_stacked", "per_free_parameter", "draws", "test_error"] {
        assert!(rows[0][name].is_number(), "{name}");
    }
    assert_eq!(read("results.csv").lines().count(), 7);
    assert!(read("report.html").contains("quadfill reproduce small"));
}

#[test]
fn cells_are_distinct_and_more_effort_has_more_of_them() {
    for one in experiment::all() {
        let cells = |effort| one.cells(&Extent { effort, seeds: None, seed: 3 });
        let quick = cells(Effort::Quick);
        let mut keys: Vec<String> = quick.iter().map(Row::key).collect();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), quick.len(), "{}", one.name());
        assert!(cells(Effort::Full).len() > quick.len(), "{}", one.name());
        assert!(quick.iter().all(|cell| one.work(cell).is_finite()), "{}", one.name());
        // Findings without any rows do not fail.
        assert!(!one.findings(&[]).is_empty(), "{}", one.name());
    }
}
