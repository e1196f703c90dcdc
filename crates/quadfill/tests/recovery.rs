//! Planted tensors are found again from little more than their number of free parameters.
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use quadfill::model::{Biases, Kernel, ModelSpec, Predictor};
use quadfill::solve::{Choice, Fit, NoObserver, Solver, Status, fit};
use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate, Real};
use quadfill_testkit::{Planted, pairwise_kernel, random_kernel};

fn kernel_of(spec: &ModelSpec) -> Option<Vec<f64>> {
    match &spec.interaction {
        quadfill::model::Interaction::Quadratic(kernel) => {
            let rows: Vec<Vec<f64>> = kernel.clone().into();
            Some(rows.concat())
        }
        quadfill::model::Interaction::Cp => None,
    }
}

fn observations(planted: &Planted) -> Observations {
    let modes = planted.sizes.iter().enumerate();
    let modes = modes.map(|(i, &n)| Mode::new(format!("m{i}"), Labels::range(n))).collect();
    let values = planted.values.clone();
    Observations::new(modes, planted.train.clone(), values, None, OnDuplicate::Error).unwrap()
}

fn error<T: Real>(planted: &Planted, fit: &Fit<T>) -> f64 {
    let columns: Vec<&[u32]> = planted.test.iter().map(Vec::as_slice).collect();
    planted.relative_error(&Predictor::new(&fit.spec, &fit.parameters).cells(&columns))
}

/// The fit with default settings, and its error on unseen cells.
fn recovered(spec: &ModelSpec, sizes: &[usize], times_freedom: f64, seed: u64) -> (Fit<f64>, f64) {
    let observed = (times_freedom * spec.degrees_of_freedom(sizes) as f64).ceil() as usize;
    let planted = Planted::new(sizes, spec.rank, kernel_of(spec), observed, seed);
    let fit = fit(observations(&planted), &FitConfig::for_spec(spec), &mut NoObserver).unwrap();
    let error = error(&planted, &fit);
    (fit, error)
}

#[test]
fn pairwise_from_a_third_more_than_its_free_parameters() {
    let spec = ModelSpec::quadratic(Kernel::pairwise(3), 5);
    for seed in 1..=3 {
        let (fit, error) = recovered(&spec, &[50, 50, 50], 1.35, seed);
        assert_eq!(fit.status, Status::Exact);
        assert!(error < 1e-8, "seed {seed}: {error}");
    }
}

#[test]
fn transe_and_any_kernel() {
    for seed in 1..=2 {
        let transe = ModelSpec::quadratic(Kernel::transe(3), 3);
        let (_, error) = recovered(&transe, &[40, 40, 40], 2.0, seed);
        assert!(error < 1e-6, "transe {seed}: {error}");
        let rows: Vec<Vec<f64>> = random_kernel(3, seed).chunks(3).map(<[f64]>::to_vec).collect();
        let any = ModelSpec::quadratic(Kernel::new(&rows).unwrap(), 3);
        let (_, error) = recovered(&any, &[40, 40, 40], 2.0, seed);
        assert!(error < 1e-6, "random kernel {seed}: {error}");
    }
}

#[test]
fn four_modes_of_unequal_sizes_and_plain_matrices() {
    let four = ModelSpec::quadratic(Kernel::pairwise(4), 3);
    assert!(recovered(&four, &[40, 30, 20, 15], 1.4, 1).1 < 1e-6);
    let matrix = ModelSpec::quadratic(Kernel::pairwise(2), 2);
    assert!(recovered(&matrix, &[40, 60], 3.0, 1).1 < 1e-6);
}

#[test]
fn cp_with_plenty_of_data() {
    let (_, error) = recovered(&ModelSpec::cp(3, 2), &[20, 20, 20], 8.0, 1);
    assert!(error < 1e-4, "{error}");
}

