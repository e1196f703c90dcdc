//! What is drawn once for a whole fit: the perturbation, and which cells are held out.
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use quadfill::model::{Biases, Kernel, ModelSpec, Parameters};
use quadfill::objective::{HoldOut, Objective, Perturbation, Problem};
use quadfill::solve::{Choice, Event, NoObserver, Observer, Rank, Stage, als, fit};
use quadfill::views::Selection;
use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate};
use quadfill_kernels::dense;
use quadfill_testkit::{Planted, pairwise_kernel};

const SIZES: [usize; 3] = [5, 4, 6];
const ROWS: usize = 15;

/// A noisy tensor of rank 2.
fn data() -> Observations {
    let mut planted = Planted::new(&SIZES, 2, Some(pairwise_kernel(3)), 60, 3);
    planted.add_noise(0.3, 3);
    let modes = SIZES.iter().map(|&n| Mode::new(format!("m{n}"), Labels::range(n))).collect();
    Observations::new(modes, planted.train, planted.values, None, OnDuplicate::Error).unwrap()
}

fn spec(rank: usize) -> ModelSpec {
    ModelSpec::quadratic(Kernel::pairwise(3), rank)
}

/// The settings of a fit that chooses its penalty, with a perturbation.
fn perturbed() -> FitConfig {
    FitConfig { perturb: true, seed: 7, ..FitConfig::for_spec(&spec(2)) }
}

fn problem() -> Problem<f64> {
    let hold_out = HoldOut { share: 0.2, seed: 7 };
    Problem::new(data(), &spec(2), &perturbed().terms(), Some(hold_out)).unwrap()
}

/// `C` as the objective has it: from its term at vectors with one and with two ones.
fn perturbation_of(objective: &Objective<'_, f64>) -> Vec<f64> {
    let spec = objective.spec().clone();
    assert_eq!(spec.rank, 1);
    let places: Vec<(usize, usize)> =
        SIZES.iter().enumerate().flat_map(|(m, &n)| (0..n).map(move |label| (m, label))).collect();
    let term = |ones: &[usize]| {
        let mut point = Parameters::zeros(&spec, &SIZES);
        for &i in ones {
            point.row_mut(places[i].0, places[i].1)[0] = 1.0;
        }
        objective.value(&point).perturbation
    };
    let mut matrix = vec![0.0; ROWS * ROWS];
    for i in 0..ROWS {
        matrix[i * ROWS + i] = term(&[i]);
        for j in 0..i {
            let entry = 0.5 * (term(&[i, j]) - term(&[i]) - term(&[j]));
            (matrix[i * ROWS + j], matrix[j * ROWS + i]) = (entry, entry);
        }
    }
    matrix
}

#[test]
fn the_perturbation_is_the_same_on_all_data_and_on_a_part_of_them() {
    let problem = problem();
    let (all, part) = (problem.data().len(), problem.training().len());
    assert!(part < all, "something is held out");
    let point = Parameters::random(&spec(2), &SIZES, 1.0, 5);
    for penalty in [0.5, 0.01] {
        let whole = problem.objective(&spec(2), penalty);
        let training = problem.training_objective(&spec(2), penalty);
        let (x, y) = (whole.value(&point), training.value(&point));
        assert!(x.perturbation > 0.0);
        assert_eq!(x.perturbation.to_bits(), y.perturbation.to_bits());
        assert_ne!(x.data, y.data, "other data");
        let matrix = perturbation_of(&problem.objective(&spec(1), penalty));
        assert_eq!(matrix, perturbation_of(&problem.training_objective(&spec(1), penalty)));
        // It is positive semidefinite, and its norm is at most the penalty.
        let values = dense::symmetric_eigen(&matrix, ROWS).unwrap().values;
        let largest = values.iter().fold(0.0f64, |most, v| most.max(v.abs()));
        assert!(largest <= penalty * (1.0 + 1e-12), "{largest} of {penalty}");
        assert!(largest > 0.05 * penalty, "{largest} of {penalty}");
        assert!(values.iter().all(|&v| v > -1e-12 * penalty), "{values:?}");
        // And it is the one that its seed gives.
        let drawn = Perturbation::random(ROWS, penalty, 7).unwrap();
        for (i, row) in matrix.chunks_exact(ROWS).enumerate() {
            for (found, expected) in row.iter().zip(drawn.row(i)) {
                assert!((found - expected).abs() < 1e-12 * penalty);
            }
        }
    }
}

