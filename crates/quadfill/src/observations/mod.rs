//! Rows of `(label, .., label, value)` and what is done with them before fitting.

mod bin_labels;
mod binning;
mod column_positions;
mod distinct;
mod duplicates;
mod extend;
mod hold_out;
mod labels;
mod mode_labels;
mod negatives;
mod relabel;
mod split;
mod summary;
mod ties;
mod times;

pub use binning::{Binning, TimeUnit};
pub use column_positions::ColumnPositions;
pub use extend::ExtendedModes;
pub(crate) use hold_out::{CellHash, is_held_out};
pub use labels::{LabelLookup, Labels, TextLabels, canonical_integer};
pub use mode_labels::BinsSummary;
pub use summary::{ModeSummary, Summary};
pub(crate) use ties::positions;
pub use times::{Period, span_in_words};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// One mode of the tensor: its name and its labels.
#[derive(Debug, Clone)]
pub struct Mode {
    /// The name of the column.
    pub name: String,
    /// The labels, one per row of the mode's factor matrix.
    pub labels: Labels,
    /// How times were cut into the bins that are the labels, where they were.
    pub bins: Option<Binning>,
}

impl Mode {
    /// A mode with a name and labels.
    pub fn new(name: impl Into<String>, labels: Labels) -> Self {
        Self { name: name.into(), labels, bins: None }
    }

    /// The same with other labels.
    #[must_use]
    pub fn with_labels(&self, labels: Labels) -> Self {
        Self { labels, ..self.clone() }
    }

    /// The position of the mode with this name, or number from 1.
    ///
    /// ```
    /// use quadfill::{Labels, Mode};
    /// let modes = [Mode::new("user", Labels::range(3)), Mode::new("film", Labels::range(2))];
    /// assert_eq!(Mode::position(&modes, "film")?, 1);
    /// assert_eq!(Mode::position(&modes, "1")?, 0);
    /// assert!(Mode::position(&modes, "week").is_err());
    /// # Ok::<(), quadfill::Error>(())
    /// ```
    pub fn position(modes: &[Self], name: &str) -> Result<usize> {
        let by_name = modes.iter().position(|mode| mode.name == name);
        let by_number = || {
            let number = name.parse::<usize>().ok()?.checked_sub(1)?;
            (number < modes.len()).then_some(number)
        };
        by_name.or_else(by_number).ok_or_else(|| Error::UnknownMode {
            name: name.to_owned(),
            modes: modes.iter().map(|mode| mode.name.clone()).collect(),
        })
    }
}

/// What to do when a cell is given more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnDuplicate {
    /// Refuse the data.
    #[default]
    Error,
    /// Take the (weighted) mean of the values.
    Mean,
    /// Take the last value.
    Last,
    /// Take the sum of the values.
    Sum,
}

/// Sparse observations: one column of label indices per mode, and the values.
///
/// ```
/// use quadfill::{Labels, Mode, Observations, OnDuplicate};
/// let modes = vec![
///     Mode::new("user", Labels::from_names(["ann", "bob"])),
///     Mode::new("film", Labels::from_names(["Heat", "Alien", "Up"])),
/// ];
/// let data = Observations::new(
///     modes,
///     vec![vec![0, 1, 1], vec![0, 0, 2]],
///     vec![4.0, 5.0, 2.0],
///     None,
///     OnDuplicate::Error,
/// )?;
/// assert_eq!(data.len(), 3);
/// assert_eq!(data.sizes(), vec![2, 3]);
/// # Ok::<(), quadfill::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Observations {
    modes: Vec<Mode>,
    indices: Vec<Vec<u32>>,
    values: Vec<f64>,
    weights: Option<Vec<f64>>,
    source: Source,
}

/// What is known about the columns that observations came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The name of the column of values.
    pub value: String,
    /// The positions of the columns, if they had no names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub positions: Option<ColumnPositions>,
}

impl Default for Source {
    fn default() -> Self {
        Self { value: "value".to_owned(), positions: None }
    }
}

impl Observations {
    /// Checks the columns against each other and merges repeated cells.
    pub fn new(
        modes: Vec<Mode>,
        indices: Vec<Vec<u32>>,
        values: Vec<f64>,
        weights: Option<Vec<f64>>,
        on_duplicate: OnDuplicate,
    ) -> Result<Self> {
        let source = Source::default();
        let mut data = Self { modes, indices, values, weights, source };
        data.check()?;
        duplicates::merge(&mut data, on_duplicate)?;
        Ok(data)
    }

