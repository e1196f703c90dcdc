//! The sizes of a model's columns and its effective rank.

use quadfill::Model;
use quadfill::model::{Interaction, ModelSpec};
use quadfill_kernels::dense;

/// The sizes of a model's columns, largest first.
pub(super) fn column_sizes(model: &Model) -> Vec<f64> {
    let factors: Vec<Vec<f64>> = (0..model.modes().len()).map(|mode| model.factors(mode)).collect();
    sizes(model.spec(), &factors)
}

/// The same from the factors of every mode. For a quadratic model these are the singular values of the
/// stacked factors, which are invariant under rotation; for CP, the norms of the rank-one components.
fn sizes(spec: &ModelSpec, factors: &[Vec<f64>]) -> Vec<f64> {
    let rank = spec.rank;
    let grams: Vec<Vec<f64>> = factors.iter().map(|matrix| gram(matrix, rank)).collect();
    let mut sizes: Vec<f64> = match spec.interaction {
        Interaction::Cp => (0..rank)
            .map(|column| grams.iter().map(|gram| gram[column * rank + column].sqrt()).product())
            .collect(),
        Interaction::Quadratic(_) => {
            let mut all = vec![0.0; rank * rank];
            for group in 0..spec.group_count() {
                // Modes that share their factors give them once.
                for mode in spec.group_modes(group).take(1) {
                    for (sum, part) in all.iter_mut().zip(&grams[mode]) {
                        *sum += part;
                    }
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

fn gram(matrix: &[f64], rank: usize) -> Vec<f64> {
    let mut gram = vec![0.0; rank * rank];
    for row in matrix.chunks_exact(rank) {
        for i in 0..rank {
            for j in 0..rank {
                gram[i * rank + j] += row[i] * row[j];
            }
        }
    }
    gram
}

/// The participation ratio `(sum s^2)^2 / sum s^4`: the number of columns if all are equal.
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
    fn equal_columns_count_fully_and_rotation_does_not_matter() {
        assert!((effective_rank(&[2.0, 2.0, 2.0]) - 3.0).abs() < 1e-12);
        assert!((effective_rank(&[5.0, 0.0]) - 1.0).abs() < 1e-12);
        let spec = ModelSpec::quadratic(Kernel::pairwise(2), 2);
        let aligned = sizes(&spec, &[vec![3.0, 0.0, 0.0, 0.0], vec![0.0, 4.0]]);
        let s = 0.5f64.sqrt();
        let first = vec![3.0 * s, 3.0 * s, 0.0, 0.0];
        let rotated = sizes(&spec, &[first, vec![-4.0 * s, 4.0 * s]]);
        for ((x, y), expected) in aligned.iter().zip(&rotated).zip([4.0, 3.0]) {
            assert!((x - expected).abs() < 1e-12 && (y - expected).abs() < 1e-12);
        }
    }
}