#[test]
fn the_perturbation_grows_and_shrinks_with_the_penalty() {
    let problem = problem();
    let point = Parameters::random(&spec(2), &SIZES, 1.0, 5);
    let mut objective = problem.training_objective(&spec(2), 0.8);
    let first = objective.value(&point).perturbation;
    objective.set_penalty(0.002);
    let last = objective.value(&point).perturbation;
    assert!((last / first - 0.002 / 0.8).abs() < 1e-14, "{first} {last}");
    let anew = problem.training_objective(&spec(2), 0.002).value(&point);
    assert_eq!(objective.value(&point), anew);
    objective.set_penalty(0.0);
    assert_eq!(objective.value(&point).perturbation, 0.0);
}

fn dot(x: &Parameters<f64>, y: &Parameters<f64>) -> f64 {
    x.as_slice().iter().zip(y.as_slice()).map(|(x, y)| x * y).sum()
}

#[test]
fn derivatives_have_the_perturbation_of_their_penalty() {
    let problem = problem();
    let (point, direction) = (
        Parameters::random(&spec(2), &SIZES, 1.0, 5),
        Parameters::random(&spec(2), &SIZES, 1.0, 6),
    );
    let mut objective = problem.training_objective(&spec(2), 3.0);
    for penalty in [3.0, 0.2] {
        objective.set_penalty(penalty);
        let moved = |step: f64| {
            let mut moved = point.clone();
            moved.advance(step, &direction);
            moved
        };
        let gradient = |at: &Parameters<f64>| {
            let mut gradient = at.zeros_like();
            objective.gradient_into(at, &mut gradient);
            gradient
        };
        let slope = |h: f64| {
            (objective.value(&moved(h)).total() - objective.value(&moved(-h)).total()) / (2.0 * h)
        };
        let expected = (4.0 * slope(5e-4) - slope(1e-3)) / 3.0;
        let found = dot(&gradient(&point), &direction);
        assert!((found - expected).abs() < 1e-7 * expected.abs(), "{found} {expected}");
        let mut product = point.zeros_like();
        objective.hessian_vec_into(&point, &direction, &mut product);
        let bend = |h: f64| -> Vec<f64> {
            let (up, down) = (gradient(&moved(h)), gradient(&moved(-h)));
            up.as_slice().iter().zip(down.as_slice()).map(|(u, d)| (u - d) / (2.0 * h)).collect()
        };
        let (fine, coarse) = (bend(5e-4), bend(1e-3));
        let size = dot(&product, &product).sqrt();
        for ((found, fine), coarse) in product.as_slice().iter().zip(fine).zip(coarse) {
            let expected = (4.0 * fine - coarse) / 3.0;
            assert!((found - expected).abs() < 1e-7 * size, "{found} {expected}");
        }
    }
}

/// The norm of the gradient of a fit's objective, with a perturbation so many times as large.
fn slope(
    config: &FitConfig,
    spec: &ModelSpec,
    at: &Parameters<f64>,
    penalty: f64,
    times: f64,
) -> f64 {
    let problem = Problem::<f64>::new(data(), spec, &config.terms(), None).unwrap();
    let larger = Perturbation::random(ROWS, times, config.seed).unwrap();
    let objective = problem.objective(spec, penalty).with_perturbation(Some(Arc::new(larger)));
    let mut gradient = at.zeros_like();
    objective.gradient_into(at, &mut gradient);
    dot(&gradient, &gradient).sqrt()
}

#[test]
fn a_fit_ends_with_the_perturbation_of_its_last_penalty() {
    // Chosen on held-out data, on a path down to a penalty, and columns added at one.
    let auto = FitConfig { biases: Choice::Fixed(Biases::None), tolerance: 1e-12, ..perturbed() };
    let chosen = fit::<f64>(data(), &auto, &mut NoObserver).unwrap();
    assert!(chosen.validation_rmse.is_some() && chosen.path[0].penalty > 0.05);
    let given = FitConfig { penalty: Choice::Fixed(1e-2), ..auto.clone() };
    let stairs = FitConfig { rank: Rank::default(), ..given.clone() };
    for config in [auto, given, stairs] {
        let found = fit::<f64>(data(), &config, &mut NoObserver).unwrap();
        // What is chosen on held-out data stops early.
        if !config.penalty.is_auto() {
            let at =
                |times: f64| slope(&config, &found.spec, &found.parameters, found.penalty, times);
            let (right, none, stale) = (at(1.0), at(0.0), at(chosen.path[0].penalty / 1e-2));
            assert!(right < 1e-4 * none, "{right} against {none} without a perturbation");
            assert!(right < 1e-4 * stale, "{right} against {stale} with that of the first penalty");
        }
        // The certificate is of the same objective.
        let problem = Problem::<f64>::new(data(), &found.spec, &config.terms(), None).unwrap();
        let value = problem.objective(&found.spec, found.penalty).value(&found.parameters).total();
        let certified = found.certificate.unwrap().objective;
        assert!((value - certified).abs() < 1e-12 * value, "{value} {certified}");
    }
}

