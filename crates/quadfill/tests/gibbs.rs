//! The posterior sampler, from data to intervals.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::path::Path;

use quadfill::apply::{DrawIntervals, Predictor, UNKNOWN};
use quadfill::file::{Fingerprint, Model, load_checkpoint, parse_checkpoint, save_checkpoint};
use quadfill::model::{Kernel, ModelSpec, Offsets, Parameters};
use quadfill::solve::{
    Event, Fit, FitConfig, Observer, Sampling, Silent, Solver, Status, fit, resume,
};
use quadfill::{Labels, Mode, Observations, OnDuplicate, Real};
use quadfill_kernels::streams::{fill_normal, stream};
use rand::RngExt;

const SIZES: [usize; 3] = [30, 25, 20];

fn modes() -> Vec<Mode> {
    ["a", "b", "c"].iter().zip(SIZES).map(|(n, size)| Mode::new(*n, Labels::range(size))).collect()
}

/// Noisy cells of a planted model: those to learn from, and others.
struct Planted<T> {
    data: Observations<T>,
    cells: Vec<Vec<u32>>,
    values: Vec<f64>,
}

fn planted<T: Real>(spec: &ModelSpec, count: usize, noise: f64, seed: u64) -> Planted<T> {
    let mut truth = Parameters::<f64>::random(spec, &SIZES, 0.8, seed);
    truth.mean = 3.0;
    let predictor = Predictor::new(spec, &truth);
    let mut rng = stream(seed, 77, 0);
    let mut order: Vec<u32> = (0..SIZES.iter().product::<usize>() as u32).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
    let mut errors = vec![0.0; 2 * count];
    fill_normal(&mut errors, &mut rng);
    let (mut cells, mut values) = (vec![Vec::new(); 3], Vec::new());
    for (&at, error) in order.iter().zip(&errors) {
        let at = at as usize;
        let labels = [at / SIZES[2] / SIZES[1], at / SIZES[2] % SIZES[1], at % SIZES[2]];
        let labels = labels.map(|label| label as u32);
        for (column, label) in cells.iter_mut().zip(labels) {
            column.push(label);
        }
        values.push(predictor.cell(&labels) + noise * error);
    }
    let train = cells.iter().map(|column| column[..count].to_vec()).collect();
    let known = values[..count].iter().map(|&v| T::from_f64(v)).collect();
    Planted {
        data: Observations::new(modes(), train, known, None, OnDuplicate::Error).unwrap(),
        cells: cells.iter().map(|column| column[count..].to_vec()).collect(),
        values: values[count..].to_vec(),
    }
}

fn pairwise() -> ModelSpec {
    ModelSpec::quadratic(Kernel::pairwise(3), 2)
}

fn config(spec: ModelSpec, sampling: Sampling) -> FitConfig {
    FitConfig { solver: Solver::Gibbs(sampling), ..FitConfig::new(spec) }
}

const SHORT: Sampling = Sampling { burn_in: 3, samples: 8, thin: Some(2), chains: 2 };

fn model<T: Real>(fitted: Fit<T>, config: &FitConfig) -> Model<T> {
    Model::new(fitted, modes(), Vec::new(), "value".to_owned(), 1, config)
}

#[test]
fn nine_of_ten_new_observations_fall_into_their_interval() {
    let (mut inside, mut count) = (0usize, 0usize);
    let sampling = Sampling { burn_in: 60, samples: 120, thin: Some(2), chains: 1 };
    for seed in 0..4 {
        let planted = planted::<f64>(&pairwise(), 1000, 0.5, seed);
        let config = config(pairwise(), sampling);
        let fitted = fit(planted.data, &config, &mut Silent).unwrap();
        assert_eq!((fitted.status, fitted.rank()), (Status::Sampled, 2));
        let posterior = fitted.posterior.as_ref().unwrap();
        assert_eq!(posterior.draws().len(), 60);
        let intervals = DrawIntervals::new(fitted.predictor(), posterior);
        for (row, value) in planted.values.iter().enumerate() {
            let cell: Vec<u32> = planted.cells.iter().map(|column| column[row]).collect();
            let error = (value - fitted.predictor().cell(&cell)).abs();
            inside += usize::from(error <= intervals.half_width(&cell, 0.9));
            count += 1;
        }
        let known = intervals.half_width(&[1, 2, 3], 0.9);
        let unknown = intervals.half_width(&[1, UNKNOWN, 3], 0.9);
        assert!(unknown.is_finite() && unknown > known, "{unknown} and {known}");
    }
    let share = inside as f64 / count as f64;
    assert!((0.88..=0.92).contains(&share), "{share} of {count}");
}

