//! Pages in a real browser: every chart is present, the script runs, and nothing is logged.

use std::path::Path;
use std::process::Command;

use quadfill::model::Biases;
use quadfill::solve::{Choice, NoObserver, Rank};
use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate};
use quadfill_report::chart::{
    Axis, Bar, BarChart, Chart, HeatMap, LineChart, Panel, Point, Series, SeriesStyle,
};
use quadfill_report::{Block, FitStory, Page, Recorder, Section, fit_page};
use quadfill_testkit::{Planted, pairwise_kernel};

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

fn fitted() -> Page {
    let mut planted = Planted::new(&[15; 3], 2, Some(pairwise_kernel(3)), 300, 1);
    planted.add_noise(0.1, 1);
    let modes = (1..=3).map(|mode| Mode::new(format!("mode{mode}"), Labels::range(15))).collect();
    let data = Observations::new(modes, planted.train, planted.values, None, OnDuplicate::Error)
        .expect("valid observations");
    let config = FitConfig {
        rank: Rank::Fixed(2),
        biases: Choice::Fixed(Biases::None),
        ..FitConfig::default()
    };
    let mut nothing = NoObserver;
    let mut recorder = Recorder::new(&mut nothing);
    let model = quadfill::fit_with(data.clone(), &config, &mut recorder).expect("fitted");
    let steps = recorder.into_steps();
    let free_parameters = model.spec().degrees_of_freedom(&data.sizes());
    fit_page(&FitStory {
        name: "planted data".to_owned(),
        data: &data,
        summary: &data.summary_for(2, free_parameters),
        model: &model,
        steps: &steps,
        test: None,
        seconds: 0.1,
    })
}

#[test]
fn the_page_about_a_fit_has_all_its_charts() {
    let page = fitted();
    let names: Vec<&str> = page.charts().map(|(name, _)| name).collect();
    assert_eq!(names, ["coverage", "path", "convergence", "residuals", "columns", "norms"]);
    let html = page.html();
    for words in ["Certificate", "chosen on held-out data", "effective rank", "The verdict"] {
        assert!(html.contains(words), "{words}");
    }
    // Nothing is fetched; the one address is the name of the SVG language.
    let outside = html.replace("http://www.w3.org/2000/svg", "");
    assert!(!outside.contains("http://") && !outside.contains("https://"));
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn pages_work_in_a_browser() {
    let Some(browser) = browser() else {
        eprintln!("skipped: there is no chromium to open the page with");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    for page in [charts(), fitted()] {
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
