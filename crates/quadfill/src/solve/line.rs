//! The best point along a line. Without the quartic penalty the objective along a line is a
//! polynomial: of degree 4 for quadratic models, of degree `2 N` for CP.

use crate::model::{Interaction, Parameters};
use crate::objective::Objective;
use quadfill_kernels::Real;

/// Moves along `direction` to the best of the points that interpolation finds; never increases the
/// objective. Returns the data term there.
pub(crate) fn advance_along<T: Real>(
    objective: &Objective<'_, T>,
    parameters: &mut Parameters<T>,
    direction: &Parameters<T>,
) -> f64 {
    let degree = match objective.spec().interaction {
        Interaction::Quadratic(_) => 4,
        Interaction::Cp => 2 * objective.spec().modes(),
    };
    let at = |step: f64| {
        let mut moved = parameters.clone();
        moved.advance(step, direction);
        objective.value(&moved).total()
    };
    let start = objective.value(parameters).total();
    let nodes: Vec<f64> = (0..=degree).map(|i| 2.0 * i as f64 / degree as f64).collect();
    let values: Vec<f64> = nodes.iter().map(|&s| if s == 0.0 { start } else { at(s) }).collect();
    let mut best = (0.0, start);
    let mut consider = |step: f64, value: f64| {
        if value < best.1 {
            best = (step, value);
        }
    };
    for (&step, &value) in nodes.iter().zip(&values) {
        consider(step, value);
    }
    let guess = interpolated_minimum(&nodes, &values);
    consider(guess, at(guess));
    if best.0 == 0.0 {
        let mut step = 0.5 * nodes[1];
        for _ in 0..30 {
            let value = at(step);
            if value < start {
                best = (step, value);
                break;
            }
            step *= 0.5;
        }
    }
    parameters.advance(best.0, direction);
    objective.data_value(parameters)
}

/// Where the polynomial through the points is smallest between the first and the last node.
fn interpolated_minimum(nodes: &[f64], values: &[f64]) -> f64 {
    let coefficients = divided_differences(nodes, values);
    let polynomial = |x: f64| {
        coefficients.iter().zip(nodes).rev().fold(0.0, |sum, (c, node)| sum * (x - node) + c)
    };
    let (low, high) = (nodes[0], nodes[nodes.len() - 1]);
    let grid = 64;
    let width = (high - low) / f64::from(grid);
    let mut best = low;
    for i in 0..=grid {
        let x = low + width * f64::from(i);
        if polynomial(x) < polynomial(best) {
            best = x;
        }
    }
    // Golden-section search around the best grid point.
    let (mut a, mut b) = ((best - width).max(low), (best + width).min(high));
    let golden = 0.5 * (5.0f64.sqrt() - 1.0);
    for _ in 0..40 {
        let (x, y) = (b - golden * (b - a), a + golden * (b - a));
        if polynomial(x) < polynomial(y) {
            b = y;
        } else {
            a = x;
        }
    }
    0.5 * (a + b)
}

/// Newton's form of the interpolating polynomial.
fn divided_differences(nodes: &[f64], values: &[f64]) -> Vec<f64> {
    let mut table = values.to_vec();
    for level in 1..nodes.len() {
        for i in (level..nodes.len()).rev() {
            table[i] = (table[i] - table[i - 1]) / (nodes[i] - nodes[i - level]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimum_of_a_quartic_is_found() {
        let quartic = |x: f64| (x - 0.7).powi(2) * ((x - 1.9).powi(2) + 0.5);
        let nodes = [0.0, 0.5, 1.0, 1.5, 2.0];
        let values = nodes.map(quartic);
        assert!((interpolated_minimum(&nodes, &values) - 0.7).abs() < 1e-6);
    }
}
