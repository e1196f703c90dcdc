//! How fast plain ALS converges.

use quadfill::solve::{Event, Observer};

use super::grid::{numbers, spread};
use super::recovery::{self, RANK};
use super::row::Row;
use super::trial::{Method, Trialled};
use super::{Experiment, Extent};
use crate::chart::{Axis, Chart, LineChart, Look, Point, Rule, Series, plain};
use crate::error::Result;
use crate::report::{Block, Tone};

pub(super) struct Convergence;

/// Sweeps that are watched.
const SWEEPS: usize = 60;
/// What the paper says it takes.
const PROMISED: usize = 30;

/// Writes down the error after every sweep.
struct Watch<'a> {
    drawn: &'a Trialled,
    errors: Vec<(f64, f64)>,
}

impl Observer<f64> for Watch<'_> {
    fn event(&mut self, event: Event<'_, f64>) {
        if let Event::Checkpoint(progress) = event {
            let test = self.drawn.test_error(&progress.notes.spec, &progress.parameters);
            let train = progress.notes.path.last().map_or(f64::INFINITY, |point| point.train_rmse);
            self.errors.push((train, test));
        }
    }
}

impl Experiment for Convergence {
    fn name(&self) -> &'static str {
        "convergence"
    }

    fn title(&self) -> &'static str {
        "Convergence of alternating least squares"
    }

    fn question(&self) -> &'static str {
        "How many sweeps does plain ALS need, on the data it is given and on cells that it never saw?"
    }

    fn paper(&self) -> &'static str {
        "\u{201c}Within 30 iterations ALS can achieve low test error.\u{201d}"
    }

    fn cells(&self, extent: &Extent) -> Vec<Row> {
        let sizes: &[usize] =
            extent.effort.pick(&[200], &[100, 200, 500], &[100, 200, 500, 1000, 2000]);
        let mut cells = Vec::new();
        for &d in sizes {
            for c in [5.0, 7.0, 10.0, 15.0] {
                for seed in extent.seeds(5, 5, 10) {
                    cells.push(recovery::cell("als", d, RANK, c, seed));
                }
            }
        }
        cells
    }

    fn measure(&self, cell: &Row) -> Result<Vec<Row>> {
        let drawn = recovery::trial(cell).draw()?;
        let mut config = drawn.config(Method::Als);
        (config.sweeps, config.tolerance) = (Some(SWEEPS), 0.0);
        let data = drawn.observations()?;
        let squares: f64 = data.values().iter().map(|value| value * value).sum();
        let size = (squares / data.len() as f64).sqrt();
        let mut watch = Watch { drawn: &drawn, errors: Vec::new() };
        drawn.fit_watched(&config, &mut watch)?;
        Ok(watch
            .errors
            .iter()
            .enumerate()
            .map(|(place, (train, test))| {
                drawn
                    .row(cell)
                    .with("sweep", place + 1)
                    .with("train_error", train / size)
                    .with("test_error", *test)
            })
            .collect())
    }

    fn work(&self, cell: &Row) -> f64 {
        recovery::work(cell)
    }

    fn findings(&self, rows: &[Row]) -> Vec<Block> {
        let mut blocks = Vec::new();
        let worst = |d: f64, c: f64, sweep: usize| {
            let here = curve(rows, d, c, sweep);
            spread(&here, "test_error")
        };
        let mut lines = Vec::new();
        for d in numbers(rows, "d") {
            for c in numbers(rows, "c") {
                let Some((low, median, high)) = worst(d, c, PROMISED) else { continue };
                lines.push(vec![plain(d), plain(c), plain(median), plain(low), plain(high)]);
            }
        }
        let kept = numbers(rows, "d")
            .into_iter()
            .all(|d| worst(d, 10.0, PROMISED).is_some_and(|(_, _, high)| high < 1e-3));
        blocks.push(Block::Note(
            if kept { Tone::Good } else { Tone::Warn },
            format!(
                "At m = 10 d r the relative test error is {} 1e-3 within {PROMISED} sweeps{}.",
                if kept { "below" } else { "not always below" },
                if kept { ", in every run" } else { "" }
            ),
        ));
        let most = numbers(rows, "d").last().copied().unwrap_or(0.0);
        blocks.push(Block::figure(
            "convergence",
            chart(rows, most),
            "Median over the repetitions. Solid: cells that the fit never saw; dashed: the data.",
        ));
        blocks.push(Block::table(
            &["d", "c", "test error after 30 sweeps", "smallest", "largest"],
            lines,
        ));
        blocks
    }
}

fn curve(rows: &[Row], d: f64, c: f64, sweep: usize) -> Vec<&Row> {
    rows.iter()
        .filter(|row| row.number("d") == d && row.number("c") == c && row.count("sweep") == sweep)
        .collect()
}

fn chart(rows: &[Row], d: f64) -> Chart {
    let mut series = Vec::new();
    for (colour, c) in numbers(rows, "c").into_iter().enumerate() {
        for (what, result, look) in
            [("", "test_error", Look::Line), (", data", "train_error", Look::Dashed)]
        {
            let points = (1..=SWEEPS)
                .filter_map(|sweep| {
                    let (low, y, high) = spread(&curve(rows, d, c, sweep), result)?;
                    let tip = format!(
                        "c = {}, sweep {sweep}{what}\nmedian error {}, from {} to {}",
                        plain(c),
                        plain(y),
                        plain(low),
                        plain(high)
                    );
                    Some(Point { x: sweep as f64, y, bar: None, tip })
                })
                .collect();
            series.push(Series { name: format!("c = {}{what}", plain(c)), points, look, colour });
        }
    }
    Chart::Lines(LineChart {
        title: format!("Error against sweeps, d = {}", plain(d)),
        x: Axis::linear("sweep"),
        y: Axis::log("relative error"),
        series,
        rules: vec![Rule::Upright(PROMISED as f64, "30 sweeps".to_owned())],
    })
}
