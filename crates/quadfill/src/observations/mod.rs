//! Rows of `(label, .., label, value)` and what is done with them before fitting.

mod binning;
mod duplicates;
mod grow;
mod labels;
mod negatives;
mod places;
mod relabel;
mod split;
mod summary;

pub use binning::Binning;
pub use grow::Grown;
pub use labels::{Labels, TextLabels, canonical_integer};
pub use places::ColumnPlaces;
pub use summary::{ModeSummary, Summary};

use crate::error::{Error, Result};
use quadfill_kernels::Real;

/// One way of the tensor: its name and its labels.
#[derive(Debug, Clone)]
pub struct Mode {
    /// What the column is called.
    pub name: String,
    /// The labels, one per row of the mode's factor matrix.
    pub labels: Labels,
}

impl Mode {
    /// A mode with a name and labels.
    pub fn new(name: impl Into<String>, labels: Labels) -> Self {
        Self { name: name.into(), labels }
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
pub struct Observations<T> {
    modes: Vec<Mode>,
    indices: Vec<Vec<u32>>,
    values: Vec<T>,
    weights: Option<Vec<T>>,
}

impl<T: Real> Observations<T> {
    /// Checks the columns against each other and settles repeated cells.
    pub fn new(
        modes: Vec<Mode>,
        indices: Vec<Vec<u32>>,
        values: Vec<T>,
        weights: Option<Vec<T>>,
        on_duplicate: OnDuplicate,
    ) -> Result<Self> {
        let mut data = Self { modes, indices, values, weights };
        data.check()?;
        duplicates::settle(&mut data, on_duplicate)?;
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
            if let Some(row) = column.iter().position(|&i| i as usize >= labels) {
                let (mode, index) = (mode.name.clone(), column[row]);
                return Err(Error::IndexOutOfRange { row, mode, index, labels });
            }
        }
        if let Some(row) = self.values.iter().position(|v| !v.is_finite()) {
            return Err(Error::NotFinite { row, value: self.values[row].to_f64() });
        }
        if let Some(weights) = &self.weights {
            length("weight", weights.len())?;
            if let Some(row) = weights.iter().position(|&w| !w.is_finite() || w < T::ZERO) {
                return Err(Error::BadWeight { row, weight: weights[row].to_f64() });
            }
        }
        Ok(())
    }

    /// Puts columns together that are known to be sound.
    pub(crate) fn from_checked(
        modes: Vec<Mode>,
        indices: Vec<Vec<u32>>,
        values: Vec<T>,
        weights: Option<Vec<T>>,
    ) -> Self {
        Self { modes, indices, values, weights }
    }

    /// Takes the columns apart: modes, indices, values, weights.
    pub fn into_parts(self) -> (Vec<Mode>, Vec<Vec<u32>>, Vec<T>, Option<Vec<T>>) {
        (self.modes, self.indices, self.values, self.weights)
    }

    /// The labels of one observation, separated by commas.
    pub fn describe(&self, row: usize) -> String {
        let labels = self.modes.iter().zip(&self.indices);
        let names: Vec<_> = labels.map(|(m, column)| m.labels.name(column[row] as usize)).collect();
        names.join(", ")
    }

    /// How many observations there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
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

    /// The values.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The weights, where given; without them every observation counts 1.
    pub fn weights(&self) -> Option<&[T]> {
        self.weights.as_deref()
    }
}
