//! Kernels that are fitted too: their least squares, that they only go down, and that they are found.
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod common;

use std::ops::ControlFlow;

use common::{Problem, problems};
use proptest::prelude::*;
use quadfill::model::{Biases, Interaction, Kernel, ModelKind, ModelSpec, Parameters, Predictor};
use quadfill::objective::Objective;
use quadfill::solve::{
    Choice, Event, Fit, NoObserver, Observer, Solver, Status, fit, kernel_step, learned_sweep,
    resume,
};
use quadfill::views::Views;
use quadfill::{FitConfig, Labels, Mode, Model, Observations, OnDuplicate};
use quadfill_testkit::{Planted, random_kernel};

/// Problems whose kernel can be learned.
fn learnable() -> impl Strategy<Value = Problem> {
    problems().prop_map(|problem| Problem { product: false, tied: false, ..problem })
}

fn kernel_rows(objective: &Objective<'_, f64>) -> Vec<Vec<f64>> {
    objective.kernel().unwrap().clone().into()
}

/// The objective with one distinct entry of the kernel moved.
fn value_at(
    objective: &Objective<'_, f64>,
    point: &Parameters<f64>,
    entries: &[(usize, usize)],
    step: &[f64],
) -> f64 {
    let mut rows = kernel_rows(objective);
    for (&(a, b), step) in entries.iter().zip(step) {
        rows[a][b] += step;
        if a != b {
            rows[b][a] += step;
        }
    }
    let mut moved = objective.clone();
    moved.set_kernel(Kernel::new(&rows).unwrap());
    moved.value(point).total()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_kernel_system_is_what_differences_and_the_formula_say(problem in learnable()) {
        let views = Views::new(problem.data());
        let objective = problem.objective(&views);
        let point = problem.point(3);
        let entries = objective.kernel().unwrap().distinct_entries();
        let system = objective.kernel_system(&point, &entries);
        let here = objective.value(&point).total();
        let size = here.abs().max(1.0);
        for i in 0..entries.len() {
            let mut step = vec![0.0; entries.len()];
            step[i] = 1e-4;
            let up = value_at(&objective, &point, &entries, &step);
            step[i] = -1e-4;
            let down = value_at(&objective, &point, &entries, &step);
            let slope = (up - down) / 2e-4;
            let scale = size.max(slope.abs());
            prop_assert!((slope - system.gradient[i]).abs() < 1e-6 * scale, "entry {i}");
        }
        // A long step: the objective is exactly quadratic in the kernel.
        let step: Vec<f64> = (0..entries.len()).map(|i| 0.7 - 0.4 * i as f64).collect();
        let there = value_at(&objective, &point, &entries, &step);
        let scale = size.max(there.abs());
        prop_assert!((here + system.change(&step) - there).abs() < 1e-9 * scale);
    }

    #[test]
    fn a_kernel_step_is_the_best_on_its_sphere(problem in learnable()) {
        let views = Views::new(problem.data());
        let mut objective = problem.objective(&views);
        let point = problem.point(5);
        let entries = objective.kernel().unwrap().distinct_entries();
        let (before, start) = (objective.value(&point).total(), kernel_rows(&objective));
        let change = kernel_step(&mut objective, &point, &entries);
        let after = objective.value(&point).total();
        let size = before.abs().max(1.0);
        prop_assert!(change <= 0.0);
        prop_assert!((before + change - after).abs() < 1e-9 * size);
        let norm = |rows: &[Vec<f64>]| rows.concat().iter().map(|k| k * k).sum::<f64>().sqrt();
        let best = kernel_rows(&objective);
        prop_assert!((norm(&best) - norm(&start)).abs() < 1e-9 * norm(&start));
        // Nothing else of that length does better.
        for seed in 0..40 {
            let drawn = random_kernel(problem.sizes.len(), problem.seed ^ seed);
            let near = if seed % 2 == 0 { 0.0 } else { 1.0 };
            let rows: Vec<Vec<f64>> = drawn
                .chunks(problem.sizes.len())
                .zip(&best)
                .map(|(x, y)| x.iter().zip(y).map(|(x, y)| near * y + 0.1 * x).collect())
                .collect();
            let scale = norm(&best) / norm(&rows);
            let rows: Vec<Vec<f64>> =
                rows.iter().map(|row| row.iter().map(|k| k * scale).collect()).collect();
            let mut other = objective.clone();
            other.set_kernel(Kernel::new(&rows).unwrap());
            prop_assert!(other.value(&point).total() > after - 1e-9 * size);
        }
    }

    #[test]
    fn learned_sweeps_never_go_up(problem in learnable()) {
        let views = Views::new(problem.data());
        let mut objective = problem.objective(&views);
        let mut point = problem.point(9);
        let entries = objective.kernel().unwrap().distinct_entries();
        let mut before = objective.value(&point).total();
        let size = before.abs();
        for sweep in 0..12 {
            let report = learned_sweep(&mut objective, &mut point, &entries);
            let now = objective.value(&point).total();
            prop_assert!(now <= before + 1e-10 * size, "sweep {sweep}: {before} to {now}");
            prop_assert!((report.objective - now).abs() <= 1e-8 * size.max(now));
            before = now;
        }
    }
}

