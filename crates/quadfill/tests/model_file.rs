//! Models come back from disk as they were, and what is there before is never lost.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod models;

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;

use quadfill::model::{Biases, Kernel, ModelSpec};
use quadfill::observations::Source;
use quadfill::solve::{Choice, Effort, Solver};
use quadfill::{
    FitConfig, Labels, Mode, Model, Observations, OnDuplicate, Real, check_target, is_model,
};
use quadfill_kernels::streams::{fill_normal, stream};

const BIASES: [Biases; 3] = [Biases::None, Biases::Mean, Biases::Modes];

/// A model whose first and last mode share their factors.
fn tied(biases: Biases) -> Model {
    models::parts::<f64>(&models::tied(biases)).model()
}

fn assert_same_bits(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    assert!(found.iter().zip(expected).all(|(x, y)| x.to_bits() == y.to_bits()));
}

fn comes_back<T: Real>(spec: &ModelSpec) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let parts = models::parts::<T>(spec);
    let model = parts.model();
    model.save(&path).unwrap();
    let saved = Model::load(&path).unwrap();
    for same in [saved, Model::from_bytes(&model.to_bytes().unwrap()).unwrap()] {
        assert_eq!(same.spec(), spec);
        assert_eq!(same.summary(), &parts.stored_summary());
        assert_eq!(same.source(), &Source { value: "rating".to_owned(), positions: None });
        assert_eq!(same.mean().to_bits(), parts.parameters.mean.to_bits());
        for (mode, &group) in spec.groups.iter().enumerate() {
            let rows = 0..parts.parameters.layout().rows()[group];
            let numbers = rows.clone().flat_map(|label| parts.parameters.row(group, label));
            let factors: Vec<f64> = numbers.map(|u| u.to_f64()).collect();
            assert_same_bits(&same.factors(mode), &factors);
            let biases = rows.map(|label| parts.parameters.bias(group, label).to_f64());
            let biases: Option<Vec<f64>> = (spec.biases == Biases::Modes).then(|| biases.collect());
            assert_eq!(same.biases(mode), biases);
        }
        for (mode, copy) in parts.modes.iter().zip(same.modes()) {
            assert_eq!((&copy.name, copy.bins), (&mode.name, mode.bins));
            assert_eq!(copy.labels.len(), mode.labels.len());
            for index in 0..mode.labels.len() {
                assert_eq!(copy.labels.name(index), mode.labels.name(index));
            }
            assert_eq!(
                matches!(copy.labels, Labels::Integers(_)),
                matches!(mode.labels, Labels::Integers(_))
            );
        }
        assert_eq!(same.modes()[0].labels.find_integer(i64::MAX), Some(3));
        assert_eq!(same.modes()[1].labels.find("🦀"), Some(3));
        assert_eq!(same.modes()[2].bins.unwrap().bin(86_401.0), Some(1));
        let predictor = quadfill::model::Predictor::new(spec, &parts.parameters);
        assert_eq!(same.predict_cell(&[3, 2, 1]), predictor.cell(&[3, 2, 1]));
    }
}

#[test]
fn every_kind_of_model_comes_back_in_both_precisions() {
    for biases in BIASES {
        for spec in [models::tied(biases), ModelSpec::cp(3, 17).with_biases(biases)] {
            comes_back::<f32>(&spec);
            comes_back::<f64>(&spec);
        }
    }
}

#[test]
fn the_same_model_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    let spec = models::tied(Biases::Modes);
    models::parts::<f32>(&spec).model().save(&one).unwrap();
    models::parts::<f32>(&spec).model().save(&two).unwrap();
    assert_eq!(models::files(&one), models::files(&two));

    // A model that was opened and saved again is the same, too.
    for model in [models::parts::<f64>(&spec).model(), models::parts::<f32>(&spec).model()] {
        model.save(&one).unwrap();
        Model::load(&one).unwrap().save(&two).unwrap();
        assert_eq!(models::files(&one), models::files(&two));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn a_mean_of_draws_gives_the_same_bytes_again() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    let parts = models::drawn();
    let model = parts.model();
    model.save(&one).unwrap();
    let same = Model::load(&one).unwrap();
    assert_eq!(same.summary(), &parts.stored_summary());
    assert_eq!(same.to_bytes().unwrap(), model.to_bytes().unwrap());
    let posterior = parts.posterior.as_ref().unwrap();
    let noise: Vec<f64> = posterior.draws().iter().map(|draw| draw.noise).collect();
    assert_eq!(same.noise_precisions(), noise);
    // All that the draws have is in the tensors, which were written down apart from the library.
    let written = models::files(&one)[1].clone();
    let (found, expected) = (tensors(&written), tensors(&parts.files()[1]));
    assert_eq!(found, expected);
    assert_eq!(found.len(), 3 + 3 + 1 + 2 + 3 * 3);
    same.save(&two).unwrap();
    assert_eq!(models::files(&one), models::files(&two));
}

