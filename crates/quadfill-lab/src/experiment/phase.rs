//! The phase transition of recovery: success rates over (c, r) and (c, d).

use quadfill_report::chart::{Chart, HeatMap, Panel, short_number};
use quadfill_report::{Block, Tone};

use super::grid::{at, distinct_numbers, distinct_texts, min_median_max, successes};
use super::recovery;
use super::row::Row;
use super::trial::Method;
use super::{Experiment, Extent, words};
use crate::error::Result;

pub(super) struct Phase;

/// The two maps: over ranks at one size, and over sizes at one rank.
const RANKS: &str = "rank";
const SIZES: &str = "size";

impl Experiment for Phase {
    fn name(&self) -> &'static str {
        "phase"
    }

    fn title(&self) -> &'static str {
        "Where recovery begins"
    }

    fn question(&self) -> &'static str {
        "How often is a tensor recovered, as the number of observations grows past the number of free \
         parameters, for small and large ranks and sizes?"
    }

    fn paper(&self) -> &'static str {
        "The paper has no such map. It states that 2dr to 3dr observations suffice for ALS and the SDP. The \
         red line is the number of free parameters; to its left recovery is impossible."
    }

    fn cells(&self, extent: &Extent) -> Vec<Row> {
        let plenty: &[f64] = extent.effort.pick(
            &[2.8, 3.0, 3.1, 3.2, 3.3, 3.4, 3.6, 3.8, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0],
            &[
                2.6, 2.8, 3.0, 3.1, 3.2, 3.3, 3.4, 3.5, 3.6, 3.8, 4.0, 4.5, 5.0, 5.5, 6.0, 7.0,
                8.0, 9.0,
            ],
            &[
                2.6, 2.8, 3.0, 3.1, 3.2, 3.3, 3.4, 3.5, 3.6, 3.8, 4.0, 4.5, 5.0, 5.5, 6.0, 7.0,
                8.0, 9.0,
            ],
        );
        let middle = extent.effort.pick(40, 100, 100);
        let ranks: &[usize] =
            extent.effort.pick(&[2, 3, 5, 8], &[1, 2, 3, 5, 8, 12], &[1, 2, 3, 5, 8, 12, 20]);
        let sizes: &[usize] = extent.effort.pick(
            &[25, 50, 100, 200],
            &[25, 50, 100, 200, 400],
            &[25, 50, 100, 200, 400, 1000],
        );
        let mut cells = Vec::new();
        let largest_convex = extent.effort.pick(50, 100, 100);
        for method in [Method::Als, Method::Sdp, Method::Path] {
            let seeds = match method {
                Method::Sdp => extent.seeds(2, 4, 10),
                _ => extent.seeds(4, 10, 20),
            };
            let over_ranks = ranks.iter().map(|&r| (RANKS, middle, r));
            let over_sizes = sizes.iter().map(|&d| (SIZES, d, recovery::RANK));
            let is_feasible = |d: usize| method != Method::Sdp || d <= largest_convex;
            let pictures = over_ranks.chain(over_sizes).filter(|&(_, d, _)| is_feasible(d));
            for (picture, d, r) in pictures {
                for &c in plenty {
                    for &seed in &seeds {
                        let cell = recovery::cell(method.name(), d, r, c, seed);
                        cells.push(cell.with("picture", picture));
                    }
                }
            }
        }
        cells
    }

    fn measure(&self, cell: &Row) -> Result<Vec<Row>> {
        recovery::measure(cell)
    }

    fn work(&self, cell: &Row) -> f64 {
        recovery::work(cell)
    }

    fn findings(&self, rows: &[Row]) -> Vec<Block> {
        let of = |picture: &str| -> Vec<Row> {
            rows.iter().filter(|row| row.text("picture") == picture).cloned().collect()
        };
        let (ranks, sizes) = (of(RANKS), of(SIZES));
        let d = distinct_numbers(&ranks, "d").first().copied().unwrap_or(0.0);
        let r = distinct_numbers(&sizes, "r").first().copied().unwrap_or(0.0);
        let over_sizes = map(
            &sizes,
            "d",
            "mode size d",
            &format!("Recovery over c and d, rank {}", short_number(r)),
        );
        let over_ranks =
            map(&ranks, "r", "rank r", &format!("Recovery over c and r, d = {}", short_number(d)));
        vec![
            Block::Note(
                Tone::Plain,
                "Bright is recovered. Plain ALS and the SDP need two to three times as many observations as \
                 there are free parameters; the path begins to recover right of the line. The SDP is \
                 measured at small sizes and with fewer repetitions, because it works on dense matrices of \
                 order 3d; it is the only method that is not given the rank."
                    .to_owned(),
            ),
            Block::figure(
                "phase-size",
                over_sizes,
                "Each cell is the share of repetitions with a relative error below 0.01 on test cells. On the \
                 line there are as many observations as free parameters.",
            ),
            Block::figure("phase-rank", over_ranks, ""),
        ]
    }
}

fn map(rows: &[Row], name: &str, label: &str, title: &str) -> Chart {
    let (columns, lines) = (distinct_numbers(rows, "c"), distinct_numbers(rows, name));
    let panels = distinct_texts(rows, "method")
        .iter()
        .map(|method| Panel {
            name: words::method(method).to_owned(),
            cells: lines
                .iter()
                .map(|&line| {
                    columns
                        .iter()
                        .map(|&c| {
                            let here = at(rows, method, &[(name, line), ("c", c)]);
                            let (_, median, _) = min_median_max(&here, "test_error")?;
                            let tooltip = format!(
                                "{}, {name} = {}, c = {}\n{} observations, {} per free parameter\n{} of {} \
                                 recovered, median error {}",
                                words::method(method),
                                short_number(line),
                                short_number(c),
                                here[0].count("m"),
                                short_number(here[0].number("per_free_parameter")),
                                successes(&here),
                                here.len(),
                                short_number(median)
                            );
                            Some((successes(&here) as f64 / here.len() as f64, tooltip))
                        })
                        .collect()
                })
                .collect(),
        })
        .collect();
    let line = lines
        .iter()
        .map(|&line| {
            let first = rows.iter().find(|row| row.number(name) == line);
            first.map_or(3.0, |row| recovery::parameter_line(row.number("d"), row.number("r")))
        })
        .collect();
    Chart::Heat(HeatMap {
        title: title.to_owned(),
        x: "c = m / (d r)".to_owned(),
        y: label.to_owned(),
        columns,
        rows: lines,
        panels,
        line: Some(("as many observations as free parameters".to_owned(), line)),
        scale: ("never recovered".to_owned(), "always".to_owned()),
    })
}