fn observations(planted: &Planted) -> Observations {
    let modes = planted.sizes.iter().enumerate();
    let modes = modes.map(|(i, &n)| Mode::new(format!("m{i}"), Labels::range(n))).collect();
    let (cells, values) = (planted.train.clone(), planted.values.clone());
    Observations::new(modes, cells, values, None, OnDuplicate::Error).unwrap()
}

fn error(planted: &Planted, fit: &Fit<f64>) -> f64 {
    let columns: Vec<&[u32]> = planted.test.iter().map(Vec::as_slice).collect();
    planted.relative_error(&Predictor::new(&fit.spec, &fit.parameters).cells(&columns))
}

fn entries(kernel: Kernel) -> Vec<f64> {
    Vec::<Vec<f64>>::from(kernel).concat()
}

/// A tensor of the kernel from twice its free parameters, and the settings to learn it with.
fn planted(kernel: &Kernel, sizes: &[usize], rank: usize, seed: u64) -> (Planted, FitConfig) {
    let freedom = ModelSpec::quadratic(kernel.clone(), rank).degrees_of_freedom(sizes);
    let planted = Planted::new(sizes, rank, Some(entries(kernel.clone())), 2 * freedom, seed);
    (planted, FitConfig::learned(rank))
}

/// The fit with a given seed, if it is exact; it then has every cell.
fn exact_fit(kernel: &Kernel, seed: u64) -> Option<Fit<f64>> {
    let (planted, config) = planted(kernel, &[30, 30, 30], 2, 1);
    let config = FitConfig { seed, ..config };
    let fit = fit::<f64>(observations(&planted), &config, &mut NoObserver).unwrap();
    assert!(fit.certificate.is_some());
    let error = error(&planted, &fit);
    assert_eq!(error < 1e-8, fit.status == Status::Exact, "{kernel:?}: {error}");
    (fit.status == Status::Exact).then_some(fit)
}

#[test]
fn kernels_are_found_without_being_told() {
    let minus = Kernel::parse("0 .5 .5; .5 0 -.5; .5 -.5 0").unwrap();
    for kernel in [Kernel::pairwise(3), minus, Kernel::transe(3)] {
        assert!(exact_fit(&kernel, 0).is_some(), "{kernel:?}");
    }
    // What is held out decides where the search goes on. With a kernel of random entries it misses the
    // right one for about one seed of eight.
    let any: Vec<Vec<f64>> = random_kernel(3, 4).chunks(3).map(<[f64]>::to_vec).collect();
    let any = Kernel::new(&any).unwrap();
    let found = (0..3).filter(|&seed| exact_fit(&any, seed).is_some()).count();
    assert!(found >= 2, "{found} of 3");
}

#[test]
fn noisy_kernels_predict_as_well_as_known_ones() {
    let kernel = Kernel::transe(3);
    let (_, config) = planted(&kernel, &[30, 30, 30], 2, 1);
    let mut noisy = Planted::new(&[30, 30, 30], 2, Some(entries(kernel.clone())), 1500, 3);
    noisy.add_noise(0.1, 3);
    let known = FitConfig::for_spec(&ModelSpec::quadratic(kernel, 2));
    let known = error(&noisy, &fit(observations(&noisy), &known, &mut NoObserver).unwrap());
    let learned = fit(observations(&noisy), &config, &mut NoObserver).unwrap();
    assert_eq!(learned.status, Status::Validated);
    let learned = error(&noisy, &learned);
    assert!(learned < 1.15 * known, "{learned} against {known}");
}

