//! Rows gathered column by column, piece by piece, and made into observations at the end.

use quadfill::observations::{Binning, TimeUnit, canonical_integer};
use quadfill::{Labels, Mode, Observations, OnDuplicate};
use rayon::prelude::*;

use crate::bins::{self, BinSize, Span};
use crate::columns::{LabelColumn, concat, merge_labels, rank_numbers};
use crate::error::{ReadError, Result};
use crate::escape::one_line;
use crate::time_column::{TimeColumn, bins_of, wider};

/// One mode as it will be.
#[derive(Debug, Clone)]
pub(crate) struct ModePlan {
    pub name: String,
    /// How its times are cut, if it holds times.
    pub bins: Option<BinSize>,
    /// What a number means among its times.
    pub unit: TimeUnit,
}

impl ModePlan {
    /// The modes of a model, times being cut into the bins that it has.
    pub(crate) fn for_model(modes: &[Mode]) -> Vec<Self> {
        let plan = |mode: &Mode| Self {
            name: mode.name.clone(),
            bins: mode.bins.map(BinSize::Known),
            unit: mode.bins.map(|bins| bins.unit).unwrap_or_default(),
        };
        modes.iter().map(plan).collect()
    }
}

/// A column of labels, or of times that become labels once all are known.
#[derive(Debug)]
pub(crate) enum ModeColumn {
    Labels(LabelColumn),
    Times(TimeColumn),
    /// Times whose bins are known already.
    Bins(Binning, Vec<u32>),
}

/// A time that is in none of the bins.
#[derive(Debug)]
pub(crate) struct OutsideBins;

impl ModeColumn {
    fn new(plan: &ModePlan, rows: usize) -> Self {
        match plan.bins {
            None => Self::Labels(LabelColumn::with_capacity(rows)),
            Some(BinSize::Known(binning)) => Self::Bins(binning, Vec::with_capacity(rows)),
            Some(_) => Self::Times(TimeColumn::with_capacity(rows)),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Labels(labels) => labels.len(),
            Self::Times(times) => times.len(),
            Self::Bins(_, bins) => bins.len(),
        }
    }

    #[inline]
    pub(crate) fn push_time(&mut self, time: f64) -> std::result::Result<(), OutsideBins> {
        match self {
            Self::Times(times) => times.push(time),
            Self::Bins(binning, bins) => bins.push(binning.bin(time).ok_or(OutsideBins)?),
            Self::Labels(_) => unreachable!("the plan of this mode has bins"),
        }
        Ok(())
    }
}

impl ModeColumn {
    /// Takes whole numbers as labels or times; the error is the first that is in none of the bins.
    pub(crate) fn extend(&mut self, numbers: Vec<u32>) -> std::result::Result<(), u32> {
        if let Self::Labels(column) = self {
            *column = LabelColumn::Numbers(numbers);
            return Ok(());
        }
        let mut times = numbers.into_iter();
        times.try_for_each(|time| self.push_time(f64::from(time)).map_err(|OutsideBins| time))
    }
}

/// The rows of one piece of the data.
#[derive(Debug)]
pub(crate) struct Piece {
    pub modes: Vec<ModeColumn>,
    pub values: Vec<f64>,
    pub weights: Option<Vec<f64>>,
}

impl Piece {
    pub(crate) fn new(plan: &[ModePlan], weighted: bool, rows: usize) -> Self {
        Self {
            modes: plan.iter().map(|mode| ModeColumn::new(mode, rows)).collect(),
            values: Vec::with_capacity(rows),
            weights: weighted.then(|| Vec::with_capacity(rows)),
        }
    }

    /// Gives every row the value 1, where rows have no values.
    pub(crate) fn fill_ones(&mut self) {
        let rows = self.modes.first().map_or(0, ModeColumn::len);
        self.values = vec![1.0; rows];
    }
}

/// Where a row stands: the file, and the line or row in words.
#[derive(Debug)]
pub(crate) struct RowPosition {
    pub file: String,
    pub at: String,
}

