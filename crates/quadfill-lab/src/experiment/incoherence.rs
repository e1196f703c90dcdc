//! Row norms and rank of the optimum of the convex program.

use quadfill::Model;
use quadfill::model::Parameters;
use quadfill_report::chart::{Axis, Chart, LineChart, Point, Series, SeriesStyle, short_number};
use quadfill_report::{Block, Tone};

use super::grid::{at, distinct_numbers, min_median_max};
use super::recovery::{self, RANK};
use super::row::Row;
use super::trial::Method;
use super::{Experiment, Extent};
use crate::error::Result;

pub(super) struct Incoherence;

/// The paper's results: size, mean and standard deviation.
const PAPER: [(f64, f64, f64); 3] = [(50.0, 1.88, 0.54), (100.0, 2.06, 0.63), (200.0, 1.91, 0.23)];

impl Experiment for Incoherence {
    fn name(&self) -> &'static str {
        "incoherence"
    }

    fn title(&self) -> &'static str {
        "Incoherence of the convex optimum"
    }

    fn question(&self) -> &'static str {
        "The guarantees assume a convex optimum with rows of similar norm and low rank. Does the optimum of \
         the minimum-trace program have these properties as the modes grow?"
    }

    fn paper(&self) -> &'static str {
        "The source has, commented out, the incoherence of the SDP optimum: 1.88 \u{b1} 0.54 at d = 50, \
         2.06 \u{b1} 0.63 at d = 100, 1.91 \u{b1} 0.23 at d = 200, and \u{201c}the sum of singular values other than \
         the top 3r singular values is close to zero for all the experiments\u{201d}. It does not define the \
         incoherence. The longest row of the factor over the root mean square of all rows is of that size, \
         so that is what we set beside it; its square, which our certificates call coherence, is in the \
         table and in results.json, too."
    }

    fn cells(&self, extent: &Extent) -> Vec<Row> {
        let sizes: &[usize] = extent.effort.pick(&[50, 100], &[50, 100, 200], &[25, 50, 100, 200]);
        let plenty: &[f64] = extent.effort.pick(&[5.0, 8.0], &[5.0, 8.0], &[5.0, 8.0, 15.0]);
        let mut cells = Vec::new();
        for &d in sizes {
            for &c in plenty {
                for seed in extent.seeds(3, 3, 5) {
                    cells.push(recovery::cell("sdp", d, RANK, c, seed));
                }
            }
        }
        cells
    }

    fn measure(&self, cell: &Row) -> Result<Vec<Row>> {
        let trial = recovery::trial(cell);
        let drawn = trial.draw()?;
        let (model, seconds) = drawn.fit(&drawn.config(Method::Sdp))?;
        let (rows, true_rows) = (rows_of(&model), planted_rows(&trial.factors()?));
        let (longest, truth) = (longest_row(&rows), longest_row(&true_rows));
        let values = singular_values(&rows);
        let beyond = |count: usize| {
            let tail = values.iter().skip(count).fold(0.0, |tail, value| tail + value);
            tail / values.iter().sum::<f64>()
        };
        Ok(vec![
            drawn
                .outcome(cell, &model)
                .with("incoherence", longest)
                .with("incoherence_squared", longest * longest)
                .with("incoherence_of_truth", truth)
                .with("beyond_r", beyond(trial.spec.rank))
                .with("beyond_3r", beyond(3 * trial.spec.rank))
                .with("seconds", seconds),
        ])
    }

    fn work(&self, cell: &Row) -> f64 {
        recovery::work(cell)
    }

    fn findings(&self, rows: &[Row]) -> Vec<Block> {
        let mut lines = Vec::new();
        for c in distinct_numbers(rows, "c") {
            for d in distinct_numbers(rows, "d") {
                let here = at(rows, "sdp", &[("d", d), ("c", c)]);
                let median =
                    |name| min_median_max(&here, name).map_or(f64::NAN, |(_, median, _)| median);
                let (mean, deviation) = mean_and_deviation(&here);
                let paper = PAPER.iter().find(|(size, ..)| *size == d);
                lines.push(vec![
                    short_number(c),
                    short_number(d),
                    format!("{mean:.2} \u{b1} {deviation:.2}"),
                    paper.map_or(String::new(), |(_, mean, pm)| format!("{mean} \u{b1} {pm}")),
                    short_number(median("incoherence_of_truth")),
                    short_number(median("incoherence_squared")),
                    short_number(median("beyond_r")),
                    short_number(median("beyond_3r")),
                    short_number(median("test_error")),
                ]);
            }
        }
        let most = |recovered: bool, what: &dyn Fn(&Row) -> f64| {
            let some = rows.iter().filter(|row| row.is("recovered") == recovered);
            some.map(what).fold(0.0, f64::max)
        };
        let away = |row: &Row| {
            (row.number("incoherence") / row.number("incoherence_of_truth") - 1.0).abs()
        };
        vec![
            Block::Note(
                Tone::Plain,
                format!(
                    "Where the tensor is recovered the optimum is as incoherent as the true factors, within {}, \
                     and their longest row grows like \u{221a}(log d) only. There the singular values of X beyond \
                     the top r are at most {} of the whole, and those beyond the top 3r at most {}. Where there \
                     are too few observations for the SDP the rows are no longer, but up to {} of the whole \
                     is beyond the top 3r.",
                    short_number(most(true, &away)),
                    short_number(most(true, &|row| row.number("beyond_r"))),
                    short_number(most(true, &|row| row.number("beyond_3r"))),
                    short_number(most(false, &|row| row.number("beyond_3r")))
                ),
            ),
            Block::figure(
                "incoherence",
                chart(rows),
                "The longest row of the factor of X over the root mean square of all its rows. The \
                 paper\u{2019}s numbers have its bars.",
            ),
            Block::table(
                &[
                    "c",
                    "d",
                    "incoherence",
                    "paper",
                    "of the truth",
                    "squared",
                    "beyond r",
                    "beyond 3r",
                    "test error",
                ],
                lines,
            ),
        ]
    }
}

