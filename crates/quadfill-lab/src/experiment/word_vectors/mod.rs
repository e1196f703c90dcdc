//! Word vectors from triples of consecutive words, by the pairwise model and by CP.

mod data;
mod findings;

use std::path::Path;
use std::time::Instant;

use quadfill::model::{Biases, ModelKind};
use quadfill::objective::{Problem, Terms};
use quadfill::solve::{self, Choice, Fit, NoObserver, Rank, Solver};
use quadfill::{FitConfig, Observations};
use quadfill_report::Block;

use super::row::Row;
use super::{Effort, Experiment, Extent};
use crate::error::Result;
use data::WordData;

/// The experiment on the texts of a folder.
pub(super) struct WordVectors {
    data: WordData,
}

/// The share of the triples held out from fits to observed cells.
const HELD_OUT: f64 = 0.1;

/// The largest share of the triples that fits to observed cells are trained on.
const MAX_SHARE: f64 = 1.0 - HELD_OUT;

/// The models that are compared.
const MODELS: [&str; 2] = ["quadratic", "cp"];

impl WordVectors {
    pub(super) fn open(folder: &Path) -> Result<Self> {
        Ok(Self { data: WordData::open(folder)? })
    }
}

/// Vocabulary, rank and sweeps of the fits.
fn sizes(effort: Effort) -> (usize, usize, usize) {
    effort.pick((500, 20, 10), (2000, 100, 30), (2000, 100, 60))
}

/// The kinds of fits: to which cells, and to which share of the triples.
fn kinds(effort: Effort) -> Vec<(&'static str, f64)> {
    let fewer: &[f64] = effort.pick(&[0.3], &[0.01, 0.03, 0.1, 0.3], &[0.01, 0.03, 0.1, 0.3]);
    let mut kinds = vec![("observed", MAX_SHARE), ("all", 1.0)];
    kinds.extend(fewer.iter().map(|&share| ("observed", share)));
    kinds
}

/// Training triples and held-out triples; the latter are the same for every share.
fn parts(cells: Observations, cell: &Row) -> Result<(Observations, Option<Observations>)> {
    let (share, seed) = (cell.number("share"), cell.count("seed") as u64);
    if cell.text("cells") == "all" {
        return Ok((cells, None));
    }
    // All orders of a triple have the same count, so they stay together.
    let split = |cells: Observations, rate: f64, seed: u64| {
        if cell.text("window") == "all orders" {
            cells.split_symmetric(rate, seed)
        } else {
            cells.split_random(rate, seed)
        }
    };
    let (seen, held_out) = split(cells, HELD_OUT, seed)?;
    let seen = if share < MAX_SHARE { split(seen, share / MAX_SHARE, seed + 1)?.1 } else { seen };
    Ok((seen, Some(held_out)))
}

fn config(cell: &Row) -> FitConfig {
    FitConfig {
        model: if cell.text("model") == "cp" { ModelKind::Cp } else { ModelKind::Pairwise },
        rank: Rank::Fixed(cell.count("rank")),
        biases: Choice::Fixed(Biases::None),
        solver: Solver::Als,
        penalty: Choice::Fixed(cell.number("penalty")),
        implicit: (cell.text("cells") == "all").then_some(1.0),
        sweeps: Some(cell.count("sweeps")),
        tolerance: 1e-6,
        seed: cell.count("seed") as u64,
        certify: false,
        ..FitConfig::default()
    }
}

/// The mean squared error over all cells, with zero for those that do not occur.
fn error_over_all_cells(cells: Observations, fit: &Fit<f32>) -> Result<f64> {
    let all: f64 = cells.sizes().iter().map(|&size| size as f64).product();
    let observed = cells.len() as f64;
    let terms = Terms { implicit: Some(1.0), ..Terms::default() };
    let problem = Problem::new(cells, &fit.spec, &terms, None)?;
    Ok(problem.objective(&fit.spec, 0.0).data_value(&fit.parameters) * observed / all)
}

