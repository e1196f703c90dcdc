//! Unfinished fits come back from disk to the same bits, and only to their own data and settings.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use quadfill::file::{
    Fingerprint, checkpoint_path, load_checkpoint, parse_checkpoint, save_checkpoint,
};
use quadfill::model::{Kernel, ModelSpec, Offsets, Parameters};
use quadfill::solve::{
    Candidate, Event, FitConfig, Observer, Progress, ProgressNotes, RankChoice, RankTrial,
    Settling, Solver, Stage, TrialResult, fit, resume,
};
use quadfill::{Labels, Mode, Observations, OnDuplicate, Real};

fn data<T: Real>() -> Observations<T> {
    let modes = ["a", "b", "c"].map(|name| Mode::new(name, Labels::range(6)));
    let mut indices = vec![Vec::new(); 3];
    let mut values = Vec::new();
    for cell in (0..216u32).filter(|cell| cell % 3 != 1) {
        let labels = [cell / 36, cell / 6 % 6, cell % 6];
        for (column, label) in indices.iter_mut().zip(labels) {
            column.push(label);
        }
        let [a, b, c] = labels.map(|label| f64::from(label) - 2.3);
        let noise = f64::from(cell * 7919 % 101) / 300.0;
        values.push(T::from_f64(a * b + 0.5 * b * c - a * c + noise));
    }
    Observations::new(modes.to_vec(), indices, values, None, OnDuplicate::Error)
        .expect("the data are sound")
}

fn config() -> FitConfig {
    FitConfig::new(ModelSpec::quadratic(Kernel::pairwise(3), 2))
}

/// A state with every field filled.
fn progress<T: Real>() -> Progress<T> {
    let sizes = [6; 3];
    let spec = ModelSpec::quadratic(Kernel::pairwise(3), 2).with_offsets(Offsets::Modes);
    let other = spec.clone().with_offsets(Offsets::Mean).with_rank(4);
    let mut parameters = Parameters::random(&spec, &sizes, 1.0, 1);
    parameters.set_bias(1, 2, T::from_f64(-0.1));
    parameters.mean = 0.1 + 0.2;
    let candidate = Candidate {
        offsets: Offsets::Mean,
        rank: 4,
        penalty: 1.0 / 3.0,
        lambda_max: 7.1e-17,
        validation_rmse: f64::INFINITY,
        path: Vec::new(),
        settling: Some(Settling { sweeps: 3, validation_rmse: f64::INFINITY }),
    };
    Progress {
        notes: ProgressNotes {
            stage: Stage::HoldOut(1),
            spec,
            step: 3,
            sweeps: 40,
            lambda_max: 2.0_f64.sqrt(),
            objective: f64::MAX,
            quiet: 1,
            path: Vec::new(),
            candidates: vec![candidate],
            trials: vec![RankTrial { rank: 3, result: TrialResult::Close, path: Vec::new() }],
            seconds: 0.7,
            sampler: None,
        },
        parameters,
        best: Some(Parameters::random(&other, &sizes, 1.0, 2)),
        draws: None,
    }
}

fn comes_back<T: Real>() {
    let folder = tempfile::tempdir().unwrap();
    let path = checkpoint_path(&folder.path().join("model"));
    let fingerprint = Fingerprint::new(&data::<T>(), &config());
    for best in [true, false] {
        let mut state = progress::<T>();
        state.best = state.best.filter(|_| best);
        save_checkpoint(&path, &fingerprint, &state).unwrap();
        assert_eq!(load_checkpoint(&path, &fingerprint, &[6; 3]).unwrap(), state);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_state_comes_back_as_it_was() {
    comes_back::<f32>();
    comes_back::<f64>();
}

/// Keeps the checkpoint of one step.
struct Keep<'a> {
    path: &'a Path,
    fingerprint: &'a Fingerprint,
    wait: usize,
}

impl<T: Real> Observer<T> for Keep<'_> {
    fn event(&mut self, event: Event<'_, T>) {
        if let Event::Checkpoint(progress) = event {
            if self.wait == 0 {
                save_checkpoint(self.path, self.fingerprint, progress).expect("it is written");
            }
            self.wait = self.wait.wrapping_sub(1);
        }
    }
}

fn resumes<T: Real>(config: &FitConfig, wait: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.checkpoint");
    let fingerprint = Fingerprint::new(&data::<T>(), config);
    let mut keep = Keep { path: &path, fingerprint: &fingerprint, wait };
    let whole = fit(data::<T>(), config, &mut keep).unwrap();
    let progress = load_checkpoint(&path, &fingerprint, &[6; 3]).unwrap();
    keep.wait = usize::MAX;
    let resumed = resume(data::<T>(), config, progress, &mut keep).unwrap();
    assert_eq!(resumed.parameters, whole.parameters);
    assert_eq!(resumed.penalty.to_bits(), whole.penalty.to_bits());
    assert_eq!(resumed.sweeps, whole.sweeps);
}

#[test]
fn a_fit_resumes_to_the_same_bits() {
    let mut als = config();
    als.solver = Solver::Als;
    als.penalty = Some(1e-3);
    for wait in [0, 7] {
        resumes::<f64>(&als, wait);
        resumes::<f32>(&als, wait);
    }
    let mut path = config();
    path.path_steps = Some(30);
    for wait in [2, 25, 50] {
        resumes::<f64>(&path, wait);
    }
}

