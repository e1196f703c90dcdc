//! How fast ALS converges, from a random start and from the leading eigenvectors of the data.

use quadfill::Observations;
use quadfill::model::Parameters;
use quadfill::objective::{Objective, PenaltyScale};
use quadfill::solve::{als, start};
use quadfill::views::Views;
use quadfill_report::chart::{
    Axis, Chart, LineChart, Point, ReferenceLine, Series, SeriesStyle, short_number,
};
use quadfill_report::{Block, Tone};

use super::grid::{distinct_numbers, min_median_max};
use super::recovery::{self, RANK};
use super::row::Row;
use super::trial::{DrawnTrial, Trial};
use super::{Experiment, Extent, words};
use crate::error::Result;

pub(super) struct Convergence;

/// The number of sweeps.
const SWEEPS: usize = 60;
/// The number of sweeps that suffice according to the paper.
const PROMISED: usize = 30;
/// The penalty relative to the one at which zero is optimal: nearly none, and the default of ALS.
const PENALTY: f64 = 1e-5;
/// ALS from the leading eigenvectors.
const SPECTRAL: &str = "als-spectral";
const METHODS: [&str; 2] = ["als", SPECTRAL];

impl Experiment for Convergence {
    fn name(&self) -> &'static str {
        "convergence"
    }

    fn title(&self) -> &'static str {
        "Convergence of alternating least squares"
    }

    fn question(&self) -> &'static str {
        "How many sweeps does ALS need, on the training data and on test cells?"
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
        let errors = errors_by_sweep(&drawn, data, size, cell.text("method") == SPECTRAL);
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
        let most = distinct_numbers(rows, "d").last().copied().unwrap_or(0.0);
        let mut blocks = Vec::new();
        for method in METHODS {
            blocks.push(promise(rows, method));
        }
        for method in METHODS {
            blocks.push(Block::figure(
                &format!("convergence-{method}"),
                chart(rows, method, most),
                "Median over repetitions. Solid: test cells; dashed: training data.",
            ));
        }
        blocks.push(table(rows));
        blocks
    }
}

/// The training RMSE and the relative test error of ALS after each sweep, from the leading eigenvectors of
/// the data or from a random start.
fn errors_by_sweep(
    drawn: &DrawnTrial,
    data: Observations,
    size: f64,
    is_spectral: bool,
) -> Vec<(f64, f64)> {
    let Trial { spec, seed, .. } = drawn.trial();
    let views = Views::<f64>::new(data);
    let mut objective = Objective::new(&views, spec, 0.0, PenaltyScale::Uniform);
    let mut parameters = Parameters::zeros(spec, &views.sizes());
    let spectrum = start::Spectrum::new(&objective, &parameters, spec.rank, *seed);
    objective.set_penalty(PENALTY * spectrum.lambda_max);
    if is_spectral {
        spectrum.write_factors(&mut parameters, start::scale(spec, size));
    } else {
        parameters = start::random(spec, views.all(), *seed);
    }
    let sweep = |_| {
        let data = als::sweep(&objective, &mut parameters);
        (data.sqrt(), drawn.test_error(spec, &parameters))
    };
    (0..SWEEPS).map(sweep).collect()
}

/// Whether the paper's claim holds at `m = 10 d r`.
fn promise(rows: &[Row], method: &str) -> Block {
    let mut runs = 0;
    let mut kept = 0;
    for d in distinct_numbers(rows, "d") {
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
        for d in distinct_numbers(rows, "d") {
            for c in distinct_numbers(rows, "c") {
                let here = curve(rows, method, d, c, PROMISED);
                let Some((low, median, high)) = min_median_max(&here, "test_error") else {
                    continue;
                };
                let name = words::method(method).to_owned();
                lines.push(vec![
                    name,
                    short_number(d),
                    short_number(c),
                    short_number(median),
                    short_number(low),
                    short_number(high),
                ]);
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
    for (colour, c) in distinct_numbers(rows, "c").into_iter().enumerate() {
        for (what, result, style) in
            [("", "test_error", SeriesStyle::Line), (", data", "train_error", SeriesStyle::Dashed)]
        {
            let points = (1..=SWEEPS)
                .filter_map(|sweep| {
                    let (low, y, high) = min_median_max(&curve(rows, method, d, c, sweep), result)?;
                    let tooltip = format!(
                        "c = {}, sweep {sweep}{what}\nmedian error {}, from {} to {}",
                        short_number(c),
                        short_number(y),
                        short_number(low),
                        short_number(high)
                    );
                    Some(Point { x: sweep as f64, y, error_bar: None, tooltip })
                })
                .collect();
            series.push(Series {
                name: format!("c = {}{what}", short_number(c)),
                points,
                style,
                colour,
            });
        }
    }
    Chart::Lines(LineChart {
        title: format!("Error against sweeps, {}, d = {}", words::method(method), short_number(d)),
        x: Axis::linear("sweep"),
        y: Axis::log("relative error"),
        series,
        reference_lines: vec![ReferenceLine::Vertical(PROMISED as f64, "30 sweeps".to_owned())],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Method;

    #[test]
    fn sweeps_from_a_random_start_are_those_of_a_fit() {
        let cell = recovery::cell("als", 15, 2, 10.0, 1);
        let rows = Convergence.measure(&cell).expect("measured");
        assert_eq!(rows.len(), SWEEPS);
        let drawn = recovery::trial(&cell).draw().expect("drawn");
        let mut config = drawn.config(Method::Als);
        (config.sweeps, config.tolerance) = (Some(SWEEPS), 0.0);
        let (model, _) = drawn.fit(&config).expect("fitted");
        let error = drawn.evaluate(&model).relative_error;
        assert!((rows[SWEEPS - 1].number("test_error") / error - 1.0).abs() < 1e-9);
    }
}