/// The points of the first path that is judged on held-out data: what is in its checkpoints, and the
/// penalty of the step that led there.
#[derive(Default)]
struct FirstPath {
    stage: Option<Stage>,
    penalty: f64,
    points: Vec<(f64, Vec<u8>)>,
}

impl Observer for FirstPath {
    fn event(&mut self, event: Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Stage { stage, .. } => self.stage = Some(stage),
            Event::Step { point, .. } => self.penalty = point.penalty,
            Event::Checkpoint(checkpoint) => {
                if self.stage == Some(Stage::HoldOut(0)) {
                    self.points.push((self.penalty, checkpoint.to_bytes().unwrap()));
                }
            }
        }
        ControlFlow::Continue(())
    }
}

/// The last of the points in a checkpoint: the one that is under way.
fn last_point(bytes: &[u8], spec: &ModelSpec) -> Parameters<f64> {
    let file = safetensors::SafeTensors::deserialize(bytes).unwrap();
    let numbers = file.names().into_iter().filter_map(|name| name.split('.').nth(1)?.parse().ok());
    let last: usize = numbers.max().unwrap();
    let mut point = Parameters::zeros(spec, &SIZES);
    for (mode, &size) in SIZES.iter().enumerate() {
        let factors = file.tensor(&format!("point.{last}.factors.{mode}")).unwrap();
        assert_eq!(factors.shape(), [size, spec.rank]);
        let entries: Vec<f64> = factors
            .data()
            .chunks_exact(8)
            .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
            .collect();
        for (label, row) in entries.chunks_exact(spec.rank).enumerate() {
            point.row_mut(mode, label).copy_from_slice(row);
        }
    }
    point
}

#[test]
fn a_path_on_held_out_data_has_the_perturbation_of_each_penalty() {
    let biases = Choice::Fixed(Biases::None);
    let config = FitConfig { biases, path_steps: Choice::Fixed(60), ..perturbed() };
    let mut path = FirstPath::default();
    fit::<f64>(data(), &config, &mut path).unwrap();
    assert!(path.points.len() > 10, "{}", path.points.len());
    let hold_out = HoldOut { share: config.validation, seed: config.seed };
    let problem = Problem::<f64>::new(data(), &spec(2), &config.terms(), Some(hold_out)).unwrap();
    for pair in path.points.windows(2) {
        let [(before, from), (penalty, to)] = pair else { unreachable!("two points") };
        assert!(penalty < before);
        // One sweep of the training objective at the penalty of the step, to the last bit.
        let mut point = last_point(from, &spec(2));
        als::sweep(&problem.training_objective(&spec(2), *penalty), &mut point);
        assert_eq!(point, last_point(to, &spec(2)), "at {penalty}");
    }
}

/// A cell by its labels.
type Cell = Vec<String>;

fn cells(modes: &[Mode], selection: Selection<'_, f64>) -> BTreeSet<Cell> {
    let mut cells = BTreeSet::new();
    selection.for_each(|cell, _, _| {
        let names = cell.iter().zip(modes);
        cells.insert(names.map(|(&i, mode)| mode.labels.name(i as usize).into_owned()).collect());
    });
    cells
}

fn cells_of(data: &Observations) -> BTreeSet<Cell> {
    let row = |row: usize| -> Cell {
        let modes = data.modes().iter().enumerate();
        let names = modes.map(|(m, mode)| mode.labels.name(data.indices(m)[row] as usize));
        names.map(std::borrow::Cow::into_owned).collect()
    };
    (0..data.len()).map(row).collect()
}

