//! How the penalty is scaled for each row. It belongs to a model because it is chosen together with it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How the penalty is scaled for each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PenaltyScale {
    /// Every row has the same penalty.
    #[default]
    Uniform,
    /// In proportion to the row's number of observations, with mean 1 over rows.
    Count,
}

impl PenaltyScale {
    /// Descriptions of models with equal penalties say nothing of their scale.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    pub(crate) fn is_uniform(&self) -> bool {
        *self == Self::Uniform
    }
}

impl fmt::Display for PenaltyScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Uniform => "uniform",
            Self::Count => "count",
        })
    }
}
