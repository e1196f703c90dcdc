//! How long each method takes to the same accuracy.

use std::time::Instant;

use quadfill::model::{Kernel, ModelSpec};
use quadfill::solve::{Event, Observer};

use super::descent::descend;
use super::grid::{at, numbers, spread, texts};
use super::recovery::{self, RANK};
use super::row::Row;
use super::trial::{Method, Trialled};
use super::{Experiment, Extent, words};
use crate::chart::{Axis, Chart, LineChart, Look, Point, Series, plain};
use crate::error::Result;
use crate::report::Block;

pub(super) struct Timing;

/// The relative test error that the clock runs to.
const ACCURACY: f64 = 1e-3;
/// Observations per label and column, enough for every method.
const PLENTY: f64 = 10.0;
/// The most iterations of gradient descent, and how often its error is looked at.
const ITERATIONS: usize = 20_000;
const LOOKS: usize = 10;

/// Stops the clock at the first state that is accurate enough; looking does not count.
struct Stopwatch<'a> {
    drawn: &'a Trialled,
    clock: Instant,
    looking: f64,
    reached: Option<(usize, f64)>,
}

impl Observer<f64> for Stopwatch<'_> {
    fn event(&mut self, event: Event<'_, f64>) {
        let Event::Checkpoint(progress) = event else { return };
        if self.reached.is_some() {
            return;
        }
        let look = Instant::now();
        let error = self.drawn.test_error(&progress.notes.spec, &progress.parameters);
        if error < ACCURACY {
            let seconds =
                self.clock.elapsed().as_secs_f64() - self.looking - look.elapsed().as_secs_f64();
            self.reached = Some((progress.notes.sweeps, seconds));
        }
        self.looking += look.elapsed().as_secs_f64();
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
        let (reached, in_all) = if cell.text("method") == "gd" {
            let spec = ModelSpec::quadratic(Kernel::pairwise(3), RANK);
            let mut reached = None;
            let done =
                descend(&drawn, &spec, 1e-1, ITERATIONS, trial.seed, |iteration, parameters| {
                    let is_there = iteration.is_multiple_of(LOOKS)
                        && drawn.test_error(&spec, parameters) < ACCURACY;
                    if is_there {
                        reached = Some(iteration);
                    }
                    is_there
                })?;
            (reached.map(|iteration| (iteration, done.seconds)), done.seconds)
        } else if cell.text("method") == Method::Sdp.name() {
            let (fit, seconds) = drawn.fit(&drawn.config(Method::Sdp))?;
            let is_there = drawn.test_error(&fit.spec, &fit.parameters) < ACCURACY;
            (is_there.then_some((fit.sweeps, seconds)), seconds)
        } else {
            let config = drawn.config(Method::named(cell.text("method")));
            let mut watch =
                Stopwatch { drawn: &drawn, clock: Instant::now(), looking: 0.0, reached: None };
            let (_, seconds) = drawn.fit_watched(&config, &mut watch)?;
            (watch.reached, seconds - watch.looking)
        };
        Ok(vec![
            drawn
                .row(cell)
                .with("reached", reached.is_some())
                .with("sweeps", reached.map(|(sweeps, _)| sweeps))
                .with("seconds", reached.map(|(_, seconds)| seconds))
                .with("whole_fit_seconds", in_all),
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
        let sizes = numbers(rows, "d");
        let mut lines = Vec::new();
        let mut series = Vec::new();
        for method in texts(rows, "method") {
            let mut points = Vec::new();
            for &d in &sizes {
                let all = at(rows, &method, &[("d", d)]);
                if all.is_empty() {
                    continue;
                }
                let there: Vec<&Row> =
                    all.iter().copied().filter(|row| row.is("reached")).collect();
                let mut line = vec![words::method(&method).to_owned(), plain(d)];
                match (spread(&there, "seconds"), spread(&there, "sweeps")) {
                    (Some((low, y, high)), Some((_, sweeps, _))) => {
                        let tip = format!(
                            "{}, d = {}\n{} s, from {} to {}\n{} sweeps",
                            words::method(&method),
                            plain(d),
                            plain(y),
                            plain(low),
                            plain(high),
                            plain(sweeps)
                        );
                        points.push(Point { x: d, y, bar: Some((low, high)), tip });
                        line.extend([plain(y), plain(sweeps)]);
                    }
                    _ => line.extend(["not reached".to_owned(), String::new()]),
                }
                line.push(format!("{} of {}", there.len(), all.len()));
                lines.push(line);
            }
            let name = words::method(&method).to_owned();
            series.push(Series { name, points, look: Look::Curve, colour: words::colour(&method) });
        }
        let chart = Chart::Lines(LineChart {
            title: "Seconds to a relative test error of 0.001".to_owned(),
            x: Axis::log("mode size d").marked(&sizes),
            y: Axis::log("seconds on one thread (median, smallest to largest)"),
            series,
            rules: Vec::new(),
        });
        vec![
            Block::figure(
                "timing",
                chart,
                "Looking at the error does not count. Gradient descent has the tensor\u{2019}s own rank here. \
                 The SDP shows its factors only at the end, so its time is that of the whole fit, to a \
                 tolerance of 10\u{207b}\u{2075}.",
            ),
            Block::table(&["method", "d", "seconds", "sweeps or iterations", "reached"], lines),
        ]
    }
}
