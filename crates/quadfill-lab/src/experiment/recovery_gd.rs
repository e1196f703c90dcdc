//! The number of observations that overparameterised gradient descent needs.

use quadfill::model::{Kernel, ModelSpec};
use quadfill_report::chart::short_number;
use quadfill_report::{Block, Tone};

use super::descent::descend;
use super::grid::{at, distinct_numbers, smallest_reliable};
use super::recovery::{self, RANK};
use super::row::Row;
use super::trial::RECOVERED;
use super::{Experiment, Extent};
use crate::error::Result;

pub(super) struct RecoveryGd;

/// The number of iterations in the paper.
const ITERATIONS: usize = 20_000;
/// Standard deviation of the initial factors: near zero, where descent is biased towards low rank.
const START: f64 = 1e-3;

impl Experiment for RecoveryGd {
    fn name(&self) -> &'static str {
        "recovery-gd"
    }

    fn title(&self) -> &'static str {
        "Recovery by gradient descent"
    }

    fn question(&self) -> &'static str {
        "How many observations does gradient descent need when it is given rank d, far more columns than \
         the tensor has, and 20,000 iterations without any penalty?"
    }

    fn paper(&self) -> &'static str {
        "\u{201c}The sample complexity of gradient descent is between 5dr and 10dr samples\u{201d} with rank d and \
         20,000 iterations, worse than ALS. With d read as the stacked dimension that is 15 to 30 in our \
         unit."
    }

    fn cells(&self, extent: &Extent) -> Vec<Row> {
        let sizes: &[usize] = extent.effort.pick(&[15, 30], &[20, 30, 50], &[20, 30, 50, 100]);
        let plenty: &[f64] = extent.effort.pick(
            &[2.0, 5.0, 8.0, 10.0, 15.0, 30.0],
            &[2.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 25.0, 30.0],
            &[2.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 15.0, 20.0, 25.0, 30.0],
        );
        let mut cells = Vec::new();
        for &d in sizes {
            for &c in plenty {
                for seed in extent.seeds(3, 3, 5) {
                    let cell = recovery::cell("gd", d, RANK, c, seed);
                    cells.push(cell.with("rank", d).with("iterations", ITERATIONS));
                }
            }
        }
        cells
    }

    fn measure(&self, cell: &Row) -> Result<Vec<Row>> {
        let trial = recovery::trial(cell);
        let drawn = trial.draw()?;
        let spec = ModelSpec::quadratic(Kernel::pairwise(3), cell.count("rank"));
        let done =
            descend(&drawn, &spec, START, cell.count("iterations"), trial.seed, |_, _| false)?;
        let error = drawn.test_error(&spec, &done.parameters);
        Ok(vec![
            drawn
                .row(cell)
                .with("iterations_used", done.iterations)
                .with("train_error", done.train_error)
                .with("test_error", error)
                .with("recovered", error < RECOVERED)
                .with("seconds", done.seconds),
        ])
    }

    fn work(&self, cell: &Row) -> f64 {
        cell.number("c") * cell.number("d") * cell.number("rank") * cell.number("iterations")
    }

    fn findings(&self, rows: &[Row]) -> Vec<Block> {
        let needs: Vec<f64> = distinct_numbers(rows, "d")
            .into_iter()
            .map(|d| smallest_reliable(&at(rows, "gd", &[("d", d)]), "c").unwrap_or(f64::INFINITY))
            .collect();
        let most = needs.iter().copied().fold(0.0, f64::max);
        vec![
            Block::Note(
                Tone::Plain,
                format!(
                    "Reliable from c = {} on, where the paper has 15 to 30 in this unit. Started near \
                     zero, descent is biased towards low rank.",
                    short_number(most)
                ),
            ),
            Block::figure(
                "error-gd",
                recovery::error_chart(rows, "gd"),
                "Factors start near zero; steps are chosen by backtracking.",
            ),
            Block::figure("smallest-c", recovery::reliable_chart(rows), ""),
            recovery::reliable_table(rows),
        ]
    }
}
