//! The number of observations that the convex program needs.

use quadfill_report::chart::short_number;
use quadfill_report::{Block, Tone};

use super::grid::{at, distinct_numbers, smallest_reliable};
use super::recovery;
use super::row::Row;
use super::trial::Method;
use super::{Experiment, Extent};
use crate::error::Result;

pub(super) struct RecoverySdp;

impl Experiment for RecoverySdp {
    fn name(&self) -> &'static str {
        "recovery-sdp"
    }

    fn title(&self) -> &'static str {
        "Recovery by semidefinite programming"
    }

    fn question(&self) -> &'static str {
        "How many observations does the minimum-trace program need to recover a quadratic tensor of \
         rank 5, as the modes grow? It is given neither the rank nor a starting point. Plain ALS and the path for comparison."
    }

    fn paper(&self) -> &'static str {
        "\u{201c}The sample complexity of both the SDP and ALS is between 2dr to 3dr. When m = 2dr, both fail \
         to recover T, but given m = 3dr samples, they can recover T very accurately.\u{201d} With d the size \
         of one mode, 3dr is the number of free parameters; with d read as the stacked dimension 3d, \
         the claim is 6 to 9 in our unit."
    }

    fn cells(&self, extent: &Extent) -> Vec<Row> {
        let sizes: &[usize] =
            extent.effort.pick(&[20, 30, 50], &[20, 30, 50, 100], &[20, 30, 50, 100, 200]);
        let plenty: &[f64] = extent.effort.pick(
            &[3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0],
            &[2.0, 3.0, 3.5, 4.0, 5.0, 6.0, 6.5, 7.0, 8.0, 9.0, 10.0],
            &[2.0, 3.0, 3.5, 4.0, 5.0, 5.5, 6.0, 6.5, 7.0, 7.5, 8.0, 9.0, 10.0],
        );
        let methods = [Method::Als, Method::Sdp, Method::Path];
        recovery::cells(&methods, sizes, plenty, &extent.seeds(3, 3, 5))
    }

    fn measure(&self, cell: &Row) -> Result<Vec<Row>> {
        recovery::measure(cell)
    }

    fn work(&self, cell: &Row) -> f64 {
        recovery::work(cell)
    }

    fn findings(&self, rows: &[Row]) -> Vec<Block> {
        let needs = |method: &str| -> Vec<String> {
            distinct_numbers(rows, "d")
                .into_iter()
                .map(|d| match smallest_reliable(&at(rows, method, &[("d", d)]), "c") {
                    Some(c) => format!("c = {} at d = {}", short_number(c), short_number(d)),
                    None => format!("no c that was tried at d = {}", short_number(d)),
                })
                .collect()
        };
        vec![
            Block::Note(
                Tone::Plain,
                format!(
                    "The SDP recovers every tensor from {}; plain ALS from {}; the path from {}. The last two are \
                     given the rank. Where the SDP fails to recover the tensor it is still solved to optimality: \
                     the matrix of smallest trace that reproduces the data then belongs to another tensor.",
                    needs("sdp").join(", "),
                    needs("als").join(", "),
                    needs("path").join(", ")
                ),
            ),
            recovery::reliable_figure(rows),
            recovery::reliable_table(rows),
            Block::figure("error-sdp", recovery::error_chart(rows, "sdp"), ""),
            Block::figure("error-path", recovery::error_chart(rows, "path"), ""),
        ]
    }
}