impl Experiment for WordVectors {
    fn name(&self) -> &'static str {
        "words"
    }

    fn title(&self) -> &'static str {
        "Word vectors from triples of words"
    }

    fn question(&self) -> &'static str {
        "How well do vectors learned from counts of three consecutive words answer analogies and agree with \
         people on similarity, when the logarithms of 1 plus the counts are fitted by the pairwise model and by \
         CP, with the same rank and each with its own penalty?"
    }

    fn paper(&self) -> &'static str {
        "With the 2000 most frequent words of a Wikipedia of 1.5 billion words and rank 100, the quadratic \
         model has a mean squared error of 0.4253 against 0.5893 for CP, answers 46.14 % of the syntactic and \
         54.76 % of the semantic analogies against 30.61 % and 42.37 %, and reaches a correlation of 0.60 with \
         human judgements of similarity against 0.51."
    }

    fn cells(&self, extent: &Extent) -> Vec<Row> {
        let (vocabulary, rank, sweeps) = sizes(extent.effort);
        let orders: &[bool] = extent.effort.pick(&[false], &[false], &[false, true]);
        let mut cells = Vec::new();
        for &all_orders in orders {
            for (which, share) in kinds(extent.effort) {
                for model in MODELS {
                    for &penalty in penalties(extent.effort, which) {
                        cells.push(
                            Row::new()
                                .with("corpus", self.data.name.clone())
                                .with("vocabulary", vocabulary)
                                .with("window", if all_orders { "all orders" } else { "ordered" })
                                .with("cells", which)
                                .with("share", share)
                                .with("model", model)
                                .with("rank", rank)
                                .with("sweeps", sweeps)
                                .with("penalty", penalty)
                                .with("seed", extent.seed),
                        );
                    }
                }
            }
        }
        cells
    }

    fn measure(&self, cell: &Row) -> Result<Vec<Row>> {
        let all_orders = cell.text("window") == "all orders";
        let counts = self.data.counts(cell.count("vocabulary"), all_orders)?;
        let cells = counts.observations(|count| (count as f64).ln_1p())?;
        let modes = cells.modes().to_vec();
        let (seen, held_out) = parts(cells, cell)?;
        let clock = Instant::now();
        let fitted = solve::fit::<f32>(seen.clone(), &config(cell), &mut NoObserver)?;
        let seconds = clock.elapsed().as_secs_f64();
        let predictor = fitted.predictor();
        let mut row = cell
            .clone()
            .with("words", counts.total_words)
            .with("triples", counts.len())
            .with("sweeps_done", fitted.sweeps)
            .with("mse_seen", predictor.evaluate_on(&seen).mse);
        if let Some(held_out) = held_out {
            row.set("mse_held_out", predictor.evaluate_on(&held_out).mse);
        } else {
            row.set("mse_all_cells", error_over_all_cells(seen, &fitted)?);
        }
        self.data.evaluate(&predictor.embeddings(&modes)?, &mut row);
        row.set("sweep_seconds", seconds / fitted.sweeps.max(1) as f64);
        row.set("seconds", seconds);
        Ok(vec![row])
    }

    fn work(&self, cell: &Row) -> f64 {
        // Assembling the normal equations costs the squared rank per observed cell.
        let orders = if cell.text("window") == "all orders" { 5.0 } else { 1.0 };
        let rank = cell.number("rank");
        orders
            * cell.number("sweeps")
            * cell.number("share")
            * if cell.text("cells") == "all" { rank } else { rank * rank / 16.0 }
    }

    fn findings(&self, rows: &[Row]) -> Vec<Block> {
        findings::blocks(&self.data, rows)
    }

    fn remarks(&self, _rows: &[Row]) -> Vec<Block> {
        Vec::new()
    }
}

/// The grid of penalties, the same for both models.
fn penalties(effort: Effort, cells: &str) -> &'static [f64] {
    match (effort, cells) {
        (Effort::Quick, _) => &[1e-6, 1e-4],
        (_, "all") => &[1e-8, 1e-7, 1e-6, 1e-5],
        _ => &[1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4],
    }
}
