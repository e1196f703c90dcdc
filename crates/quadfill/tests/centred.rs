//! Centred CP: its path, its minimum by every solver, its file, its new rows.
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

#[path = "common/keeper.rs"]
mod keeper;

use keeper::Keeper;
use quadfill::model::{Biases, ModelKind, ModelSpec, UNKNOWN};
use quadfill::objective::{Objective, PenaltyScale};
use quadfill::solve::{
    Als, Choice, GaussNewton, GradientDescent, Lbfgs, NoObserver, Rank, Sampling, Solver, Status,
    Step, fit, resume, start,
};
use quadfill::views::Views;
use quadfill::{FitConfig, Labels, Mode, Model, Observations, OnDuplicate};
use quadfill_kernels::streams;
use safetensors::SafeTensors;

const SIZES: [usize; 3] = [14, 12, 10];

/// A positive tensor, mostly biases and pairs, at some cells and with noise.
fn data(count: usize, seed: u64) -> Observations {
    cells((0..SIZES.iter().product()).collect(), count, seed)
}

fn truth(cell: [usize; 3]) -> f64 {
    let wave = |mode: usize, phase: f64| {
        let angle = cell[mode] as f64 / SIZES[mode] as f64 * 3.0 + phase;
        1.0 + 0.4 * angle.sin()
    };
    3.0 * wave(0, 0.0) * wave(1, 1.0) * wave(2, 2.0) + wave(0, 2.0) * wave(1, 0.5)
}

fn cells(mut cells: Vec<usize>, count: usize, seed: u64) -> Observations {
    let mut noise = vec![0.0; cells.len()];
    streams::fill_normal(&mut noise, &mut streams::stream(seed, 1, 0));
    // A fixed shuffle: by the noise of each cell.
    cells.sort_by(|&x, &y| noise[x % noise.len()].total_cmp(&noise[y % noise.len()]));
    cells.truncate(count);
    let split = |cell: usize| [cell / 120, cell / 10 % 12, cell % 10];
    let mut draws = vec![0.0; cells.len()];
    streams::fill_normal(&mut draws, &mut streams::stream(seed, 2, 0));
    let values = cells.iter().zip(draws).map(|(&cell, z)| truth(split(cell)) + 0.1 * z).collect();
    let columns = (0..3).map(|mode| cells.iter().map(|&cell| split(cell)[mode] as u32).collect());
    let modes = ["a", "b", "c"].into_iter().zip(SIZES);
    let modes = modes.map(|(name, n)| Mode::new(name, Labels::range(n))).collect();
    Observations::new(modes, columns.collect(), values, None, OnDuplicate::Error).unwrap()
}

fn config() -> FitConfig {
    FitConfig {
        model: ModelKind::Cp,
        rank: Rank::Fixed(4),
        centre: Choice::Fixed(true),
        seed: 3,
        ..FitConfig::default()
    }
}

/// The error over all cells, relative to the spread of the truth.
fn error(predict: impl Fn(&[u32]) -> f64) -> f64 {
    let cells = (0..1680).map(|cell| [cell / 120, cell / 10 % 12, cell % 10]);
    let mean = cells.clone().map(truth).sum::<f64>() / 1680.0;
    let (mut left, mut whole) = (0.0, 0.0);
    for cell in cells {
        left += (predict(&cell.map(|label| label as u32)) - truth(cell)).powi(2);
        whole += (mean - truth(cell)).powi(2);
    }
    (left / whole).sqrt()
}

#[test]
fn few_cells_are_enough_where_biases_and_pairs_say_most() {
    let plain = FitConfig { centre: Choice::Fixed(false), ..config() };
    let auto = FitConfig { solver: Solver::Path, centre: Choice::Auto, ..config() };
    let errors = [config(), plain, auto].map(|config| {
        let fit = fit::<f64>(data(150, 5), &config, &mut NoObserver).unwrap();
        assert_eq!(fit.status, Status::Validated);
        (fit.spec.centred, error(|cell| fit.predictor().cell(cell)))
    });
    let [(centred, error), (plain_centred, plain), (chosen, auto)] = errors;
    assert!(centred && !plain_centred && chosen, "{errors:?}");
    assert!(error < 0.15 && error < plain && auto == error, "{errors:?}");
}

#[test]
fn data_without_a_mean_keep_biases_apart() {
    let (modes, columns, values, _) = data(600, 5).into_parts();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let values = values.into_iter().map(|value| value - mean).collect();
    let data = Observations::new(modes, columns, values, None, OnDuplicate::Error).unwrap();
    let fit = fit::<f64>(data, &config(), &mut NoObserver).unwrap();
    assert!(fit.spec.centred && fit.spec.biases != Biases::None);
    assert!(error(|cell| fit.predictor().cell(cell) + mean) < 0.2);
}

