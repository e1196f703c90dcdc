//! New labels, more data, zeros and noise, against references.
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod common;
mod models;

use std::ops::ControlFlow;

use common::{Problem, problems};
use models::Parts;
use proptest::prelude::*;
use quadfill::apply::Intervals;
use quadfill::model::{Biases, Kernel, ModelSpec, Parameters, Predictor, UNKNOWN};
use quadfill::objective::{Objective, PenaltyScale};
use quadfill::solve::{Choice, Event, NoObserver, Observer, Solver, Status, als, fit};
use quadfill::views::Views;
use quadfill::{FitConfig, Labels, Mode, Model, Observations, OnDuplicate};
use quadfill_testkit::{Planted, pairwise_kernel};

fn model(
    spec: &ModelSpec,
    parameters: Parameters<f64>,
    modes: &[Mode],
    observations: usize,
    penalty: f64,
    scale: PenaltyScale,
) -> Parts<f64> {
    let mut parts = Parts::new(spec, modes.to_vec(), parameters);
    let config = &mut parts.summary.config;
    (config.penalty, config.penalty_scale) = (Choice::Fixed(penalty), Choice::Fixed(scale));
    config.biases = Choice::Fixed(spec.biases);
    (parts.summary.penalty, parts.summary.observations) = (penalty, observations);
    parts
}

/// The model without one of its rows, which several modes may share.
fn forget(parts: Parts<f64>, group: usize, label: usize) -> Model {
    let Parts { spec, modes, source, summary, parameters: all, posterior } = parts;
    let modes: Vec<Mode> = modes
        .iter()
        .zip(&spec.groups)
        .map(|(mode, &of_mode)| {
            let kept = (0..mode.labels.len()).filter(|&l| of_mode != group || l != label);
            mode.with_labels(Labels::from_integers(kept.map(|l| l as i64).collect()))
        })
        .collect();
    let sizes: Vec<usize> = modes.iter().map(|mode| mode.labels.len()).collect();
    let mut parameters = Parameters::zeros(&spec, &sizes);
    parameters.mean = all.mean;
    for (at, &rows) in all.layout().rows().iter().enumerate() {
        for (to, from) in (0..rows).filter(|&l| at != group || l != label).enumerate() {
            parameters.row_mut(at, to).copy_from_slice(all.row(at, from));
            if all.layout().has_biases() {
                parameters.set_bias(at, to, all.bias(at, from));
            }
        }
    }
    Parts { spec, modes, source, summary, parameters, posterior }.model()
}

/// The problem without what makes rows depend on each other or on a second step.
fn linear(mut problem: Problem) -> Problem {
    (problem.diagonal, problem.tied) = (false, false);
    (problem.incoherent, problem.perturbed) = (false, false);
    // A new row is drawn to the centre of the others, which an update of all rows is not.
    problem.centred = false;
    problem
}

/// Ends a fit after so many steps.
struct Steps(usize);

