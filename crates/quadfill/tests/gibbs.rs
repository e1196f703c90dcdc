//! The posterior sampler, from data to intervals.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::ops::ControlFlow;

use quadfill::apply::DrawIntervals;
use quadfill::model::{Biases, Kernel, ModelSpec, Parameters, Predictor, UNKNOWN};
use quadfill::solve::{
    Choice, Event, NoObserver, Observer, Precision, RowPriorKind, Sampling, Solver, Status, fit,
    resume,
};
use quadfill::{FitConfig, Labels, Mode, Model, Observations, OnDuplicate};
use quadfill_kernels::streams::{fill_normal, stream};
use rand::RngExt;

const SIZES: [usize; 3] = [30, 25, 20];

fn modes() -> Vec<Mode> {
    ["a", "b", "c"].iter().zip(SIZES).map(|(n, size)| Mode::new(*n, Labels::range(size))).collect()
}

/// Noisy cells of a planted model: those to learn from, and others.
struct Planted {
    data: Observations,
    cells: Vec<Vec<u32>>,
    values: Vec<f64>,
}

fn planted(spec: &ModelSpec, count: usize, noise: f64, seed: u64) -> Planted {
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
    let known = values[..count].to_vec();
    Planted {
        data: Observations::new(modes(), train, known, None, OnDuplicate::Error).unwrap(),
        cells: cells.iter().map(|column| column[count..].to_vec()).collect(),
        values: values[count..].to_vec(),
    }
}

fn pairwise() -> ModelSpec {
    ModelSpec::quadratic(Kernel::pairwise(3), 2)
}

fn config(spec: &ModelSpec, sampling: Sampling) -> FitConfig {
    FitConfig { solver: Solver::Gibbs(sampling), ..FitConfig::for_spec(spec) }
}

const SHORT: Sampling = Sampling {
    burn_in: 3,
    samples: 8,
    thin: Some(2),
    chains: 2,
    prior: Some(RowPriorKind::Diagonal),
    noise: None,
};

#[test]
fn nine_of_ten_new_observations_fall_into_their_interval() {
    let (mut inside, mut count) = (0usize, 0usize);
    let sampling =
        Sampling { burn_in: 60, samples: 120, thin: Some(2), chains: 1, ..Sampling::default() };
    for seed in 0..4 {
        let planted = planted(&pairwise(), 1000, 0.5, seed);
        let config = config(&pairwise(), sampling);
        let fitted = fit::<f64>(planted.data, &config, &mut NoObserver).unwrap();
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

impl Observer for Asks<'_> {
    fn tracked_cells(&self) -> &[Vec<u32>] {
        self.0
    }
}

#[test]
fn running_means_are_those_of_all_draws() {
    for (spec, biases) in [(pairwise(), Biases::Modes), (ModelSpec::cp(3, 2), Biases::Mean)] {
        let planted = planted(&spec, 600, 0.3, 1);
        let sampling = Sampling { thin: Some(1), ..SHORT };
        let mut config = config(&spec, sampling);
        config.biases = Choice::Fixed(biases);
        let mut cells = planted.cells.clone();
        cells[1][0] = UNKNOWN;
        let fitted = fit::<f64>(planted.data, &config, &mut Asks(&cells)).unwrap();
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
        let config = config(&spec, SHORT);
        let run = |threads| {
            let data = planted(&spec, 600, 0.3, 2).data;
            on_threads(threads, || fit::<f32>(data, &config, &mut NoObserver).unwrap())
        };
        let one = run(1);
        for threads in [2, 4] {
            let other = run(threads);
            assert_eq!(one.parameters, other.parameters);
            assert_eq!(one.posterior, other.posterior);
        }
        let mut other = config.clone();
        other.seed += 1;
        let data = planted(&spec, 600, 0.3, 2).data;
        assert_ne!(fit::<f32>(data, &other, &mut NoObserver).unwrap().parameters, one.parameters);
    }
}

/// Keeps the checkpoint of one step.
struct Keep<'a> {
    kept: Vec<u8>,
    cells: &'a [Vec<u32>],
    wait: usize,
}

impl Observer for Keep<'_> {
    fn event(&mut self, event: Event<'_>) -> ControlFlow<()> {
        if let Event::Checkpoint(checkpoint) = event {
            if self.wait == 0 {
                self.kept = checkpoint.to_bytes().unwrap();
            }
            self.wait = self.wait.wrapping_sub(1);
        }
        ControlFlow::Continue(())
    }

    fn tracked_cells(&self) -> &[Vec<u32>] {
        self.cells
    }
}

