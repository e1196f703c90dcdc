//! Recovery for other kernels, more modes and unequal sizes.

use quadfill::model::{Kernel, ModelSpec};
use quadfill_kernels::streams;
use quadfill_report::Block;
use quadfill_report::chart::{
    Axis, Chart, LineChart, Point, ReferenceLine, Series, SeriesStyle, short_number,
};

use super::grid::{distinct_numbers, distinct_texts, min_median_max, successes};
use super::row::Row;
use super::trial::{Method, Trial};
use super::{Experiment, Extent, words};
use crate::error::{LabError, Result};

pub(super) struct Kernels;

const KERNEL_STREAM: u64 = 0x6b_6572_6e65_6c73;

/// Kernels are learned only for the first of the tensors, this many; the others are pairwise as well.
const LEARNED: usize = 3;

/// The tensors: name, sizes and rank.
const TENSORS: [(&str, &[usize], usize); 5] = [
    ("pairwise", &[60, 60, 60], 4),
    ("TransE", &[60, 60, 60], 4),
    ("random symmetric kernel", &[60, 60, 60], 4),
    ("pairwise, four modes", &[60, 40, 30, 20], 4),
    ("pairwise, unequal sizes", &[150, 60, 15], 4),
];

fn spec(name: &str, rank: usize, modes: usize, seed: u64) -> Result<ModelSpec> {
    let kernel = match name {
        "TransE" => Kernel::transe(modes),
        "random symmetric kernel" => random_kernel(modes, seed)?,
        _ => Kernel::pairwise(modes),
    };
    Ok(ModelSpec::quadratic(kernel, rank))
}

/// A symmetric kernel with standard normal entries.
fn random_kernel(modes: usize, seed: u64) -> Result<Kernel> {
    let mut entries = vec![0.0; modes * modes];
    streams::fill_normal(&mut entries, &mut streams::stream(seed, KERNEL_STREAM, 0));
    let rows: Vec<Vec<f64>> = (0..modes)
        .map(|a| (0..modes).map(|b| entries[a.max(b) * modes + a.min(b)]).collect())
        .collect();
    Ok(Kernel::new(&rows)?)
}

fn trial(cell: &Row) -> Result<Trial> {
    let (name, sizes, rank) =
        TENSORS
            .into_iter()
            .find(|(name, ..)| *name == cell.text("tensor"))
            .ok_or_else(|| LabError::UnknownCell { experiment: "kernels", cell: cell.key() })?;
    let seed = cell.count("seed") as u64;
    let spec = spec(name, rank, sizes.len(), seed)?;
    let freedom = spec.degrees_of_freedom(sizes) as f64;
    let observations = (cell.number("ratio") * freedom).round() as usize;
    Ok(Trial { spec, sizes: sizes.to_vec(), observations, noise: 0.0, seed })
}