/// The same observations in other orders of rows and labels: every `step`th, in turn.
fn reordered(data: &Observations, row_step: usize, label_step: usize) -> Observations {
    let order =
        |n: usize, step: usize| -> Vec<usize> { (0..n).map(|i| (i * step + 1) % n).collect() };
    let rows = order(data.len(), row_step);
    let (mut modes, mut indices) = (Vec::new(), Vec::new());
    for (at, mode) in data.modes().iter().enumerate() {
        let labels = order(mode.labels.len(), label_step);
        let names = labels.iter().map(|&label| mode.labels.name(label).into_owned());
        let names = Labels::from_names(names);
        let column = rows.iter().map(|&row| {
            let label = data.indices(at)[row] as usize;
            names.find(&mode.labels.name(label)).unwrap()
        });
        indices.push(column.collect());
        modes.push(Mode::new(mode.name.clone(), names));
    }
    let values = rows.iter().map(|&row| data.values()[row]).collect();
    Observations::new(modes, indices, values, None, OnDuplicate::Error).unwrap()
}

/// 17 x 13 labels, whole numbers and texts, of which two thirds of the cells are there.
fn named() -> Observations {
    let ids = Labels::from_integers((0..17).map(|i| 7 * i - 20).collect());
    let words = Labels::from_names((0..13).map(|i| format!("word {}", (i * 5) % 13)));
    let modes = vec![Mode::new("id", ids), Mode::new("word", words)];
    let kept: Vec<(u32, u32)> = (0..17u32)
        .flat_map(|i| (0..13u32).map(move |j| (i, j)))
        .filter(|(i, j)| (i * 31 + j * 17) % 3 != 0)
        .collect();
    let indices = vec![kept.iter().map(|c| c.0).collect(), kept.iter().map(|c| c.1).collect()];
    let values = kept.iter().map(|&(i, j)| {
        let noise = f64::from((i * 7919 + j * 104_729) % 101) / 50.0;
        f64::from(i) * f64::from(j) / 20.0 + noise
    });
    Observations::new(modes, indices, values.collect(), None, OnDuplicate::Error).unwrap()
}

#[test]
fn labels_and_seed_decide_what_is_held_out() {
    let data = named();
    let spec = ModelSpec::quadratic(Kernel::pairwise(2), 2);
    let config = FitConfig::for_spec(&spec);
    let parts = |data: &Observations, seed: u64| {
        let hold_out = HoldOut { share: config.validation, seed };
        let problem =
            Problem::<f64>::new(data.clone(), &spec, &config.terms(), Some(hold_out)).unwrap();
        let all = cells(data.modes(), problem.data());
        let training = cells(data.modes(), problem.training());
        let held: BTreeSet<Cell> = all.difference(&training).cloned().collect();
        assert_eq!(all, cells_of(data));
        assert_eq!(training.len() + held.len(), all.len());
        (training, held)
    };
    let (training, held) = parts(&data, 3);
    assert!((5..30).contains(&held.len()), "{}", held.len());
    assert_ne!(parts(&data, 4).1, held, "another seed");
    let split = |data: &Observations| {
        let (training, held) = data.clone().split_random(config.validation, 3).unwrap();
        (cells_of(&training), cells_of(&held))
    };
    assert_eq!(split(&data), (training.clone(), held.clone()));
    for (row_step, label_step) in [(5, 1), (1, 3), (11, 6)] {
        let other = reordered(&data, row_step, label_step);
        assert_eq!(cells_of(&other), cells_of(&data));
        assert_ne!(other.indices(1), data.indices(1));
        assert_eq!(parts(&other, 3), (training.clone(), held.clone()));
        assert_eq!(split(&other), (training.clone(), held.clone()));
    }
}

#[test]
fn a_fit_by_hold_out_does_not_depend_on_any_order() {
    let data = named();
    let config = FitConfig::for_spec(&ModelSpec::quadratic(Kernel::pairwise(2), 2));
    let whole = quadfill::fit(data.clone(), &config).unwrap();
    let error = whole.summary().validation_rmse.unwrap();
    // Rows that are sorted anew are the same bits; labels in another order are summed in another one.
    let rows = {
        let (modes, mut indices, mut values, _) = data.clone().into_parts();
        for column in &mut indices {
            column.reverse();
        }
        values.reverse();
        Observations::new(modes, indices, values, None, OnDuplicate::Error).unwrap()
    };
    let sorted = quadfill::fit(rows, &config).unwrap();
    assert_eq!(sorted.to_bytes().unwrap(), whole.to_bytes().unwrap());
    let labels = quadfill::fit(reordered(&data, 5, 3), &config).unwrap();
    let other = labels.summary().validation_rmse.unwrap();
    assert!((other / error - 1.0).abs() < 1e-6, "{other} {error}");
}
