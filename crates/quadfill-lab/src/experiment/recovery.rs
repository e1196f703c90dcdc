//! Common parts of the experiments on recovery from `m = c d r` observations.

use quadfill::model::{Kernel, ModelSpec};
use quadfill_report::Block;
use quadfill_report::chart::{
    Axis, Chart, LineChart, Point, ReferenceLine, Series, SeriesStyle, short_number,
};

use super::grid::{
    at, distinct_numbers, distinct_texts, min_median_max, observations, smallest_reliable,
    successes,
};
use super::row::Row;
use super::trial::{Method, Trial};
use super::words;
use crate::error::Result;

/// The rank of the paper's planted tensors.
pub(super) const RANK: usize = 5;

/// The cell of a cubic pairwise tensor.
pub(super) fn cell(method: &str, d: usize, r: usize, c: f64, seed: u64) -> Row {
    Row::new().with("method", method).with("d", d).with("r", r).with("c", c).with("seed", seed)
}

/// The cells of several methods over sizes and values of c, at the paper's rank.
pub(super) fn cells(
    methods: &[Method],
    sizes: &[usize],
    plenty: &[f64],
    seeds: &[u64],
) -> Vec<Row> {
    let mut cells = Vec::new();
    for method in methods {
        for &d in sizes {
            for &c in plenty {
                for &seed in seeds {
                    cells.push(cell(method.name(), d, RANK, c, seed));
                }
            }
        }
    }
    cells
}

/// Generates the tensor of a cell and fits it with the cell's method.
pub(super) fn measure(cell: &Row) -> Result<Vec<Row>> {
    let method = Method::named(cell.text("method"));
    Ok(vec![trial(cell).draw()?.measure(cell, method)?])
}

/// The tensor of a cell.
pub(super) fn trial(cell: &Row) -> Trial {
    let (d, r) = (cell.count("d"), cell.count("r"));
    Trial {
        spec: ModelSpec::quadratic(Kernel::pairwise(3), r),
        sizes: vec![d; 3],
        observations: observations(cell.number("c"), d, r),
        noise: 0.0,
        seed: cell.count("seed") as u64,
    }
}

/// The estimated cost of a fit: sweeps, or eigenvalue problems of the stacked order.
pub(super) fn work(cell: &Row) -> f64 {
    let (d, r) = (cell.number("d"), cell.number("r"));
    if cell.text("method") == "sdp" {
        return 9.0 * d.powi(3);
    }
    (cell.number("c") * d * r) * (r + 2.0).powi(2) + 3.0 * d * (r + 2.0).powi(3)
}

/// The value of `c` at which there are as many observations as free parameters.
pub(super) fn parameter_line(d: f64, r: f64) -> f64 {
    3.0 - (r - 1.0) / (2.0 * d)
}

/// The median error of a method against d, with a curve for each c.
pub(super) fn error_chart(rows: &[Row], method: &str) -> Chart {
    const SHOWN: [f64; 12] = [2.0, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 25.0, 30.0];
    let sizes = distinct_numbers(rows, "d");
    let series = distinct_numbers(rows, "c")
        .into_iter()
        .filter(|c| SHOWN.contains(c))
        .enumerate()
        .map(|(colour, c)| Series {
            name: format!("c = {}", short_number(c)),
            points: sizes
                .iter()
                .filter_map(|&d| {
                    let here = at(rows, method, &[("d", d), ("c", c)]);
                    let (low, y, high) = min_median_max(&here, "test_error")?;
                    let tooltip = format!(
                        "{}, d = {}, c = {}: m = {}\nmedian error {}, from {} to {}\n{} of {} recovered",
                        words::method(method),
                        short_number(d),
                        short_number(c),
                        here[0].count("m"),
                        short_number(y),
                        short_number(low),
                        short_number(high),
                        successes(&here),
                        here.len()
                    );
                    Some(Point { x: d, y, error_bar: Some((low, high)), tooltip })
                })
                .collect(),
            style: SeriesStyle::LineAndMarkers,
            colour,
        })
        .collect();
    Chart::Lines(LineChart {
        title: format!("Test error against d: {}", words::method(method)),
        x: Axis::log("mode size d").with_ticks(&sizes),
        y: Axis::log("relative test error (median, smallest to largest)"),
        series,
        reference_lines: vec![ReferenceLine::Horizontal(
            super::trial::RECOVERED,
            "recovered below".to_owned(),
        )],
    })
}

