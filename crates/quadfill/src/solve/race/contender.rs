//! What can be chosen.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::{Biases, ModelKind, ModelSpec, PenaltyScale};
use crate::solve::gibbs::{NoisePrior, RowPriorKind};

/// A model, and how it is fitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contender {
    /// How rows make predictions.
    pub model: ModelKind,
    /// The number of columns.
    pub rank: usize,
    /// The mean and the biases.
    pub biases: Biases,
    /// How it is fitted.
    pub method: Method,
}

/// How a contender is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The mean of draws from the posterior.
    Posterior {
        /// The prior of rows.
        prior: RowPriorKind,
        /// What is known about the noise: the held-out error, and how much that counts.
        noise: Option<NoisePrior>,
    },
    /// The point of a path of decreasing penalties with the smallest held-out error.
    Path {
        /// Whether rows are drawn to the centre of their factor matrix.
        centred: bool,
        /// How the penalty is scaled for each row.
        #[serde(default)]
        penalty_scale: PenaltyScale,
    },
}

impl Contender {
    /// Its model for data like those of `base`.
    pub(super) fn spec(&self, base: &ModelSpec) -> ModelSpec {
        let interaction = self.model.interaction(base.modes()).expect("contenders suit the data");
        let spec = ModelSpec::new(interaction, base.modes(), self.rank).with_biases(self.biases);
        match self.method {
            Method::Path { centred, penalty_scale } => {
                spec.with_centre(centred).with_penalty_scale(penalty_scale)
            }
            Method::Posterior { .. } => spec,
        }
    }

    /// Whether it is fitted by a path.
    pub fn is_path(&self) -> bool {
        matches!(self.method, Method::Path { .. })
    }

    /// For a path whose penalties are scaled: the same with equal ones.
    pub(super) fn with_equal_penalties(&self) -> Option<Self> {
        let Method::Path { centred, penalty_scale } = self.method else { return None };
        let method = Method::Path { centred, penalty_scale: PenaltyScale::Uniform };
        (penalty_scale != PenaltyScale::Uniform).then(|| Self { method, ..self.clone() })
    }

    /// Whether it is the same but for the error that the prior of the noise knows.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let known = |method: Method| match method {
            Method::Posterior { prior, noise } => {
                let noise = noise.map(|noise| NoisePrior { rmse: 1.0, ..noise });
                Method::Posterior { prior, noise }
            }
            path @ Method::Path { .. } => path,
        };
        let plain =
            |contender: &Self| Self { method: known(contender.method), ..contender.clone() };
        plain(self) == plain(other)
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let biases = match self.biases {
            Biases::None => "no biases",
            Biases::Mean => "the mean",
            Biases::Modes => "biases",
        };
        write!(f, "{} of rank {}, {biases}", self.model, self.rank)?;
        match self.method {
            Method::Path { centred, penalty_scale } => {
                f.write_str(if centred { ", centred path" } else { ", path" })?;
                match penalty_scale {
                    PenaltyScale::Uniform => Ok(()),
                    PenaltyScale::Count => f.write_str(", penalty scaled by counts"),
                }
            }
            Method::Posterior { prior, noise } => {
                f.write_str(match prior {
                    RowPriorKind::Diagonal => ", independent columns",
                    RowPriorKind::Wishart => ", correlated columns",
                })?;
                match noise {
                    Some(noise) => write!(f, ", noise prior {}", noise.share),
                    None => Ok(()),
                }
            }
        }
    }
}
