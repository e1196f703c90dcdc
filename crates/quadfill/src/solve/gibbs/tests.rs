//! Each conditional against what it should be.

use super::chain::{Chain, SweepId, draw_rows, sweep};
use super::prior::HyperPrior;
use super::settings::{NoisePrior, RowPriorKind};
use crate::model::{Biases, GroupPrior, Kernel, ModelSpec, Parameters};
use crate::objective::{Objective, PenaltyScale};
use crate::observations::{Labels, Mode, Observations, OnDuplicate};
use crate::views::Views;
use quadfill_kernels::cholesky::{factor, solve_factored};
use quadfill_kernels::streams::{fill_normal, gamma, stream};
use rand::RngExt;

const SIZES: [usize; 3] = [4, 5, 3];

/// Weighted observations of a third of the cells; the last label of the first mode has none.
fn views() -> Views<f64> {
    let mut rng = stream(3, 1, 0);
    let mut indices = vec![Vec::new(); 3];
    let (mut values, mut weights) = (Vec::new(), Vec::new());
    for cell in 0..60u32 {
        let labels = [cell / 15, cell / 3 % 5, cell % 3];
        if labels[0] == 3 || rng.random::<f64>() < 0.4 {
            continue;
        }
        for (column, label) in indices.iter_mut().zip(labels) {
            column.push(label);
        }
        values.push(rng.random::<f64>() * 3.0 - 1.0);
        weights.push(0.5 + rng.random::<f64>());
    }
    let modes = SIZES.map(|size| Mode::new("m", Labels::range(size))).to_vec();
    let data = Observations::new(modes, indices, values, Some(weights), OnDuplicate::Error);
    Views::new(data.expect("the data are sound"))
}

fn specs() -> [ModelSpec; 3] {
    [
        ModelSpec::quadratic(Kernel::pairwise(3), 2).with_biases(Biases::Modes),
        ModelSpec::cp(3, 3).with_biases(Biases::Modes),
        ModelSpec::cp(3, 2),
    ]
}

fn chain(spec: &ModelSpec, kind: RowPriorKind) -> Chain {
    let n = spec.rank + usize::from(spec.biases == Biases::Modes);
    let own = |j: usize| 0.7 + j as f64;
    let prior = |group: usize| GroupPrior {
        means: (0..n).map(|j| 0.3 * j as f64 - 0.2 * group as f64).collect(),
        precisions: match kind {
            RowPriorKind::Diagonal => (0..n).map(own).collect(),
            RowPriorKind::Wishart => {
                (0..n * n).map(|k| if k % (n + 1) == 0 { own(k / n) } else { -0.2 }).collect()
            }
        },
    };
    Chain { noise: 2.5, priors: (0..3).map(prior).collect() }
}

/// Every model with every kind of prior.
fn cases() -> impl Iterator<Item = (ModelSpec, RowPriorKind)> {
    let kinds = [RowPriorKind::Diagonal, RowPriorKind::Wishart];
    specs().into_iter().flat_map(move |spec| kinds.map(|kind| (spec.clone(), kind)))
}

/// The exact distribution of a row given everything else: its mean and the inverse of its precision matrix.
fn exact(
    views: &Views<f64>,
    spec: &ModelSpec,
    parameters: &Parameters<f64>,
    chain: &Chain,
    row: usize,
) -> (Vec<f64>, Vec<f64>) {
    let prior = &chain.priors[0];
    let n = prior.means.len();
    let mut matrix = vec![0.0; n * n];
    let mut rhs = vec![0.0; n];
    for i in 0..n {
        for j in 0..n {
            let precision = match prior.is_diagonal() {
                true if i == j => prior.precisions[j],
                true => 0.0,
                false => prior.precisions[i * n + j],
            };
            matrix[i * n + j] = precision;
            rhs[i] += precision * prior.means[j];
        }
    }
    views.all().for_each(|cell, value, weight| {
        if cell[0] as usize != row {
            return;
        }
        let b = parameters.row(1, cell[1] as usize);
        let c = parameters.row(2, cell[2] as usize);
        let pairwise = spec.interaction != crate::model::Interaction::Cp;
        let mut rest = parameters.mean
            + parameters.bias(1, cell[1] as usize)
            + parameters.bias(2, cell[2] as usize);
        let mut x = vec![1.0; n];
        for l in 0..spec.rank {
            x[l] = if pairwise { b[l] + c[l] } else { b[l] * c[l] };
            rest += if pairwise { b[l] * c[l] } else { 0.0 };
        }
        for i in 0..n {
            rhs[i] += chain.noise * weight * x[i] * (value - rest);
            for j in 0..n {
                matrix[i * n + j] += chain.noise * weight * x[i] * x[j];
            }
        }
    });
    assert!(factor(&mut matrix, n, n), "a precision matrix");
    solve_factored(&matrix, n, n, &mut rhs);
    let mut covariance = vec![0.0; n * n];
    for (j, column) in covariance.chunks_exact_mut(n).enumerate() {
        column[j] = 1.0;
        solve_factored(&matrix, n, n, column);
    }
    (rhs, covariance)
}

