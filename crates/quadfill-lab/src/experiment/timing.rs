//! Time to the same accuracy, by method.

use std::ops::ControlFlow;
use std::time::Instant;

use quadfill::FitConfig;
use quadfill::model::{Kernel, ModelSpec};
use quadfill::solve::{self, Checkpoint, Event, Observer};
use quadfill_report::Block;
use quadfill_report::chart::{Axis, Chart, LineChart, Point, Series, SeriesStyle, short_number};

use super::descent::descend;
use super::grid::{at, distinct_numbers, distinct_texts, min_median_max};
use super::recovery::{self, RANK};
use super::row::Row;
use super::trial::{DrawnTrial, Method};
use super::{Experiment, Extent, words};
use crate::error::{LabError, Result};

pub(super) struct Timing;

/// The relative test error at which the clock stops.
const ACCURACY: f64 = 1e-3;
/// The value of c, large enough for every method.
const PLENTY: f64 = 10.0;
/// The iteration limit of gradient descent, and how often its error is evaluated.
const ITERATIONS: usize = 20_000;
const CHECK_INTERVAL: usize = 10;

/// Stops the clock at the first iterate that is accurate enough. Evaluating the error is not timed.
struct Stopwatch<'a> {
    drawn: &'a DrawnTrial,
    config: &'a FitConfig,
    clock: Instant,
    evaluating: f64,
    reached: Option<(usize, f64)>,
}

impl Stopwatch<'_> {
    /// The sweeps so far and the relative test error of the model that a fit ending here hands back: it is
    /// resumed from its checkpoint, and ended at once.
    fn evaluate(&self, checkpoint: &Checkpoint<'_>) -> Result<(usize, f64)> {
        let bytes = checkpoint.to_bytes().map_err(LabError::io("checkpoint".as_ref()))?;
        let data = self.drawn.observations()?;
        let fit = solve::resume::<f64>(data, self.config, &bytes, &mut AtOnce)?;
        Ok((fit.sweeps, self.drawn.test_error(&fit.spec, &fit.parameters)))
    }
}

/// Ends a fit at once.
struct AtOnce;

impl Observer for AtOnce {
    fn event(&mut self, _: Event<'_>) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

impl Observer for Stopwatch<'_> {
    fn event(&mut self, event: Event<'_>) -> ControlFlow<()> {
        if let (Event::Checkpoint(checkpoint), None) = (event, self.reached) {
            let start = Instant::now();
            let now = self.evaluate(&checkpoint).expect("a fit resumes from its own checkpoint");
            if now.1 < ACCURACY {
                let seconds = self.clock.elapsed().as_secs_f64()
                    - self.evaluating
                    - start.elapsed().as_secs_f64();
                self.reached = Some((now.0, seconds));
            }
            self.evaluating += start.elapsed().as_secs_f64();
        }
        ControlFlow::Continue(())
    }
}

impl Experiment for Timing {
    fn name(&self) -> &'static str {
        "timing"
    }

