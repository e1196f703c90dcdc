//! Principal axes of the stacked factors. Quadratic models do not change when all rows are rotated.

use super::{ModelSpec, Parameters, each_row};
use quadfill_kernels::{Real, dense};

/// Rotates the rows so that the columns of the stacked factors are orthogonal, longest first, and
/// returns the squared column norms.
pub(crate) fn rotate_to_principal_axes<T: Real>(parameters: &mut Parameters<T>) -> Vec<f64> {
    let rank = parameters.layout().rank();
    let rows = parameters.layout().rows().to_vec();
    let mut gram = vec![0.0; rank * rank];
    for (group, &count) in rows.iter().enumerate() {
        for label in 0..count {
            let row = parameters.row(group, label);
            for i in 0..rank {
                for j in 0..=i {
                    gram[i * rank + j] += row[i].to_f64() * row[j].to_f64();
                }
            }
        }
    }
    let Some(eigen) = dense::symmetric_eigen(&gram, rank) else {
        return (0..rank).map(|i| gram[i * rank + i]).collect();
    };
    let mut rotated = vec![0.0; rank];
    for (group, &count) in rows.iter().enumerate() {
        for label in 0..count {
            let row = parameters.row_mut(group, label);
            for (column, out) in rotated.iter_mut().enumerate() {
                // Eigenvalues rise; the longest column comes first.
                let vector = &eigen.vectors[(rank - 1 - column) * rank..][..rank];
                *out = row.iter().zip(vector).map(|(u, v)| u.to_f64() * v).sum();
            }
            for (u, &r) in row.iter_mut().zip(&rotated) {
                *u = T::from_f64(r);
            }
        }
    }
    eigen.values.iter().rev().map(|v| v.max(0.0)).collect()
}

/// The same model with only the longest principal columns, as many as `spec` has.
pub(crate) fn keep_principal<T: Real>(
    mut parameters: Parameters<T>,
    spec: &ModelSpec,
    sizes: &[usize],
) -> Parameters<T> {
    rotate_to_principal_axes(&mut parameters);
    with_columns(&parameters, spec, sizes)
}

/// The same numbers with as many columns as `spec` has: only the first ones, or zeros after the last.
pub(crate) fn with_columns<T: Real>(
    parameters: &Parameters<T>,
    spec: &ModelSpec,
    sizes: &[usize],
) -> Parameters<T> {
    let mut out = Parameters::zeros(spec, sizes);
    out.mean = parameters.mean;
    let columns = spec.rank.min(parameters.layout().rank());
    for (group, label) in each_row(parameters.layout().rows()) {
        out.row_mut(group, label)[..columns]
            .copy_from_slice(&parameters.row(group, label)[..columns]);
        if out.layout().has_biases() {
            out.set_bias(group, label, parameters.bias(group, label));
        }
    }
    out
}
