//! The number of observations that plain ALS and the path need.

use quadfill_report::chart::short_number;
use quadfill_report::{Block, Tone};

use super::grid::{at, distinct_numbers, smallest_reliable};
use super::recovery;
use super::row::Row;
use super::trial::Method;
use super::{Experiment, Extent};
use crate::error::Result;

pub(super) struct RecoveryAls;

impl Experiment for RecoveryAls {
    fn name(&self) -> &'static str {
        "recovery-als"
    }

    fn title(&self) -> &'static str {
        "Recovery by alternating least squares"
    }

    fn question(&self) -> &'static str {
        "How many observations does it take to recover a quadratic tensor of rank 5, as the modes grow? \
         Plain ALS from a random start, and the path beside it."
    }

    fn paper(&self) -> &'static str {
        "\u{201c}The sample complexity of both the SDP and ALS is between 2dr to 3dr. When m = 2dr, both fail \
         to recover T, but given m = 3dr samples, they can recover T very accurately.\u{201d} With d the size \
         of one mode, 3dr is the number of free parameters; with d read as the stacked dimension 3d, \
         the claim is 6 to 9 in our unit, which agrees with our results for plain ALS."
    }

    fn cells(&self, extent: &Extent) -> Vec<Row> {
        let sizes: &[usize] = extent.effort.pick(
            &[50, 100, 200],
            &[50, 100, 200, 500, 1000],
            &[50, 100, 200, 500, 1000, 2000],
        );
        let plenty: &[f64] = extent.effort.pick(
            &[2.0, 3.0, 3.25, 3.5, 4.0, 5.0, 6.0, 8.0, 10.0],
            &[2.0, 2.5, 3.0, 3.25, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0],
            &[2.0, 2.5, 3.0, 3.1, 3.2, 3.3, 3.4, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0],
        );
        let methods = [Method::Als, Method::Path];
        recovery::cells(&methods, sizes, plenty, &extent.seeds(3, 3, 8))
    }

    fn measure(&self, cell: &Row) -> Result<Vec<Row>> {
        recovery::measure(cell)
    }

    fn work(&self, cell: &Row) -> f64 {
        recovery::work(cell)
    }

    fn findings(&self, rows: &[Row]) -> Vec<Block> {
        let path_needs: Vec<f64> = distinct_numbers(rows, "d")
            .into_iter()
            .map(|d| {
                smallest_reliable(&at(rows, "path", &[("d", d)]), "c").unwrap_or(f64::INFINITY)
            })
            .collect();
        let most = path_needs.iter().copied().fold(0.0, f64::max);
        vec![
            Block::Note(
                if most <= 3.5 { Tone::Good } else { Tone::Warn },
                format!(
                    "The path recovers every tensor from c = {} on, at every size: close to the number of \
                     free parameters, a lower bound for every method.",
                    short_number(most)
                ),
            ),
            recovery::reliable_figure(rows),
            recovery::reliable_table(rows),
            Block::figure("error-path", recovery::error_chart(rows, "path"), ""),
            Block::figure("error-als", recovery::error_chart(rows, "als"), ""),
        ]
    }
}