/// Noisy cells of a table of rank 1.
fn noisy_table(seed: u64) -> Observations {
    let (rows, columns) = (30u32, 20u32);
    let mut draws = vec![0.0; 650];
    fill_normal(&mut draws, &mut stream(seed, 1, 0));
    let (mut indices, mut values) = (vec![Vec::new(); 2], Vec::new());
    for cell in (0..rows * columns).step_by(2) {
        let (row, column) = (cell / columns, (cell + cell / columns) % columns);
        indices[0].push(row);
        indices[1].push(column);
        let product = draws[row as usize] * draws[(rows + column) as usize];
        values.push(product + 0.1 * draws[(50 + cell) as usize]);
    }
    let modes = vec![Mode::new("a", Labels::range(30)), Mode::new("b", Labels::range(20))];
    Observations::new(modes, indices, values, None, OnDuplicate::Error).unwrap()
}

#[test]
fn a_distilled_mean_in_double_precision_loses_no_digits() {
    let config = FitConfig { effort: Effort::Quick, ..FitConfig::default() };
    let mut distilled = 0;
    // Which fits are sampled, and whose draws are distilled, is up to the data.
    for seed in 1..=8 {
        let data = noisy_table(seed);
        let model = quadfill::fit(data.clone(), &config).unwrap();
        let is_single = |x: &f64| f64::from(*x as f32) == *x;
        if model.is_sampled() && !model.factors(0).iter().all(is_single) {
            distilled += 1;
        }
        let same = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        let columns = [data.indices(0), data.indices(1)];
        assert_same_bits(&same.predict_cells(&columns), &model.predict_cells(&columns));
        assert_same_bits(&same.factors(1), &model.factors(1));
    }
    assert!(distilled > 0, "no fit ended in a distilled mean");
}

/// Every tensor of a file: its name, type, shape and bytes.
fn tensors(bytes: &[u8]) -> Vec<(String, String, Vec<usize>, Vec<u8>)> {
    let file = safetensors::SafeTensors::deserialize(bytes).unwrap();
    let mut all: Vec<_> = file
        .tensors()
        .into_iter()
        .map(|(name, t)| (name, t.dtype().to_string(), t.shape().to_vec(), t.data().to_vec()))
        .collect();
    all.sort();
    all
}

#[test]
fn labels_are_one_line_each() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    tied(Biases::None).save(&path).unwrap();
    let text = fs::read_to_string(path.join("labels.jsonl")).unwrap();
    let lines: Vec<&str> = text.split_terminator('\n').collect();
    assert_eq!(lines.len(), 4 + models::ODD.len() + 4);
    assert_eq!(lines[0], "[0,-9223372036854775808]");
    assert_eq!(lines[4], "[1,\"\"]");
    assert_eq!(lines[5], "[1,\"a\\nb\"]");
}

#[test]
fn a_model_that_a_killed_process_set_aside_is_found_and_then_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let model = tied(Biases::Mean);
    model.save(&path).unwrap();
    // The process died between the two renames, and another one in the middle of writing.
    fs::rename(&path, folder.path().join(".model.old")).unwrap();
    fs::create_dir(folder.path().join(".model.4294967295-0.partial")).unwrap();
    fs::write(folder.path().join(".model.checkpoint.4294967295-0.partial"), "").unwrap();
    assert!(is_model(&path));
    assert_eq!(Model::load(&path).unwrap().to_bytes().unwrap(), model.to_bytes().unwrap());

    model.save(&path).unwrap();
    assert_eq!(Model::load(&path).unwrap().to_bytes().unwrap(), model.to_bytes().unwrap());
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");

    // The process died before it removed the old model.
    fs::create_dir(folder.path().join(".model.old")).unwrap();
    fs::write(folder.path().join(".model.old/model.json"), "half").unwrap();
    model.save(&path).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn a_link_to_a_model_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("model"), folder.path().join("link"));
    let model = tied(Biases::Mean);
    model.save(&path).unwrap();
    std::os::unix::fs::symlink("model", &link).unwrap();
    model.save(&link).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(Model::load(&link).is_ok());
    fs::rename(&path, folder.path().join(".model.old")).unwrap();
    assert!(Model::load(&link).is_ok());
}

#[test]
fn what_is_no_model_is_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let model = tied(Biases::Mean);
    fs::write(at("file"), "precious").unwrap();
    fs::create_dir(at("folder")).unwrap();
    fs::write(at("folder/model.json"), "{}").unwrap();
    model.save(at("model")).unwrap();
    fs::write(at("model/notes.txt"), "precious").unwrap();
    for (name, reason) in [
        (
            "file",
            "there is a file of this name, which a model would replace: choose another name or \
             remove it",
        ),
        (
            "folder",
            "there is a folder of this name that is not a Quadfill model: choose another name or \
             remove it",
        ),
        ("model", "the model folder also has `notes.txt`, which would be lost: move it away"),
    ] {
        let path = at(name);
        let expected = format!("{}: {reason}", path.display());
        assert_eq!(check_target(&path).unwrap_err().to_string(), expected);
        assert_eq!(model.save(&path).unwrap_err().to_string(), expected);
    }
    assert_eq!(fs::read_to_string(at("file")).unwrap(), "precious");
    assert_eq!(fs::read_to_string(at("model/notes.txt")).unwrap(), "precious");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    assert!(check_target(&at("new/")).is_ok());
    assert!(check_target(std::path::Path::new("/")).is_err());
}

