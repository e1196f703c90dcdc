//! The theorem as stated: every term of the objective, and the paper's constants.

use quadfill::model::Parameters;
use quadfill::solve::Theory;
use quadfill_report::chart::{Axis, Chart, LineChart, Point, Series, SeriesStyle, short_number};
use quadfill_report::{Block, Tone};

use super::grid::{distinct_numbers, min_median_max};
use super::recovery;
use super::row::Row;
use super::trial::Method;
use super::{Experiment, Extent};
use crate::error::Result;

pub(super) struct Theorem;

/// The rank of the planted tensors.
const RANK: usize = 2;
/// A point with a smaller relative gap counts as optimal.
const OPTIMAL: f64 = 1e-4;
/// The tolerance of the fits.
const TOLERANCE: f64 = 1e-10;

impl Experiment for Theorem {
    fn name(&self) -> &'static str {
        "theorem"
    }

    fn title(&self) -> &'static str {
        "The theorem, term by term"
    }

    fn question(&self) -> &'static str {
        "With the objective of the theorem (ridge, quartic penalty, random perturbation, R columns) and its \
         constants, how does the mean squared error over alpha\u{b2} fall with \u{221a}(d / m)? If it depends on m / d \
         alone, a number of observations linear in d is enough."
    }

    fn paper(&self) -> &'static str {
        "Theorem: if no row of the true factors is longer than \u{221a}alpha, then with lambda1 = alpha / \u{221a}(d m), \
         lambda2 = 2 d lambda1 / alpha, R at least \u{221a}(2m + 2d) and a random C, every local minimum has a mean \
         squared error of at most a constant times alpha\u{b2} epsilon, where m is at least a constant times \
         d log d / epsilon\u{b2}. Neither constant is given."
    }

    fn cells(&self, extent: &Extent) -> Vec<Row> {
        let sizes: &[usize] =
            extent.effort.pick(&[10, 20, 40], &[10, 20, 40, 80], &[10, 20, 40, 80, 160]);
        let mut cells = Vec::new();
        for &d in sizes {
            // Observations per label of a mode.
            for each in [12.0, 25.0, 50.0, 100.0, 200.0, 400.0, 800.0] {
                // Half of the cells are reserved for testing.
                if 2.0 * each > (d * d) as f64 {
                    continue;
                }
                for seed in extent.seeds(3, 3, 5) {
                    let cell = recovery::cell("lbfgs", d, RANK, each / RANK as f64, seed);
                    cells.push(cell.with("observations_per_label", each));
                }
            }
        }
        cells
    }

    fn measure(&self, cell: &Row) -> Result<Vec<Row>> {
        let trial = recovery::trial(cell);
        let drawn = trial.draw()?;
        let truth = trial.factors()?;
        let alpha = largest_square(&truth);
        let theory = Theory::new(&trial.spec, &trial.sizes, trial.observations, alpha)?;
        let mut config = drawn.config(Method::Path);
        theory.apply(&mut config);
        (config.tolerance, config.certify) = (TOLERANCE, true);
        let (model, seconds) = drawn.fit(&config)?;
        let judged = drawn.evaluate(&model);
        let zero = drawn.evaluate_at(&trial.spec, &truth.zeros_like());
        let gap = model.certificate().map_or(f64::INFINITY, |c| c.relative_gap);
        Ok(vec![
            drawn
                .row(cell)
                .with("alpha", alpha)
                .with("lambda1", theory.lambda1)
                .with("lambda2", theory.lambda2)
                .with("columns", theory.rank)
                .with("sweeps", model.summary().sweeps)
                .with("relative_gap", gap)
                .with("optimal", gap < OPTIMAL)
                .with("root_d_over_m", 1.0 / cell.number("observations_per_label").sqrt())
                .with("mse", judged.mse)
                .with("mse_over_alpha2", judged.mse / (alpha * alpha))
                .with("zero_mse_over_alpha2", zero.mse / (alpha * alpha))
                .with("test_error", judged.relative_error)
                .with("seconds", seconds),
        ])
    }

    fn work(&self, cell: &Row) -> f64 {
        let (d, m) = (cell.number("d"), cell.number("observations_per_label") * cell.number("d"));
        let columns = (2.0 * (m + d)).sqrt().min(3.0 * d + 1.0);
        (m + 9.0 * d * d) * columns
    }

    fn findings(&self, rows: &[Row]) -> Vec<Block> {
        let constant = rows
            .iter()
            .map(|row| row.number("mse_over_alpha2") / row.number("root_d_over_m"))
            .fold(0.0, f64::max);
        let optimal = rows.iter().filter(|row| row.is("optimal")).count();
        let mut lines = Vec::new();
        for d in distinct_numbers(rows, "d") {
            for each in distinct_numbers(rows, "observations_per_label") {
                let here = of(rows, d, each);
                let Some((low, median, high)) = min_median_max(&here, "mse_over_alpha2") else {
                    continue;
                };
                let middle =
                    |name| min_median_max(&here, name).map_or(f64::NAN, |(_, median, _)| median);
                lines.push(vec![
                    short_number(d),
                    short_number(each),
                    short_number(here[0].number("root_d_over_m")),
                    here[0].count("columns").to_string(),
                    format!(
                        "{} ({} to {})",
                        short_number(median),
                        short_number(low),
                        short_number(high)
                    ),
                    short_number(middle("zero_mse_over_alpha2")),
                    short_number(middle("test_error")),
                    short_number(middle("relative_gap")),
                ]);
            }
        }
        vec![
            Block::Note(
                if optimal == rows.len() { Tone::Good } else { Tone::Plain },
                format!(
                    "The error over alpha\u{b2} stays below {constant:.2} \u{221a}(d / m) at every size, and falls {}. {optimal} of {} \
                     random starts of L-BFGS ended at the certified global optimum, as the theorem has it. \
                     The bound is loose: the zero model is also below alpha\u{b2} (see \u{201c}zero model\u{201d}), and with few \
                     observations these constants shrink nearly everything to zero. The evidence for the claim is that curves of \
                     different d nearly coincide.",
                    match exponent(rows) {
                        Some(power) => format!(
                            "like its power {power:.1} once it is below half of what zero has"
                        ),
                        None => "with it".to_owned(),
                    },
                    rows.len()
                ),
            ),
            Block::figure(
                "theorem",
                chart(rows, constant),
                "Medians, from the smallest to the largest. Points at one place have the same m / d. If the sample complexity were more than \
                 linear, larger d would lie higher.",
            ),
            Block::table(
                &[
                    "d",
                    "m / d",
                    "\u{221a}(d / m)",
                    "R",
                    "error over alpha\u{b2}",
                    "zero model",
                    "relative test error",
                    "relative gap",
                ],
                lines,
            ),
        ]
    }
}