/// The largest row norm relative to the root mean square of all row norms.
fn longest_row(rows: &[Vec<f64>]) -> f64 {
    let squares: Vec<f64> = rows.iter().map(|row| row.iter().map(|u| u * u).sum()).collect();
    let mean = squares.iter().sum::<f64>() / squares.len() as f64;
    (squares.iter().copied().fold(0.0, f64::max) / mean).sqrt()
}

/// The singular values of `X = U U^T`, descending. The columns of a convex optimum are orthogonal and sorted
/// by norm, so these are their squared norms.
fn singular_values(rows: &[Vec<f64>]) -> Vec<f64> {
    let mut values = vec![0.0; rows.first().map_or(0, Vec::len)];
    for row in rows {
        for (value, u) in values.iter_mut().zip(row) {
            *value += u * u;
        }
    }
    values
}

/// The rows of all modes of a fitted model.
fn rows_of(model: &Model) -> Vec<Vec<f64>> {
    let factors = (0..model.modes().len()).flat_map(|mode| model.factors(mode));
    let factors: Vec<f64> = factors.collect();
    factors.chunks_exact(model.spec().rank).map(<[f64]>::to_vec).collect()
}

/// The rows of all modes of planted factors.
fn planted_rows(factors: &Parameters<f64>) -> Vec<Vec<f64>> {
    let rows = factors.layout().rows().iter().enumerate();
    let all = rows.flat_map(|(group, &count)| (0..count).map(move |label| (group, label)));
    all.map(|(group, label)| factors.row(group, label).to_vec()).collect()
}

fn mean_and_deviation(rows: &[&Row]) -> (f64, f64) {
    let all: Vec<f64> = rows.iter().map(|row| row.number("incoherence")).collect();
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    let squares: f64 = all.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, (squares / (all.len().max(2) - 1) as f64).sqrt())
}

