//! Rows gathered column by column, piece by piece, and made into observations at the end.

use quadfill::observations::canonical_integer;
use quadfill::{Labels, Mode, Observations, OnDuplicate, Real};
use rayon::prelude::*;

use crate::bins::{self, BinSize};
use crate::columns::{LabelColumn, concat, merge_labels, rank_numbers};
use crate::error::{ReadError, Result};
use crate::shown::one_line;
use quadfill::observations::Binning;

/// One mode as it will be.
#[derive(Debug, Clone)]
pub(crate) struct ModePlan {
    pub name: String,
    /// How its times are cut, if it holds times.
    pub bins: Option<BinSize>,
}

/// A column of labels, or of times that become labels once all are known.
#[derive(Debug)]
pub(crate) enum ModeColumn {
    Labels(LabelColumn),
    Times(Vec<f64>),
}

impl ModeColumn {
    pub(crate) fn new(plan: &ModePlan, rows: usize) -> Self {
        match plan.bins {
            Some(_) => Self::Times(Vec::with_capacity(rows)),
            None => Self::Labels(LabelColumn::with_capacity(rows)),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Labels(labels) => labels.len(),
            Self::Times(times) => times.len(),
        }
    }
}

/// The rows of one piece of the data.
#[derive(Debug)]
pub(crate) struct Piece<T> {
    pub modes: Vec<ModeColumn>,
    pub values: Vec<T>,
    pub weights: Option<Vec<T>>,
}

impl<T> Piece<T> {
    pub(crate) fn new(plan: &[ModePlan], weighted: bool, rows: usize) -> Self {
        Self {
            modes: plan.iter().map(|mode| ModeColumn::new(mode, rows)).collect(),
            values: Vec::with_capacity(rows),
            weights: weighted.then(|| Vec::with_capacity(rows)),
        }
    }
}

impl<T: Real> Piece<T> {
    /// Gives every row the value 1, where rows have no values.
    pub(crate) fn fill_ones(&mut self) {
        let rows = self.modes.first().map_or(0, ModeColumn::len);
        self.values = vec![T::ONE; rows];
    }
}

/// Observations and the bins that made some of their modes.
#[derive(Debug)]
pub(crate) struct Assembled<T> {
    pub observations: Observations<T>,
    pub bins: Vec<Binning>,
}

/// Puts the pieces together, one column after the other so that only one is there twice.
///
/// `place` says in words where a row (from 0) stands in the file.
pub(crate) fn assemble<T: Real>(
    file: &str,
    plan: &[ModePlan],
    mut pieces: Vec<Piece<T>>,
    on_duplicate: OnDuplicate,
    places: impl FnOnce([usize; 2]) -> [String; 2],
) -> Result<Assembled<T>> {
    let values = concat(pieces.iter_mut().map(|piece| std::mem::take(&mut piece.values)).collect());
    let weights: Option<Vec<Vec<T>>> =
        pieces.iter_mut().map(|piece| piece.weights.take()).collect();
    let weights = weights.filter(|weights| !weights.is_empty()).map(concat);
    let mut modes = Vec::with_capacity(plan.len());
    let mut indices = Vec::with_capacity(plan.len());
    let mut bins = Vec::new();
    for mode in plan.iter().rev() {
        let columns = pieces.iter_mut().filter_map(|piece| piece.modes.pop());
        let (labels, column) = match mode.bins {
            None => merge_labels(columns.filter_map(ModeColumn::into_labels).collect()),
            Some(size) => {
                let times = columns.filter_map(ModeColumn::into_times).collect();
                let (binning, numbers) = cut_into_bins(&mode.name, size, times)?;
                bins.push(binning);
                rank_numbers(numbers)
            }
        };
        modes.push(Mode::new(mode.name.clone(), labels));
        indices.push(column);
    }
    drop(pieces);
    modes.reverse();
    indices.reverse();
    bins.reverse();
    let observations = Observations::new(modes, indices, values, weights, on_duplicate)
        .map_err(|error| explain(file, error, places))?;
    Ok(Assembled { observations, bins })
}

/// Gives the rows of a repeated cell the places where they stand.
pub(crate) fn explain(
    file: &str,
    error: quadfill::Error,
    places: impl FnOnce([usize; 2]) -> [String; 2],
) -> ReadError {
    let file = file.to_owned();
    match error {
        quadfill::Error::DuplicateCell { cell, first, second } => {
            let [first, second] = places([first, second]);
            ReadError::DuplicateCell { file, cell: one_line(&cell), first, second }
        }
        quadfill::Error::Empty => ReadError::Empty { file },
        source => ReadError::Data { file, source },
    }
}

/// Row numbers for files that have no lines.
pub(crate) fn row_places(rows: [usize; 2]) -> [String; 2] {
    rows.map(|row| format!("row {}", row + 1))
}

impl ModeColumn {
    fn into_labels(self) -> Option<LabelColumn> {
        match self {
            Self::Labels(column) => Some(column),
            Self::Times(_) => None,
        }
    }

    fn into_times(self) -> Option<Vec<f64>> {
        match self {
            Self::Times(times) => Some(times),
            Self::Labels(_) => None,
        }
    }
}

fn cut_into_bins(mode: &str, size: BinSize, pieces: Vec<Vec<f64>>) -> Result<(Binning, Vec<u32>)> {
    let (first, last) = pieces
        .par_iter()
        .flatten()
        .fold(
            || (f64::INFINITY, f64::NEG_INFINITY),
            |(first, last), &time| (first.min(time), last.max(time)),
        )
        .reduce(
            || (f64::INFINITY, f64::NEG_INFINITY),
            |one, other| (one.0.min(other.0), one.1.max(other.1)),
        );
    let binning = bins::settle(mode, size, first, last)?;
    let pieces: Vec<Vec<u32>> = pieces
        .into_par_iter()
        .map(|times| {
            // Every time is at or after the origin and not too far from it, so it has a bin.
            times.iter().map(|&time| binning.bin(time).unwrap_or_default()).collect()
        })
        .collect();
    Ok((binning, concat(pieces)))
}

/// The index of a text or of the number it spells.
#[inline]
pub(crate) fn find_label(labels: &Labels, text: &[u8]) -> Option<u32> {
    match labels {
        Labels::Integers(_) => labels.find_integer(canonical_integer(text)?),
        Labels::Text(labels) => labels.find(std::str::from_utf8(text).ok()?),
    }
}
