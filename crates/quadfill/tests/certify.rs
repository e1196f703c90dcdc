//! The certificate: never smaller than the true distance, and small at the optimum.
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod common;

use common::{Problem, problems};
use proptest::prelude::*;
use quadfill::certify::{Certificate, CertifyOptions, Outcome, certify};
use quadfill::model::{Biases, Kernel, ModelSpec, Parameters};
use quadfill::objective::{self, DataGradient, Objective, RowNormPenalty};
use quadfill::solve::{Choice, Fit, NoObserver, Rank, Solver, fit};
use quadfill::views::Views;
use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate};

const OPTIONS: CertifyOptions = CertifyOptions { curvature: false, seed: 1 };

fn config(problem: &Problem, penalty: f64) -> FitConfig {
    let mut config = FitConfig::for_spec(&problem.spec());
    config.biases = Choice::Fixed(problem.biases);
    config.penalty = Choice::Fixed(penalty);
    config.penalty_scale = Choice::Fixed(problem.scale);
    config.perturb = problem.perturbed;
    config.row_norm_penalty = problem.incoherent.then(|| RowNormPenalty::new(0.5, 0.2).unwrap());
    config
}

/// The optimum over all ranks, as far as factors with a column per row find it.
fn best(problem: &Problem, config: &FitConfig) -> Fit<f64> {
    let mut wide = config.clone();
    wide.rank = Rank::Fixed(problem.spec().group_sizes(&problem.sizes).iter().sum());
    wide.solver = Solver::Lbfgs;
    wide.sweeps = Some(300);
    wide.tolerance = 1e-12;
    fit(problem.data(), &wide, &mut NoObserver).unwrap()
}

/// The problem of a fit with these settings.
fn drawn(config: &FitConfig, data: Observations) -> objective::Problem<f64> {
    let spec = config.spec(data.modes()).unwrap();
    objective::Problem::new(data, &spec, &config.terms(), None).unwrap()
}

fn certificate(config: &FitConfig, data: &Observations, fit: &Fit<f64>) -> Certificate {
    let problem = drawn(config, data.clone());
    let objective = problem.objective(&fit.spec, fit.penalty);
    certify(&objective, &fit.parameters, &OPTIONS).unwrap()
}

