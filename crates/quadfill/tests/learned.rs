//! Kernels that are fitted too: their least squares, that they only go down, and that they are found.
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod common;

use common::{Problem, problems};
use proptest::prelude::*;
use quadfill::apply::Predictor;
use quadfill::file::Model;
use quadfill::model::{Interaction, Kernel, ModelSpec, Offsets, Parameters};
use quadfill::objective::Objective;
use quadfill::solve::{
    Event, Fit, FitConfig, KernelChoice, Observer, Progress, Silent, Solver, Status, fit,
    kernel_step, learned_sweep, resume,
};
use quadfill::views::Views;
use quadfill::{Labels, Mode, Observations, OnDuplicate};
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

fn observations(planted: &Planted) -> Observations<f64> {
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
    (planted, FitConfig::learned(sizes.len(), rank))
}

#[test]
fn kernels_are_found_without_being_told() {
    let any: Vec<Vec<f64>> = random_kernel(3, 4).chunks(3).map(<[f64]>::to_vec).collect();
    let minus = Kernel::parse("0 .5 .5; .5 0 -.5; .5 -.5 0").unwrap();
    for kernel in [Kernel::pairwise(3), minus, Kernel::transe(3), Kernel::new(&any).unwrap()] {
        let (planted, config) = planted(&kernel, &[30, 30, 30], 2, 1);
        let fit = fit(observations(&planted), &config, &mut Silent).unwrap();
        let error = error(&planted, &fit);
        assert_eq!(fit.status, Status::Exact, "{kernel:?}: {error}");
        assert!(error < 1e-8, "{kernel:?}: {error}");
        assert!(fit.certificate.is_some());
    }
}

#[test]
fn noisy_kernels_predict_as_well_as_known_ones() {
    let kernel = Kernel::transe(3);
    let (_, config) = planted(&kernel, &[30, 30, 30], 2, 1);
    let mut noisy = Planted::new(&[30, 30, 30], 2, Some(entries(kernel.clone())), 1500, 3);
    noisy.add_noise(0.1, 3);
    let known = FitConfig::new(ModelSpec::quadratic(kernel, 2));
    let known = error(&noisy, &fit(observations(&noisy), &known, &mut Silent).unwrap());
    let learned = fit(observations(&noisy), &config, &mut Silent).unwrap();
    assert_eq!(learned.status, Status::Validated);
    let learned = error(&noisy, &learned);
    assert!(learned < 1.15 * known, "{learned} against {known}");
}

#[test]
fn biases_leave_no_diagonal_to_be_learned() {
    let mut planted = Planted::new(&[30, 30, 30], 2, Some(entries(Kernel::pairwise(3))), 1500, 2);
    let mut config = FitConfig::learned(3, 2);
    for (value, label) in planted.values.iter_mut().zip(&planted.train[1]) {
        *value += 3.0 + f64::from(label % 5);
    }
    config.offsets = Some(Offsets::Modes);
    let fit = fit(observations(&planted), &config, &mut Silent).unwrap();
    let Interaction::Quadratic(kernel) = &fit.spec.interaction else { panic!("quadratic") };
    assert!((0..3).all(|a| kernel.get(a, a) == 0.0));
    assert!(fit.train_rmse < 0.2, "{}", fit.train_rmse);
}

#[test]
fn a_learned_model_is_a_model_like_any_other() {
    let (planted, config) = planted(&Kernel::transe(3), &[20, 20, 20], 2, 1);
    let data = observations(&planted);
    let (modes, count) = (data.modes().to_vec(), data.len());
    let fit = fit(data, &config, &mut Silent).unwrap();
    let (spec, cell) = (fit.spec.clone(), [3, 5, 7]);
    let expected = fit.predictor().cell(&cell);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    Model::new(fit, modes, Vec::new(), "value".to_owned(), count, &config).save(&path).unwrap();
    let loaded = Model::<f64>::load(&path).unwrap();
    assert_eq!(loaded.spec, spec);
    let prediction = Predictor::new(&loaded.spec, &loaded.parameters).cell(&cell);
    assert_eq!(prediction.to_bits(), expected.to_bits());
}

/// Keeps the state after so many checkpoints.
struct Keep(usize, Option<Progress<f64>>);

impl Observer<f64> for Keep {
    fn event(&mut self, event: Event<'_, f64>) {
        if let Event::Checkpoint(progress) = event {
            if self.0 == 0 {
                self.1 = Some(progress.clone());
            }
            self.0 = self.0.wrapping_sub(1);
        }
    }
}

#[test]
fn a_learned_fit_resumes_to_the_same_bits() {
    let (mut planted, mut config) = planted(&Kernel::transe(3), &[12, 12, 12], 1, 1);
    planted.add_noise(0.2, 1);
    config.path_steps = Some(30);
    let mut all = Keep(usize::MAX, None);
    fit(observations(&planted), &config, &mut all).unwrap();
    let checkpoints = usize::MAX - all.0;
    // In the search for the kernel, and after it.
    for wait in [5, checkpoints - 5] {
        let mut keep = Keep(wait, None);
        let whole = fit(observations(&planted), &config, &mut keep).unwrap();
        let progress = keep.1.expect("there are as many steps");
        let resumed = resume(observations(&planted), &config, progress, &mut Silent).unwrap();
        assert_eq!(resumed.spec, whole.spec);
        assert_eq!(resumed.parameters, whole.parameters);
        assert_eq!(resumed.sweeps, whole.sweeps);
    }
}

#[test]
fn what_cannot_be_learned_is_refused_with_the_way_out() {
    let refusal = |change: &dyn Fn(&mut FitConfig)| {
        let mut config = FitConfig::learned(3, 2);
        change(&mut config);
        config.check(&[5, 5, 5]).unwrap_err().to_string()
    };
    let tied = refusal(&|config| config.model = config.model.clone().with_tied(&[0, 2]));
    assert!(tied.contains("share their factors: leave --tie out"), "{tied}");
    let cp = refusal(&|config| config.model = ModelSpec::cp(3, 2));
    assert!(cp.contains("choose another model"), "{cp}");
    let convex = refusal(&|config| config.solver = Solver::Sdp(None));
    assert!(convex.contains("leave --solver out"), "{convex}");
    let implicit = refusal(&|config| config.implicit = Some(0.1));
    assert!(implicit.contains("choose pairwise"), "{implicit}");
    assert_eq!(FitConfig::learned(3, 2).kernel, KernelChoice::Learned);
}
