//! Models that older versions wrote can still be opened.
//!
//! Each version of the format has a model in `compat/`. After a change of the format, write the new
//! one with `cargo test -p quadfill --test compat -- --ignored`, and add a test for it.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod models;

use std::path::{Path, PathBuf};

use quadfill::apply::{DrawIntervals, UNKNOWN};
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
fn version_2() {
    let model = Model::load(&folder("v2")).unwrap();
    assert_eq!((model.rank(), model.notes.draws), (2, Some(3)));
    let posterior = model.posterior.as_ref().unwrap();
    assert_eq!(posterior.draws()[2].mean, 2.0);
    assert_eq!(posterior.draws()[1].priors[2].precisions, [1.0, 2.0, 3.0]);
    // What a few lines of Python make of the stored tensors.
    let expected = [4.452_148_731_815_889, -0.308_606_970_409_772_7, 1.278_497_678_013_790_2];
    assert!((model.predictor().cell(&[1, 3, 2]) - expected[0]).abs() < 1e-12);
    assert!((model.predictor().cell(&[1, UNKNOWN, 2]) - expected[1]).abs() < 1e-12);
    let intervals = DrawIntervals::new(model.predictor(), posterior);
    assert!((intervals.half_width(&[1, 3, 2], 0.9) - expected[2]).abs() < 1e-6);
}

#[test]
#[ignore = "writes the models of a new version of the format"]
fn write_the_current_version() {
    let model = models::drawn();
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("model");
    model.save(&path).unwrap();
    let [json, ..] = models::files(&path);
    let description: serde_json::Value = serde_json::from_slice(&json).unwrap();
    model.save(&folder(&format!("v{}", description["version"]))).unwrap();
}
