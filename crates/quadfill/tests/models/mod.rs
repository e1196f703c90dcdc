//! A model with everything that a model file has to carry.

use std::path::Path;

use quadfill::file::Model;
use quadfill::model::{Kernel, ModelSpec, Offsets, Parameters, Posterior, RowPrior};
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
        posterior: None,
    };
    let bins =
        vec![Binning { mode: "to".to_owned(), origin: 0.1, width: 86_400.0, count: Some(4) }];
    let value = "rating".to_owned();
    Model::new(fit, modes, bins, value, 100, &FitConfig::new(spec.clone()))
}

/// A mean of three draws with random numbers.
pub(crate) fn drawn() -> Model<f64> {
    let spec = ModelSpec::quadratic(Kernel::pairwise(3), 2).with_offsets(Offsets::Modes);
    let mut model = model::<f64>(&spec);
    let sizes: Vec<usize> = model.modes.iter().map(|mode| mode.labels.len()).collect();
    let kept = (0..3u8)
        .map(|draw| {
            let mut point = Parameters::<f32>::random(&spec, &sizes, 1.0, draw.into());
            point.mean = f64::from(draw);
            for (group, &rows) in sizes.iter().enumerate() {
                (0..rows).for_each(|label| point.set_bias(group, label, 0.25 * f32::from(draw)));
            }
            let means = vec![0.1, f64::from(draw), -0.2];
            let prior = RowPrior { means, precisions: vec![1.0, 2.0, 3.0] };
            (point, 4.0, vec![prior; 3])
        })
        .collect();
    let (spec, parameters, posterior) = Posterior::join(&spec, &sizes, kept);
    (model.spec, model.parameters, model.posterior) = (spec, parameters, Some(posterior));
    model.notes.draws = Some(3);
    model
}

/// The three files of a model.
pub(crate) fn files(folder: &Path) -> [Vec<u8>; 3] {
    ["model.json", "model.safetensors", "labels.jsonl"]
        .map(|name| std::fs::read(folder.join(name)).expect("the file is there"))
}
