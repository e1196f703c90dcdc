//! Where recovery begins: success rates over (c, r) and (c, d).

use super::grid::{at, numbers, spread, successes, texts};
use super::recovery;
use super::row::Row;
use super::trial::Method;
use super::{Experiment, Extent, words};
use crate::chart::{Chart, HeatMap, Panel, plain};
use crate::error::Result;
use crate::report::{Block, Tone};

pub(super) struct Phase;

/// The two pictures: over ranks at one size, and over sizes at one rank.
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
        "The paper has no such picture. It says that 2dr to 3dr observations suffice for ALS and the \
         SDP; the red line is the number of free parameters, left of which nothing can be \
         recovered by anyone."
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
            let within_reach = |d: usize| method != Method::Sdp || d <= largest_convex;
            let pictures = over_ranks.chain(over_sizes).filter(|&(_, d, _)| within_reach(d));
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
        let d = numbers(&ranks, "d").first().copied().unwrap_or(0.0);
        let r = numbers(&sizes, "r").first().copied().unwrap_or(0.0);
        let over_sizes =
            map(&sizes, "d", "mode size d", &format!("Recovery over c and d, rank {}", plain(r)));
        let over_ranks =
            map(&ranks, "r", "rank r", &format!("Recovery over c and r, d = {}", plain(d)));
        vec![
            Block::Note(
                Tone::Plain,
                "Bright is recovered. Plain ALS and the SDP need two to three times as many observations as \
                 there are free parameters; the path begins to recover right of the line. The SDP is \
                 measured at small sizes and with fewer repetitions, because it works on dense matrices of \
                 order 3d; it alone is not told the rank."
                    .to_owned(),
            ),
            Block::figure(
                "phase-size",
                over_sizes,
                "Each cell is the share of repetitions with a relative error below 0.01 on cells that the \
                 fit never saw. The line is where there are as many observations as free parameters.",
            ),
            Block::figure("phase-rank", over_ranks, ""),
        ]
    }
}

fn map(rows: &[Row], name: &str, label: &str, title: &str) -> Chart {
    let (columns, lines) = (numbers(rows, "c"), numbers(rows, name));
    let panels = texts(rows, "method")
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
                            let (_, median, _) = spread(&here, "test_error")?;
                            let tip = format!(
                                "{}, {name} = {}, c = {}\n{} observations, {} per free parameter\n{} of {} \
                                 recovered, median error {}",
                                words::method(method),
                                plain(line),
                                plain(c),
                                here[0].count("m"),
                                plain(here[0].number("per_free_parameter")),
                                successes(&here),
                                here.len(),
                                plain(median)
                            );
                            Some((successes(&here) as f64 / here.len() as f64, tip))
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
