//! Unfinished fits come back from disk to the same bits, and only to their own data and settings.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod unfinished;

#[path = "common/keeper.rs"]
mod keeper;

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use keeper::Keeper;
use quadfill::model::{Biases, ModelKind, ModelSpec};
use quadfill::solve::{
    Choice, Event, NoObserver, Observer, Rank, Sampling, Solver, Stage, Status, fit, resume,
};
use quadfill::{
    Error, FitConfig, Labels, Observations, OnDuplicate, Real, Setting, checkpoint_path,
};
use unfinished::{assert_same, config, exact, noisy};

fn data() -> Observations {
    noisy(1.0)
}

/// How many checkpoints of a fit are resumed from, beside the first and the last of each stage.
const TRIED: usize = 25;

/// Resumes from checkpoints all along the fit; returns the stages that had any.
fn resumes<T: Real>(data: &Observations, config: &FitConfig, status: Status) -> Vec<Stage> {
    let cells = vec![vec![0, 5], vec![3, 2], vec![1, 1]];
    let mut keeper = Keeper::every(1);
    keeper.cells.clone_from(&cells);
    let whole = fit::<T>(data.clone(), config, &mut keeper).unwrap();
    assert_eq!(whole.status, status, "{config:?}");
    let mut stages: Vec<Stage> = Vec::new();
    let step = keeper.kept.len().div_ceil(TRIED);
    for (number, (stage, bytes)) in keeper.kept.iter().enumerate() {
        let is_first = !stages.contains(stage);
        let is_last = keeper.kept.get(number + 1).is_none_or(|(next, _)| next != stage);
        if !(is_first || is_last || number % step == 0) {
            continue;
        }
        let mut observer = Keeper::every(1);
        observer.cells.clone_from(&cells);
        let resumed = resume::<T>(data.clone(), config, bytes, &mut observer).unwrap();
        assert_same(&resumed, &whole, &format!("checkpoint {number}, {stage:?}, {config:?}"));
        if is_first {
            stages.push(*stage);
        }
    }
    stages
}

/// Settings with short paths, so that every checkpoint can be tried.
fn short() -> FitConfig {
    FitConfig { path_steps: Choice::Fixed(12), ..config() }
}

#[test]
fn a_fit_that_chooses_its_penalty_resumes_to_the_same_bits() {
    let stages = resumes::<f64>(&data(), &short(), Status::Validated);
    let all = [
        Stage::Exact,
        Stage::HoldOut(0),
        Stage::HoldOut(1),
        Stage::HoldOut(2),
        Stage::EarlyStopping,
        Stage::Refit,
    ];
    assert_eq!(stages, all);
    let larger = FitConfig { rank: Rank::Fixed(3), ..short() };
    assert!(resumes::<f64>(&data(), &larger, Status::Validated).contains(&Stage::Solve));
    resumes::<f32>(&data(), &short(), Status::Validated);
}

#[test]
fn an_exact_fit_resumes_to_the_same_bits() {
    let config = FitConfig { path_steps: Choice::Fixed(20), ..config() };
    let stages = resumes::<f64>(&exact(), &config, Status::Exact);
    assert_eq!(stages, [Stage::Exact, Stage::Trim, Stage::Polish]);
}

#[test]
fn a_fit_that_finds_its_rank_resumes_to_the_same_bits() {
    let rank = Rank::Auto { max: Some(4) };
    let stages = resumes::<f64>(&data(), &FitConfig { rank, ..short() }, Status::Validated);
    assert!(stages.contains(&Stage::HoldOut(3)), "{stages:?}");
    let config = FitConfig { rank, path_steps: Choice::Fixed(20), ..config() };
    let stages = resumes::<f64>(&exact(), &config, Status::Exact);
    assert!(stages.contains(&Stage::Polish), "{stages:?}");
}

#[test]
fn cp_resumes_to_the_same_bits() {
    let cp =
        FitConfig { path_steps: Choice::Fixed(8), ..FitConfig::for_spec(&ModelSpec::cp(3, 2)) };
    let stages = resumes::<f64>(&data(), &cp, Status::Validated);
    assert!(stages.contains(&Stage::HoldOut(4)) && stages.contains(&Stage::Solve), "{stages:?}");
}