fn chart(rows: &[Row]) -> Chart {
    let sizes = distinct_numbers(rows, "d");
    let curve = |name: String, c: f64, result: &str, style: SeriesStyle, colour: usize| Series {
        points: sizes
            .iter()
            .filter_map(|&d| {
                let here = at(rows, "sdp", &[("d", d), ("c", c)]);
                let (low, y, high) = min_median_max(&here, result)?;
                let tooltip = format!(
                    "{name}, d = {}\nmedian {}, from {} to {}",
                    short_number(d),
                    short_number(y),
                    short_number(low),
                    short_number(high)
                );
                let error_bar = (style == SeriesStyle::LineAndMarkers).then_some((low, high));
                Some(Point { x: d, y, error_bar, tooltip })
            })
            .collect(),
        name,
        style,
        colour,
    };
    let plenty = distinct_numbers(rows, "c");
    let mut series: Vec<Series> = plenty
        .iter()
        .enumerate()
        .map(|(colour, &c)| {
            curve(
                format!("SDP optimum, c = {}", short_number(c)),
                c,
                "incoherence",
                SeriesStyle::LineAndMarkers,
                colour,
            )
        })
        .collect();
    if let Some(&c) = plenty.last() {
        let name = "true factors".to_owned();
        series.push(curve(name, c, "incoherence_of_truth", SeriesStyle::Dashed, 7));
    }
    series.push(Series {
        name: "paper".to_owned(),
        points: PAPER
            .iter()
            .map(|&(x, y, pm)| Point {
                x: x * 1.04,
                y,
                error_bar: Some((y - pm, y + pm)),
                tooltip: format!("paper, d = {}: {y} \u{b1} {pm}", short_number(x)),
            })
            .collect(),
        style: SeriesStyle::Markers,
        colour: 4,
    });
    let mut marks = sizes.clone();
    marks.extend(PAPER.iter().map(|(size, ..)| *size));
    marks.sort_by(f64::total_cmp);
    marks.dedup();
    Chart::Lines(LineChart {
        title: "Longest row over the root mean square row".to_owned(),
        x: Axis::log("mode size d").with_ticks(&marks),
        y: Axis::linear("incoherence (median, smallest to largest)").with_range(1.0, 3.0),
        series,
        reference_lines: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadfill::model::{Kernel, ModelSpec};

    #[test]
    fn an_optimum_that_is_the_truth_is_as_incoherent_and_of_its_rank() {
        let cell = recovery::cell("sdp", 12, 2, 12.0, 1);
        let row = Incoherence.measure(&cell).expect("measured").remove(0);
        assert!(row.is("recovered"), "{}", row.key());
        let (found, truth) = (row.number("incoherence"), row.number("incoherence_of_truth"));
        assert!((found / truth - 1.0).abs() < 1e-2, "{found} {truth}");
        assert!(row.number("beyond_r") < 1e-3 && row.number("beyond_3r") < 1e-4);
        assert!((row.number("incoherence_squared") - found * found).abs() < 1e-12);
    }

    #[test]
    fn rows_and_columns_are_measured() {
        let spec = ModelSpec::quadratic(Kernel::pairwise(2), 2);
        let mut factors = Parameters::zeros(&spec, &[2, 2]);
        for (group, label, row) in [(0, 0, [3.0, 0.0]), (0, 1, [1.0, 0.0]), (1, 0, [0.0, 1.0])] {
            factors.row_mut(group, label).copy_from_slice(&row);
        }
        factors.row_mut(1, 1).copy_from_slice(&[1.0, 0.0]);
        let rows = planted_rows(&factors);
        assert_eq!(singular_values(&rows), [11.0, 1.0]);
        assert!((longest_row(&rows) - 3.0_f64.sqrt()).abs() < 1e-15);
    }
}