/// Puts the pieces together, one column after the other so that only one is there twice.
///
/// `locate` tells where rows (from 0, in order) stand.
pub(crate) fn assemble(
    file: &str,
    plan: &[ModePlan],
    mut pieces: Vec<Piece>,
    on_duplicate: OnDuplicate,
    locate: impl FnOnce([usize; 2]) -> [RowPosition; 2],
) -> Result<Observations> {
    let weights = weights_of(&mut pieces);
    let values = concat(pieces.iter_mut().map(|piece| std::mem::take(&mut piece.values)).collect());
    let mut modes = Vec::with_capacity(plan.len());
    let mut indices = Vec::with_capacity(plan.len());
    for plan in plan.iter().rev() {
        let columns = pieces.iter_mut().filter_map(|piece| piece.modes.pop()).collect();
        let (mode, column) = merge_mode(file, plan, columns)?;
        modes.push(mode);
        indices.push(column);
    }
    drop(pieces);
    modes.reverse();
    indices.reverse();
    Observations::new(modes, indices, values, weights, on_duplicate)
        .map_err(|error| explain(file, error, locate))
}

/// The weights of all rows, if some have any; those that have none count 1.
fn weights_of(pieces: &mut [Piece]) -> Option<Vec<f64>> {
    pieces.iter().any(|piece| piece.weights.is_some()).then(|| {
        let weights = pieces
            .iter_mut()
            .map(|piece| piece.weights.take().unwrap_or_else(|| vec![1.0; piece.values.len()]));
        concat(weights.collect())
    })
}

/// A mode and the indices of its labels, from the columns of all pieces.
fn merge_mode(file: &str, plan: &ModePlan, columns: Vec<ModeColumn>) -> Result<(Mode, Vec<u32>)> {
    let (mut labels, mut times, mut bins) = (Vec::new(), Vec::new(), Vec::new());
    for column in columns {
        match column {
            ModeColumn::Labels(column) => labels.push(column),
            ModeColumn::Times(column) => times.push(column),
            ModeColumn::Bins(_, column) => bins.push(column),
        }
    }
    let (binning, (labels, column)) = match plan.bins {
        None => (None, merge_labels(labels)),
        Some(BinSize::Known(binning)) => (Some(binning), rank_numbers(bins)),
        Some(size) => {
            let (binning, numbers) = cut_into_bins(file, size, plan.unit, times)?;
            (Some(binning), rank_numbers(vec![numbers]))
        }
    };
    Ok((Mode { name: plan.name.clone(), labels, bins: binning }, column))
}

/// Says where the rows of a repeated cell stand.
pub(crate) fn explain(
    file: &str,
    error: quadfill::Error,
    locate: impl FnOnce([usize; 2]) -> [RowPosition; 2],
) -> ReadError {
    let file = file.to_owned();
    match error {
        quadfill::Error::DuplicateCell { cell, first, second } => {
            let [first, second] = locate([first, second]);
            let same_file = first.file == second.file;
            ReadError::DuplicateCell {
                cell: one_line(&cell),
                first: if same_file { first.at } else { format!("{} of {}", first.at, first.file) },
                second: second.at,
                file: second.file,
            }
        }
        quadfill::Error::Empty => ReadError::Empty { file },
        source => ReadError::Data { file, source },
    }
}

/// Row numbers for files that have no lines.
pub(crate) fn row_positions(file: &str, rows: [usize; 2]) -> [RowPosition; 2] {
    rows.map(|row| RowPosition { file: file.to_owned(), at: format!("row {}", row + 1) })
}

fn cut_into_bins(
    file: &str,
    size: BinSize,
    unit: TimeUnit,
    pieces: Vec<TimeColumn>,
) -> Result<(Binning, Vec<u32>)> {
    let (first, last) = pieces
        .par_iter()
        .map(TimeColumn::span)
        .reduce(|| (f64::INFINITY, f64::NEG_INFINITY), wider);
    let rows = pieces.iter().map(TimeColumn::len).sum();
    let binning = bins::resolve(file, size, Span { first, last, rows }, unit)?;
    // Every time is at or after the origin and not too far from it, so it has a bin.
    Ok((binning, bins_of(pieces, &binning)))
}

/// The index of a text or of the number it spells.
#[inline]
pub(crate) fn find_label(labels: &Labels, text: &[u8]) -> Option<u32> {
    match labels {
        Labels::Integers(_) => labels.find_integer(canonical_integer(text)?),
        Labels::Text(labels) => labels.find(std::str::from_utf8(text).ok()?),
    }
}