fn quadratic(mut problem: Problem) -> Problem {
    problem.product = false;
    problem
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_gap_is_never_smaller_than_the_true_distance(
        problem in problems().prop_map(quadratic),
        penalty in 0.003..0.5f64,
        sweeps in 0..6usize,
    ) {
        let mut config = config(&problem, penalty);
        let best = best(&problem, &config);
        let optimum = certificate(&config, &problem.data(), &best).objective;
        // Where a bias reproduces the only observation, what is left is rounding.
        let allowed = 1e-12 * optimum + 1e-28;

        // Where a solver was cut short, at the rank of the problem.
        config.solver = Solver::Als;
        config.sweeps = Some(sweeps);
        let cut = fit(problem.data(), &config, &mut NoObserver).unwrap();
        let mut points = vec![cut.parameters];
        // Anywhere, and so far out that the interaction is all wrong.
        for size in [1.0, 0.01] {
            let mut point = problem.point(3);
            point.mean = best.parameters.mean;
            for x in point.as_mut_slice() {
                *x *= size;
            }
            points.push(point);
        }
        let whole = drawn(&config, problem.data());
        let objective = whole.objective(&problem.spec(), penalty);
        for point in points {
            let found = certify(&objective, &point, &OPTIONS).unwrap();
            prop_assert!(found.objective - found.gap <= optimum + allowed, "{found:?}, optimum {optimum}");
            prop_assert!(found.gap <= found.objective);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_slope_gives_the_gradient_and_the_objective(problem in problems().prop_map(quadratic)) {
        let views = Views::new(problem.data());
        let objective = problem.objective(&views);
        let point = problem.point(1);
        let slope = DataGradient::new(&objective, &point).unwrap();
        let data = objective.data_value(&point);
        prop_assert!((slope.data() - data).abs() <= 1e-12 * data);

        // Without penalties the gradient in the factors is 2 S U, and S U summed along U is <S, U U^T>.
        let spec = problem.spec();
        let bare = Objective::new(&views, &spec, 0.0, problem.scale);
        let mut gradient = point.zeros_like();
        bare.gradient_into(&point, &mut gradient);
        let rows: usize = spec.group_sizes(&problem.sizes).iter().sum();
        let mut along = 0.0;
        for column in 0..spec.rank {
            let (u, g) = (stacked(&point, column), stacked(&gradient, column));
            let mut product = vec![0.0; rows];
            slope.apply(&u, &mut product);
            for (p, g) in product.iter().zip(&g) {
                prop_assert!((2.0 * p - g).abs() < 1e-10, "{p} {g}");
            }
            along += u.iter().zip(&product).map(|(u, p)| u * p).sum::<f64>();
        }
        prop_assert!((along - slope.along_point()).abs() < 1e-10);

        let mut dense = vec![0.0; rows * rows];
        slope.add_to_dense(&mut dense);
        let u = stacked(&point, 0);
        let mut product = vec![0.0; rows];
        slope.apply(&u, &mut product);
        let mut absolute = vec![0.0; rows];
        slope.apply_absolute(&vec![1.0; rows], &mut absolute);
        for (i, row) in dense.chunks_exact(rows).enumerate() {
            let expected: f64 = row.iter().zip(&u).map(|(s, u)| s * u).sum();
            prop_assert!((expected - product[i]).abs() < 1e-10);
            prop_assert!(row.iter().map(|s| s.abs()).sum::<f64>() <= absolute[i] + 1e-12);
        }
        if problem.biases == Biases::Modes {
            let slopes = slope.bias_gradient();
            let ridge = bare.bias_penalty();
            let mut at = slopes.iter();
            for (group, &rows) in point.layout().rows().iter().enumerate() {
                for label in 0..rows {
                    let expected = gradient.bias(group, label) - 2.0 * ridge * point.bias(group, label);
                    prop_assert!((at.next().unwrap() - expected).abs() < 1e-10);
                }
            }
        }
    }
}

fn stacked(parameters: &Parameters<f64>, column: usize) -> Vec<f64> {
    let rows = parameters.layout().rows().iter().enumerate();
    rows.flat_map(|(group, &n)| (0..n).map(move |label| parameters.row(group, label)[column]))
        .collect()
}

/// A noisy 12 x 10 x 8 pairwise tensor of rank 2.
fn noisy() -> (Problem, Observations) {
    let problem = Problem {
        sizes: vec![12, 10, 8],
        rank: 2,
        product: false,
        diagonal: false,
        tied: false,
        biases: Biases::None,
        weighted: false,
        incoherent: false,
        perturbed: false,
        centred: false,
        scale: quadfill::objective::PenaltyScale::Uniform,
        observations: 300,
        seed: 5,
    };
    let data = problem.data();
    (problem, data)
}

#[test]
fn a_converged_fit_with_columns_to_spare_is_certified_and_a_small_rank_is_not() {
    let (problem, data) = noisy();
    let mut config = config(&problem, 0.02);
    config.tolerance = 1e-13;
    config.rank = Rank::Fixed(30);
    config.solver = Solver::Lbfgs;
    let wide = fit(data.clone(), &config, &mut NoObserver).unwrap();
    let certified = certificate(&config, &data, &wide);
    assert!(certified.relative_gap < 1e-6, "{certified:?}");
    assert_eq!(certified.outcome, Outcome::GloballyOptimal);
    assert!(certified.rank < 30, "the optimum has a rank of its own: {}", certified.rank);
    assert_eq!(certified.columns, 30);

    config.rank = Rank::Fixed(1);
    config.solver = Solver::Path;
    let narrow = fit(data.clone(), &config, &mut NoObserver).unwrap();
    let found = certificate(&config, &data, &narrow);
    assert_eq!(found.outcome, Outcome::HigherRank, "{found:?}");
    assert!(found.lambda_min_bound.unwrap() <= found.lambda_min && found.lambda_min < 0.0);
    let missing = found.objective - certified.objective;
    assert!(missing > 0.0 && missing <= found.gap, "{missing} of {}", found.gap);
    assert!(found.verdict.contains("not a statement about the truth"));
}

#[test]
fn curvature_tells_a_minimum_from_a_saddle() {
    let (problem, data) = noisy();
    let mut config = config(&problem, 0.02);
    let whole = drawn(&config, data.clone());
    config.tolerance = 1e-14;
    let found = fit::<f64>(data, &config, &mut NoObserver).unwrap();
    let objective = whole.objective(&found.spec, found.penalty);
    let options = CertifyOptions { curvature: true, seed: 3 };
    let minimum = certify(&objective, &found.parameters, &options).unwrap();
    assert!(minimum.curvature_min.unwrap() > 1e-6, "{minimum:?}");

    // Zero is stationary, and the leading direction of the data leads down from it.
    let zero = found.parameters.zeros_like();
    let saddle = certify(&objective, &zero, &options).unwrap();
    assert_eq!(saddle.gradient_norm, 0.0);
    assert!(saddle.curvature_min.unwrap() < -1e-3, "{saddle:?}");
    // There the Hessian in each column is 2 S.
    let expected = 2.0 * saddle.lambda_min * 0.02;
    assert!((saddle.curvature_min.unwrap() - expected).abs() < 1e-6 * expected.abs());
}

#[test]
fn what_is_reproduced_is_optimal_without_a_penalty() {
    let modes = vec![Mode::new("a", Labels::range(3)), Mode::new("b", Labels::range(3))];
    let indices = vec![vec![0, 0, 0, 1, 1, 1, 2, 2], vec![0, 1, 2, 0, 1, 2, 0, 1]];
    let values = vec![1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 3.0, 6.0];
    let data = Observations::new(modes, indices, values, None, OnDuplicate::Error).unwrap();
    let config = FitConfig::for_spec(&ModelSpec::quadratic(Kernel::pairwise(2), 1));
    let found = fit(data.clone(), &config, &mut NoObserver).unwrap();
    let certificate = certificate(&config, &data, &found);
    assert_eq!(certificate.outcome, Outcome::GloballyOptimal);
    assert!(certificate.verdict.contains("the data are reproduced"), "{}", certificate.verdict);
}

#[test]
fn cp_has_no_certificate_and_says_so() {
    let (problem, data) = noisy();
    let views = Views::<f64>::new(data);
    let spec = ModelSpec::cp(3, 2);
    let objective = Objective::new(&views, &spec, 0.1, problem.scale);
    let point = Parameters::zeros(&spec, &problem.sizes);
    let error = certify(&objective, &point, &OPTIONS).unwrap_err().to_string();
    assert!(error.starts_with("no certificate exists for CP"), "{error}");
}

#[test]
fn threads_change_nothing() {
    let (problem, data) = noisy();
    let config = config(&problem, 0.05);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let problem = drawn(&config, data.clone());
            let found = fit::<f64>(data.clone(), &config, &mut NoObserver).unwrap();
            let objective = problem.objective(&found.spec, found.penalty);
            let options = CertifyOptions { curvature: true, seed: 3 };
            certify(&objective, &found.parameters, &options).unwrap()
        })
    };
    let one = on(1);
    assert_eq!(one, on(2));
    assert_eq!(one, on(4));
}
