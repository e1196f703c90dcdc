//! Models that older versions wrote can still be opened.
//!
//! Each version of the format has a model in `compat/`. After a change of the format, write the new
//! one with `cargo test -p quadfill --test compat -- --ignored`, and add a test for it.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod models;

use std::path::{Path, PathBuf};

use quadfill::file::Model;
use quadfill::model::Offsets;
use quadfill::solve::{Solver, Status};

fn folder(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compat").join(version)
}

#[test]
fn version_1() {
    let model = Model::load(&folder("v1")).unwrap();
    assert_eq!(model.spec, models::tied(Offsets::Modes));
    assert_eq!(model.notes.status, Status::Converged);
    assert_eq!(model.notes.config.solver, Solver::Path);
    assert_eq!(model.notes.precision, "f32");
    assert_eq!(model.notes.bins[0].bin(86_401.0), Some(1));
    let cell = [
        model.modes[0].labels.find("-1").unwrap(),
        model.modes[1].labels.find("🦀").unwrap(),
        model.modes[2].labels.find("0").unwrap(),
    ];
    assert_eq!(cell, [1, 3, 2]);
    // What a few lines of Python make of the stored tensors.
    let expected = -5.549_207_871_655_783;
    assert!((model.predictor().cell(&cell) - expected).abs() < 1e-14);
}

#[test]
#[ignore = "writes the model of a new version of the format"]
fn write_the_current_version() {
    let [json, ..] = {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        models::model::<f32>(&models::tied(Offsets::Modes)).save(&path).unwrap();
        models::files(&path)
    };
    let description: serde_json::Value = serde_json::from_slice(&json).unwrap();
    models::model::<f32>(&models::tied(Offsets::Modes))
        .save(&folder(&format!("v{}", description["version"])))
        .unwrap();
}
