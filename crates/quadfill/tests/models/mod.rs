//! Models with everything that a model file has to carry, written down apart from the library.
#![allow(dead_code, reason = "not every test needs all of them")]

use std::path::Path;

use quadfill::model::{Biases, GroupPrior, Kernel, ModelSpec, Parameters, Posterior};
use quadfill::observations::{Binning, Source, TimeUnit};
use quadfill::solve::{PathPoint, Precision, Status};
use quadfill::{FitConfig, FitSummary, Labels, Mode, Model, Real};
use safetensors::tensor::{Dtype, TensorView};
use serde_json::json;

/// Labels that trip over careless quoting and splitting.
pub(crate) const ODD: [&str; 7] = ["", "a\nb", "\"quoted\"", "🦀", "7", "tab\t\\", "\u{2028}\0é"];

/// Whole numbers, odd texts, and the same whole numbers again.
pub(crate) fn modes() -> Vec<Mode> {
    let numbers = || Labels::from_integers(vec![i64::MIN, -1, 0, i64::MAX]);
    let unit = TimeUnit::Number;
    let bins = Binning { origin: 0.1, width: 86_400.0, count: Some(4), unit };
    vec![
        Mode::new("from", numbers()),
        Mode::new("wörd \"x\"", Labels::from_names(ODD)),
        Mode { bins: Some(bins), ..Mode::new("to", numbers()) },
    ]
}

/// The first and the last mode share their factors.
pub(crate) fn tied(biases: Biases) -> ModelSpec {
    ModelSpec::quadratic(Kernel::pairwise(3), 3).with_tied(&[0, 2]).with_biases(biases)
}

/// All that a model is made of.
pub(crate) struct Parts<T: Real> {
    pub(crate) spec: ModelSpec,
    pub(crate) modes: Vec<Mode>,
    pub(crate) source: Source,
    pub(crate) summary: FitSummary,
    pub(crate) parameters: Parameters<T>,
    pub(crate) posterior: Option<Posterior<T>>,
}

impl<T: Real> Parts<T> {
    /// A model of these numbers.
    pub(crate) fn new(spec: &ModelSpec, modes: Vec<Mode>, parameters: Parameters<T>) -> Self {
        let point = |penalty: f64| PathPoint {
            penalty,
            train_rmse: penalty / 3.0,
            validation_rmse: Some(f64::EPSILON),
            seconds: 0.25,
        };
        let summary = FitSummary {
            config: FitConfig::for_spec(spec),
            precision: if T::NAME == "f32" { Precision::F32 } else { Precision::F64 },
            penalty: 0.1 + 0.2,
            status: Status::Converged,
            sweeps: 12,
            observations: 100,
            train_rmse: 1.0 / 3.0,
            validation_rmse: Some(2.0 / 3.0),
            path: vec![point(1.1), point(0.3)],
            certificate: None,
            sdp: None,
            race: None,
            draws: None,
        };
        let source = Source { value: "rating".to_owned(), positions: None };
        Self { spec: spec.clone(), modes, source, summary, parameters, posterior: None }
    }

    /// The model.
    pub(crate) fn model(&self) -> Model {
        let [json, tensors, labels] = self.files();
        Model::from_files(&json, &tensors, &labels).expect("the files are sound")
    }

    /// The summary as it is stored.
    pub(crate) fn stored_summary(&self) -> FitSummary {
        let mut summary = self.summary.clone();
        summary.path.iter_mut().for_each(|point| point.seconds = 0.0);
        summary
    }

    /// Its three files.
    pub(crate) fn files(&self) -> [Vec<u8>; 3] {
        [self.json(), self.tensors(), self.labels()]
    }

    fn json(&self) -> Vec<u8> {
        let modes = self.modes.iter().zip(&self.spec.groups).map(|(mode, group)| {
            let biases = (self.spec.biases == Biases::Modes).then(|| format!("biases.{group}"));
            let kind = match mode.labels {
                Labels::Integers(_) => "integers",
                Labels::Text(_) => "text",
            };
            let mut entry = json!({
                "name": mode.name,
                "labels": kind,
                "count": mode.labels.len(),
                "factors": format!("factors.{group}"),
                "biases": biases,
            });
            if let Some(bins) = mode.bins {
                entry["bins"] = serde_json::to_value(bins).expect("bins have a JSON form");
            }
            entry
        });
        let description = json!({
            "format": "quadfill-model",
            "version": 3,
            "spec": self.spec,
            "modes": modes.collect::<Vec<_>>(),
            "source": self.source,
            "summary": self.summary,
        });
        serde_json::to_vec(&description).expect("every part has a JSON form")
    }