    fn title(&self) -> &'static str {
        "Time to the same accuracy"
    }

    fn question(&self) -> &'static str {
        "How long do plain ALS, the path, gradient descent and the SDP take until the relative error on unseen \
         cells is below 0.001, from m = 10 d r observations, on one thread?"
    }

    fn paper(&self) -> &'static str {
        "The paper says that ALS is much more scalable than the SDP; a comment in its source asks for \
         \u{201c}some representative timing numbers\u{201d} and has none."
    }

    fn cells(&self, extent: &Extent) -> Vec<Row> {
        let sizes: &[usize] = extent.effort.pick(
            &[50, 100, 200],
            &[50, 100, 200, 500, 1000],
            &[50, 100, 200, 500, 1000, 2000, 5000],
        );
        let mut cells = Vec::new();
        let largest_convex = extent.effort.pick(100, 100, 200);
        for method in ["als", "path", "gd", "sdp"] {
            for &d in sizes.iter().filter(|&&d| method != "sdp" || d <= largest_convex) {
                for seed in extent.seeds(3, 3, 5) {
                    cells.push(recovery::cell(method, d, RANK, PLENTY, seed));
                }
            }
        }
        cells
    }

    fn measure(&self, cell: &Row) -> Result<Vec<Row>> {
        let trial = recovery::trial(cell);
        let drawn = trial.draw()?;
        let (reached, whole_fit) = if cell.text("method") == "gd" {
            let spec = ModelSpec::quadratic(Kernel::pairwise(3), RANK);
            let mut reached = None;
            let done =
                descend(&drawn, &spec, 1e-1, ITERATIONS, trial.seed, |iteration, parameters| {
                    let is_there = iteration.is_multiple_of(CHECK_INTERVAL)
                        && drawn.test_error(&spec, parameters) < ACCURACY;
                    if is_there {
                        reached = Some(iteration);
                    }
                    is_there
                })?;
            (reached.map(|iteration| (iteration, done.seconds)), done.seconds)
        } else if cell.text("method") == Method::Sdp.name() {
            let (model, seconds) = drawn.fit(&drawn.config(Method::Sdp))?;
            let is_there = drawn.evaluate(&model).relative_error < ACCURACY;
            (is_there.then_some((model.summary().sweeps, seconds)), seconds)
        } else {
            let config = drawn.config(Method::named(cell.text("method")));
            let mut watch = Stopwatch {
                drawn: &drawn,
                config: &config,
                clock: Instant::now(),
                evaluating: 0.0,
                reached: None,
            };
            let (_, seconds) = drawn.fit_watched(&config, &mut watch)?;
            (watch.reached, seconds - watch.evaluating)
        };
        Ok(vec![
            drawn
                .row(cell)
                .with("reached", reached.is_some())
                .with("sweeps", reached.map(|(sweeps, _)| sweeps))
                .with("seconds", reached.map(|(_, seconds)| seconds))
                .with("whole_fit_seconds", whole_fit),
        ])
    }

    fn work(&self, cell: &Row) -> f64 {
        let each = recovery::work(cell);
        if cell.text("method") == "gd" { 5.0 * each } else { each }
    }

    fn is_timed(&self) -> bool {
        true
    }

    fn findings(&self, rows: &[Row]) -> Vec<Block> {
        let sizes = distinct_numbers(rows, "d");
        let mut lines = Vec::new();
        let mut series = Vec::new();
        for method in distinct_texts(rows, "method") {
            let mut points = Vec::new();
            for &d in &sizes {
                let all = at(rows, &method, &[("d", d)]);
                if all.is_empty() {
                    continue;
                }
                let there: Vec<&Row> =
                    all.iter().copied().filter(|row| row.is("reached")).collect();
                let mut line = vec![words::method(&method).to_owned(), short_number(d)];
                match (min_median_max(&there, "seconds"), min_median_max(&there, "sweeps")) {
                    (Some((low, y, high)), Some((_, sweeps, _))) => {
                        let tooltip = format!(
                            "{}, d = {}\n{} s, from {} to {}\n{} sweeps",
                            words::method(&method),
                            short_number(d),
                            short_number(y),
                            short_number(low),
                            short_number(high),
                            short_number(sweeps)
                        );
                        points.push(Point { x: d, y, error_bar: Some((low, high)), tooltip });
                        line.extend([short_number(y), short_number(sweeps)]);
                    }
                    _ => line.extend(["not reached".to_owned(), String::new()]),
                }
                line.push(format!("{} of {}", there.len(), all.len()));
                lines.push(line);
            }
            let name = words::method(&method).to_owned();
            series.push(Series {
                name,
                points,
                style: SeriesStyle::LineAndMarkers,
                colour: words::colour(&method),
            });
        }
        let chart = Chart::Lines(LineChart {
            title: "Seconds to a relative test error of 0.001".to_owned(),
            x: Axis::log("mode size d").with_ticks(&sizes),
            y: Axis::log("seconds on one thread (median, smallest to largest)"),
            series,
            reference_lines: Vec::new(),
        });
        vec![
            Block::figure(
                "timing",
                chart,
                "Evaluating the error is not timed. Gradient descent is given the true rank here. \
                 The SDP has factors only at the end, so its time is that of the whole fit, to a tolerance of \
                 10\u{207b}\u{2075}.",
            ),
            Block::table(&["method", "d", "seconds", "sweeps or iterations", "reached"], lines),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_stops_before_the_fit_ends() {
        for method in ["path", "als"] {
            let cell = recovery::cell(method, 20, RANK, PLENTY, 1);
            let row = Timing.measure(&cell).expect("measured").remove(0);
            assert!(row.is("reached"), "{row:?}");
            assert!(row.count("sweeps") > 0, "{row:?}");
            assert!(row.number("seconds") <= row.number("whole_fit_seconds"), "{row:?}");
        }
    }
}
