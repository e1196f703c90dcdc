//! What a fit learns from: observations as they are, or packed ones.

use super::PackedObservations;
use crate::error::{Error, Result};
use crate::observations::{Mode, Observations, Source, Summary};

/// Observations, in memory as they are or packed.
///
/// ```
/// use quadfill::views::Data;
/// use quadfill::{Labels, Mode, Observations, OnDuplicate};
/// let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(2))];
/// let rows = vec![vec![0, 1], vec![1, 0]];
/// let data: Data = Observations::new(modes, rows, vec![1.0, 2.0], None, OnDuplicate::Error)?.into();
/// assert_eq!((data.len(), data.sizes()), (2, vec![2, 2]));
/// # Ok::<(), quadfill::Error>(())
/// ```
#[derive(Debug, Clone)]
pub enum Data {
    /// As they are.
    Observations(Observations),
    /// In few bits and sorted.
    Packed(PackedObservations),
}

impl From<Observations> for Data {
    fn from(data: Observations) -> Self {
        Self::Observations(data)
    }
}

impl From<PackedObservations> for Data {
    fn from(data: PackedObservations) -> Self {
        Self::Packed(data)
    }
}

impl Data {
    /// How many observations there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Observations(data) => data.len(),
            Self::Packed(data) => data.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The modes.
    pub fn modes(&self) -> &[Mode] {
        match self {
            Self::Observations(data) => data.modes(),
            Self::Packed(data) => data.modes(),
        }
    }

    /// The number of labels of each mode.
    pub fn sizes(&self) -> Vec<usize> {
        self.modes().iter().map(|mode| mode.labels.len()).collect()
    }

    /// The columns that they came from.
    pub fn source(&self) -> &Source {
        match self {
            Self::Observations(data) => data.source(),
            Self::Packed(data) => data.source(),
        }
    }

    /// The observations as they are, for what needs all of them in memory: `what`, as in "...: give fewer data".
    pub fn in_memory(self, what: &str) -> Result<Observations> {
        match self {
            Self::Observations(data) => Ok(data),
            Self::Packed(data) => Err(Error::setting(format!(
                "{what} needs all observations in memory, and {} are too many: fit a sample of them",
                data.len()
            ))),
        }
    }

    /// All observations if they are in memory, else evenly chosen ones, at most so many: for what only shows them.
    pub fn shown(&self, most: usize) -> Observations {
        let every = self.len().div_ceil(most.max(1));
        let mut row = 0;
        match self {
            Self::Observations(data) => data.clone(),
            Self::Packed(data) => data.filter(|_| {
                row += 1;
                row % every == 0
            }),
        }
    }

    /// Calls `see` with every number that occurs among values and weights, at least once.
    pub(crate) fn each_number(&self, mut see: impl FnMut(f64)) {
        match self {
            Self::Observations(data) => {
                let weights = data.weights().unwrap_or_default();
                data.values().iter().chain(weights).for_each(|&number| see(number));
            }
            Self::Packed(data) => data.each_number(see),
        }
    }

    /// Some of the observations.
    pub(crate) fn filter(&self, mut keep: impl FnMut(&[u32]) -> bool) -> Observations {
        match self {
            Self::Observations(data) => data.filter(keep),
            Self::Packed(data) => data.filter(|cell| keep(cell)),
        }
    }

    /// Summarises the data on their own.
    pub fn summary(&self) -> Summary {
        match self {
            Self::Observations(data) => data.summary(),
            Self::Packed(data) => data.summary(),
        }
    }

    /// Summarises the data in view of a model with `rank` columns and `degrees_of_freedom` free parameters.
    pub fn summary_for(&self, rank: usize, degrees_of_freedom: usize) -> Summary {
        match self {
            Self::Observations(data) => data.summary_for(rank, degrees_of_freedom),
            Self::Packed(data) => data.summary().in_view_of(&data.counts, rank, degrees_of_freedom),
        }
    }

    /// Gives some modes all the labels that any of them has.
    pub(crate) fn with_shared_labels(self, tied: &[usize]) -> Result<Self> {
        Ok(match self {
            Self::Observations(data) => data.with_shared_labels(tied).into(),
            Self::Packed(data) => data.with_shared_labels(tied)?.into(),
        })
    }
}
