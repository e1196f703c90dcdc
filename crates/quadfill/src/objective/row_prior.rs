//! The prior of a row: the one interface through which everything but the data acts on a row.

use std::borrow::Cow;

/// The priors of the rows of one factor matrix.
#[derive(Debug, Clone)]
pub(crate) struct RowPriors<'a> {
    pub(super) rank: usize,
    pub(super) penalty: f64,
    pub(super) bias: f64,
    /// The penalty of each row over `penalty`; 1 if there are none.
    pub(super) weights: Option<&'a [f64]>,
    /// What the rows are drawn to, with a zero for the bias; zero if there is none.
    pub(super) centre: Option<Cow<'a, [f64]>>,
}

impl RowPriors<'_> {
    /// The prior of one row.
    #[inline]
    pub(crate) fn of(&self, label: usize) -> RowPrior<'_> {
        let columns = self.penalty * self.weights.map_or(1.0, |weights| weights[label]);
        let precision = Precision::Uniform { rank: self.rank, columns, bias: self.bias };
        RowPrior { mean: self.centre.as_deref(), precision }
    }
}

/// The term `(u - mean)^T P (u - mean)` of a row `u`, its bias being the last entry where there is one.
///
/// A penalty is a prior with mean zero and a precision of `lambda` for every column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RowPrior<'a> {
    /// The mean; zero if there is none.
    pub(crate) mean: Option<&'a [f64]>,
    /// The diagonal of the precision matrix `P`.
    pub(crate) precision: Precision<'a>,
}

/// The precision of a [`RowPrior`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Precision<'a> {
    /// The same for each of so many columns, and another for the bias.
    Uniform {
        /// The columns.
        rank: usize,
        /// Of a column.
        columns: f64,
        /// Of the bias.
        bias: f64,
    },
    /// One number for each entry.
    Diagonal(&'a [f64]),
    /// The whole matrix, row by row.
    Full(&'a [f64]),
}

impl RowPrior<'_> {
    /// `P[j][j]`.
    #[inline]
    pub(crate) fn precision(&self, j: usize) -> f64 {
        match self.precision {
            Precision::Uniform { rank, columns, bias } => {
                if j < rank {
                    columns
                } else {
                    bias
                }
            }
            Precision::Diagonal(diagonal) => diagonal[j],
            Precision::Full(matrix) => matrix[j * matrix.len().isqrt() + j],
        }
    }

    /// Entry `j` of the product `P v`.
    #[inline]
    pub(crate) fn product(&self, j: usize, v: &[f64]) -> f64 {
        match self.precision {
            Precision::Full(matrix) => {
                matrix[j * v.len()..][..v.len()].iter().zip(v).map(|(p, v)| p * v).sum()
            }
            _ => self.precision(j) * v[j],
        }
    }

    /// How far an entry is from the mean.
    #[inline]
    pub(crate) fn excess(&self, j: usize, entry: f64) -> f64 {
        self.mean.map_or(entry, |mean| entry - mean[j])
    }

    /// What an entry adds to the objective.
    #[inline]
    pub(crate) fn value(&self, j: usize, entry: f64) -> f64 {
        self.precision(j) * self.excess(j, entry).powi(2)
    }

    /// The derivative of [`value`](Self::value).
    #[inline]
    pub(crate) fn gradient(&self, j: usize, entry: f64) -> f64 {
        2.0 * self.precision(j) * self.excess(j, entry)
    }

    /// Adds `scale P` to the matrix of a row's normal equations and `scale P (mean - u)` to their
    /// right-hand side, which is the last line of `system`, of order `n + 1`.
    #[inline]
    pub(crate) fn add_to_system(
        &self,
        scale: f64,
        row: impl Iterator<Item = f64>,
        system: &mut [f64],
        n: usize,
    ) {
        if let Precision::Full(matrix) = self.precision {
            for (j, entry) in row.enumerate() {
                let excess = scale * self.excess(j, entry);
                let line = &matrix[j * n..][..n];
                for (s, p) in system[j * (n + 1)..][..n].iter_mut().zip(line) {
                    *s += scale * p;
                }
                for (s, p) in system[n * (n + 1)..][..n].iter_mut().zip(line) {
                    *s -= excess * p;
                }
            }
            return;
        }
        for (j, entry) in row.enumerate() {
            let precision = scale * self.precision(j);
            system[j * (n + 1) + j] += precision;
            system[n * (n + 1) + j] -= precision * self.excess(j, entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_moves_the_minimum_and_the_equations_lead_there() {
        let (mean, diagonal) = ([0.5, -1.0, 2.0], [3.0, 0.25, 7.0]);
        let prior = RowPrior { mean: Some(&mean), precision: Precision::Diagonal(&diagonal) };
        let row = [1.5, 4.0, -2.0];
        let mut system = [0.0; 16];
        prior.add_to_system(2.0, row.into_iter(), &mut system, 3);
        for j in 0..3 {
            let step = system[12 + j] / system[j * 4 + j];
            assert!((row[j] + step - mean[j]).abs() < 1e-15);
            let h = 1e-6;
            let slope = (prior.value(j, row[j] + h) - prior.value(j, row[j] - h)) / (2.0 * h);
            assert!((slope - prior.gradient(j, row[j])).abs() < 1e-6 * slope.abs());
        }
    }

    #[test]
    fn a_full_matrix_leads_to_the_mean_too() {
        let mean = [0.5, -1.0];
        let matrix = [2.0, 0.7, 0.7, 1.5];
        let prior = RowPrior { mean: Some(&mean), precision: Precision::Full(&matrix) };
        let row = [1.5, 4.0];
        let mut system = [0.0; 9];
        prior.add_to_system(3.0, row.into_iter(), &mut system, 2);
        // The step to the mean solves the equations.
        let step = [mean[0] - row[0], mean[1] - row[1]];
        for j in 0..2 {
            let left = system[j * 3] * step[0] + system[j * 3 + 1] * step[1];
            assert!((left - system[6 + j]).abs() < 1e-12, "{system:?}");
            assert!((prior.product(j, &step) * 3.0 - system[6 + j]).abs() < 1e-12);
        }
        assert_eq!((prior.precision(0), prior.precision(1)), (2.0, 1.5));
    }

    #[test]
    fn a_penalty_is_a_prior_with_mean_zero() {
        let precision = Precision::Uniform { rank: 2, columns: 0.1, bias: 5.0 };
        let penalty = RowPrior { mean: None, precision };
        assert_eq!(penalty.value(1, 3.0), 0.1 * 9.0);
        assert_eq!(penalty.value(2, 3.0), 5.0 * 9.0);
        assert_eq!(penalty.gradient(0, -2.0), 0.1 * -4.0);
    }
}
