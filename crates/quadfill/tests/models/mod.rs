//! A model with everything that a model file has to carry.

use std::path::Path;

use quadfill::file::Model;
use quadfill::model::{Kernel, ModelSpec, Offsets, Parameters};
use quadfill::observations::Binning;
use quadfill::solve::{Fit, FitConfig, PathPoint, Status};
use quadfill::{Labels, Mode, Real};

/// Labels that trip over careless quoting and splitting.
pub(crate) const ODD: [&str; 7] = ["", "a\nb", "\"quoted\"", "🦀", "7", "tab\t\\", "\u{2028}\0é"];

/// Whole numbers, odd texts, and the same whole numbers again.
pub(crate) fn modes() -> Vec<Mode> {
    let numbers = || Labels::from_integers(vec![i64::MIN, -1, 0, i64::MAX]);
    vec![
        Mode::new("from", numbers()),
        Mode::new("wörd \"x\"", Labels::from_names(ODD)),
        Mode::new("to", numbers()),
    ]
}

/// The first and the last mode share their factors.
pub(crate) fn tied(offsets: Offsets) -> ModelSpec {
    ModelSpec::quadratic(Kernel::pairwise(3), 3).with_tied(&[0, 2]).with_offsets(offsets)
}

/// A model with random numbers.
pub(crate) fn model<T: Real>(spec: &ModelSpec) -> Model<T> {
    let modes = modes();
    let sizes: Vec<usize> = modes.iter().map(|mode| mode.labels.len()).collect();
    let mut parameters = Parameters::<T>::random(spec, &sizes, 1.0, 5);
    if spec.offsets != Offsets::None {
        parameters.mean = 0.1;
    }
    if spec.offsets == Offsets::Modes {
        for (group, rows) in spec.group_sizes(&sizes).into_iter().enumerate() {
            for label in 0..rows {
                parameters.set_bias(group, label, T::from_f64(0.3 * label as f64 - 0.1));
            }
        }
    }
    let point = |penalty: f64| PathPoint {
        penalty,
        train_rmse: penalty / 3.0,
        validation_rmse: Some(f64::EPSILON),
        seconds: 0.25,
    };
    let fit = Fit {
        spec: spec.clone(),
        parameters,
        penalty: 0.1 + 0.2,
        status: Status::Converged,
        sweeps: 12,
        train_rmse: 1.0 / 3.0,
        validation_rmse: Some(2.0 / 3.0),
        path: vec![point(1.1), point(0.3)],
        certificate: None,
        sdp: None,
    };
    let bins =
        vec![Binning { mode: "to".to_owned(), origin: 0.1, width: 86_400.0, count: Some(4) }];
    let value = "rating".to_owned();
    Model::new(fit, modes, bins, value, 100, &FitConfig::new(spec.clone()))
}

/// The three files of a model.
pub(crate) fn files(folder: &Path) -> [Vec<u8>; 3] {
    ["model.json", "model.safetensors", "labels.jsonl"]
        .map(|name| std::fs::read(folder.join(name)).expect("the file is there"))
}