    fn check(&self) -> Result<()> {
        if !(2..=8).contains(&self.modes.len()) {
            return Err(Error::ModeCount { got: self.modes.len() });
        }
        if self.values.is_empty() {
            return Err(Error::Empty);
        }
        if u32::try_from(self.values.len()).is_err() {
            return Err(Error::TooMany { got: self.values.len() });
        }
        let length = |column: &str, got: usize| {
            if got == self.values.len() {
                return Ok(());
            }
            Err(Error::ColumnLength { column: column.to_owned(), expected: self.values.len(), got })
        };
        if self.indices.len() != self.modes.len() {
            return Err(Error::ColumnLength {
                column: "of indices".to_owned(),
                expected: self.modes.len(),
                got: self.indices.len(),
            });
        }
        for (mode, column) in self.modes.iter().zip(&self.indices) {
            length(&mode.name, column.len())?;
            let labels = mode.labels.len();
            if let Some(row) = first_where(column, |i| i as usize >= labels) {
                let (mode, index) = (mode.name.clone(), column[row]);
                return Err(Error::IndexOutOfRange { row, mode, index, labels });
            }
        }
        if let Some(row) = first_where(&self.values, |v| !v.is_finite()) {
            return Err(Error::NotFinite { row, value: self.values[row] });
        }
        if let Some(weights) = &self.weights {
            length("weight", weights.len())?;
            if let Some(row) = first_where(weights, |w| !w.is_finite() || w < 0.0) {
                return Err(Error::BadWeight { row, weight: weights[row] });
            }
        }
        Ok(())
    }

    /// The same with the source of the columns.
    #[must_use]
    pub fn with_source(mut self, source: Source) -> Self {
        self.source = source;
        self
    }

    /// The columns that they came from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Other columns, known to be valid, from the same source.
    pub(crate) fn with_columns(
        &self,
        modes: Vec<Mode>,
        indices: Vec<Vec<u32>>,
        values: Vec<f64>,
        weights: Option<Vec<f64>>,
    ) -> Self {
        Self::of_checked(modes, indices, values, weights, self.source.clone())
    }

    /// Some of the observations, chosen by their cells.
    pub(crate) fn filter(&self, mut keep: impl FnMut(&[u32]) -> bool) -> Self {
        let mut cell = [0; 8];
        let cell = &mut cell[..self.modes.len()];
        let mut is_kept = |&row: &usize| {
            cell.iter_mut().zip(&self.indices).for_each(|(label, column)| *label = column[row]);
            keep(cell)
        };
        let rows: Vec<usize> = (0..self.len()).filter(|row| is_kept(row)).collect();
        let pick = |column: &[f64]| rows.iter().map(|&row| column[row]).collect();
        let indices =
            self.indices.iter().map(|column| rows.iter().map(|&row| column[row]).collect());
        let weights = self.weights.as_deref().map(pick);
        self.with_columns(self.modes.clone(), indices.collect(), pick(&self.values), weights)
    }

    /// Columns that are known to be valid.
    pub(crate) fn of_checked(
        modes: Vec<Mode>,
        indices: Vec<Vec<u32>>,
        values: Vec<f64>,
        weights: Option<Vec<f64>>,
        source: Source,
    ) -> Self {
        Self { modes, indices, values, weights, source }
    }

    /// Takes the columns apart: modes, indices, values, weights.
    pub fn into_parts(self) -> (Vec<Mode>, Vec<Vec<u32>>, Vec<f64>, Option<Vec<f64>>) {
        (self.modes, self.indices, self.values, self.weights)
    }

    /// The labels of one observation, separated by commas.
    pub fn describe(&self, row: usize) -> String {
        let labels = self.modes.iter().zip(&self.indices);
        let names: Vec<_> = labels.map(|(m, column)| m.label(column[row] as usize)).collect();
        names.join(", ")
    }

    /// How many observations there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The modes.
    pub fn modes(&self) -> &[Mode] {
        &self.modes
    }

    /// The number of labels of each mode.
    pub fn sizes(&self) -> Vec<usize> {
        self.modes.iter().map(|mode| mode.labels.len()).collect()
    }

    /// The label indices of one mode, one per observation.
    pub fn indices(&self, mode: usize) -> &[u32] {
        &self.indices[mode]
    }

    /// The label indices of every mode.
    pub fn columns(&self) -> Vec<&[u32]> {
        self.indices.iter().map(Vec::as_slice).collect()
    }

    /// The values.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The weights, where given; without them every observation counts 1.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }
}

/// The position of the first entry that is wrong.
fn first_where<T: Copy + Sync>(column: &[T], is_wrong: impl Fn(T) -> bool + Sync) -> Option<usize> {
    // Without a way out of the inner loop it is done many entries at a time.
    let in_order = column
        .par_chunks(1 << 16)
        .all(|part| !part.iter().fold(false, |wrong, &entry| wrong | is_wrong(entry)));
    if in_order { None } else { column.iter().position(|&entry| is_wrong(entry)) }
}
