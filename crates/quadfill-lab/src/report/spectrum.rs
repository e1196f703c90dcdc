//! How many columns of a model carry weight.

use quadfill::Real;
use quadfill::model::{Interaction, ModelSpec, Parameters};
use quadfill_kernels::dense;

/// The sizes of a model's columns, largest first: the singular values of all rows stacked for a
/// quadratic model, which a rotation of the rows does not change, and the sizes of the products for
/// CP.
pub(super) fn column_sizes<T: Real>(spec: &ModelSpec, parameters: &Parameters<T>) -> Vec<f64> {
    let rank = parameters.layout().rank();
    let mut sizes: Vec<f64> = match spec.interaction {
        Interaction::Cp => (0..rank)
            .map(|column| {
                let groups = 0..spec.groups.len();
                groups
                    .map(|mode| gram(parameters, spec.groups[mode])[column * rank + column].sqrt())
                    .product()
            })
            .collect(),
        Interaction::Quadratic(_) => {
            let mut all = vec![0.0; rank * rank];
            for group in 0..parameters.layout().rows().len() {
                for (sum, part) in all.iter_mut().zip(gram(parameters, group)) {
                    *sum += part;
                }
            }
            match dense::symmetric_eigen(&all, rank) {
                Some(eigen) => eigen.values.iter().map(|v| v.max(0.0).sqrt()).collect(),
                None => (0..rank).map(|i| all[i * rank + i].sqrt()).collect(),
            }
        }
    };
    sizes.sort_by(|x, y| y.total_cmp(x));
    sizes
}

fn gram<T: Real>(parameters: &Parameters<T>, group: usize) -> Vec<f64> {
    let rank = parameters.layout().rank();
    let mut gram = vec![0.0; rank * rank];
    for label in 0..parameters.layout().rows()[group] {
        let row = parameters.row(group, label);
        for i in 0..rank {
            for j in 0..rank {
                gram[i * rank + j] += row[i].to_f64() * row[j].to_f64();
            }
        }
    }
    gram
}

/// As many equal columns as would be spread as widely: `(sum s^2)^2 / sum s^4`.
pub(super) fn effective_rank(sizes: &[f64]) -> f64 {
    let squares: f64 = sizes.iter().map(|s| s * s).sum();
    let fourths: f64 = sizes.iter().map(|s| s.powi(4)).sum();
    if fourths > 0.0 { squares * squares / fourths } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadfill::model::Kernel;

    #[test]
    fn equal_columns_count_fully_and_rotation_changes_nothing() {
        assert!((effective_rank(&[2.0, 2.0, 2.0]) - 3.0).abs() < 1e-12);
        assert!((effective_rank(&[5.0, 0.0]) - 1.0).abs() < 1e-12);
        let spec = ModelSpec::quadratic(Kernel::pairwise(2), 2);
        let mut parameters = Parameters::<f64>::zeros(&spec, &[2, 1]);
        parameters.row_mut(0, 0).copy_from_slice(&[3.0, 0.0]);
        parameters.row_mut(1, 0).copy_from_slice(&[0.0, 4.0]);
        let straight = column_sizes(&spec, &parameters);
        let s = 0.5f64.sqrt();
        parameters.row_mut(0, 0).copy_from_slice(&[3.0 * s, 3.0 * s]);
        parameters.row_mut(1, 0).copy_from_slice(&[-4.0 * s, 4.0 * s]);
        let turned = column_sizes(&spec, &parameters);
        for ((x, y), expected) in straight.iter().zip(&turned).zip([4.0, 3.0]) {
            assert!((x - expected).abs() < 1e-12 && (y - expected).abs() < 1e-12);
        }
    }
}
