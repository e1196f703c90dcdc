//! How fast ALS converges, from a random start and from the leading eigenvectors of the data.

use quadfill::objective::{Objective, PenaltyScale};
use quadfill::solve::{Event, Observer, als, start};
use quadfill::views::Views;

use super::grid::{numbers, spread};
use super::recovery::{self, RANK};
use super::row::Row;
use super::trial::{Method, Trialled};
use super::{Experiment, Extent, words};
use crate::chart::{Axis, Chart, LineChart, Look, Point, Rule, Series, plain};
use crate::error::Result;
use crate::report::{Block, Tone};

pub(super) struct Convergence;

/// Sweeps that are watched.
const SWEEPS: usize = 60;
/// What the paper says it takes.
const PROMISED: usize = 30;
/// The penalty over the one at which zero is optimal: nearly none, and what a fit takes by default.
const PENALTY: f64 = 1e-5;
/// ALS from the leading eigenvectors.
const SPECTRAL: &str = "als-spectral";
const METHODS: [&str; 2] = ["als", SPECTRAL];

/// Writes down the error after every sweep.
struct Watch<'a> {
    drawn: &'a Trialled,
    /// After each sweep, root mean square residual on the data and relative error elsewhere.
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
        "How many sweeps does ALS need, on the data it is given and on cells that it never saw?"
    }

    fn paper(&self) -> &'static str {
        "\u{201c}Within 30 iterations ALS can achieve low test error.\u{201d}"
    }

    fn cells(&self, extent: &Extent) -> Vec<Row> {
        let sizes: &[usize] =
            extent.effort.pick(&[200], &[100, 200, 500], &[100, 200, 500, 1000, 2000]);
        let mut cells = Vec::new();
        for method in METHODS {
            for &d in sizes {
                for c in [5.0, 7.0, 10.0, 15.0] {
                    for seed in extent.seeds(5, 5, 10) {
                        cells.push(recovery::cell(method, d, RANK, c, seed));
                    }
                }
            }
        }
        cells
    }

    fn measure(&self, cell: &Row) -> Result<Vec<Row>> {
        let drawn = recovery::trial(cell).draw()?;
        let data = drawn.observations()?;
        let squares: f64 = data.values().iter().map(|value| value * value).sum();
        let size = (squares / data.len() as f64).sqrt();
        let errors = if cell.text("method") == SPECTRAL {
            from_eigenvectors(&drawn, size)?
        } else {
            let mut config = drawn.config(Method::Als);
            (config.sweeps, config.tolerance) = (Some(SWEEPS), 0.0);
            let mut watch = Watch { drawn: &drawn, errors: Vec::new() };
            drawn.fit_watched(&config, &mut watch)?;
            watch.errors
        };
        let rows = errors.iter().enumerate().map(|(place, (train, test))| {
            let row = drawn.row(cell).with("sweep", place + 1);
            row.with("train_error", train / size).with("test_error", *test)
        });
        Ok(rows.collect())
    }

    fn work(&self, cell: &Row) -> f64 {
        recovery::work(cell)
    }

    fn findings(&self, rows: &[Row]) -> Vec<Block> {
        let most = numbers(rows, "d").last().copied().unwrap_or(0.0);
        let mut blocks = Vec::new();
        for method in METHODS {
            blocks.push(promise(rows, method));
        }
        for method in METHODS {
            blocks.push(Block::figure(
                &format!("convergence-{method}"),
                chart(rows, method, most),
                "Median over the repetitions. Solid: cells that the fit never saw; dashed: the data.",
            ));
        }
        blocks.push(table(rows));
        blocks
    }
}

/// ALS from the leading eigenvectors of the data, sweep by sweep.
fn from_eigenvectors(drawn: &Trialled, size: f64) -> Result<Vec<(f64, f64)>> {
    let config = drawn.config(Method::Als);
    let (spec, views) = (config.model, Views::new(drawn.observations()?));
    let mut objective = Objective::new(&views, &spec, 0.0, PenaltyScale::Uniform);
    let mut parameters = start::offsets_only(&spec, &views);
    let spectrum = start::Spectrum::new(&objective, &parameters, spec.rank, config.seed);
    spectrum.write_factors(&mut parameters, start::scale(&spec, size));
    objective.set_penalty(PENALTY * spectrum.lambda_max);
    let sweep = |_| {
        let data = als::sweep(&objective, &mut parameters);
        (data.sqrt(), drawn.test_error(&spec, &parameters))
    };
    Ok((0..SWEEPS).map(sweep).collect())
}

/// Whether the paper's promise is kept at ten times the size times the rank.
fn promise(rows: &[Row], method: &str) -> Block {
    let mut runs = 0;
    let mut kept = 0;
    for d in numbers(rows, "d") {
        for row in curve(rows, method, d, 10.0, PROMISED) {
            runs += 1;
            kept += usize::from(row.number("test_error") < 1e-3);
        }
    }
    Block::Note(
        if kept == runs { Tone::Good } else { Tone::Warn },
        format!(
            "{}: at m = 10 d r the relative test error is below 1e-3 within {PROMISED} sweeps in {kept} \
             of {runs} runs.",
            words::method(method)
        ),
    )
}

fn table(rows: &[Row]) -> Block {
    let mut lines = Vec::new();
    for method in METHODS {
        for d in numbers(rows, "d") {
            for c in numbers(rows, "c") {
                let here = curve(rows, method, d, c, PROMISED);
                let Some((low, median, high)) = spread(&here, "test_error") else { continue };
                let name = words::method(method).to_owned();
                lines.push(vec![name, plain(d), plain(c), plain(median), plain(low), plain(high)]);
            }
        }
    }
    Block::table(&["method", "d", "c", "test error after 30 sweeps", "smallest", "largest"], lines)
}

fn curve<'r>(rows: &'r [Row], method: &str, d: f64, c: f64, sweep: usize) -> Vec<&'r Row> {
    rows.iter()
        .filter(|row| {
            let same = row.text("method") == method && row.count("sweep") == sweep;
            same && row.number("d") == d && row.number("c") == c
        })
        .collect()
}

fn chart(rows: &[Row], method: &str, d: f64) -> Chart {
    let mut series = Vec::new();
    for (colour, c) in numbers(rows, "c").into_iter().enumerate() {
        for (what, result, look) in
            [("", "test_error", Look::Line), (", data", "train_error", Look::Dashed)]
        {
            let points = (1..=SWEEPS)
                .filter_map(|sweep| {
                    let (low, y, high) = spread(&curve(rows, method, d, c, sweep), result)?;
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
        title: format!("Error against sweeps, {}, d = {}", words::method(method), plain(d)),
        x: Axis::linear("sweep"),
        y: Axis::log("relative error"),
        series,
        rules: vec![Rule::Upright(PROMISED as f64, "30 sweeps".to_owned())],
    })
}
