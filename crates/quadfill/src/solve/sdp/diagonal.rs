//! The terms that depend on the diagonal alone: the quartic penalty of long rows and the bound on the trace.

use crate::objective::RowNormPenalty;

/// `sum of weight * max(0, sqrt(d_i) - sqrt(alpha))^4`, where `sum of d_i <= trace_bound`.
#[derive(Debug, Clone, Copy)]
pub(super) struct DiagonalTerm {
    pub(super) row_norm_penalty: RowNormPenalty,
    pub(super) trace_bound: Option<f64>,
}

impl DiagonalTerm {
    /// The penalty of one diagonal entry.
    pub(super) fn value(&self, entry: f64) -> f64 {
        self.row_norm_penalty.value(entry.max(0.0).sqrt())
    }

    /// Its derivative by the entry.
    pub(super) fn diagonal(&self, entry: f64) -> f64 {
        0.5 * self.row_norm_penalty.diagonal(entry.max(0.0).sqrt())
    }

    /// Replaces `entries` by the minimiser of the term plus `rho / 2` times the squared distance
    /// to them. That may be below zero, where the penalty is zero: the projection keeps the diagonal
    /// nonnegative, and with the constraint in both steps its multiplier would not be unique.
    pub(super) fn shrink(&self, entries: &mut [f64], rho: f64) {
        let at = |price: f64, entries: &[f64]| -> Vec<f64> {
            entries.iter().map(|&v| self.shrink_one(v - price / rho, rho)).collect()
        };
        let mut shrunk = at(0.0, entries);
        if let Some(bound) = self.trace_bound
            && shrunk.iter().sum::<f64>() > bound
        {
            // The trace decreases in its multiplier; at the upper bound nothing is above zero.
            let most = entries.iter().fold(0.0f64, |most, &v| most.max(v));
            let (mut low, mut high) = (0.0, rho * most);
            for _ in 0..100 {
                let middle = 0.5 * (low + high);
                shrunk = at(middle, entries);
                if shrunk.iter().sum::<f64>() > bound {
                    low = middle;
                } else {
                    high = middle;
                }
                if high - low <= f64::EPSILON * high {
                    break;
                }
            }
            shrunk = at(high, entries);
        }
        entries.copy_from_slice(&shrunk);
    }

    /// The minimiser of `value(d) + rho / 2 * (d - v)^2`.
    fn shrink_one(&self, v: f64, rho: f64) -> f64 {
        let alpha = self.row_norm_penalty.alpha;
        if v <= alpha || self.row_norm_penalty.weight == 0.0 {
            return v;
        }
        // The gradient of the sum rises from below zero at alpha to above zero at v.
        let (mut low, mut high) = (alpha, v);
        let mut d = v;
        for _ in 0..100 {
            let gradient = self.diagonal(d) + rho * (d - v);
            if gradient > 0.0 {
                high = d;
            } else {
                low = d;
            }
            let excess = d.sqrt() - alpha.sqrt();
            let bend =
                self.row_norm_penalty.weight * excess.powi(2) * (3.0 / d - excess / d.powf(1.5));
            let newton = d - gradient / (bend + rho);
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - d).abs() <= 4.0 * f64::EPSILON * d {
                return next;
            }
            d = next;
        }
        d
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]
mod tests {
    use super::*;

    #[test]
    fn a_shrunk_entry_beats_its_neighbours() {
        for (alpha, weight, rho) in [(0.5, 0.2, 0.01), (1.0, 50.0, 1.0), (2.0, 1e-3, 3.0)] {
            let row_norm_penalty = RowNormPenalty::new(alpha, weight).unwrap();
            let term = DiagonalTerm { row_norm_penalty, trace_bound: None };
            for v in [-1.0, 0.1, 0.6, 1.7, 4.0, 300.0] {
                let cost = |d: f64| term.value(d) + 0.5 * rho * (d - v).powi(2);
                let mut d = [v];
                term.shrink(&mut d, rho);
                for step in [1e-4, 1e-3] {
                    let (up, down) = (d[0] + step * d[0].abs() + 1e-6, d[0] - step * d[0].abs());
                    assert!(cost(d[0]) <= cost(up) && cost(d[0]) <= cost(down), "{v}: {d:?}");
                }
            }
        }
    }

    #[test]
    fn the_trace_is_kept_within_its_bound() {
        let row_norm_penalty = RowNormPenalty::new(1.0, 0.5).unwrap();
        let term = DiagonalTerm { row_norm_penalty, trace_bound: Some(3.0) };
        let mut loose = [0.5, 1.0, -1.0];
        term.shrink(&mut loose, 1.0);
        assert_eq!(loose, [0.5, 1.0, -1.0]);
        let mut tight = [3.0, 2.0, 0.4, -1.0];
        term.shrink(&mut tight, 1.0);
        let trace: f64 = tight.iter().sum();
        assert!(trace <= 3.0 && trace > 3.0 - 1e-9, "{tight:?}");
        assert!(tight[0] > tight[1] && tight[3] < 0.0, "{tight:?}");
    }
}
