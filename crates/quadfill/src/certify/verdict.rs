//! The verdict of a certificate, in words.

use serde::{Deserialize, Serialize};

use super::Certificate;

/// A relative gap up to this counts as optimal.
const OPTIMAL: f64 = 1e-3;
/// A point counts as converged when its gradient explains less than this share of the gap.
const EXPLAINED: f64 = 1e-2;
/// Data count as reproduced when this share of their mean square is left.
const REPRODUCED: f64 = 1e-12;

/// What follows from a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// No factors of any rank do noticeably better.
    GloballyOptimal,
    /// More columns could lower the objective.
    HigherRank,
    /// The solver stopped before it was done.
    NotConverged,
}

impl Outcome {
    /// `unfitted` is the data term without factors, `slack` what the gradient leaves to be gained.
    pub(super) fn of(certificate: &Certificate, unfitted: f64, slack: f64) -> Self {
        let reproduced = certificate.objective <= REPRODUCED * unfitted;
        if reproduced || certificate.relative_gap <= OPTIMAL {
            Self::GloballyOptimal
        } else if slack > EXPLAINED * certificate.gap {
            Self::NotConverged
        } else {
            Self::HigherRank
        }
    }

    pub(super) fn in_words(self, certificate: &Certificate) -> String {
        let Certificate { gap, relative_gap, confidence, .. } = certificate;
        let chance = if *confidence < 1.0 {
            format!(", with probability 1 - {:.0e}", 1.0 - confidence)
        } else {
            String::new()
        };
        match self {
            Self::GloballyOptimal if *relative_gap > OPTIMAL => format!(
                "globally optimal to {gap:.1e}: the data are reproduced, and the objective cannot fall \
                 below zero"
            ),
            Self::GloballyOptimal => format!(
                "globally optimal to {relative_gap:.1e} of the objective, over all ranks{chance}"
            ),
            Self::HigherRank => format!(
                "the objective could be lower by at most {gap:.3e} ({:.2} % of it) at a higher \
                 rank{chance}; that is not a statement about the truth, which a small rank may be closer to",
                100.0 * relative_gap
            ),
            Self::NotConverged => format!(
                "not converged: the objective could be lower by at most {gap:.3e} ({:.2} % of it){chance}; \
                 more sweeps or a smaller tolerance would show how much of it is real",
                100.0 * relative_gap
            ),
        }
    }
}