#[test]
fn biases_leave_no_diagonal_to_be_learned() {
    let mut planted = Planted::new(&[30, 30, 30], 2, Some(entries(Kernel::pairwise(3))), 1500, 2);
    let mut config = FitConfig::learned(2);
    for (value, label) in planted.values.iter_mut().zip(&planted.train[1]) {
        *value += 3.0 + f64::from(label % 5);
    }
    config.biases = Choice::Fixed(Biases::Modes);
    let fit = fit::<f64>(observations(&planted), &config, &mut NoObserver).unwrap();
    let Interaction::Quadratic(kernel) = &fit.spec.interaction else { panic!("quadratic") };
    assert!((0..3).all(|a| kernel.get(a, a) == 0.0));
    assert!(fit.train_rmse < 0.2, "{}", fit.train_rmse);
}

#[test]
fn a_learned_model_is_a_model_like_any_other() {
    let (planted, config) = planted(&Kernel::transe(3), &[20, 20, 20], 2, 1);
    let data = observations(&planted);
    let fit = fit::<f64>(data.clone(), &config, &mut NoObserver).unwrap();
    let cell = [3, 5, 7];
    let expected = fit.predictor().cell(&cell);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    quadfill::fit(data, &config).unwrap().save(&path).unwrap();
    let loaded = Model::load(&path).unwrap();
    assert_eq!(loaded.spec(), &fit.spec);
    assert_eq!(loaded.predict_cell(&cell).to_bits(), expected.to_bits());
    assert_eq!(loaded.summary().config.model, ModelKind::Learned);
}

/// Keeps the state after so many checkpoints.
struct Keep(usize, Option<Vec<u8>>);

impl Observer for Keep {
    fn event(&mut self, event: Event<'_>) -> ControlFlow<()> {
        if let Event::Checkpoint(checkpoint) = event {
            if self.0 == 0 {
                self.1 = Some(checkpoint.to_bytes().unwrap());
            }
            self.0 = self.0.wrapping_sub(1);
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn a_learned_fit_resumes_to_the_same_bits() {
    let (mut planted, mut config) = planted(&Kernel::transe(3), &[12, 12, 12], 1, 1);
    planted.add_noise(0.2, 1);
    config.path_steps = Choice::Fixed(30);
    let mut all = Keep(usize::MAX, None);
    fit::<f64>(observations(&planted), &config, &mut all).unwrap();
    let checkpoints = usize::MAX - all.0;
    // In the search for the kernel, and after it.
    for wait in [5, checkpoints - 5] {
        let mut keep = Keep(wait, None);
        let whole = fit::<f64>(observations(&planted), &config, &mut keep).unwrap();
        let bytes = keep.1.expect("there are as many steps");
        let resumed = resume(observations(&planted), &config, &bytes, &mut NoObserver).unwrap();
        assert_eq!(resumed.spec, whole.spec);
        assert_eq!(resumed.parameters, whole.parameters);
        assert_eq!(resumed.sweeps, whole.sweeps);
    }
}

#[test]
fn what_cannot_be_learned_is_refused_with_the_way_out() {
    let refusal = |change: &dyn Fn(&mut FitConfig)| {
        let mut config = FitConfig::learned(2);
        change(&mut config);
        config.check().unwrap_err().to_string()
    };
    let tied = refusal(&|config| config.ties = vec![vec!["1".to_owned(), "3".to_owned()]]);
    assert!(tied.contains("share their factors: leave `ties` out"), "{tied}");
    let convex = refusal(&|config| config.solver = Solver::Sdp(Choice::Auto));
    assert!(convex.contains("leave `solver` out"), "{convex}");
    let implicit = refusal(&|config| config.implicit = Some(0.1));
    assert!(implicit.contains("`model` must be pairwise"), "{implicit}");
    // CP with a kernel to be learned cannot be said any more: it is one choice.
    assert_eq!(FitConfig::learned(2).model, ModelKind::Learned);
}