#[test]
fn all_solvers_reach_the_same_minimum() {
    let views = Views::new(data(900, 5));
    let spec = ModelSpec::cp(3, 2).with_biases(Biases::Modes).with_centre(true);
    for scale in [PenaltyScale::Uniform, PenaltyScale::Count] {
        let objective = Objective::new(&views, &spec, 0.05, scale);
        let solvers: [(Box<dyn Step<f64>>, usize); 4] = [
            (Box::new(Als), 4000),
            (Box::new(GradientDescent::new(None)), 20_000),
            (Box::new(Lbfgs::new()), 2000),
            (Box::new(GaussNewton::new()), 100),
        ];
        // From the same neighbourhood, since CP may have several minima.
        let mut begin = start::random(&spec, views.all(), 3);
        for _ in 0..100 {
            Als.step(&objective, &mut begin);
        }
        let values = solvers.map(|(mut solver, steps)| {
            let mut point = begin.clone();
            for _ in 0..steps {
                if solver.step(&objective, &mut point).stuck {
                    break;
                }
            }
            objective.value(&point).total()
        });
        for value in values {
            assert!((value / values[0] - 1.0).abs() < 1e-6, "{values:?}");
        }
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    for penalty in [Choice::Auto, Choice::Fixed(0.01)] {
        let config = FitConfig { penalty, centre: Choice::Fixed(true), ..config() };
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| fit::<f64>(data(500, 1), &config, &mut NoObserver).unwrap())
        };
        let one = run(1);
        for threads in [2, 4] {
            assert_eq!(run(threads).parameters, one.parameters, "{threads} threads");
        }
    }
}

#[test]
fn a_choice_between_centre_and_none_resumes_anywhere() {
    let config = FitConfig { rank: Rank::Auto { max: Some(4) }, centre: Choice::Auto, ..config() };
    let mut keeper = Keeper::every(1);
    let whole = fit::<f64>(data(250, 2), &config, &mut keeper).unwrap();
    let step = (keeper.kept.len() / 15).max(1);
    for (_, bytes) in keeper.kept.iter().step_by(step) {
        let resumed = resume::<f64>(data(250, 2), &config, bytes, &mut NoObserver).unwrap();
        assert_eq!(resumed.parameters, whole.parameters);
        assert_eq!((resumed.spec, resumed.sweeps), (whole.spec.clone(), whole.sweeps));
    }
}

#[test]
fn a_stored_model_keeps_its_centre() {
    let model = quadfill::fit(data(500, 2), &config()).unwrap();
    let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert!(again.spec().centred);
    assert_eq!(again.summary().config.centre, Choice::Fixed(true));
    let data = data(500, 2);
    assert_eq!(
        again.half_widths(&[&[0], &[0], &[0]], 0.9, Some(data.clone())).unwrap(),
        model.half_widths(&[&[0], &[0], &[0]], 0.9, Some(data)).unwrap()
    );
}

