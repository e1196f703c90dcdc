//! New labels, more data, zeros and noise, against references.
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod common;

use common::{Problem, problems};
use proptest::prelude::*;
use quadfill::apply::{Intervals, Predictor, fold_in, update};
use quadfill::file::Model;
use quadfill::model::{Kernel, ModelSpec, Offsets, Parameters};
use quadfill::objective::{Objective, PenaltyScale};
use quadfill::solve::{
    Fit, FitConfig, Progress, ProgressNotes, Silent, Solver, Stage, Status, als, fit, resume,
};
use quadfill::views::Views;
use quadfill::{Labels, Mode, Observations, OnDuplicate};
use quadfill_testkit::{Planted, pairwise_kernel};

fn model(
    spec: &ModelSpec,
    parameters: Parameters<f64>,
    modes: &[Mode],
    observations: usize,
    penalty: f64,
    scale: PenaltyScale,
) -> Model<f64> {
    let mut config = FitConfig::new(spec.clone());
    (config.penalty, config.penalty_scale) = (Some(penalty), scale);
    config.offsets = Some(spec.offsets);
    let fit = Fit {
        spec: spec.clone(),
        parameters,
        penalty,
        status: Status::Converged,
        sweeps: 1,
        train_rmse: 0.0,
        validation_rmse: None,
        path: Vec::new(),
        certificate: None,
        sdp: None,
        posterior: None,
    };
    Model::new(fit, modes.to_vec(), Vec::new(), "value".to_owned(), observations, &config)
}

fn forget(parameters: &mut Parameters<f64>, group: usize, label: usize) {
    parameters.row_mut(group, label).fill(0.0);
    if parameters.layout().has_biases() {
        parameters.set_bias(group, label, 0.0);
    }
}

/// The problem without what makes rows depend on each other or on a second step.
fn linear(mut problem: Problem) -> Problem {
    (problem.diagonal, problem.tied) = (false, false);
    (problem.incoherent, problem.perturbed) = (false, false);
    problem
}

fn begin(config: &FitConfig, parameters: Parameters<f64>) -> Progress<f64> {
    let notes = ProgressNotes {
        stage: Stage::Solve,
        spec: config.model.clone(),
        step: 0,
        sweeps: 0,
        lambda_max: 1.0,
        objective: f64::MAX,
        quiet: 0,
        path: Vec::new(),
        candidates: Vec::new(),
        seconds: 0.0,
        trials: Vec::new(),
        sampler: None,
    };
    Progress { notes, parameters, best: None, draws: None }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_folded_row_is_the_row_of_an_als_update_bit_for_bit(problem in problems(), mode in 0..2usize) {
        let problem = linear(problem);
        let (spec, data) = (problem.spec(), problem.data());
        let label = data.indices(mode)[0] as usize;
        let mut point = problem.point(3);
        forget(&mut point, mode, label);
        let views = Views::new(data.clone());
        let rows: usize = problem.sizes.iter().sum();
        let objective = problem.objective(&views).scaled_as(data.len(), rows - 1);
        let mut expected = point.clone();
        als::update_group(&objective, &mut expected, mode);
        let is_new: Vec<Vec<bool>> = (0..problem.sizes.len())
            .map(|m| (0..problem.sizes[m]).map(|l| m == mode && l == label).collect())
            .collect();
        let before = model(&spec, point.clone(), data.modes(), data.len(), 0.03, problem.scale);
        let folded = fold_in(before, &data, &is_new).unwrap().parameters;
        for group in 0..problem.sizes.len() {
            for l in 0..problem.sizes[group] {
                let moved = group == mode && l == label;
                let from = if moved { &expected } else { &point };
                prop_assert_eq!(folded.row(group, l), from.row(group, l));
                prop_assert_eq!(folded.bias(group, l), from.bias(group, l));
            }
        }
    }

    #[test]
    fn implicit_zeros_are_zeros_that_were_written_down(problem in problems(), weight in 0.01..0.5f64) {
        let mut problem = linear(problem);
        (problem.offsets, problem.weighted) = (Offsets::None, false);
        problem.scale = PenaltyScale::Uniform;
        let (spec, data) = (problem.spec(), problem.data());
        let cells: usize = problem.sizes.iter().product();
        let count = data.len();
        let mut config = FitConfig::new(spec.clone());
        config.solver = Solver::Als;
        (config.sweeps, config.tolerance) = (Some(3), 0.0);
        (config.implicit, config.penalty) = (Some(weight), Some(0.05));
        let start = problem.point(4);
        let implicit = resume(data.clone(), &config, begin(&config, start.clone()), &mut Silent).unwrap();
        // The same with every cell given.
        let mut values = vec![0.0; cells];
        let mut weights = vec![weight; cells];
        for row in 0..count {
            let place = (0..problem.sizes.len()).rev().fold(0, |place, mode| {
                place * problem.sizes[mode] + data.indices(mode)[row] as usize
            });
            (values[place], weights[place]) = (data.values()[row], 1.0);
        }
        let indices = (0..problem.sizes.len())
            .map(|mode| {
                let below: usize = problem.sizes[..mode].iter().product();
                (0..cells).map(|i| (i / below % problem.sizes[mode]) as u32).collect()
            })
            .collect();
        let dense =
            Observations::new(data.modes().to_vec(), indices, values, Some(weights), OnDuplicate::Error)
                .unwrap();
        config.implicit = None;
        config.penalty = Some(0.05 * count as f64 / cells as f64);
        let explicit = resume(dense, &config, begin(&config, start), &mut Silent).unwrap();
        for (x, y) in implicit.parameters.as_slice().iter().zip(explicit.parameters.as_slice()) {
            prop_assert!((x - y).abs() < 1e-6 * (1.0 + y.abs()), "{x} {y}");
        }
        let (x, y) = (
            implicit.train_rmse.powi(2) * count as f64,
            explicit.train_rmse.powi(2) * cells as f64,
        );
        prop_assert!((x - y).abs() < 1e-6 * (1.0 + y), "{x} {y}");
        // What the last sweep reported is the data term that is there.
        let reported = implicit.path.last().unwrap().train_rmse;
        prop_assert!((reported - implicit.train_rmse).abs() < 1e-6 * (1.0 + reported));
    }
}

