//! From the solution `X` to factors `U` with `X = U U^T`.

use crate::model::{ModelSpec, Parameters, each_row};
use quadfill_kernels::{Real, dense};

/// Orthogonal columns, longest first.
pub(super) struct Factors {
    order: usize,
    columns: Vec<Vec<f64>>,
    pub(super) biases: Vec<f64>,
}

impl Factors {
    /// Of a positive semidefinite matrix, without the eigenvalues below `smallest` times the largest
    /// one. A zero matrix has one column of zeros.
    pub(super) fn new(matrix: &[f64], order: usize, smallest: f64) -> Self {
        let mut columns = Vec::new();
        if let Some(eigen) = dense::symmetric_eigen(matrix, order) {
            let largest = eigen.values.last().copied().unwrap_or(0.0);
            for i in (0..order).rev() {
                let value = eigen.values[i];
                if value > 0.0 && value > smallest * largest {
                    let root = value.sqrt();
                    columns.push(eigen.vector(i).iter().map(|v| root * v).collect());
                }
            }
        }
        if columns.is_empty() {
            columns.push(vec![0.0; order]);
        }
        Self { order, columns, biases: Vec::new() }
    }

    pub(super) fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Keeps the longest columns.
    pub(super) fn truncate(&mut self, most: usize) {
        self.columns.truncate(most.max(1));
    }

    /// `U U^T`.
    pub(super) fn product(&self) -> Vec<f64> {
        let n = self.order;
        let mut out = vec![0.0; n * n];
        for column in &self.columns {
            for (row, &left) in out.chunks_exact_mut(n).zip(column) {
                for (o, &right) in row.iter_mut().zip(column) {
                    *o += left * right;
                }
            }
        }
        out
    }

    /// The numbers of a model of that many columns.
    pub(super) fn parameters<T: Real>(
        &self,
        spec: &ModelSpec,
        sizes: &[usize],
        mean: f64,
    ) -> Parameters<T> {
        let mut parameters = Parameters::zeros(spec, sizes);
        parameters.mean = mean;
        for (stacked, (group, label)) in each_row(&spec.group_sizes(sizes)).enumerate() {
            let row = parameters.row_mut(group, label);
            for (u, column) in row.iter_mut().zip(&self.columns) {
                *u = T::from_f64(column[stacked]);
            }
            if let Some(&bias) = self.biases.get(stacked) {
                parameters.set_bias(group, label, T::from_f64(bias));
            }
        }
        parameters
    }
}
