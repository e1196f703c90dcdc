//! Models come back from disk as they were, and what is there before is never lost.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod models;

use std::fs;

use quadfill::file::{Model, check_target, is_model, parse_model};
use quadfill::model::{ModelSpec, Offsets};
use quadfill::{Labels, Real};

const OFFSETS: [Offsets; 3] = [Offsets::None, Offsets::Mean, Offsets::Modes];

fn comes_back<T: Real>(spec: &ModelSpec) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let model = models::model::<T>(spec);
    model.save(&path).unwrap();
    let same = Model::load(&path).unwrap();

    assert_eq!(same.spec, model.spec);
    assert_eq!(same.notes, model.notes);
    assert_eq!(same.notes.precision, T::NAME);
    assert_eq!(same.parameters.mean.to_bits(), model.parameters.mean.to_bits());
    for (group, &rows) in model.parameters.layout().rows().iter().enumerate() {
        for label in 0..rows {
            let widened = model.parameters.row(group, label).iter().map(|x| x.to_f64());
            assert!(widened.eq(same.parameters.row(group, label).iter().copied()));
            let bias = model.parameters.bias(group, label).to_f64();
            assert_eq!(same.parameters.bias(group, label), bias);
        }
    }
    for (mode, copy) in model.modes.iter().zip(&same.modes) {
        assert_eq!(copy.name, mode.name);
        assert_eq!(copy.labels.len(), mode.labels.len());
        for index in 0..mode.labels.len() {
            assert_eq!(copy.labels.name(index), mode.labels.name(index));
        }
        assert_eq!(
            matches!(copy.labels, Labels::Integers(_)),
            matches!(mode.labels, Labels::Integers(_))
        );
    }
    assert_eq!(same.modes[0].labels.find_integer(i64::MAX), Some(3));
    assert_eq!(same.modes[1].labels.find("🦀"), Some(3));
    assert_eq!(same.predictor().cell(&[3, 2, 1]), model.predictor().cell(&[3, 2, 1]));
}

#[test]
fn every_kind_of_model_comes_back_in_both_precisions() {
    for offsets in OFFSETS {
        for spec in [models::tied(offsets), ModelSpec::cp(3, 17).with_offsets(offsets)] {
            comes_back::<f32>(&spec);
            comes_back::<f64>(&spec);
        }
    }
}

#[test]
fn the_same_model_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    let spec = models::tied(Offsets::Modes);
    models::model::<f32>(&spec).save(&one).unwrap();
    models::model::<f32>(&spec).save(&two).unwrap();
    assert_eq!(models::files(&one), models::files(&two));

    // A model that was opened and saved again is the same, too.
    models::model::<f64>(&spec).save(&one).unwrap();
    Model::load(&one).unwrap().save(&two).unwrap();
    assert_eq!(models::files(&one), models::files(&two));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn a_mean_of_draws_gives_the_same_bytes_again() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    let model = models::drawn();
    model.save(&one).unwrap();
    let same = Model::load(&one).unwrap();
    assert_eq!((&same.posterior, &same.parameters), (&model.posterior, &model.parameters));
    same.save(&two).unwrap();
    assert_eq!(models::files(&one), models::files(&two));
}

#[test]
fn labels_are_one_line_each() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    models::model::<f64>(&models::tied(Offsets::None)).save(&path).unwrap();
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
    let model = models::model::<f64>(&models::tied(Offsets::Mean));
    model.save(&path).unwrap();
    // The process died between the two renames, and another one in the middle of writing.
    fs::rename(&path, folder.path().join(".model.old")).unwrap();
    fs::create_dir(folder.path().join(".model.4294967295-0.partial")).unwrap();
    fs::write(folder.path().join(".model.checkpoint.4294967295-0.partial"), "").unwrap();
    assert!(is_model(&path));
    assert_eq!(Model::load(&path).unwrap().notes, model.notes);

    model.save(&path).unwrap();
    assert_eq!(Model::load(&path).unwrap().notes, model.notes);
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
    let model = models::model::<f64>(&models::tied(Offsets::Mean));
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
    let model = models::model::<f64>(&models::tied(Offsets::Mean));
    fs::write(at("file"), "precious").unwrap();
    fs::create_dir(at("folder")).unwrap();
    fs::write(at("folder/model.json"), "{}").unwrap();
    model.save(&at("model")).unwrap();
    fs::write(at("model/notes.txt"), "precious").unwrap();
    for (name, reason) in [
        (
            "file",
            "there is a file of this name, which a model would replace: choose another name or \
             remove it",
        ),
        (
            "folder",
            "there is a folder of this name that is no Quadfill model: choose another name or \
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
    let mut model = models::model::<f64>(&models::tied(Offsets::Mean));
    model.parameters.row_mut(0, 0)[0] = f64::NAN;
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
    let mut model = models::model::<f64>(&models::tied(Offsets::Mean));
    model.notes.path[0].train_rmse = f64::INFINITY;
    model.save(&path).unwrap();
    assert_eq!(Model::load(&path).unwrap().notes, model.notes);
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
        "M: this is a file and no model folder: give what `quadfill fit -o` wrote"
    );
    fs::remove_file(&path).unwrap();
    for name in ["model.json", "model.safetensors", "labels.jsonl"] {
        models::model::<f64>(&models::tied(Offsets::Mean)).save(&path).unwrap();
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
        "M/labels.jsonl: line 1: the labels end here but the model has more: the file is damaged, fit the model again or take a sound copy"
    );
    let [json, tensors, labels] = models::files(&path);
    assert!(parse_model(&json, &tensors, &labels).is_err());
}