#[test]
fn rows_have_the_mean_and_covariance_of_their_exact_distribution() {
    const DRAWS: usize = 6000;
    let views = views();
    for (spec, kind) in cases() {
        let objective = Objective::new(&views, &spec, 0.0, PenaltyScale::Uniform);
        let chain = chain(&spec, kind);
        let mut parameters = Parameters::<f64>::random(&spec, &SIZES, 1.0, 4);
        let n = parameters.layout().row_unknowns();
        let mut sums = vec![vec![0.0; n]; SIZES[0]];
        let mut products = vec![vec![0.0; n * n]; SIZES[0]];
        for number in 0..DRAWS {
            // Whatever the row was before must not matter.
            let id = SweepId { chain: 1, sweep: number };
            draw_rows(&objective, &mut parameters, &chain, 0, 9, id);
            for row in 0..SIZES[0] {
                let mut draw = parameters.row(0, row).to_vec();
                draw.extend((n > spec.rank).then(|| parameters.bias(0, row)));
                for i in 0..n {
                    sums[row][i] += draw[i];
                    for j in 0..n {
                        products[row][i * n + j] += draw[i] * draw[j];
                    }
                }
            }
        }
        let count = DRAWS as f64;
        for row in 0..SIZES[0] {
            let (mean, covariance) = exact(&views, &spec, &parameters, &chain, row);
            for i in 0..n {
                let own = covariance[i * n + i];
                let found = sums[row][i] / count;
                assert!((found - mean[i]).abs() < 5.0 * (own / count).sqrt(), "{found} {mean:?}");
                for j in 0..=i {
                    let both = covariance[i * n + j];
                    let found = products[row][i * n + j] / count
                        - sums[row][i] * sums[row][j] / (count * count);
                    let error = ((own * covariance[j * n + j] + both * both) / count).sqrt();
                    assert!((found - both).abs() < 5.0 * error, "{found} against {both}");
                }
            }
        }
    }
}

#[test]
fn residuals_after_a_draw_are_those_of_the_new_point() {
    let views = views();
    for (spec, kind) in cases() {
        let objective = Objective::new(&views, &spec, 0.0, PenaltyScale::Uniform);
        let mut parameters = Parameters::<f64>::random(&spec, &SIZES, 1.0, 4);
        for group in 0..3 {
            let id = SweepId { chain: 0, sweep: 0 };
            let chain = chain(&spec, kind);
            let found = draw_rows(&objective, &mut parameters, &chain, group, 9, id);
            let squares = objective.data_value(&parameters) * objective.observations();
            assert!((found.squares / squares - 1.0).abs() < 1e-10);
            let predictor = crate::model::Predictor::new(&spec, &parameters);
            let mut sum = 0.0;
            views
                .all()
                .for_each(|cell, value, weight| sum += weight * (value - predictor.cell(cell)));
            if spec.biases == Biases::Modes {
                assert!((found.sum - sum).abs() < 1e-10 * (1.0 + sum.abs()));
            }
        }
    }
}

/// The ranks of the truth among posterior draws, over many trials: uniform if the draws are right.
fn assert_uniform(ranks: &[usize], bins: usize, what: &str) {
    let expected = ranks.len() as f64 / bins as f64;
    let squares: f64 = (0..bins)
        .map(|bin| {
            let found = ranks.iter().filter(|&&rank| rank == bin).count() as f64;
            (found - expected).powi(2) / expected
        })
        .sum();
    // The 1e-5 quantile for 7 degrees of freedom.
    assert!(bins == 8 && squares < 35.3, "{what}: chi squared {squares}");
}

