//! Pages in a real browser: every chart is present, the script runs, and nothing is logged.

mod common;

use std::path::Path;
use std::process::Command;

use common::{along_the_path, fitted, raced};
use quadfill_report::chart::{
    Axis, Bar, BarChart, Chart, HeatMap, LineChart, Panel, Point, Series, SeriesStyle,
};
use quadfill_report::{Block, Page, Section};

fn browser() -> Option<&'static str> {
    ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success()))
}

/// The page after its scripts have run, and what the browser logged from them.
fn open(browser: &str, page: &Path, folder: &Path) -> (String, Vec<String>) {
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--enable-logging=stderr", "--v=0", "--virtual-time-budget=2000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser runs");
    let log = String::from_utf8_lossy(&output.stderr);
    let console = log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
    (String::from_utf8_lossy(&output.stdout).into_owned(), console)
}

fn charts() -> Page {
    let point = |x: f64| Point {
        x,
        y: x,
        error_bar: Some((0.5 * x, 2.0 * x)),
        tooltip: "a & <b>".to_owned(),
    };
    let lines = LineChart {
        title: "Lines".to_owned(),
        x: Axis::log("x"),
        y: Axis::log("y"),
        series: vec![Series {
            name: "one".to_owned(),
            points: vec![point(1.0), point(10.0)],
            style: SeriesStyle::LineAndMarkers,
            colour: 0,
        }],
        reference_lines: Vec::new(),
    };
    let bars = BarChart {
        title: "Bars".to_owned(),
        x: String::new(),
        y: Axis::linear("y"),
        bars: vec![Bar { name: "a".to_owned(), height: 1.0, colour: 0, tooltip: "one".to_owned() }],
    };
    let heat = HeatMap {
        title: "Heat".to_owned(),
        x: "x".to_owned(),
        y: "y".to_owned(),
        columns: vec![1.0, 2.0],
        rows: vec![1.0],
        panels: vec![Panel {
            name: "p".to_owned(),
            cells: vec![vec![Some((0.5, "half".to_owned())), None]],
        }],
        line: Some(("line".to_owned(), vec![1.5])),
        scale: ("never".to_owned(), "always".to_owned()),
    };
    let figures = [Chart::Lines(lines), Chart::Bars(bars), Chart::Heat(heat)]
        .into_iter()
        .enumerate()
        .map(|(place, chart)| Block::figure(&format!("chart{place}"), chart, "see"))
        .collect();
    Page {
        kind: "Test".to_owned(),
        title: "Charts".to_owned(),
        lead: "All kinds.".to_owned(),
        sections: vec![Section::new("Charts", figures)],
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn pages_work_in_a_browser() {
    let Some(browser) = browser() else {
        eprintln!("skipped: there is no chromium to open the page with");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let (path, _) = fitted(&along_the_path(), false);
    let (race, _) = fitted(&raced(), true);
    for page in [charts(), path, race] {
        let path = folder.path().join("page.html");
        std::fs::write(&path, page.html()).expect("written");
        let (dom, console) = open(browser, &path, &folder.path().join("profile"));
        assert_eq!(console, Vec::<String>::new());
        assert_eq!(dom.matches("<svg").count(), page.charts().count());
        // The script has turned every title into hover text.
        assert!(dom.matches("data-tip=").count() >= page.charts().count());
        assert_eq!(dom.matches("</title>").count(), 1);
    }
}
