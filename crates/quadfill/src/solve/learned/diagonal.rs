//! From biases to a diagonal.
//!
//! The term `K[a][a] |u_a|^2` depends on one label alone, so to a kernel without a diagonal it is a bias.
//! Data of any kernel are therefore found first without a diagonal and with biases, which is a problem
//! with linear rows. If the biases of mode `a` are `k |u|^2 + <l, u> + c` throughout, `k` is the entry on
//! the diagonal and `l` comes from factors that are shifted.

use crate::model::{Biases, Kernel, ModelSpec, Parameters};
use crate::views::Selection;
use quadfill_kernels::{Real, cholesky, dense, sum};

/// Eigenvalues of the kernel below this share of the largest are treated as zero: no shift of the factors
/// changes anything along them.
const FLAT: f64 = 3e-3;

/// The kernel with a diagonal, and factors without biases, that come nearest to a model with biases.
pub(super) fn biases_to_diagonal<T: Real>(
    spec: &ModelSpec,
    kernel: &Kernel,
    parameters: &Parameters<T>,
    data: Selection<'_, T>,
    biases: Biases,
) -> Option<(ModelSpec, Parameters<T>)> {
    let (modes, rank) = (spec.modes(), spec.rank);
    let parts: Vec<BiasParts> = (0..modes)
        .map(|mode| BiasParts::fit(parameters, mode, |label| data.mode(mode).count(label)))
        .collect::<Option<_>>()?;
    let diagonal: Vec<(usize, usize)> = (0..modes).map(|a| (a, a)).collect();
    let squares: Vec<f64> = parts.iter().map(|part| part.square).collect();
    let kernel = kernel.with_entries(&diagonal, &squares);
    let shifts = shifts(&kernel, &parts, rank)?;
    let spec = ModelSpec::quadratic(kernel, rank).with_biases(biases);
    let mut shifted = Parameters::zeros(&spec, &data.sizes());
    if biases == Biases::Mean {
        shifted.mean = parameters.mean;
    }
    for mode in 0..modes {
        for label in 0..shifted.layout().rows()[mode] {
            let row = shifted.row_mut(mode, label);
            for ((x, u), shift) in
                row.iter_mut().zip(parameters.row(mode, label)).zip(&shifts[mode * rank..])
            {
                *x = T::from_f64(u.to_f64() + shift);
            }
        }
    }
    Some((spec, shifted))
}

/// What the biases of a mode are made of.
struct BiasParts {
    square: f64,
    linear: Vec<f64>,
}

impl BiasParts {
    /// Least squares over the rows of a mode, each as often as it was observed.
    fn fit<T: Real>(
        parameters: &Parameters<T>,
        mode: usize,
        count: impl Fn(usize) -> usize,
    ) -> Option<Self> {
        let rank = parameters.layout().rank();
        let n = rank + 2;
        let (mut normal, mut right) = (vec![0.0; n * n], vec![0.0; n]);
        for label in 0..parameters.layout().rows()[mode] {
            let row = parameters.row(mode, label).iter().map(|u| u.to_f64());
            let square = row.clone().map(|u| u * u).sum::<f64>();
            let features: Vec<f64> = row.chain([square, 1.0]).collect();
            let weight = count(label) as f64;
            for i in 0..n {
                for j in 0..=i {
                    normal[i * n + j] += weight * features[i] * features[j];
                }
                right[i] += weight * features[i] * parameters.bias(mode, label).to_f64();
            }
        }
        for i in 0..n {
            normal[i * (n + 1)] = normal[i * (n + 1)] * (1.0 + 1e-9) + f64::MIN_POSITIVE;
        }
        if !cholesky::factor(&mut normal, n, n) {
            return None;
        }
        cholesky::solve_factored(&normal, n, n, &mut right);
        let sound = right.iter().all(|x| x.is_finite());
        sound.then(|| Self { square: right[rank], linear: right[..rank].to_vec() })
    }
}

/// The shifts `c` of all modes with `2 K c = linear`, as near as there are, mode by mode.
fn shifts(kernel: &Kernel, parts: &[BiasParts], rank: usize) -> Option<Vec<f64>> {
    let modes = kernel.modes();
    let entries: Vec<f64> = (0..modes * modes).map(|i| kernel.get(i / modes, i % modes)).collect();
    let eigen = dense::symmetric_eigen(&entries, modes)?;
    let largest = eigen.values.iter().fold(0.0f64, |max, v| max.max(v.abs()));
    let mut shifts = vec![0.0; modes * rank];
    for (i, &value) in eigen.values.iter().enumerate().filter(|(_, v)| v.abs() > FLAT * largest) {
        let vector = eigen.vector(i);
        for column in 0..rank {
            let linear: Vec<f64> = parts.iter().map(|part| part.linear[column]).collect();
            let share = 0.5 * sum::dot(vector, &linear) / value;
            for (mode, v) in vector.iter().enumerate() {
                shifts[mode * rank + column] += share * v;
            }
        }
    }
    Some(shifts)
}
