//! Prediction error against noise in the data.

use quadfill_report::chart::{Axis, Chart, LineChart, Point, Series, SeriesStyle, short_number};
use quadfill_report::{Block, Tone};

use super::convex::fit_with_hold_out;
use super::grid::{at, distinct_numbers, distinct_texts, min_median_max};
use super::recovery::{self, RANK};
use super::row::Row;
use super::trial::Method;
use super::{Experiment, Extent, words};
use crate::error::Result;

pub(super) struct Robustness;

/// The error of least squares with `p` free parameters: `alpha` times the square root of `p / (m - p)`.
fn floor(alpha: f64, freedom: f64, observations: f64) -> f64 {
    alpha * (freedom / (observations - freedom)).sqrt()
}

impl Experiment for Robustness {
    fn name(&self) -> &'static str {
        "robustness"
    }

    fn title(&self) -> &'static str {
        "Robustness to noise"
    }

    fn question(&self) -> &'static str {
        "Noise of relative size alpha is added to every observation. How large is the error on test \
         cells, relative to their values without noise?"
    }

    fn paper(&self) -> &'static str {
        "The source has, commented out: with c = 5 \u{201c}even with alpha = 0.2, both methods are still able \
         to learn the underlying tensor with an error less than 3 %\u{201d}, and \u{201c}even when alpha = 0.6, ALS can \
         still recover T with test error around 5 %\u{201d}. Both are below the statistical floor \
         alpha \u{221a}(p / (m \u{2212} p)) for p free parameters in every reading of c: 24 % and 73 % with d the size \
         of one mode, 10 % and 30 % with d the stacked dimension (c = 15 in our unit). No estimator of the \
         same model can attain these errors, so we report the floor for comparison."
    }

    fn cells(&self, extent: &Extent) -> Vec<Row> {
        let d = extent.effort.pick(200, 200, 400);
        let levels: &[f64] = extent.effort.pick(
            &[0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6],
            &[0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
            &[0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6],
        );
        let mut cells = Vec::new();
        for method in [Method::Als, Method::Path, Method::Sdp] {
            // The ratio to the floor hardly depends on d, and convex programs are slow.
            let (d, seeds) = match method {
                Method::Sdp => (extent.effort.pick(30, 50, 100), extent.seeds(3, 5, 5)),
                _ => (d, extent.seeds(5, 5, 10)),
            };
            for c in [5.0, 15.0] {
                for &alpha in levels {
                    for &seed in &seeds {
                        let cell = recovery::cell(method.name(), d, RANK, c, seed);
                        cells.push(cell.with("alpha", alpha));
                    }
                }
            }
        }
        cells
    }

    fn measure(&self, cell: &Row) -> Result<Vec<Row>> {
        let mut trial = recovery::trial(cell);
        trial.noise = cell.number("alpha");
        let method = Method::named(cell.text("method"));
        let drawn = trial.draw()?;
        let row = if method == Method::Sdp && trial.noise > 0.0 {
            let (model, seconds) = fit_with_hold_out(&drawn, trial.seed)?;
            drawn.outcome(cell, &model).with("seconds", seconds)
        } else {
            drawn.measure(cell, method)?
        };
        let floor = floor(trial.noise, trial.free_parameters() as f64, trial.observations as f64);
        let ratio = if floor > 0.0 { Some(row.number("test_error") / floor) } else { None };
        Ok(vec![row.with("floor", floor).with("error_over_floor", ratio)])
    }

    fn work(&self, cell: &Row) -> f64 {
        recovery::work(cell)
    }

    fn findings(&self, rows: &[Row]) -> Vec<Block> {
        let worst = |c: f64, most: f64| {
            distinct_numbers(rows, "alpha")
                .into_iter()
                .filter(|&alpha| alpha > 0.0 && alpha <= most)
                .filter_map(|alpha| {
                    min_median_max(
                        &at(rows, "path", &[("c", c), ("alpha", alpha)]),
                        "error_over_floor",
                    )
                })
                .map(|(_, median, _)| median)
                .fold(0.0, f64::max)
        };
        let (sparse, plenty) = (worst(5.0, 0.2), worst(15.0, 1.0));
        let mut blocks = vec![Block::Note(
            if sparse <= 1.15 && plenty <= 1.05 { Tone::Good } else { Tone::Warn },
            format!(
                "The path stays within {} times the floor at c = 5 for alpha up to 0.2, and within {} times \
                 at c = 15 for every alpha (medians). At c = 5 and large alpha it is below the floor: \
                 there the penalty reduces the variance of least squares.",
                short_number(sparse),
                short_number(plenty)
            ),
        )];
        for c in distinct_numbers(rows, "c") {
            let name = format!("noise-c{}", short_number(c));
            let words = "Markers at the upper edge are off the scale: there the method fails.";
            let clipped = rows
                .iter()
                .any(|row| row.number("c") == c && row.number("test_error") > chart_top(rows, c));
            blocks.push(Block::figure(&name, chart(rows, c), if clipped { words } else { "" }));
        }
        let size = |method| at(rows, method, &[]).first().map_or(0, |row| row.count("d"));
        blocks.push(Block::Text(format!(
            "ALS and the path know the rank; d = {}. The SDP does not, and has d = {}: it minimises the mean \
             squared residual and a penalty on the trace, the penalty chosen among ten by a tenth of the \
             observations that is held out. It does not fit noisy data exactly, which the paper suspected \
             to be what its own SDP suffered from. Without noise it is the smallest-trace program.",
            size("path"),
            size("sdp")
        )));
        let mut lines = Vec::new();
        for c in distinct_numbers(rows, "c") {
            for alpha in distinct_numbers(rows, "alpha") {
                let mut line = vec![short_number(c), short_number(alpha)];
                let floor = at(rows, "path", &[("c", c), ("alpha", alpha)]);
                line.push(
                    floor.first().map_or(String::new(), |row| short_number(row.number("floor"))),
                );
                for method in distinct_texts(rows, "method") {
                    let here = at(rows, &method, &[("c", c), ("alpha", alpha)]);
                    let median =
                        min_median_max(&here, "test_error").map_or(f64::NAN, |(_, m, _)| m);
                    let ratio = here.first().map_or(0.0, |row| row.number("floor"));
                    line.push(if ratio > 0.0 {
                        format!(
                            "{} ({} \u{d7})",
                            short_number(median),
                            short_number(median / ratio)
                        )
                    } else {
                        short_number(median)
                    });
                }
                lines.push(line);
            }
        }
        let mut head = vec!["c".to_owned(), "alpha".to_owned(), "floor".to_owned()];
        head.extend(
            distinct_texts(rows, "method").iter().map(|method| words::method(method).to_owned()),
        );
        blocks.push(Block::Table { head, rows: lines });
        blocks
    }
}