#[test]
fn a_fit_at_a_penalty_resumes_to_the_same_bits() {
    let path =
        FitConfig { penalty: Choice::Fixed(1e-2), biases: Choice::Fixed(Biases::Modes), ..short() };
    let stages = resumes::<f64>(&data(), &path, Status::Converged);
    assert_eq!(stages, [Stage::Refit, Stage::Solve]);
    for penalty in [Choice::Fixed(1e-2), Choice::Auto] {
        let als = FitConfig { solver: Solver::Als, penalty, sweeps: Some(40), ..config() };
        let status = fit::<f64>(data(), &als, &mut NoObserver).unwrap().status;
        assert_eq!(resumes::<f64>(&data(), &als, status), [Stage::Solve]);
        let status = fit::<f32>(data(), &als, &mut NoObserver).unwrap().status;
        assert_eq!(resumes::<f32>(&data(), &als, status), [Stage::Solve]);
    }
}

#[test]
fn a_staircase_resumes_to_the_same_bits() {
    let rank = Rank::Auto { max: Some(6) };
    let staircase = FitConfig { rank, penalty: Choice::Fixed(0.01), ..config() };
    let stages = resumes::<f64>(&data(), &staircase, Status::Certified);
    assert_eq!(stages, [Stage::Staircase, Stage::Polish]);
}

#[test]
fn a_sampler_resumes_to_the_same_bits() {
    let sampling =
        Sampling { burn_in: 3, samples: 8, thin: Some(2), chains: 2, ..Sampling::default() };
    let gibbs = FitConfig { solver: Solver::Gibbs(sampling), ..config() };
    assert_eq!(resumes::<f64>(&data(), &gibbs, Status::Sampled), [Stage::Sample]);
    assert_eq!(resumes::<f32>(&data(), &gibbs, Status::Sampled), [Stage::Sample]);
}

#[test]
fn a_fit_that_learns_its_kernel_resumes_to_the_same_bits() {
    // The search starts over, so a few of its checkpoints tell about all.
    for (data, rank, status) in [(data(), 1, Status::Validated), (exact(), 2, Status::Exact)] {
        let learned = FitConfig { path_steps: Choice::Fixed(30), ..FitConfig::learned(rank) };
        let mut keeper = Keeper::every(1);
        let whole = fit::<f64>(data.clone(), &learned, &mut keeper).unwrap();
        assert_eq!(whole.status, status);
        let mut before = None;
        let last = keeper.kept.len() - 1;
        for (number, (stage, bytes)) in keeper.kept.iter().enumerate() {
            let is_new = before.replace(stage) != Some(stage);
            if number == last || (is_new && !matches!(stage, Stage::Kernel(1..))) {
                let resumed =
                    resume::<f64>(data.clone(), &learned, bytes, &mut NoObserver).unwrap();
                assert_same(&resumed, &whole, &format!("checkpoint {number}, {stage:?}"));
            }
        }
    }
}

/// Keeps the checkpoint of one step in a file.
struct Keep {
    path: PathBuf,
    wait: usize,
}

