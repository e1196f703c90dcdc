//! Learning on from a model.

use super::fold_in::{fold_in, refuse_draws};
use crate::error::Result;
use crate::file::Model;
use crate::observations::Observations;
use crate::solve::{
    FitConfig, KernelChoice, Observer, Progress, ProgressNotes, RankChoice, Solver, Stage, resume,
};
use quadfill_kernels::Real;

/// Fits a model to more data, old and new together, from where it is: the same penalty and offsets,
/// alternating least squares until the objective stops falling.
///
/// `model` already has the labels of `data` (see [`Model::grown`]); new ones begin where
/// [`fold_in`] puts them.
pub fn update<T: Real>(
    mut model: Model<T>,
    data: Observations<T>,
    is_new: &[Vec<bool>],
    observer: &mut dyn Observer<T>,
) -> Result<Model<T>> {
    refuse_draws(&model)?;
    let before = &model.notes.config;
    if is_new.iter().flatten().any(|&new| new) && before.implicit.is_none() {
        model = fold_in(model, &data, is_new)?;
    }
    let notes = &model.notes;
    let config = FitConfig {
        model: model.spec.clone(),
        offsets: Some(model.spec.offsets),
        solver: Solver::Als,
        penalty: Some(notes.penalty),
        sweeps: None,
        rank: RankChoice::Given,
        kernel: KernelChoice::Given,
        ..notes.config.clone()
    };
    let progress = Progress {
        notes: ProgressNotes {
            stage: Stage::Solve,
            spec: model.spec.clone(),
            step: 0,
            sweeps: 0,
            lambda_max: notes.penalty,
            objective: f64::MAX,
            quiet: 0,
            path: Vec::new(),
            candidates: Vec::new(),
            trials: Vec::new(),
            seconds: 0.0,
            sampler: None,
        },
        parameters: model.parameters,
        best: None,
        draws: None,
    };
    let count = data.len();
    let fit = resume(data, &config, progress, observer)?;
    let (bins, value, places) = (notes.bins.clone(), notes.value.clone(), notes.places.clone());
    let mut updated = Model::new(fit, model.modes, bins, value, count, &config);
    updated.notes.places = places;
    Ok(updated)
}
