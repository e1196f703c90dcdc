//! The smallest curvature of the objective in `U`: a local minimum, or a saddle.

use crate::model::{Interaction, Parameters, each_row, rotate_to_principal_axes};
use crate::objective::Objective;
use quadfill_kernels::{Real, lanczos};

/// Lanczos steps to estimate the largest curvature, and to find the smallest.
const SCALE_STEPS: usize = 20;
const STEPS: usize = 200;

/// An estimate of the smallest eigenvalue of the Hessian among directions that change the model.
///
/// Rotating all rows together changes no prediction of a quadratic model, so these `R (R - 1) / 2`
/// flat directions are projected out. In principal axes they are orthogonal: the one that turns column
/// `i` into column `j` has squared length `s_i + s_j`, with `s` the squared column norms.
pub(crate) fn smallest<T: Real>(
    objective: &Objective<'_, T>,
    parameters: &Parameters<T>,
    seed: u64,
) -> f64 {
    let mut point = parameters.clone();
    let squares = match objective.spec().interaction {
        Interaction::Quadratic(_) => rotate_to_principal_axes(&mut point),
        Interaction::Cp => Vec::new(),
    };
    let unknowns = flatten(&point).len();
    let mut direction = point.zeros_like();
    let mut product = point.zeros_like();
    let mut apply = |v: &[f64], out: &mut [f64], rotations: f64| {
        unflatten(v, &mut direction);
        let turned = take_out_rotations(&mut direction, &point, &squares);
        objective.hessian_vec_into(&point, &direction, &mut product);
        take_out_rotations(&mut product, &point, &squares);
        let whole = flatten(&product).into_iter().zip(turned);
        for (o, (h, t)) in out.iter_mut().zip(whole) {
            *o = -h - rotations * t;
        }
    };
    let ends = lanczos::extremes(unknowns, SCALE_STEPS, seed, |v, out| apply(v, out, 0.0));
    // Shifted far beyond the other end, rotations cannot be mistaken for the smallest curvature.
    let far = ends.map_or(1.0, |ends| ends.smallest.abs().max(ends.largest.abs()));
    let found = lanczos::largest(unknowns, 1, STEPS, seed, |v, out| apply(v, out, 2.0 * far));
    found.values.first().map_or(f64::NAN, |value| -value)
}

/// Removes the part of `direction` that only rotates `point`, and returns it.
fn take_out_rotations<T: Real>(
    direction: &mut Parameters<T>,
    point: &Parameters<T>,
    squares: &[f64],
) -> Vec<f64> {
    let rank = squares.len();
    let before = flatten(direction);
    let mut inner = vec![0.0; rank * rank];
    for (group, label) in each_row(point.layout().rows()) {
        let (u, d) = (point.row(group, label), direction.row(group, label));
        for i in 0..rank {
            for j in 0..rank {
                inner[i * rank + j] += u[i].to_f64() * d[j].to_f64();
            }
        }
    }
    let mut turn = vec![0.0; rank * rank];
    for i in 0..rank {
        for j in 0..rank {
            let length = squares[i] + squares[j];
            if i != j && length > 0.0 {
                turn[i * rank + j] = (inner[i * rank + j] - inner[j * rank + i]) / length;
            }
        }
    }
    for (group, label) in each_row(point.layout().rows()) {
        let u = point.row(group, label);
        for (j, d) in direction.row_mut(group, label).iter_mut().enumerate() {
            let part: f64 = (0..rank).map(|i| u[i].to_f64() * turn[i * rank + j]).sum();
            *d = T::from_f64(d.to_f64() - part);
        }
    }
    before.iter().zip(flatten(direction)).map(|(before, after)| before - after).collect()
}

/// All unknowns without padding.
fn flatten<T: Real>(parameters: &Parameters<T>) -> Vec<f64> {
    let mut flat = Vec::new();
    for (group, label) in each_row(parameters.layout().rows()) {
        flat.extend(parameters.row(group, label).iter().map(|x| x.to_f64()));
        if parameters.layout().has_biases() {
            flat.push(parameters.bias(group, label).to_f64());
        }
    }
    flat
}

fn unflatten<T: Real>(flat: &[f64], parameters: &mut Parameters<T>) {
    let mut numbers = flat.iter().map(|&x| T::from_f64(x));
    let rows = parameters.layout().rows().to_vec();
    for (group, label) in each_row(&rows) {
        parameters.row_mut(group, label).fill_with(|| numbers.next().unwrap_or(T::ZERO));
        if parameters.layout().has_biases() {
            parameters.set_bias(group, label, numbers.next().unwrap_or(T::ZERO));
        }
    }
}