#[test]
fn a_new_entity_is_found_from_its_distances() {
    let sizes = [30, 4, 30];
    for tied in [false, true] {
        let mut spec = ModelSpec::quadratic(Kernel::transe(3), 3);
        if tied {
            spec = spec.with_tied(&[0, 2]);
        }
        let truth = Parameters::<f64>::random(&spec, &sizes, 1.0, 11);
        let predictor = Predictor::new(&spec, &truth);
        let modes: Vec<Mode> =
            sizes.iter().map(|&n| Mode::new(format!("m{n}"), Labels::range(n))).collect();
        let cells: Vec<[u32; 3]> = (0..40u32).map(|i| [7, i % 4, (i * 5 + 8) % 30]).collect();
        let cells: Vec<[u32; 3]> = cells.into_iter().filter(|cell| cell[2] != 7).collect();
        let column = |mode: usize| cells.iter().map(|cell| cell[mode]).collect();
        let values = cells.iter().map(|cell| predictor.cell(cell)).collect();
        let indices = (0..3).map(column).collect();
        let data =
            Observations::new(modes.clone(), indices, values, None, OnDuplicate::Last).unwrap();
        let mut parameters = truth.clone();
        forget(&mut parameters, 0, 7);
        let known =
            |mode: usize| (0..sizes[mode]).map(|l| l == 7 && spec.groups[mode] == 0).collect();
        let is_new: Vec<Vec<bool>> = (0..3).map(known).collect();
        let before = model(&spec, parameters, &modes, 1000, 1e-12, PenaltyScale::Uniform);
        let folded = fold_in(before, &data, &is_new).unwrap();
        for cell in [[7, 0, 1], [7, 3, 29], [7, 2, 15]] {
            let (found, right) = (folded.predictor().cell(&cell), predictor.cell(&cell));
            assert!((found - right).abs() < 1e-4 * (1.0 + right), "tied {tied}: {found} {right}");
        }
    }
}

#[test]
fn data_without_new_labels_are_not_folded_in() {
    let spec = ModelSpec::cp(2, 1);
    let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(2))];
    let data = Observations::new(
        modes.clone(),
        vec![vec![0], vec![1]],
        vec![1.0],
        None,
        OnDuplicate::Error,
    )
    .unwrap();
    let before =
        model(&spec, Parameters::zeros(&spec, &[2, 2]), &modes, 5, 0.1, PenaltyScale::Uniform);
    let error = fold_in(before, &data, &[vec![false; 2], vec![false; 2]]).unwrap_err();
    assert!(error.to_string().contains("no label that the model does not know"), "{error}");
}

