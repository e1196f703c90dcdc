//! What can be chosen.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::{Biases, ModelKind, ModelSpec};
use crate::solve::gibbs::{NoisePrior, RowPriorKind};

/// A model with its priors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contender {
    /// How rows make predictions.
    pub model: ModelKind,
    /// The number of columns.
    pub rank: usize,
    /// The mean and the biases.
    pub biases: Biases,
    /// The prior of rows.
    pub prior: RowPriorKind,
    /// What is known about the noise: the held-out error, and how much that counts.
    pub noise: Option<NoisePrior>,
}

impl Contender {
    /// Its model for data like those of `base`.
    pub(super) fn spec(&self, base: &ModelSpec) -> ModelSpec {
        let interaction = self.model.interaction(base.modes()).expect("contenders suit the data");
        ModelSpec::new(interaction, base.modes(), self.rank).with_biases(self.biases)
    }

    /// Whether it is the same but for the error that the prior of the noise knows.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let share = |noise: Option<NoisePrior>| noise.map_or(0.0, |noise| noise.share);
        let plain = |contender: &Self| Self { noise: None, ..contender.clone() };
        plain(self) == plain(other) && share(self.noise) == share(other.noise)
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let biases = match self.biases {
            Biases::None => "no biases",
            Biases::Mean => "the mean",
            Biases::Modes => "biases",
        };
        let prior = match self.prior {
            RowPriorKind::Diagonal => "independent columns",
            RowPriorKind::Wishart => "correlated columns",
        };
        write!(f, "{} of rank {}, {biases}, {prior}", self.model, self.rank)?;
        match self.noise {
            Some(noise) => write!(f, ", noise prior {}", noise.share),
            None => Ok(()),
        }
    }
}