/// Draws the row priors from the hyper-priors, data from those, and ranks the truth among draws given
/// the data.
#[test]
fn hyper_parameters_are_calibrated() {
    const TRIALS: usize = 1500;
    const BINS: usize = 8;
    let hyper = HyperPrior {
        mean: 1.0,
        variance: 4.0,
        unit: 0.3,
        count: 6.0,
        weight: 7.5,
        rows: RowPriorKind::Diagonal,
        noise: None,
    };
    let spec = ModelSpec::quadratic(Kernel::pairwise(2), 1).with_biases(Biases::Modes);
    let mut rng = stream(5, 2, 0);
    let mut ranks: [Vec<usize>; 6] = Default::default();
    let normal = |rng: &mut _| {
        let mut one = [0.0];
        fill_normal(&mut one, rng);
        one[0]
    };
    for _ in 0..TRIALS {
        let mut parameters = Parameters::<f64>::zeros(&spec, &[5, 1]);
        let mut truth = Vec::new();
        for (column, unit) in [hyper.unit, hyper.variance].into_iter().enumerate() {
            let precision = gamma(0.5, 0.5 * unit, &mut rng);
            let mean = normal(&mut rng) / precision.sqrt();
            for label in 0..5 {
                let x = mean + normal(&mut rng) / precision.sqrt();
                if column == 0 {
                    parameters.row_mut(0, label)[0] = x;
                } else {
                    parameters.set_bias(0, label, x);
                }
            }
            truth.extend([precision, mean]);
        }
        let noise = gamma(0.5, 0.005 * hyper.variance, &mut rng);
        let mean = hyper.mean + normal(&mut rng) * hyper.variance.sqrt();
        // Six residuals of weight 1.25, at a mean of 0.4.
        let (mut squares, mut sum) = (0.0, 0.0);
        for _ in 0..6 {
            let error = normal(&mut rng) / (1.25 * noise).sqrt();
            squares += 1.25 * error * error;
            sum += 1.25 * (mean - 0.4 + error);
        }
        truth.extend([noise, mean]);
        let mut below = [0; 6];
        for _ in 1..BINS {
            let prior = hyper.draw_prior(&parameters, 0, &mut rng);
            let drawn = [
                prior.precisions[0],
                prior.means[0],
                prior.precisions[1],
                prior.means[1],
                hyper.draw_noise(squares, &mut rng),
                hyper.draw_mean(0.4, sum, noise, &mut rng),
            ];
            for (below, (drawn, truth)) in below.iter_mut().zip(drawn.iter().zip(&truth)) {
                *below += usize::from(drawn < truth);
            }
        }
        for (ranks, below) in ranks.iter_mut().zip(below) {
            ranks.push(below);
        }
    }
    let names = ["precision", "mean", "bias precision", "bias mean", "noise", "global mean"];
    for (ranks, name) in ranks.iter().zip(names) {
        assert_uniform(ranks, BINS, name);
    }
}

/// Known residuals count as observations: with as many of them as data, a noise that vanishes from the
/// data's own residuals has the precision 2 / rmse^2.
#[test]
fn a_prior_of_the_noise_keeps_it_from_vanishing() {
    let noise = Some(NoisePrior { rmse: 0.5, share: 1.0 });
    let hyper = HyperPrior {
        mean: 0.0,
        variance: 1.0,
        unit: 1.0,
        count: 1e6,
        weight: 1e6,
        rows: RowPriorKind::Diagonal,
        noise,
    };
    let mut rng = stream(5, 3, 0);
    assert!((hyper.draw_noise(0.0, &mut rng) / 8.0 - 1.0).abs() < 0.02);
    // Residuals of the same size leave it where it is.
    assert!((hyper.draw_noise(0.25e6, &mut rng) / 4.0 - 1.0).abs() < 0.02);
}

#[test]
fn sweeps_find_the_noise_of_the_data() {
    let truth = ModelSpec::quadratic(Kernel::pairwise(2), 1);
    let point = Parameters::<f64>::random(&truth, &[60, 50], 1.0, 8);
    let mut rng = stream(6, 1, 0);
    let mut indices = vec![Vec::new(); 2];
    let mut values = Vec::new();
    for cell in 0..3000u32 {
        let mut noise = [0.0];
        fill_normal(&mut noise, &mut rng);
        let labels = [cell / 50, cell % 50];
        indices[0].push(labels[0]);
        indices[1].push(labels[1]);
        let predictor = crate::model::Predictor::new(&truth, &point);
        values.push(predictor.cell(&labels) + 0.2 * noise[0]);
    }
    let modes = [60, 50].map(|size| Mode::new("m", Labels::range(size))).to_vec();
    let data = Observations::new(modes, indices, values, None, OnDuplicate::Error);
    let views = Views::<f64>::new(data.expect("the data are sound"));
    let spec = truth.with_rank(2).with_biases(Biases::Modes);
    let objective = Objective::new(&views, &spec, 0.0, PenaltyScale::Uniform);
    let hyper = HyperPrior::new(&objective);
    let mut parameters = crate::solve::start::random(&spec, views.all(), 1);
    let mut chain = Chain::new(&hyper, 2, 3);
    let mut variance = 0.0;
    for number in 0..100 {
        let id = SweepId { chain: 0, sweep: number };
        sweep(&objective, &hyper, &mut parameters, &mut chain, 1, id);
        if number >= 50 {
            variance += 0.02 / chain.noise;
        }
    }
    assert!((variance.sqrt() / 0.2 - 1.0).abs() < 0.05, "{}", variance.sqrt());
}