fn planted(noise: f64, observed: usize, seed: u64) -> (Planted, Observations<f64>) {
    let mut planted = Planted::new(&[40, 40, 40], 2, Some(pairwise_kernel(3)), observed, seed);
    planted.add_noise(noise, seed);
    let modes = ["a", "b", "c"].map(|name| Mode::new(name, Labels::range(40))).to_vec();
    let (indices, values) = (planted.train.clone(), planted.values.clone());
    let data = Observations::new(modes, indices, values, None, OnDuplicate::Error).unwrap();
    (planted, data)
}

#[test]
fn an_update_goes_on_to_the_optimum_of_all_data() {
    let (_, data) = planted(0.1, 2000, 3);
    let mut config = FitConfig::new(ModelSpec::quadratic(Kernel::pairwise(3), 2));
    (config.penalty, config.tolerance) = (Some(1e-4), 1e-12);
    let (old, _) = data.clone().split_random(0.3, 1).unwrap();
    let count = old.len();
    let first = fit(old, &config, &mut Silent).unwrap();
    let whole = fit(data.clone(), &config, &mut Silent).unwrap();
    let modes = data.modes().to_vec();
    let before = Model::new(first, modes, Vec::new(), "value".to_owned(), count, &config);
    let is_new = vec![vec![false; 40]; 3];
    let after = update(before, data.clone(), &is_new, &mut Silent).unwrap();
    assert_eq!(after.notes.observations, data.len());
    assert!((after.notes.train_rmse - whole.train_rmse).abs() < 1e-4 * whole.train_rmse);
}

#[test]
fn nine_of_ten_new_observations_fall_into_their_interval() {
    let (mut inside, mut count) = (0usize, 0usize);
    for seed in 0..4 {
        let (truth, data) = planted(0.3, 1500, seed);
        // Held-out cells with the same noise on them.
        let size = data.values().iter().map(|v| v * v).sum::<f64>() / data.len() as f64;
        let mut config = FitConfig::new(ModelSpec::quadratic(Kernel::pairwise(3), 2));
        (config.penalty, config.penalty_scale) = (Some(1e-4), PenaltyScale::Uniform);
        let fitted = fit(data.clone(), &config, &mut Silent).unwrap();
        let views = Views::new(data);
        let objective = Objective::new(&views, &fitted.spec, fitted.penalty, PenaltyScale::Uniform);
        let predictor = Predictor::new(&fitted.spec, &fitted.parameters);
        let intervals = Intervals::new(&objective, predictor).unwrap();
        let deviation = 0.3 * (size / 1.09).sqrt();
        assert!((intervals.noise() / deviation - 1.0).abs() < 0.1, "{}", intervals.noise());
        let mut noise = vec![0.0; truth.test_values.len()];
        quadfill_kernels::streams::fill_normal(
            &mut noise,
            &mut quadfill_kernels::streams::stream(seed, 99, 0),
        );
        for (row, noise) in noise.iter().enumerate() {
            let cell: Vec<u32> = truth.test.iter().map(|column| column[row]).collect();
            let value = truth.test_values[row] + deviation * noise;
            let error = (value - predictor.cell(&cell)).abs();
            inside += usize::from(error <= intervals.half_width(&cell, 0.9));
            count += 1;
        }
        assert_eq!(intervals.deviation(&[0, quadfill::apply::UNKNOWN, 1]), f64::INFINITY);
    }
    let share = inside as f64 / count as f64;
    assert!((0.88..=0.92).contains(&share), "{share} of {count}");
}

#[test]
fn rows_of_distances_may_be_long() {
    // More observations of one label than a thread takes at once, and no biases.
    let sizes = [150, 1, 150];
    let modes: Vec<Mode> =
        sizes.iter().map(|&n| Mode::new(format!("m{n}"), Labels::range(n))).collect();
    let column = |f: &dyn Fn(u32) -> u32| (0..20_000).map(f).collect();
    let indices = vec![column(&|i| i / 150), column(&|_| 0), column(&|i| i % 150)];
    let values = (0..20_000u32).map(|i| f64::from(i % 7)).collect();
    let data = Observations::new(modes, indices, values, None, OnDuplicate::Error).unwrap();
    let spec = ModelSpec::quadratic(Kernel::transe(3), 2);
    let views = Views::new(data);
    let objective = Objective::new(&views, &spec, 1e-6, PenaltyScale::Uniform);
    let mut parameters = Parameters::random(&spec, &sizes, 1.0, 1);
    let before = objective.value(&parameters).total();
    als::sweep(&objective, &mut parameters);
    assert!(objective.value(&parameters).total() < before);
}