/// Asks for the predictions of some cells.
struct Asks<'a>(&'a [Vec<u32>]);

impl<T: Real> Observer<T> for Asks<'_> {
    fn cells(&self) -> &[Vec<u32>] {
        self.0
    }
}

#[test]
fn running_means_are_those_of_all_draws() {
    for (spec, offsets) in [(pairwise(), Offsets::Modes), (ModelSpec::cp(3, 2), Offsets::Mean)] {
        let planted = planted::<f64>(&spec, 600, 0.3, 1);
        let sampling = Sampling { thin: Some(1), ..SHORT };
        let mut config = config(spec, sampling);
        config.offsets = Some(offsets);
        let mut cells = planted.cells.clone();
        cells[1][0] = UNKNOWN;
        let fitted = fit(planted.data, &config, &mut Asks(&cells)).unwrap();
        let posterior = fitted.posterior.as_ref().unwrap();
        let columns: Vec<&[u32]> = cells.iter().map(Vec::as_slice).collect();
        let kept = fitted.predictor().cells(&columns);
        for (mean, kept) in posterior.cell_means.as_ref().unwrap().iter().zip(kept) {
            assert!((mean - kept).abs() < 1e-5, "{mean} and {kept}");
        }
    }
}

fn on_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

#[test]
fn threads_make_no_difference() {
    for spec in [pairwise(), ModelSpec::cp(3, 2)] {
        let config = config(spec.clone(), SHORT);
        let run = |threads| {
            let data = planted::<f32>(&spec, 600, 0.3, 2).data;
            on_threads(threads, || fit(data, &config, &mut Silent).unwrap())
        };
        let one = run(1);
        for threads in [2, 4] {
            let other = run(threads);
            assert_eq!(one.parameters, other.parameters);
            assert_eq!(one.posterior, other.posterior);
        }
        let mut other = config.clone();
        other.seed += 1;
        let data = planted::<f32>(&spec, 600, 0.3, 2).data;
        assert_ne!(fit(data, &other, &mut Silent).unwrap().parameters, one.parameters);
    }
}

/// Keeps the checkpoint of one step.
struct Keep<'a> {
    path: &'a Path,
    fingerprint: &'a Fingerprint,
    cells: &'a [Vec<u32>],
    wait: usize,
}

impl<T: Real> Observer<T> for Keep<'_> {
    fn event(&mut self, event: Event<'_, T>) {
        if let Event::Checkpoint(progress) = event {
            if self.wait == 0 {
                save_checkpoint(self.path, self.fingerprint, progress).unwrap();
            }
            self.wait = self.wait.wrapping_sub(1);
        }
    }

    fn cells(&self) -> &[Vec<u32>] {
        self.cells
    }
}

#[test]
fn a_fit_resumes_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.checkpoint");
    let planted = planted::<f32>(&pairwise(), 600, 0.3, 3);
    let config = config(pairwise(), SHORT);
    let fingerprint = Fingerprint::new(&planted.data, &config);
    for wait in [0, 4, 9] {
        let mut keep = Keep { path: &path, fingerprint: &fingerprint, cells: &planted.cells, wait };
        let whole = fit(planted.data.clone(), &config, &mut keep).unwrap();
        let load = || load_checkpoint::<f32>(&path, &fingerprint, &SIZES).unwrap();
        let resumed = resume(planted.data.clone(), &config, load(), &mut Asks(&planted.cells));
        let resumed = resumed.unwrap();
        assert_eq!(resumed.parameters, whole.parameters);
        assert_eq!(resumed.posterior, whole.posterior);
        assert_eq!(resumed.sweeps, whole.sweeps);
        let error = resume(planted.data.clone(), &config, load(), &mut Silent).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the checkpoint has the running means of other test data: resume with the same --test, or \
             run the fit without --resume"
        );
    }
    // A flipped bit is noticed, or makes no difference.
    let sound = std::fs::read(&path).unwrap();
    let parse = |bytes: &[u8]| parse_checkpoint::<f32>(bytes, &fingerprint, &SIZES);
    let state = parse(&sound).unwrap();
    for at in (0..sound.len()).step_by(97) {
        let mut broken = sound.clone();
        broken[at] ^= 0x10;
        assert!(parse(&broken).map_or(true, |found| found == state), "byte {at}");
    }
}