#[test]
fn a_model_that_diverged_is_not_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    // Steps that are far too long.
    let modes = vec![Mode::new("a", Labels::range(3)), Mode::new("b", Labels::range(3))];
    let indices = vec![vec![0, 0, 1, 1, 2, 2], vec![0, 1, 1, 2, 2, 0]];
    let values = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let data = Observations::new(modes, indices, values, None, OnDuplicate::Error).unwrap();
    let mut config = FitConfig::for_spec(&ModelSpec::quadratic(Kernel::pairwise(2), 1));
    (config.solver, config.penalty) = (Solver::Gd(Choice::Fixed(1e9)), Choice::Fixed(1e-3));
    (config.sweeps, config.tolerance) = (Some(200), 0.0);
    let model = quadfill::fit(data, &config).unwrap();
    assert!(model.factors(0).iter().any(|u| !u.is_finite()));
    let error = model.save(&path).unwrap_err().to_string();
    assert!(error.ends_with(
        "the model has numbers that are not finite, so the fit diverged: choose a larger penalty \
         or another solver"
    ));
    assert!(!path.exists());
}

#[test]
fn an_error_that_overflowed_does_not_make_the_model_unreadable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let mut parts = models::parts::<f64>(&models::tied(Biases::Mean));
    parts.summary.path[0].train_rmse = f64::INFINITY;
    parts.model().save(&path).unwrap();
    assert_eq!(Model::load(&path).unwrap().summary(), &parts.stored_summary());
}

#[test]
fn missing_parts_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let message = || {
        let error = Model::load(&path).unwrap_err().to_string();
        error.replace(&path.display().to_string(), "M")
    };
    assert!(!is_model(&path));
    assert_eq!(message(), "M: there is no such model: check the path, or fit one first");
    fs::write(&path, "").unwrap();
    assert!(!is_model(&path));
    assert_eq!(
        message(),
        "M: this is a file and not the folder of a model: give the path that a model was saved to"
    );
    fs::remove_file(&path).unwrap();
    for name in ["model.json", "model.safetensors", "labels.jsonl"] {
        tied(Biases::Mean).save(&path).unwrap();
        let kept = fs::read(path.join(name)).unwrap();
        fs::remove_file(path.join(name)).unwrap();
        assert_eq!(
            message(),
            format!(
                "M/{name}: the file is missing: copy the whole folder of the model, or fit it again"
            )
        );
        fs::write(path.join(name), kept).unwrap();
    }
    fs::write(path.join("labels.jsonl"), "").unwrap();
    assert_eq!(
        message(),
        "M/labels.jsonl: line 1: the labels end here but the model has more: the file is damaged, fit the model again or use an intact copy"
    );
    let [json, tensors, labels] = models::files(&path);
    assert!(Model::from_files(&json, &tensors, &labels).is_err());
}

#[test]
fn threads_that_save_and_load_one_model_never_see_half_of_it() {
    const ROUNDS: usize = 60;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    // Two models that have no file in common.
    let models = [
        models::parts::<f32>(&models::tied(Biases::Modes)).model(),
        models::parts::<f64>(&ModelSpec::cp(3, 17)).model(),
    ];
    let whole = [0, 1].map(|which| models[which].to_bytes().unwrap());
    models[0].save(&path).unwrap();
    let is_done = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut seen = [0usize; 2];
                    while !is_done.load(Ordering::Relaxed) {
                        assert!(is_model(&path));
                        let found = Model::load(&path).unwrap().to_bytes().unwrap();
                        let which = whole.iter().position(|bytes| *bytes == found);
                        seen[which.expect("one of the two, whole")] += 1;
                    }
                    seen
                })
            })
            .collect();
        let writers: Vec<_> = models
            .iter()
            .map(|model| scope.spawn(|| (0..ROUNDS).for_each(|_| model.save(&path).unwrap())))
            .collect();
        let results: Vec<_> = writers.into_iter().map(ScopedJoinHandle::join).collect();
        is_done.store(true, Ordering::Relaxed);
        for result in results {
            result.unwrap();
        }
        let seen: Vec<[usize; 2]> = readers.into_iter().map(|r| r.join().unwrap()).collect();
        [0, 1].map(|which| seen.iter().map(|seen| seen[which]).sum::<usize>())
    });
    assert!(seen.iter().all(|&count| count > 0), "{seen:?}");
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}
