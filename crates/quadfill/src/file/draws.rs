//! What draws have besides their factors, as tensors with one row per draw:
//!
//! ```text
//! draws.noise              (draws)             precision of the noise
//! draws.mean               (draws)             the global mean
//! draws.biases.0, ..       (draws x labels)    where there are biases
//! draws.row_means.0, ..    (draws x columns)   prior means of the rows, the bias last
//! draws.row_precisions.0, ..                   independent columns, or (draws x columns x columns)
//! ```

use safetensors::tensor::SafeTensors;

use super::DAMAGED;
use crate::model::tensors::{Tensor, vector};
use crate::model::{Biases, Draw, GroupPrior, ModelSpec};

const NOISE: &str = "draws.noise";
const MEAN: &str = "draws.mean";

fn biases_name(group: usize) -> String {
    format!("draws.biases.{group}")
}

fn means_name(group: usize) -> String {
    format!("draws.row_means.{group}")
}

fn precisions_name(group: usize) -> String {
    format!("draws.row_precisions.{group}")
}

/// The tensors of all draws.
pub(super) fn collect(draws: &[Draw]) -> Vec<(String, Tensor)> {
    let count = draws.len();
    let mut tensors = vec![
        (NOISE.to_owned(), Tensor::new(vec![count], draws.iter().map(|draw| &draw.noise))),
        (MEAN.to_owned(), Tensor::new(vec![count], draws.iter().map(|draw| &draw.mean))),
    ];
    let first = draws.first().expect("a posterior has draws");
    for (group, biases) in first.biases.iter().enumerate() {
        let numbers = draws.iter().flat_map(|draw| &draw.biases[group]);
        tensors.push((biases_name(group), Tensor::new(vec![count, biases.len()], numbers)));
    }
    for (group, prior) in first.priors.iter().enumerate() {
        let shape = vec![count, prior.means.len()];
        let means = draws.iter().flat_map(|draw| &draw.priors[group].means);
        tensors.push((means_name(group), Tensor::new(shape.clone(), means)));
        let precisions = draws.iter().flat_map(|draw| &draw.priors[group].precisions);
        let shape = if prior.is_diagonal() { shape } else { vec![count, prior.len(), prior.len()] };
        tensors.push((precisions_name(group), Tensor::new(shape, precisions)));
    }
    tensors
}

/// Reads what [`collect`] made for a model of this many draws, checking each tensor.
pub(super) fn read(
    file: &SafeTensors<'_>,
    spec: &ModelSpec,
    sizes: &[usize],
    count: usize,
) -> Result<Vec<Draw>, String> {
    let has_biases = spec.biases == Biases::Modes;
    let unknowns = spec.rank / count + usize::from(has_biases);
    let noise = vector(file, NOISE, &[count])?;
    let mean = vector(file, MEAN, &[count])?;
    let mut draws: Vec<Draw> = noise
        .into_iter()
        .zip(mean)
        .map(|(noise, mean)| Draw { noise, mean, biases: Vec::new(), priors: Vec::new() })
        .collect();
    for (group, &rows) in spec.group_sizes(sizes).iter().enumerate() {
        if has_biases {
            let biases = vector(file, &biases_name(group), &[count, rows])?;
            for (draw, line) in draws.iter_mut().zip(biases.chunks(rows.max(1))) {
                draw.biases.push(line.iter().map(|&bias| bias as f32).collect());
            }
        }
        let means = vector(file, &means_name(group), &[count, unknowns])?;
        let name = precisions_name(group);
        let is_full = file.tensor(&name).is_ok_and(|tensor| tensor.shape().len() == 3);
        let (shape, each) = if is_full {
            (vec![count, unknowns, unknowns], unknowns * unknowns)
        } else {
            (vec![count, unknowns], unknowns)
        };
        let precisions = vector(file, &name, &shape)?;
        let lines = means.chunks(unknowns).zip(precisions.chunks(each));
        for (draw, (means, precisions)) in draws.iter_mut().zip(lines) {
            let prior = GroupPrior { means: means.to_vec(), precisions: precisions.to_vec() };
            draw.priors.push(prior);
        }
    }
    let mut priors = draws.iter().flat_map(|draw| &draw.priors);
    let is_proper = |prior: &GroupPrior| prior.covariance().is_some();
    if draws.iter().any(|draw| draw.noise <= 0.0) || !priors.all(is_proper) {
        return Err(format!("a draw has a precision that is not above zero: {DAMAGED}"));
    }
    Ok(draws)
}
