//! The formula for the degrees of freedom against the rank of the Jacobian over all cells.
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use quadfill::model::{Biases, Kernel, ModelSpec, Parameters};
use quadfill::objective::{Objective, PenaltyScale};
use quadfill::views::Views;
use quadfill::{Labels, Mode, Observations, OnDuplicate};
use quadfill_kernels::dense;

/// The numerical rank of `J^T J` with every cell observed, plus the mean.
fn numerical_freedom(spec: &ModelSpec, sizes: &[usize]) -> usize {
    let cells: usize = sizes.iter().product();
    let indices: Vec<Vec<u32>> = (0..sizes.len())
        .map(|mode| {
            let below: usize = sizes[..mode].iter().product();
            (0..cells).map(|i| (i / below % sizes[mode]) as u32).collect()
        })
        .collect();
    let modes = sizes.iter().map(|&n| Mode::new("m", Labels::range(n))).collect();
    let data =
        Observations::new(modes, indices, vec![0.0; cells], None, OnDuplicate::Error).unwrap();
    let views = Views::<f64>::new(data);
    let objective = Objective::new(&views, spec, 0.0, PenaltyScale::Uniform);
    let point = Parameters::random(spec, sizes, 1.0, 9);
    // Every factor, and then every bias.
    let (rank, has_biases) = (spec.rank, point.layout().has_biases());
    let rows: Vec<(usize, usize)> = spec
        .group_sizes(sizes)
        .into_iter()
        .enumerate()
        .flat_map(|(group, count)| (0..count).map(move |label| (group, label)))
        .collect();
    let factors = rows.len() * rank;
    let n = factors + if has_biases { rows.len() } else { 0 };
    let numbers = |parameters: &Parameters<f64>| -> Vec<f64> {
        let factors = rows.iter().flat_map(|&(group, label)| parameters.row(group, label));
        let biases = rows.iter().map(|&(group, label)| parameters.bias(group, label));
        factors.copied().chain(biases).take(n).collect()
    };
    let mut matrix = vec![0.0; n * n];
    let ridge = 2.0 * objective.bias_penalty();
    for i in 0..n {
        let mut unit = point.zeros_like();
        if i < factors {
            let (group, label) = rows[i / rank];
            unit.row_mut(group, label)[i % rank] = 1.0;
        } else {
            let (group, label) = rows[i - factors];
            unit.set_bias(group, label, 1.0);
        }
        let mut product = point.zeros_like();
        objective.gauss_newton_vec_into(&point, &unit, &mut product);
        for (j, entry) in numbers(&product).into_iter().enumerate() {
            matrix[j * n + i] = entry;
        }
        // The ridge on biases is no information about the data.
        if i >= factors {
            matrix[i * n + i] -= ridge;
        }
    }
    let values = dense::symmetric_eigen(&matrix, n).unwrap().values;
    let largest = values.iter().fold(0.0f64, |max, v| max.max(v.abs()));
    let rank = values.iter().filter(|&&v| v > 1e-9 * largest).count();
    // The mean adds a direction of its own only where no biases can take its part.
    let constant = usize::from(spec.biases == Biases::Mean);
    rank + constant
}

#[test]
fn the_formula_is_the_rank_of_the_jacobian() {
    let mask = Kernel::pairs(3, &[(0, 1), (0, 2)]).unwrap();
    let specs = [
        (ModelSpec::quadratic(Kernel::pairwise(3), 2), vec![5, 6, 7]),
        (ModelSpec::quadratic(Kernel::pairwise(4), 2), vec![4, 5, 4, 5]),
        (ModelSpec::quadratic(Kernel::pairwise(2), 2), vec![6, 7]),
        (ModelSpec::quadratic(Kernel::transe(3), 2), vec![5, 6, 7]),
        (ModelSpec::quadratic(Kernel::matrix(3), 2), vec![6, 7, 3]),
        (ModelSpec::quadratic(mask, 2), vec![6, 6, 6]),
        (ModelSpec::quadratic(Kernel::pairwise(3), 2).with_biases(Biases::Modes), vec![6, 7, 8]),
        (ModelSpec::quadratic(Kernel::pairwise(3), 2).with_biases(Biases::Mean), vec![6, 7, 8]),
        (ModelSpec::quadratic(Kernel::pairwise(3), 2).with_tied(&[0, 2]), vec![7, 6, 7]),
        (ModelSpec::cp(3, 2), vec![5, 6, 7]),
    ];
    for (spec, sizes) in specs {
        assert_eq!(spec.degrees_of_freedom(&sizes), numerical_freedom(&spec, &sizes), "{spec:?}");
    }
}