#[test]
fn a_fit_resumes_to_the_same_bits() {
    let planted = planted(&pairwise(), 600, 0.3, 3);
    let config = config(&pairwise(), SHORT);
    let mut sound = Vec::new();
    let cells = &planted.cells;
    let whole = fit::<f32>(planted.data.clone(), &config, &mut Asks(cells)).unwrap();
    let go_on = |bytes: &[u8], observer: &mut dyn Observer| {
        resume::<f32>(planted.data.clone(), &config, bytes, observer)
    };
    for wait in [0, 4, 9] {
        let mut keep = Keep { kept: Vec::new(), cells, wait };
        let watched = fit::<f32>(planted.data.clone(), &config, &mut keep).unwrap();
        assert_eq!(watched.parameters, whole.parameters);
        let resumed = go_on(&keep.kept, &mut Asks(cells)).unwrap();
        assert_eq!(resumed.parameters, whole.parameters);
        assert_eq!(resumed.posterior, whole.posterior);
        assert_eq!(resumed.sweeps, whole.sweeps);
        let error = go_on(&keep.kept, &mut NoObserver).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the checkpoint has the running means of other test data: resume with the same `test`, or \
             without `resume`"
        );
        sound = keep.kept;
    }
    // A flipped bit is noticed, or makes no difference.
    for at in (0..sound.len()).step_by(97) {
        let mut broken = sound.clone();
        broken[at] ^= 0x10;
        if let Ok(found) = go_on(&broken, &mut Asks(cells)) {
            assert_eq!(found.parameters, whole.parameters, "byte {at}");
            assert_eq!((found.posterior, found.sweeps), (whole.posterior.clone(), whole.sweeps));
        }
    }
}

#[test]
fn a_model_of_draws_comes_back_as_it_was() {
    for precision in [Precision::F32, Precision::F64] {
        for biases in [Biases::None, Biases::Modes] {
            let planted = planted(&pairwise(), 600, 0.3, 4);
            let mut config = config(&pairwise(), SHORT);
            config.biases = Choice::Fixed(biases);
            config.precision = Choice::Fixed(precision);
            let before = quadfill::fit(planted.data, &config).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("model");
            before.save(&path).unwrap();
            let after = Model::load(&path).unwrap();
            assert_eq!((after.rank(), after.summary().draws), (2, Some(8)));
            assert_eq!(after.summary().precision, precision);
            // The bytes have the parameters and all of every draw.
            assert_eq!(after.to_bytes().unwrap(), before.to_bytes().unwrap());
            assert_eq!(after.noise_precisions(), before.noise_precisions());
            for cell in [[1, 2, 3], [UNKNOWN, 4, 5], [0, UNKNOWN, UNKNOWN]] {
                assert_eq!(after.predict_cell(&cell), before.predict_cell(&cell));
                let columns = cell.map(|label| [label]);
                let columns: Vec<&[u32]> = columns.iter().map(<[u32; 1]>::as_slice).collect();
                let width = |model: &Model| model.half_widths(&columns, 0.9, None).unwrap();
                assert_eq!(width(&after), width(&before));
            }
        }
    }
}

#[test]
fn what_cannot_be_sampled_is_refused_with_the_fix() {
    let sound = || config(&pairwise(), Sampling::default());
    let check = |config: FitConfig| config.check().unwrap_err().to_string();
    assert!(sound().check().is_ok());
    let mut with_penalty = sound();
    with_penalty.penalty = Choice::Fixed(0.1);
    assert!(check(with_penalty).ends_with("leave `penalty` out"));
    let tied = config(&pairwise().with_tied(&[0, 2]), Sampling::default());
    assert!(check(tied).ends_with("leave `ties` out"));
    let transe = config(&ModelSpec::quadratic(Kernel::transe(3), 2), Sampling::default());
    assert!(check(transe).contains("zeros on the diagonal"));
    // How many draws are kept depends on the data.
    let refused = |config: FitConfig| {
        let data = planted(&pairwise(), 30, 0.3, 4).data;
        quadfill::fit(data, &config).unwrap_err().to_string()
    };
    let none = config(&pairwise(), Sampling { thin: Some(301), ..Sampling::default() });
    assert!(refused(none).ends_with("choose a smaller number"));
    let wide =
        config(&pairwise().with_rank(100), Sampling { thin: Some(1), ..Sampling::default() });
    assert!(refused(wide).contains("more than 4096 columns"));
}

/// The planted values in other units.
fn scaled(scale: f64) -> Observations {
    let (modes, indices, values, weights) = planted(&pairwise(), 600, 0.3, 6).data.into_parts();
    let values = values.iter().map(|value| value * scale).collect();
    Observations::new(modes, indices, values, weights, OnDuplicate::Error).unwrap()
}

#[test]
fn units_make_no_difference_and_values_of_any_size_no_panic() {
    let config = config(&pairwise(), SHORT);
    let run = |scale: f64| quadfill::fit(scaled(scale), &config).unwrap();
    let plain = run(1.0).predict_cell(&[1, 2, 3]);
    for scale in [1e-6, 1e5] {
        let found = run(scale).predict_cell(&[1, 2, 3]);
        assert!((found / scale - plain).abs() < 1e-4 * plain.abs(), "{found} and {plain}");
    }
    let folder = tempfile::tempdir().unwrap();
    for scale in [0.0, 1e-300, 1e-160, 1e160, 1e300] {
        let path = folder.path().join("model");
        // Either it can be opened again, or it was refused.
        if run(scale).save(&path).is_ok() {
            Model::load(&path).unwrap();
        }
    }
}

#[test]
fn a_time_limit_leaves_what_there_is() {
    let planted = planted(&pairwise(), 600, 0.3, 5);
    let mut config = config(&pairwise(), Sampling { burn_in: 1_000_000, ..Sampling::default() });
    config.time_limit = Some(1e-3);
    let fitted = fit::<f64>(planted.data, &config, &mut NoObserver).unwrap();
    assert_eq!(fitted.status, Status::TimeLimit);
    assert_eq!(fitted.posterior.unwrap().draws().len(), 1);
}
