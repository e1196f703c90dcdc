//! Anderson acceleration of a fixed-point iteration, from its last few points.
//!
//! With `g = T(w) - w` at each of them, the combination of the points `T(w)` whose `g` is smallest, were
//! `T` affine, takes the place of the next one. Near the solution it very nearly is.

use quadfill_kernels::dense;
use quadfill_kernels::sum::{dot, norm2};

/// The number of previous points that are used.
pub(super) const MEMORY: usize = 8;
/// The regularisation of the coefficients, relative to the size of the differences.
const RIDGE: f64 = 1e-10;

/// The last points of an iteration.
#[derive(Default)]
pub(super) struct Anderson {
    /// `T(w)` and `T(w) - w` at the last point.
    last: Option<(Vec<f64>, Vec<f64>)>,
    /// Their changes from point to point.
    changes: Vec<(Vec<f64>, Vec<f64>)>,
    /// Where the next change is written once the memory is full.
    oldest: usize,
}

impl Anderson {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Records a point and its image. Returns their distance.
    pub(super) fn observe(&mut self, from: &[f64], to: &[f64]) -> f64 {
        let gap = difference(to, from);
        let size = norm2(&gap);
        if let Some((last_to, last_gap)) = self.last.take() {
            let change = (difference(to, &last_to), difference(&gap, &last_gap));
            if self.changes.len() < MEMORY {
                self.changes.push(change);
            } else {
                self.changes[self.oldest] = change;
                self.oldest = (self.oldest + 1) % MEMORY;
            }
        }
        self.last = Some((to.to_vec(), gap));
        size
    }

    /// Writes the extrapolated point, once there are enough to tell.
    pub(super) fn extrapolate(&self, out: &mut [f64]) -> bool {
        let Some((to, gap)) = &self.last else { return false };
        let count = self.changes.len();
        if count < MEMORY {
            return false;
        }
        let mut gram = vec![0.0; count * count];
        let mut right = vec![0.0; count];
        for i in 0..count {
            right[i] = dot(&self.changes[i].1, gap);
            for j in 0..=i {
                gram[i * count + j] = dot(&self.changes[i].1, &self.changes[j].1);
            }
        }
        let most = (0..count).map(|i| gram[i * count + i]).fold(0.0, f64::max);
        for i in 0..count {
            gram[i * count + i] += RIDGE * most;
        }
        let Some(coefficients) = solve(gram, right) else { return false };
        out.copy_from_slice(to);
        for (coefficient, (change, _)) in coefficients.iter().zip(&self.changes) {
            for (o, c) in out.iter_mut().zip(change) {
                *o -= coefficient * c;
            }
        }
        true
    }
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// Solves a small positive definite system, whose lower triangle is read.
fn solve(mut a: Vec<f64>, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let n = b.len();
    if !dense::cholesky(&mut a, n) {
        return None;
    }
    for i in 0..n {
        let known = dot(&a[i * n..][..i], &b[..i]);
        b[i] = (b[i] - known) / a[i * n + i];
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| a[k * n + i] * b[k]).sum();
        b[i] = (b[i] - known) / a[i * n + i];
    }
    Some(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_affine_iteration_is_brought_to_its_end() {
        // T(w)_i = rate_i w_i + 1, whose fixed point is 1 / (1 - rate_i).
        let rates = [0.999, 0.99, -0.9, 0.5, 0.97];
        let step =
            |w: &[f64]| -> Vec<f64> { w.iter().zip(rates).map(|(w, r)| r * w + 1.0).collect() };
        let mut anderson = Anderson::default();
        let mut w = vec![0.0; rates.len()];
        let mut distances = Vec::new();
        for iteration in 1..=60 {
            let mut to = step(&w);
            distances.push(anderson.observe(&w, &to));
            assert!(iteration > MEMORY || !anderson.extrapolate(&mut to), "too few points");
            if iteration % MEMORY == 2 {
                anderson.extrapolate(&mut to);
            }
            w = to;
        }
        for (w, rate) in w.iter().zip(rates) {
            assert!((w * (1.0 - rate) - 1.0).abs() < 1e-6, "{w} at {rate}");
        }
        assert!(distances[59] < 1e-6 * distances[0], "{distances:?}");
    }
}
