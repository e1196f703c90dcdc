//! The folds of a race: what is learned from, what is chosen on, and what the told error comes from.

use crate::error::Result;
use crate::model::{ModelSpec, Parameters, Predictor};
use crate::objective::{HoldOut, Problem, Terms};
use crate::observations::{CellHash, Observations, is_held_out};
use crate::solve::checked::CheckedConfig;
use crate::solve::session::FitSession;
use crate::views::{Data, Selection};
use quadfill_kernels::Real;

/// Below this many observations one hold-out is too noisy to choose on: several are averaged.
const FEW: usize = 60_000;
/// The number of folds then, with very few observations, and with fewer still.
const FOLDS: u64 = 3;
const VERY_FEW: usize = 5_000;
const MORE_FOLDS: u64 = 5;
const FEWEST: usize = 2_000;
const MOST_FOLDS: u64 = 10;
/// Above this many observations contenders are raced on a sample of the largest mode's rows.
const MANY: usize = 20_000_000;
/// The size of that sample.
const SAMPLE: usize = 10_000_000;

/// The problems that a race is run on beside the whole one: several with other cells held out where the
/// data are few, one with a sample of the data where they are many, and none in between.
pub(in crate::solve) fn folds<T: Real>(
    data: &Data,
    checked: &CheckedConfig,
) -> Result<Vec<Problem<T>>> {
    let Some(HoldOut { share, seed }) = checked.hold_out().filter(|_| checked.races) else {
        return Ok(Vec::new());
    };
    let problem = |data: Observations, seed: u64| {
        let (hold_out, storage) = (Some(HoldOut { share, seed }), checked.config.views.fixed());
        Problem::stored(data, &checked.spec, &Terms::default(), hold_out, storage)
    };
    if is_on_sample(data, checked) {
        return Ok(vec![problem(sample(data, seed), seed)?]);
    }
    if data.len() >= FEW {
        return Ok(Vec::new());
    }
    let count = if data.len() < FEWEST {
        MOST_FOLDS
    } else if data.len() < VERY_FEW {
        MORE_FOLDS
    } else {
        FOLDS
    };
    let data = data.filter(|_| true);
    let seeds = (0..count).map(|fold| seed.wrapping_add(fold << 32));
    seeds.map(|seed| problem(data.clone(), seed)).collect()
}

/// Whether the data are so many that a race is run on a sample of them. Nothing of the data themselves is held out
/// then, and no path takes part, which would need that.
pub(in crate::solve) fn is_on_sample(data: &Data, checked: &CheckedConfig) -> bool {
    checked.races && data.len() > MANY
}

/// The observations of some labels of the largest mode, chosen by their hashes.
fn sample(data: &Data, seed: u64) -> Observations {
    let sizes = data.sizes();
    let largest = (0..sizes.len()).max_by_key(|&mode| sizes[mode]).unwrap_or(0);
    let hash = CellHash::new(&data.modes()[largest..=largest], seed);
    let share = SAMPLE as f64 / data.len() as f64;
    let sample = data.filter(|cell| is_held_out(hash.cell(&cell[largest..=largest]), share));
    if sample.is_empty() { data.filter(|_| true) } else { sample }
}

/// The folds of a race.
pub(in crate::solve) struct Arena<'a, T: Real> {
    pub(super) folds: Vec<Fold<'a, T>>,
}

/// One split of the data.
pub(super) struct Fold<'a, T: Real> {
    pub(super) problem: &'a Problem<T>,
    pub(super) training: Selection<'a, T>,
    pub(super) held_out: HeldOutCells,
}

/// The held-out cells.
pub(super) struct HeldOutCells {
    columns: Vec<Vec<u32>>,
    pub(super) values: Vec<f64>,
    /// Of each cell, whether the told error comes from it; nothing is chosen on those.
    is_told: Vec<bool>,
}

impl<'a, T: Real> Arena<'a, T> {
    pub(super) fn new(session: &FitSession<'a, T>) -> Self {
        let problems: Vec<&'a Problem<T>> = if session.folds.is_empty() {
            vec![session.problem]
        } else {
            session.folds.iter().collect()
        };
        let fold = |problem: &'a Problem<T>| Fold {
            problem,
            training: problem.training(),
            held_out: HeldOutCells::new(problem),
        };
        Self { folds: problems.into_iter().map(fold).collect() }
    }

    /// How many observations a fold has.
    pub(super) fn observations(&self) -> usize {
        self.folds.iter().map(|fold| fold.problem.data().len()).max().unwrap_or(0)
    }

    /// The errors of predictions, one list for each fold: on what is chosen on, and as it is told.
    pub(super) fn errors(&self, predictions: &[Vec<f64>]) -> Errors {
        let mut chosen_on = Squares::default();
        let mut told = Squares::default();
        for (fold, predictions) in self.folds.iter().zip(predictions) {
            let cells = &fold.held_out;
            for ((value, is_told), prediction) in
                cells.values.iter().zip(&cells.is_told).zip(predictions)
            {
                let part = if *is_told { &mut told } else { &mut chosen_on };
                part.add((value - prediction).powi(2));
            }
        }
        // A handful of cells may leave one of the parts empty.
        let told = if told.count == 0.0 { chosen_on } else { told };
        let chosen_on = if chosen_on.count == 0.0 { told } else { chosen_on };
        Errors {
            chosen_on: chosen_on.rmse(),
            told: told.rmse(),
            standard_error: told.error_of_rmse(),
        }
    }
}

/// Held-out errors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Errors {
    pub(super) chosen_on: f64,
    pub(super) told: f64,
    pub(super) standard_error: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Squares {
    count: f64,
    sum: f64,
    fourths: f64,
}

impl Squares {
    fn add(&mut self, square: f64) {
        self.count += 1.0;
        self.sum += square;
        self.fourths += square * square;
    }

    fn rmse(&self) -> f64 {
        (self.sum / self.count.max(1.0)).sqrt()
    }

    /// The standard error of the RMSE, from the spread of the squares.
    fn error_of_rmse(&self) -> f64 {
        let mean = self.sum / self.count.max(1.0);
        let variance = (self.fourths / self.count.max(1.0) - mean * mean).max(0.0);
        let of_mean = (variance / self.count.max(1.0)).sqrt();
        if mean > 0.0 { of_mean / (2.0 * mean.sqrt()) } else { 0.0 }
    }
}

impl HeldOutCells {
    fn new<T: Real>(problem: &Problem<T>) -> Self {
        let held_out = problem.held_out();
        let mut cells = Self {
            columns: vec![Vec::new(); held_out.sizes().len()],
            values: Vec::new(),
            is_told: Vec::new(),
        };
        held_out.for_each(|cell, value, _| {
            for (column, &label) in cells.columns.iter_mut().zip(cell) {
                column.push(label);
            }
            cells.values.push(value.to_f64());
            cells.is_told.push(problem.is_told(cell));
        });
        cells
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Adds the predictions of a point.
    pub(super) fn add_predictions<T: Real>(
        &self,
        spec: &ModelSpec,
        parameters: &Parameters<T>,
        sums: &mut [f64],
    ) {
        let columns: Vec<&[u32]> = self.columns.iter().map(Vec::as_slice).collect();
        let predictions = Predictor::new(spec, parameters).cells(&columns);
        for (sum, prediction) in sums.iter_mut().zip(predictions) {
            *sum += prediction;
        }
    }
}