impl Observer for Steps {
    fn event(&mut self, event: Event<'_>) -> ControlFlow<()> {
        if let Event::Step { done, .. } = event
            && done == self.0
        {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_folded_row_is_the_row_of_an_als_update_bit_for_bit(problem in problems(), mode in 0..2usize) {
        let problem = linear(problem);
        let (spec, data) = (problem.spec(), problem.data());
        let label = data.indices(mode)[0] as usize;
        let point = problem.point(3);
        let views = Views::new(data.clone());
        let rows: usize = problem.sizes.iter().sum();
        let objective = problem.objective(&views).scaled_as(data.len(), rows - 1);
        // A new row begins at zero.
        let mut expected = point.clone();
        expected.row_mut(mode, label).fill(0.0);
        if expected.layout().has_biases() {
            expected.set_bias(mode, label, 0.0);
        }
        als::update_group(&objective, &mut expected, mode);
        let before = model(&spec, point.clone(), data.modes(), data.len(), 0.03, problem.scale);
        let folded = forget(before, mode, label).fold_in(data.clone()).unwrap();
        prop_assert_eq!(folded.mean(), point.mean);
        for group in 0..problem.sizes.len() {
            prop_assert_eq!(folded.modes()[group].labels.len(), problem.sizes[group]);
            let (factors, biases) = (folded.factors(group), folded.biases(group));
            prop_assert_eq!(biases.is_some(), spec.biases == Biases::Modes);
            for l in 0..problem.sizes[group] {
                let moved = group == mode && l == label;
                let from = if moved { &expected } else { &point };
                prop_assert_eq!(&factors[l * spec.rank..][..spec.rank], from.row(group, l));
                let bias = biases.as_ref().map_or(0.0, |biases| biases[l]);
                prop_assert_eq!(bias, from.bias(group, l));
            }
        }
    }

    #[test]
    fn implicit_zeros_are_zeros_that_were_written_down(problem in problems(), weight in 0.01..0.5f64) {
        let mut problem = linear(problem);
        (problem.biases, problem.weighted) = (Biases::None, false);
        problem.scale = PenaltyScale::Uniform;
        let (spec, data) = (problem.spec(), problem.data());
        let cells: usize = problem.sizes.iter().product();
        let count = data.len();
        let begin = |implicit: Option<f64>, penalty: f64| {
            let start = problem.point(4);
            let mut parts = model(&spec, start, data.modes(), count, penalty, problem.scale);
            parts.summary.config.solver = Solver::Als;
            (parts.summary.config.implicit, parts.summary.config.tolerance) = (implicit, 0.0);
            parts.model()
        };
        let implicit =
            begin(Some(weight), 0.05).update_with(data.clone(), &mut Steps(3)).unwrap();
        prop_assert_eq!((implicit.summary().status, implicit.summary().sweeps), (Status::Interrupted, 3));
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
        let explicit = begin(None, 0.05 * count as f64 / cells as f64);
        let explicit = explicit.update_with(dense, &mut Steps(3)).unwrap();
        for mode in 0..problem.sizes.len() {
            for (x, y) in implicit.factors(mode).iter().zip(explicit.factors(mode)) {
                prop_assert!((x - y).abs() < 1e-6 * (1.0 + y.abs()), "{x} {y}");
            }
        }
        let (implicit, explicit) = (implicit.summary(), explicit.summary());
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
        let before = model(&spec, truth.clone(), &modes, 1000, 1e-12, PenaltyScale::Uniform);
        let folded = forget(before, 0, 7).fold_in(data).unwrap();
        for cell in [[7, 0, 1], [7, 3, 29], [7, 2, 15]] {
            let (found, right) = (folded.predict_cell(&cell), predictor.cell(&cell));
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
    let error = before.model().fold_in(data).unwrap_err();
    assert!(error.to_string().contains("no label that the model does not know"), "{error}");
}

fn planted(noise: f64, observed: usize, seed: u64) -> (Planted, Observations) {
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
    let mut config = FitConfig::for_spec(&ModelSpec::quadratic(Kernel::pairwise(3), 2));
    (config.penalty, config.tolerance) = (Choice::Fixed(1e-4), 1e-12);
    let (old, _) = data.clone().split_random(0.3, 1).unwrap();
    let before = quadfill::fit(old, &config).unwrap();
    let whole = quadfill::fit(data.clone(), &config).unwrap();
    let after = before.update(data.clone()).unwrap();
    assert_eq!(after.summary().observations, data.len());
    let (after, whole) = (after.summary().train_rmse, whole.summary().train_rmse);
    assert!((after - whole).abs() < 1e-4 * whole);
}

#[test]
fn nine_of_ten_new_observations_fall_into_their_interval() {
    let (mut inside, mut count) = (0usize, 0usize);
    for seed in 0..4 {
        let (truth, data) = planted(0.3, 1500, seed);
        // Held-out cells with the same noise on them.
        let size = data.values().iter().map(|v| v * v).sum::<f64>() / data.len() as f64;
        let mut config = FitConfig::for_spec(&ModelSpec::quadratic(Kernel::pairwise(3), 2));
        config.penalty = Choice::Fixed(1e-4);
        config.penalty_scale = Choice::Fixed(PenaltyScale::Uniform);
        let fitted = fit::<f64>(data.clone(), &config, &mut NoObserver).unwrap();
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
        assert_eq!(intervals.deviation(&[0, UNKNOWN, 1]), f64::INFINITY);
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
    let views = Views::<f64>::new(data);
    let objective = Objective::new(&views, &spec, 1e-6, PenaltyScale::Uniform);
    let mut parameters = Parameters::random(&spec, &sizes, 1.0, 1);
    let before = objective.value(&parameters).total();
    als::sweep(&objective, &mut parameters);
    assert!(objective.value(&parameters).total() < before);
}