impl Experiment for Kernels {
    fn name(&self) -> &'static str {
        "kernels"
    }

    fn title(&self) -> &'static str {
        "Other kernels, more modes, unequal sizes"
    }

    fn question(&self) -> &'static str {
        "Does recovery near the number of free parameters extend beyond the pairwise model: to TransE, \
         random symmetric kernels with entries on the diagonal, four modes, modes of unequal size? \
         And if the kernel is unknown and has to be learned?"
    }

    fn paper(&self) -> &'static str {
        "The theorem holds for any quadratic kernel; the experiments are on pairwise tensors with three \
         modes of one size only."
    }

    fn cells(&self, extent: &Extent) -> Vec<Row> {
        let ratios: &[f64] = extent.effort.pick(
            &[0.9, 1.1, 1.25, 1.5, 2.0],
            &[0.9, 1.05, 1.1, 1.2, 1.3, 1.5, 1.75, 2.0, 2.5, 3.0],
            &[0.9, 1.0, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0],
        );
        let quick_least = extent.effort.pick(1.2, 0.0, 0.0);
        let mut cells = Vec::new();
        for method in [Method::Als, Method::Path, Method::Learned] {
            let tensors = if method == Method::Learned { LEARNED } else { TENSORS.len() };
            for (tensor, sizes, rank) in TENSORS.into_iter().take(tensors) {
                let shape: Vec<String> = sizes.iter().map(usize::to_string).collect();
                // The search takes longest with barely more observations than free parameters.
                let least = if method == Method::Learned { quick_least } else { 0.0 };
                for &ratio in ratios.iter().filter(|&&ratio| ratio > least) {
                    for seed in extent.seeds(2, 8, 16) {
                        cells.push(
                            Row::new()
                                .with("method", method.name())
                                .with("tensor", tensor)
                                .with("sizes", shape.join("x"))
                                .with("r", rank)
                                .with("ratio", ratio)
                                .with("seed", seed),
                        );
                    }
                }
            }
        }
        cells
    }

    fn measure(&self, cell: &Row) -> Result<Vec<Row>> {
        let method = Method::named(cell.text("method"));
        Ok(vec![trial(cell)?.draw()?.measure(cell, method)?])
    }

    fn work(&self, cell: &Row) -> f64 {
        // Kernels with a diagonal need Newton steps for each row.
        let rows = if cell.text("tensor").starts_with("pairwise") { 1.0 } else { 4.0 };
        let starts = if cell.text("method") == "learned" { 4.0 } else { 1.0 };
        rows * starts * cell.number("ratio")
    }

    fn findings(&self, rows: &[Row]) -> Vec<Block> {
        let mut blocks = Vec::new();
        for method in ["path", "learned", "als"] {
            let name = format!("recovered-{method}");
            blocks.push(Block::figure(&name, chart(rows, method), ""));
        }
        let mut lines = Vec::new();
        for tensor in distinct_texts(rows, "tensor") {
            for method in distinct_texts(rows, "method") {
                let mut line = vec![tensor.clone(), words::method(&method).to_owned()];
                let mut tried = 0;
                for ratio in distinct_numbers(rows, "ratio") {
                    let here = of(rows, &tensor, &method, ratio);
                    tried += here.len();
                    line.push(match here.len() {
                        0 => "\u{2013}".to_owned(),
                        all => format!("{} of {all}", successes(&here)),
                    });
                }
                if tried > 0 {
                    lines.push(line);
                }
            }
        }
        let mut head = vec!["tensor".to_owned(), "method".to_owned()];
        head.extend(
            distinct_numbers(rows, "ratio")
                .into_iter()
                .map(|ratio| format!("{} p", short_number(ratio))),
        );
        blocks.push(Block::Text(
            "Repetitions recovered, by the number of observations in multiples of the number of free parameters p:".to_owned(),
        ));
        blocks.push(Block::Table { head, rows: lines });
        blocks
    }
}

fn of<'a>(rows: &'a [Row], tensor: &str, method: &str, ratio: f64) -> Vec<&'a Row> {
    super::grid::at(rows, method, &[("ratio", ratio)])
        .into_iter()
        .filter(|row| row.text("tensor") == tensor)
        .collect()
}

fn chart(rows: &[Row], method: &str) -> Chart {
    let series = distinct_texts(rows, "tensor")
        .iter()
        .enumerate()
        .map(|(colour, tensor)| Series {
            name: tensor.clone(),
            points: distinct_numbers(rows, "ratio")
                .into_iter()
                .filter_map(|ratio| {
                    let here = of(rows, tensor, method, ratio);
                    let (_, median, _) = min_median_max(&here, "test_error")?;
                    let y = 100.0 * successes(&here) as f64 / here.len() as f64;
                    let tooltip = format!(
                        "{tensor}, {}: {} observations, {} per free parameter\n{} of {} recovered, median \
                         error {}",
                        words::method(method),
                        here[0].count("m"),
                        short_number(ratio),
                        successes(&here),
                        here.len(),
                        short_number(median)
                    );
                    Some(Point { x: ratio, y, error_bar: None, tooltip })
                })
                .collect(),
            style: SeriesStyle::LineAndMarkers,
            colour,
        })
        .filter(|series| !series.points.is_empty())
        .collect();
    Chart::Lines(LineChart {
        title: format!("Share of tensors recovered: {}", words::method(method)),
        x: Axis::linear("observations per free parameter"),
        y: Axis::linear("recovered (%)")
            .with_range(-2.0, 102.0)
            .with_ticks(&[0.0, 25.0, 50.0, 75.0, 100.0]),
        series,
        reference_lines: vec![ReferenceLine::Vertical(
            1.0,
            "as many as free parameters".to_owned(),
        )],
    })
}