/// The mean of the truth over the labels of the first mode, of the first two, or of all.
fn mean_truth(b: Option<usize>, c: Option<usize>) -> f64 {
    let mut values = Vec::new();
    for a in 0..SIZES[0] {
        for b in b.map_or(0..SIZES[1], |b| b..b + 1) {
            values.extend(c.map_or(0..SIZES[2], |c| c..c + 1).map(|c| truth([a, b, c])));
        }
    }
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn unknown_labels_are_predicted_by_the_centre() {
    let model = quadfill::fit(data(1200, 2), &config()).unwrap();
    for (b, c) in [(Some(0), Some(0)), (Some(5), Some(9)), (None, Some(3)), (None, None)] {
        let label = |at: Option<usize>| at.map_or(UNKNOWN, |at| at as u32);
        let predicted = model.predict_cell(&[UNKNOWN, label(b), label(c)]);
        // The penalty on a centre makes it smaller than the mean of the rows, as one row at zero would.
        let known = [None, b, c];
        let sizes = known.iter().zip(SIZES).filter(|(label, _)| label.is_none());
        let shrinkage: f64 = sizes.map(|(_, n)| n as f64 / (n + 1) as f64).product();
        let mean = shrinkage * mean_truth(b, c);
        assert!((predicted / mean - 1.0).abs() < 0.1, "{predicted} for about {mean}");
    }
    // An unknown label counts in evaluations, and ranks as the others would.
    let mode = |name, n| Mode::new(name, Labels::range(n));
    let modes =
        vec![Mode::new("a", Labels::from_names(["new"])), mode("b", SIZES[1]), mode("c", SIZES[2])];
    let columns = vec![vec![0; 12], (0..12).collect(), vec![4; 12]];
    let values: Vec<f64> = (0..12).map(|b| mean_truth(Some(b), Some(4))).collect();
    let test = Observations::new(modes, columns, values.clone(), None, OnDuplicate::Error).unwrap();
    let evaluation = model.evaluate(&test).unwrap();
    assert_eq!(evaluation.unknown, 12);
    assert!(evaluation.rmse < 0.15 * mean_truth(None, None), "{}", evaluation.rmse);
    let best = model.ranker(1).top(&[UNKNOWN, UNKNOWN, 4], 1, &[])[0];
    let largest = values.iter().copied().fold(f64::MIN, f64::max);
    assert!(values[best.label as usize] > 0.95 * largest, "{best:?} of {values:?}");
}

#[test]
fn a_stored_model_keeps_its_centres_and_an_older_one_finds_them() {
    let scaled = FitConfig { penalty_scale: Choice::Fixed(PenaltyScale::Count), ..config() };
    for config in [config(), scaled] {
        let model = quadfill::fit(data(500, 2), &config).unwrap();
        let bytes = model.to_bytes().unwrap();
        let cells = [[UNKNOWN, 3, 4], [UNKNOWN, UNKNOWN, 1]];
        let again = Model::from_bytes(&bytes).unwrap();
        for cell in cells {
            assert_eq!(again.predict_cell(&cell), model.predict_cell(&cell));
        }
        // Without the tensors, as they were written before there were any.
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
        let tensors = file.tensors().into_iter().filter(|(name, _)| !name.starts_with("centre."));
        let older = safetensors::serialize(tensors, header.metadata().clone()).unwrap();
        assert!(older.len() < bytes.len());
        let older = Model::from_bytes(&older).unwrap();
        for cell in cells {
            let (now, before) = (older.predict_cell(&cell), model.predict_cell(&cell));
            assert!((now / before - 1.0).abs() < 0.05, "{now} instead of {before}");
            assert_eq!(older.predict_cell(&[2, 3, 4]), model.predict_cell(&[2, 3, 4]));
        }
    }
}

#[test]
fn an_update_keeps_the_centre_that_was_chosen() {
    let auto = FitConfig { solver: Solver::Path, centre: Choice::Auto, ..config() };
    let model = quadfill::fit(data(150, 5), &auto).unwrap();
    assert!(model.spec().centred);
    let updated = model.update(data(200, 5)).unwrap();
    assert!(updated.spec().centred);
    assert!(updated.predict_cell(&[UNKNOWN, 3, 4]) > 0.0);
}

#[test]
fn new_rows_are_drawn_to_the_centre_of_the_known_ones() {
    let model = quadfill::fit(data(900, 2), &config()).unwrap();
    let modes = || {
        let mode = |name, n| Mode::new(name, Labels::range(n));
        vec![Mode::new("a", Labels::from_names(["new"])), mode("b", 12), mode("c", 10)]
    };
    // One cell that a row near the centre already explains.
    let mean: f64 = (0..14).map(|a| truth([a, 3, 4])).sum::<f64>() / 14.0;
    let columns = vec![vec![0], vec![3], vec![4]];
    let one = Observations::new(modes(), columns, vec![mean], None, OnDuplicate::Error).unwrap();
    let folded = model.fold_in(one).unwrap();
    for (b, c) in [(0, 0), (5, 9), (11, 2)] {
        let mean: f64 = (0..14).map(|a| truth([a, b, c])).sum::<f64>() / 14.0;
        let (b, c) = (b.to_string(), c.to_string());
        let predicted = folded.predict(&["new", b.as_str(), c.as_str()]).unwrap();
        assert!((predicted / mean - 1.0).abs() < 0.15, "{predicted} for about {mean}");
    }
}

#[test]
fn a_centre_is_refused_where_there_is_none() {
    let message = |config: FitConfig| config.check().unwrap_err().to_string();
    let quadratic = FitConfig { model: ModelKind::Pairwise, ..config() };
    assert!(message(quadratic).contains("`centre` is for CP only"));
    let penalty = Choice::Fixed(1e-3);
    let implicit = FitConfig { implicit: Some(1.0), penalty, ..config() };
    assert!(message(implicit).contains("leave `centre` out"));
    let sampled = FitConfig { solver: Solver::Gibbs(Sampling::default()), ..config() };
    assert!(message(sampled).contains("leave `centre` out"));
}