#[test]
fn a_model_of_draws_comes_back_as_it_was() {
    for offsets in [Offsets::None, Offsets::Modes] {
        let planted = planted::<f64>(&pairwise(), 600, 0.3, 4);
        let mut config = config(pairwise(), SHORT);
        config.offsets = Some(offsets);
        let before = model(fit(planted.data, &config, &mut Silent).unwrap(), &config);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        before.save(&path).unwrap();
        let after = Model::load(&path).unwrap();
        assert_eq!((after.rank(), after.notes.draws), (2, Some(8)));
        assert_eq!(after.parameters, before.parameters);
        assert_eq!(after.posterior, before.posterior);
    }
}

#[test]
fn what_cannot_be_sampled_is_refused_with_the_fix() {
    let sound = || config(pairwise(), Sampling::default());
    let check = |config: FitConfig| config.check(&[9, 9, 9]).unwrap_err().to_string();
    assert!(sound().check(&[9, 9, 9]).is_ok());
    let mut with_penalty = sound();
    with_penalty.penalty = Some(0.1);
    assert!(check(with_penalty).ends_with("leave --penalty out"));
    let tied = config(pairwise().with_tied(&[0, 2]), Sampling::default());
    assert!(check(tied).ends_with("leave --tie out"));
    let transe = config(ModelSpec::quadratic(Kernel::transe(3), 2), Sampling::default());
    assert!(check(transe).contains("zeros on the diagonal"));
    let none = config(pairwise(), Sampling { thin: Some(301), ..Sampling::default() });
    assert!(check(none).ends_with("choose a smaller one"));
    let wide = config(pairwise().with_rank(100), Sampling { thin: Some(1), ..Sampling::default() });
    assert!(check(wide).contains("more than 4096 columns"));
}

/// The planted values in other units.
fn scaled(scale: f64) -> Observations<f64> {
    let (modes, indices, values, weights) =
        planted::<f64>(&pairwise(), 600, 0.3, 6).data.into_parts();
    let values = values.iter().map(|value| value * scale).collect();
    Observations::new(modes, indices, values, weights, OnDuplicate::Error).unwrap()
}

#[test]
fn units_make_no_difference_and_values_of_any_size_no_panic() {
    let config = config(pairwise(), SHORT);
    let run = |scale: f64| fit(scaled(scale), &config, &mut Silent).unwrap();
    let plain = run(1.0).predictor().cell(&[1, 2, 3]);
    for scale in [1e-6, 1e5] {
        let found = run(scale).predictor().cell(&[1, 2, 3]);
        assert!((found / scale - plain).abs() < 1e-4 * plain.abs(), "{found} and {plain}");
    }
    let folder = tempfile::tempdir().unwrap();
    for scale in [0.0, 1e-300, 1e-160, 1e160, 1e300] {
        let path = folder.path().join("model");
        // Either it can be opened again, or it was refused.
        if model(run(scale), &config).save(&path).is_ok() {
            Model::load(&path).unwrap();
        }
    }
}

#[test]
fn a_time_limit_leaves_what_there_is() {
    let planted = planted::<f64>(&pairwise(), 600, 0.3, 5);
    let mut config = config(pairwise(), Sampling { burn_in: 1_000_000, ..Sampling::default() });
    config.time_limit = Some(1e-3);
    let fitted = fit(planted.data, &config, &mut Silent).unwrap();
    assert_eq!(fitted.status, Status::TimeLimit);
    assert_eq!(fitted.posterior.unwrap().draws().len(), 1);
}
