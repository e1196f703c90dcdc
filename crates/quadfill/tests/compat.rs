//! Models that older versions wrote can still be opened.
//!
//! Each version of the format has a model in `compat/`. After a change of the format, write the new
//! one with `cargo test -p quadfill --test compat -- --ignored`, and add a test for it.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod models;

use std::path::{Path, PathBuf};

use quadfill::Model;
use quadfill::model::{Biases, ModelKind, UNKNOWN};
use quadfill::solve::{Choice, Precision, Rank, Solver, Status};
use safetensors::SafeTensors;

fn folder(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compat").join(version)
}

/// The numbers of a tensor in double precision, as the model would store it.
fn tensor(model: &Model, name: &str) -> Vec<f64> {
    let bytes = model.to_bytes().unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let data = file.tensor(name).unwrap();
    assert_eq!(data.dtype().to_string(), "F64");
    data.data().chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
}

#[test]
fn version_1() {
    let model = Model::load(folder("v1")).unwrap();
    assert_eq!(model.spec(), &models::tied(Biases::Modes));
    let summary = model.summary();
    assert_eq!(summary.status, Status::Converged);
    assert_eq!(summary.precision, Precision::F32);
    assert_eq!((summary.sweeps, summary.observations), (12, 100));
    assert_eq!((summary.penalty, summary.train_rmse), (0.1 + 0.2, 1.0 / 3.0));
    assert_eq!((summary.path.len(), summary.path[1].penalty), (2, 0.3));
    let config = &summary.config;
    assert_eq!((config.solver, &config.model), (Solver::Path, &ModelKind::Pairwise));
    assert_eq!((config.rank, config.biases), (Rank::Fixed(3), Choice::Auto));
    assert_eq!(
        (&config.ties, config.penalty),
        (&vec![vec!["1".to_owned(), "3".to_owned()]], Choice::Auto)
    );
    assert_eq!(model.source().value, "rating");
    assert_eq!(model.modes()[2].bins.unwrap().bin(86_401.0), Some(1));
    let cell = model.find_cell(&["-1", "🦀", "0"]).unwrap();
    assert_eq!(cell, [1, 3, 2]);
    // What a few lines of Python make of the stored tensors.
    let expected = -5.549_207_871_655_783;
    assert!((model.predict_cell(&cell) - expected).abs() < 1e-14);
}

#[test]
fn version_2() {
    let model = Model::load(folder("v2")).unwrap();
    assert_eq!(model.summary().precision, Precision::F64);
    assert_eq!((model.rank(), model.summary().draws), (2, Some(3)));
    assert_eq!(tensor(&model, "draws.mean")[2], 2.0);
    assert_eq!(tensor(&model, "draws.row_precisions.2")[3..6], [1.0, 2.0, 3.0]);
    assert_eq!(model.noise_precisions(), [4.0; 3]);
    // What a few lines of Python make of the stored tensors.
    let expected = [4.452_148_731_815_889, -0.308_606_970_409_772_7, 1.278_497_678_013_790_2];
    assert!((model.predict_cell(&[1, 3, 2]) - expected[0]).abs() < 1e-12);
    assert!((model.predict_cell(&[1, UNKNOWN, 2]) - expected[1]).abs() < 1e-12);
    let widths = model.half_widths(&[&[1], &[3], &[2]], 0.9, None).unwrap();
    assert!((widths[0] - expected[2]).abs() < 1e-6);
}

/// Versions 3 and 4 have the same layout; 4 may have settings and priors that 3 does not know.
fn check_recent(model: &Model) {
    let summary = model.summary();
    assert_eq!((model.rank(), summary.draws), (2, Some(3)));
    assert_eq!((summary.precision, summary.status), (Precision::F64, Status::Converged));
    assert_eq!((summary.penalty, summary.path.len()), (0.1 + 0.2, 2));
    assert_eq!((summary.config.rank, summary.config.penalty), (Rank::Fixed(2), Choice::Auto));
    assert_eq!(model.source().value, "rating");
    assert_eq!(model.modes()[2].bins.unwrap().bin(86_401.0), Some(1));
    assert_eq!(model.find_cell(&["-1", "🦀", "0"]).unwrap(), [1, 3, 2]);
    assert_eq!(tensor(model, "draws.mean"), [0.0, 1.0, 2.0]);
    assert_eq!(tensor(model, "draws.row_precisions.2")[3..6], [1.0, 2.0, 3.0]);
    assert_eq!(model.noise_precisions(), [4.0; 3]);
    // What a few lines of Python make of the stored tensors.
    let expected = [4.452_148_704_910_781, -0.308_606_991_819_967_54, 1.278_497_638_185_571_5];
    assert!((model.predict_cell(&[1, 3, 2]) - expected[0]).abs() < 1e-12);
    assert!((model.predict_cell(&[1, UNKNOWN, 2]) - expected[1]).abs() < 1e-12);
    let widths = model.half_widths(&[&[1], &[3], &[2]], 0.9, None).unwrap();
    assert!((widths[0] - expected[2]).abs() < 1e-6);
}

#[test]
fn version_3() {
    check_recent(&Model::load(folder("v3")).unwrap());
}

#[test]
fn version_4() {
    let model = Model::load(folder("v4")).unwrap();
    check_recent(&model);
    // It is written as it stands there.
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("model");
    model.save(&path).unwrap();
    assert_eq!(models::files(&path), models::files(&folder("v4")));
}

#[test]
#[ignore = "writes the models of a new version of the format"]
fn write_the_current_version() {
    let model = models::drawn().model();
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("model");
    model.save(&path).unwrap();
    let [json, ..] = models::files(&path);
    let description: serde_json::Value = serde_json::from_slice(&json).unwrap();
    model.save(folder(&format!("v{}", description["version"]))).unwrap();
}