fn chart(rows: &[Row], c: f64) -> Chart {
    let levels: Vec<f64> = distinct_numbers(rows, "alpha");
    let mut series: Vec<Series> = distinct_texts(rows, "method")
        .iter()
        .map(|method| Series {
            name: words::method(method).to_owned(),
            points: levels
                .iter()
                .filter_map(|&alpha| {
                    let here = at(rows, method, &[("c", c), ("alpha", alpha)]);
                    let (low, y, high) = min_median_max(&here, "test_error")?;
                    let tooltip = format!(
                        "{}, alpha = {}\nmedian error {}, from {} to {}\nfloor {}",
                        words::method(method),
                        short_number(alpha),
                        short_number(y),
                        short_number(low),
                        short_number(high),
                        short_number(here[0].number("floor"))
                    );
                    Some(Point { x: alpha, y, error_bar: Some((low, high)), tooltip })
                })
                .collect(),
            style: SeriesStyle::LineAndMarkers,
            colour: words::colour(method),
        })
        .collect();
    series.push(Series {
        name: "statistical floor".to_owned(),
        points: levels
            .iter()
            .filter_map(|&alpha| {
                let y = at(rows, "path", &[("c", c), ("alpha", alpha)]).first()?.number("floor");
                let tooltip = format!("alpha = {}: floor {}", short_number(alpha), short_number(y));
                Some(Point { x: alpha, y, error_bar: None, tooltip })
            })
            .collect(),
        style: SeriesStyle::Dashed,
        colour: 7,
    });
    Chart::Lines(LineChart {
        title: format!("Test error against noise, c = {}", short_number(c)),
        x: Axis::linear("noise level alpha"),
        y: Axis::linear("relative test error").with_range(0.0, chart_top(rows, c)),
        series,
        reference_lines: Vec::new(),
    })
}

/// The upper limit of a chart, which cuts off methods that fail.
fn chart_top(rows: &[Row], c: f64) -> f64 {
    let here = rows.iter().filter(|row| row.number("c") == c);
    let worst = here.clone().map(|row| row.number("test_error")).fold(0.0, f64::max);
    let floor = here.map(|row| row.number("floor")).fold(0.0, f64::max);
    worst.min(2.0 * floor).max(0.05) * 1.05
}