/// The [`reliable_chart`] with a caption.
pub(super) fn reliable_figure(rows: &[Row]) -> Block {
    Block::figure(
        "smallest-c",
        reliable_chart(rows),
        "Lower is better. A tensor counts as recovered if the relative error on 20,000 test cells is below 0.01.",
    )
}

/// The smallest c from which on every repetition is recovered, against d, for all methods.
pub(super) fn reliable_chart(rows: &[Row]) -> Chart {
    let sizes = distinct_numbers(rows, "d");
    let mut series: Vec<Series> = distinct_texts(rows, "method")
        .iter()
        .map(|method| Series {
            name: words::method(method).to_owned(),
            points: sizes
                .iter()
                .filter_map(|&d| {
                    let y = smallest_reliable(&at(rows, method, &[("d", d)]), "c")?;
                    let tooltip = format!(
                        "{}, d = {}: every run recovered from c = {} on",
                        words::method(method),
                        short_number(d),
                        short_number(y)
                    );
                    Some(Point { x: d, y, error_bar: None, tooltip })
                })
                .collect(),
            style: SeriesStyle::LineAndMarkers,
            colour: words::colour(method),
        })
        .collect();
    series.push(Series {
        name: "free parameters (lower bound)".to_owned(),
        points: sizes
            .iter()
            .map(|&d| {
                let y = parameter_line(d, RANK as f64);
                let tooltip = format!(
                    "d = {}: as many observations as free parameters at c = {}",
                    short_number(d),
                    short_number(y)
                );
                Point { x: d, y, error_bar: None, tooltip }
            })
            .collect(),
        style: SeriesStyle::Dashed,
        colour: 7,
    });
    Chart::Lines(LineChart {
        title: "Smallest c with reliable recovery".to_owned(),
        x: Axis::log("mode size d").with_ticks(&sizes),
        y: Axis::linear("c = m / (d r)").with_range(2.0, reliable_top(rows)),
        series,
        reference_lines: Vec::new(),
    })
}

fn reliable_top(rows: &[Row]) -> f64 {
    distinct_numbers(rows, "c").last().copied().unwrap_or(10.0)
}

/// A table of the smallest reliable c for each d and method, in all three units.
pub(super) fn reliable_table(rows: &[Row]) -> Block {
    let mut lines = Vec::new();
    for d in distinct_numbers(rows, "d") {
        for method in distinct_texts(rows, "method") {
            let all = at(rows, &method, &[("d", d)]);
            let line = match smallest_reliable(&all, "c") {
                Some(c) => {
                    let here = at(rows, &method, &[("d", d), ("c", c)]);
                    let worst =
                        min_median_max(&here, "test_error").map_or(f64::NAN, |(_, _, high)| high);
                    vec![
                        short_number(c),
                        short_number(here[0].number("c_per_stacked")),
                        short_number(here[0].number("per_free_parameter")),
                        format!("{} of {}", successes(&here), here.len()),
                        short_number(worst),
                    ]
                }
                None => vec![
                    "none of those tried".to_owned(),
                    String::new(),
                    String::new(),
                    String::new(),
                    String::new(),
                ],
            };
            let mut row = vec![short_number(d), words::method(&method).to_owned()];
            row.extend(line);
            lines.push(row);
        }
    }
    Block::table(
        &[
            "d",
            "method",
            "smallest reliable c",
            "with n = 3 d for d",
            "per free parameter",
            "recovered",
            "worst error",
        ],
        lines,
    )
}
