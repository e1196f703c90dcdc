//! Fill in the missing entries of sparse multi-way data: user x movie x week, head x relation x tail,
//! row x column x wavelength.
//!
//! # A tour
//!
//! Observations are rows of labels and a value. Usually a reader makes them
//! (`quadfill_io::read("ratings.csv", &Default::default())`); here they are written down.
//!
//! ```
//! use quadfill::{FitConfig, Labels, Mode, Model, Observations, OnDuplicate};
//!
//! // What four people think of four films, 1 to 5 stars, with some cells missing.
//! let people = Labels::from_names(["ann", "bob", "cem", "dia"]);
//! let films = Labels::from_names(["Heat", "Ronin", "Up", "Coco"]);
//! let modes = vec![Mode::new("person", people), Mode::new("film", films)];
//! let indices = vec![vec![0, 0, 0, 1, 1, 2, 2, 2, 3, 3], vec![0, 1, 2, 0, 3, 1, 2, 3, 0, 2]];
//! let values = vec![5.0, 5.0, 2.0, 4.0, 1.0, 2.0, 5.0, 5.0, 1.0, 4.0];
//! let data = Observations::new(modes, indices, values, None, OnDuplicate::Error)?;
//!
//! // Model, rank and priors are chosen automatically; every setting can be given.
//! let model: Model = quadfill::fit(data.clone(), &FitConfig::default())?;
//!
//! // Any cell, the best labels of a mode, and the terms of a prediction.
//! assert!(model.predict(&["dia", "Coco"])?.is_finite());
//! let best = model.top(&[("person", "bob")], "film", 2)?;
//! assert_eq!(best.len(), 2);
//! let explanation = model.explain(&["ann", "Coco"])?;
//! let sum: f64 = explanation.parts.iter().map(|part| part.value()).sum();
//! assert!((sum - explanation.prediction).abs() < 1e-9);
//!
//! // How good it is: on given data, and on cells that were held out while the model was chosen.
//! assert!(model.evaluate(&data)?.rmse.is_finite());
//! assert!(model.summary().race.as_ref().is_some_and(|race| race.held_out.rmse > 0.0));
//!
//! // A new label; everything else stays as it is.
//! let modes = vec![
//!     Mode::new("person", Labels::from_names(["eve"])),
//!     Mode::new("film", Labels::from_names(["Heat", "Up"])),
//! ];
//! let newcomers =
//!     Observations::new(modes, vec![vec![0, 0], vec![0, 1]], vec![5.0, 1.0], None, OnDuplicate::Error)?;
//! let model = model.fold_in(newcomers)?;
//! assert!(model.predict(&["eve", "Ronin"])?.is_finite());
//!
//! // A folder that other programs can open, or bytes.
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("films");
//! model.save(&path)?;
//! let same = Model::from_bytes(&Model::load(&path)?.to_bytes()?)?;
//! assert_eq!(same.predict(&["eve", "Ronin"])?, model.predict(&["eve", "Ronin"])?);
//! # Ok::<(), quadfill::Error>(())
//! ```
//!
//! # The model
//!
//! A cell `t = (t_1..t_N)` of a tensor with `N` modes is predicted from one short vector per label,
//! `u_a` being the row that `t_a` picks in mode `a`:
//!
//! ```text
//! quadratic   T_t = sum over a, b of K[a][b] <u_a, u_b>        (pairwise, transe, any kernel K)
//! cp          T_t = sum over l of product over a of u_a[l]
//! ```
//!
//! plus, where wanted, the mean of the data and one bias per label. The objective is stated at the top
//! of [`objective`], the bound on its distance to the optimum at the top of [`certify`](mod@certify).
//!
//! # Below the front door
//!
//! The modules follow the data flow, and none of them uses a later one: [`observations`] →
//! [`views`] → [`model`] → [`objective`] → [`certify`](mod@certify) → [`solve`] → [`Model`] → its file →
//! its [uses](apply).

pub mod apply;
pub mod certify;
mod error;
mod file;
mod fitted;
pub mod model;
pub mod objective;
pub mod observations;
pub mod solve;
pub mod views;
mod whole_file;

pub use error::{Error, Result, Setting, SettingError};
pub use file::{check_target, checkpoint_path, is_model};
pub use fitted::{FitSummary, Model, fit, fit_with, resume};
pub use observations::{Labels, Mode, Observations, OnDuplicate};
pub use quadfill_kernels::Real;
pub use solve::FitConfig;
pub use whole_file::write_whole_file;