impl Observer for Keep {
    fn event(&mut self, event: Event<'_>) -> ControlFlow<()> {
        if let Event::Checkpoint(checkpoint) = event {
            if self.wait == 0 {
                checkpoint.save(&self.path).expect("it is written");
            }
            self.wait = self.wait.wrapping_sub(1);
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn a_fit_resumes_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = checkpoint_path(&folder.path().join("model"));
    for wait in [0, 7, 20] {
        let mut keep = Keep { path: path.clone(), wait };
        let whole = quadfill::fit_with(data(), &short(), &mut keep).unwrap();
        let resumed = quadfill::resume(data(), &short(), &path, &mut NoObserver).unwrap();
        assert_eq!(resumed.to_bytes().unwrap(), whole.to_bytes().unwrap());
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// The first checkpoint of a fit.
fn sound() -> Vec<u8> {
    let mut keeper = Keeper::every(1);
    fit::<f64>(data(), &short(), &mut keeper).unwrap();
    keeper.kept.swap_remove(20).1
}

#[test]
fn only_its_own_data_and_settings_get_it_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.checkpoint");
    let refused = |data: Observations, config: &FitConfig, path: &Path| {
        let error = quadfill::resume(data, config, path, &mut NoObserver).unwrap_err();
        assert!(matches!(&error, Error::ModelFile { path: named, .. } if named == path));
        assert_eq!(error.settings(), [Setting::Resume]);
        error.to_string().replace(&path.display().to_string(), "C")
    };
    assert_eq!(
        refused(data(), &short(), &path),
        "C: there is no checkpoint to resume from: fit without `resume`"
    );
    fs::write(&path, sound()).unwrap();

    let patient = FitConfig { time_limit: Some(1e6), ..short() };
    assert!(quadfill::resume(data(), &patient, &path, &mut NoObserver).is_ok());

    let (modes, indices, mut values, _) = data().into_parts();
    values[5] += 1e-9;
    let other = Observations::new(modes.clone(), indices.clone(), values, None, OnDuplicate::Error)
        .unwrap();
    let message = "C: the checkpoint belongs to other data: resume with the same data and settings, or \
                   fit without `resume`";
    assert_eq!(refused(other, &short(), &path), message);
    let mut named = modes;
    named[1].labels = Labels::from_integers(vec![0, 1, 2, 3, 4, 7]);
    let other =
        Observations::new(named, indices, data().values().to_vec(), None, OnDuplicate::Error);
    assert_eq!(refused(other.unwrap(), &short(), &path), message);

    let message = "C: the checkpoint belongs to other settings: resume with the same data and settings, \
                   or fit without `resume`";
    let seeded = FitConfig { seed: 1, ..short() };
    assert_eq!(refused(data(), &seeded, &path), message);
    let cp = FitConfig { model: ModelKind::Cp, ..short() };
    assert_eq!(refused(data(), &cp, &path), message);
    // The data may be the same in both precisions; the fit is not.
    let error = resume::<f32>(data(), &short(), &sound(), &mut NoObserver).unwrap_err();
    assert_eq!(error.to_string().replace("checkpoint: ", "C: "), message);
}

#[test]
fn broken_ones_are_refused() {
    let bytes = sound();
    let flipped = {
        let mut bytes = bytes.clone();
        let last = bytes.len() - 3;
        bytes[last] ^= 1;
        bytes
    };
    let with_version = |digit: u8| {
        let mut bytes = bytes.clone();
        let key = br#"{\"version\":6"#;
        let at = bytes.windows(key.len()).position(|part| part == key);
        bytes[at.unwrap() + key.len() - 1] = digit;
        bytes
    };
    for (bytes, reason) in [
        (
            Vec::new(),
            "the checkpoint is broken (header too small): remove it and fit without `resume`",
        ),
        (
            bytes[..bytes.len() / 8].to_vec(),
            "the checkpoint is broken (invalid header length): remove it and fit without `resume`",
        ),
        (
            bytes[..bytes.len() - 1].to_vec(),
            "the checkpoint is broken (incomplete metadata, file not fully covered): remove it and fit without `resume`",
        ),
        (
            flipped,
            "the checkpoint is broken (its checksum is wrong): remove it and fit without `resume`",
        ),
        (
            with_version(b'7'),
            "the checkpoint was written by another version of Quadfill (format 7, this one has 6): fit without `resume`",
        ),
        (
            with_version(b'1'),
            "the checkpoint was written by another version of Quadfill (format 1, this one has 6): fit without `resume`",
        ),
        (
            safetensors_without_description(),
            "the checkpoint is broken (its description is missing): remove it and fit without `resume`",
        ),
    ] {
        let error = resume::<f64>(data(), &short(), &bytes, &mut NoObserver).unwrap_err();
        assert_eq!(error.to_string(), format!("checkpoint: {reason}"));
    }
}

fn safetensors_without_description() -> Vec<u8> {
    let mut bytes = 8u64.to_le_bytes().to_vec();
    bytes.extend(b"{}      ");
    bytes
}