    fn tensors(&self) -> Vec<u8> {
        let wide = |numbers: &mut dyn Iterator<Item = f64>| -> Vec<u8> {
            numbers.flat_map(f64::to_le_bytes).collect()
        };
        let narrow = |numbers: &mut dyn Iterator<Item = f64>| -> Vec<u8> {
            numbers.flat_map(|x| (x as f32).to_le_bytes()).collect()
        };
        // Draws are kept in single precision.
        let single = T::NAME == "f32" || self.posterior.is_some();
        let dtype = if single { Dtype::F32 } else { Dtype::F64 };
        let own = |numbers: &mut dyn Iterator<Item = f64>| {
            if single { narrow(numbers) } else { wide(numbers) }
        };
        let rows = self.parameters.layout().rows();
        let mut all: Vec<(String, Dtype, Vec<usize>, Vec<u8>)> = Vec::new();
        for (group, &count) in rows.iter().enumerate() {
            let mut factors =
                (0..count).flat_map(|label| self.parameters.row(group, label)).map(|u| u.to_f64());
            let shape = vec![count, self.spec.rank];
            all.push((format!("factors.{group}"), dtype, shape, own(&mut factors)));
            if self.spec.biases == Biases::Modes {
                let mut biases =
                    (0..count).map(|label| self.parameters.bias(group, label).to_f64());
                all.push((format!("biases.{group}"), dtype, vec![count], own(&mut biases)));
            }
        }
        let mean = wide(&mut [self.parameters.mean].into_iter());
        all.push(("mean".to_owned(), Dtype::F64, vec![1], mean));
        if let Some(posterior) = &self.posterior {
            let draws = posterior.draws();
            let n = draws.len();
            let noise = wide(&mut draws.iter().map(|draw| draw.noise));
            all.push(("draws.noise".to_owned(), Dtype::F64, vec![n], noise));
            let means = wide(&mut draws.iter().map(|draw| draw.mean));
            all.push(("draws.mean".to_owned(), Dtype::F64, vec![n], means));
            for (group, &count) in rows.iter().enumerate() {
                if self.spec.biases == Biases::Modes {
                    let mut biases =
                        draws.iter().flat_map(|draw| &draw.biases[group]).map(|&b| f64::from(b));
                    let name = format!("draws.biases.{group}");
                    all.push((name, Dtype::F32, vec![n, count], narrow(&mut biases)));
                }
                let unknowns = draws[0].priors[group].means.len();
                let mut means = draws.iter().flat_map(|draw| &draw.priors[group].means).copied();
                let name = format!("draws.row_means.{group}");
                all.push((name, Dtype::F64, vec![n, unknowns], wide(&mut means)));
                let mut precisions =
                    draws.iter().flat_map(|draw| &draw.priors[group].precisions).copied();
                let name = format!("draws.row_precisions.{group}");
                all.push((name, Dtype::F64, vec![n, unknowns], wide(&mut precisions)));
            }
        }
        let views = all.iter().map(|(name, dtype, shape, bytes)| {
            let view = TensorView::new(*dtype, shape.clone(), bytes).expect("as many as its shape");
            (name.as_str(), view)
        });
        safetensors::serialize(views, None).expect("the tensors are sound")
    }

    fn labels(&self) -> Vec<u8> {
        let mut lines = String::new();
        for (at, mode) in self.modes.iter().enumerate() {
            for label in 0..mode.labels.len() {
                let label = match &mode.labels {
                    Labels::Integers(labels) => json!([at, labels[label]]),
                    Labels::Text(text) => json!([at, text.name(label)]),
                };
                lines.push_str(&label.to_string());
                lines.push('\n');
            }
        }
        lines.into_bytes()
    }
}

/// A model with random numbers.
pub(crate) fn parts<T: Real>(spec: &ModelSpec) -> Parts<T> {
    let modes = modes();
    let sizes: Vec<usize> = modes.iter().map(|mode| mode.labels.len()).collect();
    let mut parameters = Parameters::<T>::random(spec, &sizes, 1.0, 5);
    if spec.biases != Biases::None {
        parameters.mean = 0.1;
    }
    if spec.biases == Biases::Modes {
        for (group, rows) in spec.group_sizes(&sizes).into_iter().enumerate() {
            for label in 0..rows {
                parameters.set_bias(group, label, T::from_f64(0.3 * label as f64 - 0.1));
            }
        }
    }
    Parts::new(spec, modes, parameters)
}

/// A mean of three draws with random numbers.
pub(crate) fn drawn() -> Parts<f64> {
    let spec = ModelSpec::quadratic(Kernel::pairwise(3), 2).with_biases(Biases::Modes);
    let mut parts = parts::<f64>(&spec);
    let sizes: Vec<usize> = parts.modes.iter().map(|mode| mode.labels.len()).collect();
    let kept = (0..3u8)
        .map(|draw| {
            let mut point = Parameters::<f64>::random(&spec, &sizes, 1.0, draw.into());
            point.mean = f64::from(draw);
            for (group, &rows) in sizes.iter().enumerate() {
                (0..rows).for_each(|label| point.set_bias(group, label, 0.25 * f64::from(draw)));
            }
            let means = vec![0.1, f64::from(draw), -0.2];
            let prior = GroupPrior { means, precisions: vec![1.0, 2.0, 3.0] };
            (point, 4.0, vec![prior; 3])
        })
        .collect();
    let (spec, parameters, posterior) = Posterior::join(&spec, &sizes, kept);
    (parts.spec, parts.parameters, parts.posterior) = (spec, parameters, Some(posterior));
    parts.summary.draws = Some(3);
    parts
}

/// The three files of a model.
pub(crate) fn files(folder: &Path) -> [Vec<u8>; 3] {
    ["model.json", "model.safetensors", "labels.jsonl"]
        .map(|name| std::fs::read(folder.join(name)).expect("the file is there"))
}