#[test]
fn a_fit_that_finds_its_rank_resumes_to_the_same_bits() {
    let mut free = config();
    free.rank = RankChoice::Auto;
    free.model.rank = 6;
    free.path_steps = Some(30);
    for wait in [2, 20, 45] {
        resumes::<f64>(&free, wait);
    }
    let mut climb = free;
    climb.penalty = Some(0.01);
    for wait in [0, 3] {
        resumes::<f64>(&climb, wait);
    }
}

#[test]
fn only_its_own_data_and_settings_get_it_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.checkpoint");
    let fingerprint = Fingerprint::new(&data::<f64>(), &config());
    let message = |fingerprint: &Fingerprint| {
        let error = load_checkpoint::<f64>(&path, fingerprint, &[6; 3]).unwrap_err();
        error.to_string().replace(&path.display().to_string(), "C")
    };
    assert_eq!(
        message(&fingerprint),
        "C: there is no checkpoint to resume from: run the fit without --resume"
    );
    save_checkpoint(&path, &fingerprint, &progress::<f64>()).unwrap();

    let mut patient = config();
    patient.time_limit = Some(1e6);
    let patient = Fingerprint::new(&data::<f64>(), &patient);
    assert!(load_checkpoint::<f64>(&path, &patient, &[6; 3]).is_ok());

    let (modes, indices, mut values, _) = data::<f64>().into_parts();
    values[5] += 1e-9;
    let other = Observations::new(modes, indices, values, None, OnDuplicate::Error).unwrap();
    assert_eq!(
        message(&Fingerprint::new(&other, &config())),
        "C: the checkpoint belongs to other data: resume with the same data and settings, or run \
         the fit without --resume"
    );
    let settings = "C: the checkpoint belongs to other settings: resume with the same data and \
                    settings, or run the fit without --resume";
    let mut seeded = config();
    seeded.seed = 1;
    assert_eq!(message(&Fingerprint::new(&data::<f64>(), &seeded)), settings);

    // Ones and halves are the same in both precisions; the fit is not.
    let modes = data::<f64>().modes().to_vec();
    let cells = vec![vec![0, 1]; 3];
    let wide =
        Observations::new(modes.clone(), cells.clone(), vec![1.0, 0.5], None, OnDuplicate::Error);
    let narrow = Observations::new(modes, cells, vec![1.0f32, 0.5], None, OnDuplicate::Error);
    assert_ne!(
        Fingerprint::new(&wide.unwrap(), &config()),
        Fingerprint::new(&narrow.unwrap(), &config())
    );
}

fn sound() -> (Vec<u8>, Fingerprint) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("m.checkpoint");
    let fingerprint = Fingerprint::new(&data::<f64>(), &config());
    save_checkpoint(&path, &fingerprint, &progress::<f64>()).expect("it is written");
    (fs::read(&path).expect("it is there"), fingerprint)
}

#[test]
fn broken_ones_are_refused() {
    let (bytes, fingerprint) = sound();
    let flipped = {
        let mut bytes = bytes.clone();
        let last = bytes.len() - 3;
        bytes[last] ^= 1;
        bytes
    };
    let newer = {
        let mut bytes = bytes.clone();
        let key = br#"{\"version\":1"#;
        let at = bytes.windows(key.len()).position(|part| part == key);
        bytes[at.unwrap() + key.len() - 1] = b'2';
        bytes
    };
    for (bytes, reason) in [
        (
            Vec::new(),
            "the checkpoint is broken (header too small): remove it and run the fit without --resume",
        ),
        (
            bytes[..bytes.len() / 2].to_vec(),
            "the checkpoint is broken (invalid header length): remove it and run the fit without --resume",
        ),
        (
            bytes[..bytes.len() - 1].to_vec(),
            "the checkpoint is broken (incomplete metadata, file not fully covered): remove it and run the fit without --resume",
        ),
        (
            flipped,
            "the checkpoint is broken (its checksum is wrong): remove it and run the fit without --resume",
        ),
        (
            newer,
            "it was written by a newer version of Quadfill (format 2, this one knows up to 1): upgrade Quadfill to open it",
        ),
        (
            safetensors_without_notes(),
            "the checkpoint is broken (its notes are missing): remove it and run the fit without --resume",
        ),
    ] {
        let error = parse_checkpoint::<f64>(&bytes, &fingerprint, &[6; 3]).unwrap_err();
        assert_eq!(error.to_string(), format!("checkpoint: {reason}"));
    }
    // The same fingerprint with other sizes cannot happen by itself, but must not panic.
    assert!(parse_checkpoint::<f64>(&bytes, &fingerprint, &[6, 6, 5]).is_err());
    assert!(parse_checkpoint::<f64>(&bytes, &fingerprint, &[]).is_err());
    assert!(parse_checkpoint::<f32>(&bytes, &fingerprint, &[6; 3]).is_err());
}

fn safetensors_without_notes() -> Vec<u8> {
    let mut bytes = 8u64.to_le_bytes().to_vec();
    bytes.extend(b"{}      ");
    bytes
}

static SOUND: LazyLock<(Vec<u8>, Fingerprint)> = LazyLock::new(sound);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_bytes_make_it_panic(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        keep in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let (mut bytes, fingerprint) = SOUND.clone();
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(keep) = keep {
            bytes.truncate(keep.index(bytes.len()));
        }
        // What is accepted is what was saved: only the way it is written may differ.
        if let Ok(state) = parse_checkpoint::<f64>(&bytes, &fingerprint, &[6; 3]) {
            prop_assert_eq!(state, progress::<f64>());
        }
    }
}