/// The largest squared row norm.
fn largest_square(factors: &Parameters<f64>) -> f64 {
    let rows = factors.layout().rows().iter().enumerate();
    rows.flat_map(|(group, &count)| (0..count).map(move |label| factors.row(group, label)))
        .map(|row| row.iter().map(|u| u * u).sum())
        .fold(0.0, f64::max)
}

fn of(rows: &[Row], d: f64, each: f64) -> Vec<&Row> {
    rows.iter()
        .filter(|row| row.number("d") == d && row.number("observations_per_label") == each)
        .collect()
}

/// The slope of a straight line fitted to the points of the chart on logarithmic axes. Points that are
/// hardly better than the zero model are excluded.
fn exponent(rows: &[Row]) -> Option<f64> {
    let points: Vec<(f64, f64)> = rows
        .iter()
        .filter(|row| row.number("mse_over_alpha2") < 0.5 * row.number("zero_mse_over_alpha2"))
        .map(|row| (row.number("root_d_over_m").ln(), row.number("mse_over_alpha2").ln()))
        .collect();
    let count = points.len() as f64;
    let mean = |pick: fn(&(f64, f64)) -> f64| points.iter().map(pick).sum::<f64>() / count;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let up: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let along: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
    (count > 1.0 && along > 0.0).then_some(up / along)
}

fn chart(rows: &[Row], constant: f64) -> Chart {
    let plenty = distinct_numbers(rows, "observations_per_label");
    let mut series: Vec<Series> = distinct_numbers(rows, "d")
        .into_iter()
        .enumerate()
        .map(|(colour, d)| Series {
            name: format!("d = {}", short_number(d)),
            points: plenty
                .iter()
                .rev()
                .filter_map(|&each| {
                    let here = of(rows, d, each);
                    let (low, y, high) = min_median_max(&here, "mse_over_alpha2")?;
                    let tooltip = format!(
                        "d = {}, m = {} d\nmedian {}, from {} to {}",
                        short_number(d),
                        short_number(each),
                        short_number(y),
                        short_number(low),
                        short_number(high)
                    );
                    Some(Point { x: 1.0 / each.sqrt(), y, error_bar: Some((low, high)), tooltip })
                })
                .collect(),
            style: SeriesStyle::LineAndMarkers,
            colour,
        })
        .collect();
    series.push(Series {
        name: format!("{constant:.2} \u{221a}(d / m)"),
        points: plenty
            .iter()
            .rev()
            .map(|&each| {
                let (x, y) = (1.0 / each.sqrt(), constant / each.sqrt());
                Point {
                    x,
                    y,
                    error_bar: None,
                    tooltip: format!("m = {} d: {}", short_number(each), short_number(y)),
                }
            })
            .collect(),
        style: SeriesStyle::Dashed,
        colour: 7,
    });
    Chart::Lines(LineChart {
        title: "Mean squared error over alpha\u{b2}".to_owned(),
        x: Axis::log("\u{221a}(d / m)"),
        y: Axis::log("mean squared error / alpha\u{b2}"),
        series,
        reference_lines: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_start_ends_at_the_certified_optimum() {
        let cell = recovery::cell("lbfgs", 10, RANK, 25.0, 1).with("observations_per_label", 50.0);
        let row = Theorem.measure(&cell).expect("measured").remove(0);
        assert!(row.is("optimal"), "{}", row.key());
        let (error, zero) = (row.number("mse_over_alpha2"), row.number("zero_mse_over_alpha2"));
        assert!(error > 0.0 && error < zero && zero < 1.0, "{}", row.key());
        let columns = row.count("columns");
        assert!(columns * (columns + 1) / 2 > 500 + 30 || columns == 31);
    }

    #[test]
    fn the_exponent_of_a_power_is_found() {
        let row = |x: f64| Row::new().with("root_d_over_m", x).with("mse_over_alpha2", 3.0 * x * x);
        let rows: Vec<Row> = [0.1, 0.2, 0.5].iter().map(|&x| row(x)).collect();
        assert!((exponent(&rows).expect("a slope") - 2.0).abs() < 1e-12);
        assert_eq!(exponent(&rows[..1]), None);
    }
}
