//! The centres of a centred model, as tensors `centre.0`, .. (columns).
//!
//! They depend on the penalties of rows, which a model does not keep. Files without them are older: there the rows
//! count alike.

use safetensors::tensor::SafeTensors;

use crate::model::tensors::{Tensor, vector};
use crate::model::{Parameters, UnknownLabelRows};
use crate::objective::centre;
use quadfill_kernels::Real;

fn name(group: usize) -> String {
    format!("centre.{group}")
}

/// The tensors of all centres.
pub(super) fn collect<T: Real>(centres: &UnknownLabelRows<T>) -> Vec<(String, Tensor)> {
    let rows = centres.rows().iter().enumerate();
    rows.map(|(group, row)| (name(group), Tensor::new(vec![row.len()], row.iter()))).collect()
}

/// Reads what [`collect`] made.
pub(super) fn read<T: Real>(
    file: &SafeTensors<'_>,
    parameters: &Parameters<T>,
) -> Result<UnknownLabelRows<T>, String> {
    let layout = parameters.layout();
    let rank = layout.rank();
    let of_group = |group: usize| {
        let numbers = if file.tensor(&name(0)).is_ok() {
            vector(file, &name(group), &[rank])?
        } else {
            centre(parameters, group, |_| 1.0)
        };
        Ok(numbers.into_iter().take(rank).map(T::from_f64).collect())
    };
    let centres: Result<_, String> = (0..layout.rows().len()).map(of_group).collect();
    Ok(UnknownLabelRows::of_centres(centres?))
}
