//! Conjugate gradients with a preconditioner.

use super::vector;
use crate::model::Parameters;
use quadfill_kernels::Real;

/// A vector of unknowns.
pub(super) trait Direction: Clone {
    fn dot(&self, other: &Self) -> f64;

    /// `self = keep * self + add * other`.
    fn mix(&mut self, keep: f64, add: f64, other: &Self);
}

impl<T: Real> Direction for Parameters<T> {
    fn dot(&self, other: &Self) -> f64 {
        vector::dot(self.as_slice(), other.as_slice())
    }

    fn mix(&mut self, keep: f64, add: f64, other: &Self) {
        for (x, y) in self.as_mut_slice().iter_mut().zip(other.as_slice()) {
            *x = T::from_f64(keep * x.to_f64() + add * y.to_f64());
        }
    }
}

/// When conjugate gradients end.
pub(super) struct Enough {
    /// The relative squared residual to stop at.
    pub(super) residual: f64,
    pub(super) steps: usize,
}

/// Solves `H d = -gradient`, stopping at negative curvature; `times` computes products with `H`. Directions
/// that change no prediction are never entered, because the gradient is orthogonal to them.
pub(super) fn conjugate_gradients<D: Direction>(
    gradient: &D,
    times: impl Fn(&D, &mut D),
    precondition: impl Fn(&D) -> D,
    enough: &Enough,
) -> D {
    let mut solution = gradient.clone();
    solution.mix(0.0, 0.0, gradient);
    let mut residual = gradient.clone();
    residual.mix(-1.0, 0.0, gradient);
    let mut preconditioned = precondition(&residual);
    let mut search = preconditioned.clone();
    let mut product = solution.clone();
    let mut rho = residual.dot(&preconditioned);
    let start = rho;
    for step in 0..enough.steps {
        if rho <= enough.residual * start || rho <= 0.0 {
            break;
        }
        times(&search, &mut product);
        let curvature = search.dot(&product);
        if curvature <= 0.0 {
            if step == 0 {
                solution = search;
            }
            break;
        }
        let length = rho / curvature;
        solution.mix(1.0, length, &search);
        residual.mix(1.0, -length, &product);
        preconditioned = precondition(&residual);
        let next = residual.dot(&preconditioned);
        search.mix(next / rho, 1.0, &preconditioned);
        rho = next;
    }
    solution
}