#[test]
fn shared_factors() {
    // A symmetric matrix of rank 2 seen through its two modes that share one factor matrix.
    let spec = ModelSpec::quadratic(Kernel::pairwise(2), 2).with_tied(&[0, 1]);
    let mut planted = Planted::new(&[30, 30], 2, Some(pairwise_kernel(2)), 400, 3);
    planted.factors[1] = planted.factors[0].clone();
    planted.values = planted.at(&planted.train.clone());
    planted.test_values = planted.at(&planted.test.clone());
    let mut config = FitConfig::for_spec(&spec);
    config.solver = Solver::Lbfgs;
    config.tolerance = 0.0;
    config.penalty = Choice::Fixed(0.0);
    config.sweeps = Some(500);
    let lbfgs = fit::<f64>(observations(&planted), &config, &mut NoObserver).unwrap();
    assert!(error(&planted, &lbfgs) < 1e-6, "{}", error(&planted, &lbfgs));
    config.solver = Solver::Als;
    let als = fit::<f64>(observations(&planted), &config, &mut NoObserver).unwrap();
    assert!(error(&planted, &als) < 1e-6, "{}", error(&planted, &als));
}

#[test]
fn plain_als_from_a_random_start() {
    let spec = ModelSpec::quadratic(Kernel::pairwise(3), 5);
    let planted = Planted::new(&[50, 50, 50], 5, Some(pairwise_kernel(3)), 2250, 1);
    let mut config = FitConfig::for_spec(&spec);
    config.solver = Solver::Als;
    let fit = fit::<f64>(observations(&planted), &config, &mut NoObserver).unwrap();
    assert!(error(&planted, &fit) < 1e-3);
}

#[test]
fn noisy_data_are_fitted_to_near_the_statistical_floor() {
    let spec = ModelSpec::quadratic(Kernel::pairwise(3), 3);
    let sizes = [60, 60, 60];
    let mut planted = Planted::new(&sizes, 3, Some(pairwise_kernel(3)), 3_000, 1);
    planted.add_noise(0.1, 1);
    let fit =
        fit::<f64>(observations(&planted), &FitConfig::for_spec(&spec), &mut NoObserver).unwrap();
    let freedom = spec.degrees_of_freedom(&sizes) as f64;
    let floor = 0.1 * (freedom / (3_000.0 - freedom)).sqrt();
    let error = error(&planted, &fit);
    assert!(error < 1.2 * floor, "{error} against a floor of {floor}");
    assert!(fit.validation_rmse.is_some());
    assert!(fit.path.len() > 10);
}

#[test]
fn a_fit_with_columns_to_spare_stops_where_held_out_data_like_it() {
    let spec = ModelSpec::quadratic(Kernel::pairwise(3), 15);
    let mut planted = Planted::new(&[60, 60, 60], 2, Some(pairwise_kernel(3)), 2_500, 3);
    planted.add_noise(1.0, 3);
    let data = || observations(&planted);
    let config = FitConfig { biases: Choice::Fixed(Biases::None), ..FitConfig::for_spec(&spec) };
    let chosen = fit::<f64>(data(), &config, &mut NoObserver).unwrap();
    let config = FitConfig { penalty: Choice::Fixed(chosen.penalty), ..config };
    let minimum = fit::<f64>(data(), &config, &mut NoObserver).unwrap();
    let (chosen, minimum) = (error(&planted, &chosen), error(&planted, &minimum));
    assert!(chosen < 0.95 * minimum, "{chosen} against {minimum} at the objective's minimum");
}

#[test]
fn ratings_like_data_choose_offsets_by_themselves() {
    let mut planted = Planted::new(&[80, 60, 10], 2, Some(pairwise_kernel(3)), 6_000, 4);
    for (i, value) in planted.values.iter_mut().enumerate() {
        let (a, b) = (planted.train[0][i], planted.train[1][i]);
        *value = 0.3 * *value + 20.0 + f64::from(a % 7) + f64::from(b % 5);
    }
    planted.add_noise(0.02, 4);
    let spec = ModelSpec::quadratic(Kernel::pairwise(3), 2);
    let fit =
        fit::<f64>(observations(&planted), &FitConfig::for_spec(&spec), &mut NoObserver).unwrap();
    assert_eq!(fit.spec.biases, Biases::Modes);
    assert!((fit.parameters.mean - 25.0).abs() < 1.0, "{}", fit.parameters.mean);
}

#[test]
fn single_precision_recovers_to_its_precision() {
    let spec = ModelSpec::quadratic(Kernel::pairwise(3), 3);
    let planted = Planted::new(&[40, 40, 40], 3, Some(pairwise_kernel(3)), 800, 1);
    let fit =
        fit::<f32>(observations(&planted), &FitConfig::for_spec(&spec), &mut NoObserver).unwrap();
    assert!(error(&planted, &fit) < 1e-4, "{} {:?}", error(&planted, &fit), fit.status);
}
