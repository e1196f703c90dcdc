//! A small interior-point method for convex programs over positive semidefinite matrices: dense, slow,
//! and written to be obviously right.

/// Minimise `sum of share_t (<A_t, X> + biases_t - y_t)^2 + <linear, X> + quartic + ridge |b|^2` over
/// positive semidefinite `X` of a few rows.
#[derive(Debug, Clone)]
pub struct ConvexProgram {
    /// The order of `X`.
    pub order: usize,
    /// Each `A_t`, dense and symmetric, row-major.
    pub cells: Vec<Vec<f64>>,
    /// The biases that each cell adds; all empty without biases.
    pub bias_rows: Vec<Vec<usize>>,
    /// The values `y_t`.
    pub values: Vec<f64>,
    /// What each squared residual counts.
    pub shares: Vec<f64>,
    /// The linear cost, dense and symmetric.
    pub linear: Vec<f64>,
    /// `(alpha, weight)` of `weight * sum of max(0, sqrt(X_ii) - sqrt(alpha))^4`.
    pub quartic: Option<(f64, f64)>,
    /// The largest trace that is allowed.
    pub trace_bound: Option<f64>,
    /// The ridge of the biases.
    pub ridge: Option<f64>,
}

impl ConvexProgram {
    fn biases(&self) -> usize {
        if self.ridge.is_some() { self.order } else { 0 }
    }

    /// The objective at `X` and biases.
    pub fn value(&self, x: &[f64], biases: &[f64]) -> f64 {
        let n = self.order;
        let data: f64 = self
            .residuals(x, biases)
            .iter()
            .zip(&self.shares)
            .map(|(r, share)| share * r * r)
            .sum();
        let linear: f64 = self.linear.iter().zip(x).map(|(l, x)| l * x).sum();
        let quartic: f64 = self.quartic.map_or(0.0, |(alpha, weight)| {
            (0..n)
                .map(|i| weight * (x[i * n + i].max(0.0).sqrt() - alpha.sqrt()).max(0.0).powi(4))
                .sum()
        });
        let ridge = self.ridge.unwrap_or(0.0) * biases.iter().map(|b| b * b).sum::<f64>();
        data + linear + quartic + ridge
    }

    /// Prediction less value, for every cell.
    pub fn residuals(&self, x: &[f64], biases: &[f64]) -> Vec<f64> {
        let cells = self.cells.iter().zip(&self.bias_rows).zip(&self.values);
        cells
            .map(|((a, rows), y)| {
                let seen: f64 = a.iter().zip(x).map(|(a, x)| a * x).sum();
                seen + rows.iter().map(|&row| biases[row]).sum::<f64>() - y
            })
            .collect()
    }

    /// The slope by `X`, as a symmetric matrix, and by the biases.
    pub fn slope(&self, x: &[f64], biases: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let n = self.order;
        let mut slope = self.linear.clone();
        let mut bias_slope: Vec<f64> =
            biases.iter().map(|b| 2.0 * self.ridge.unwrap_or(0.0) * b).collect();
        for (t, r) in self.residuals(x, biases).iter().enumerate() {
            let pull = 2.0 * self.shares[t] * r;
            for (s, a) in slope.iter_mut().zip(&self.cells[t]) {
                *s += pull * a;
            }
            for &row in &self.bias_rows[t] {
                bias_slope[row] += pull;
            }
        }
        if let Some((alpha, weight)) = self.quartic {
            for i in 0..n {
                let norm = x[i * n + i].max(0.0).sqrt();
                let excess = norm - alpha.sqrt();
                if excess > 0.0 {
                    slope[i * n + i] += 2.0 * weight * excess.powi(3) / norm;
                }
            }
        }
        (slope, bias_slope)
    }

    /// The smallest value, to about nine digits, by Newton's method on a barrier that fades.
    ///
    /// # Panics
    /// If the arithmetic breaks down.
    pub fn minimum(&self) -> f64 {
        let n = self.order;
        let start = self.trace_bound.map_or(1.0, |bound| (0.5 * bound / n as f64).min(1.0));
        let mut x = vec![0.0; n * n];
        (0..n).for_each(|i| x[i * n + i] = start);
        let mut biases = vec![0.0; self.biases()];
        let mut barrier = self.value(&x, &biases).max(1e-6);
        loop {
            for _ in 0..60 {
                if self.newton(&mut x, &mut biases, barrier) < 1e-4 * barrier {
                    break;
                }
            }
            let value = self.value(&x, &biases);
            // The barrier holds the value up by at most this much.
            if (n + 1) as f64 * barrier <= 1e-9 * value.abs().max(1e-12) {
                return value;
            }
            barrier *= 0.2;
        }
    }

    /// The objective with the barrier, or infinity outside.
    fn guarded(&self, x: &[f64], biases: &[f64], barrier: f64) -> f64 {
        let n = self.order;
        let Some(factor) = cholesky(x, n) else { return f64::INFINITY };
        let mut guard: f64 = (0..n).map(|i| 2.0 * factor[i * n + i].ln()).sum();
        if let Some(bound) = self.trace_bound {
            let room = bound - (0..n).map(|i| x[i * n + i]).sum::<f64>();
            if room <= 0.0 {
                return f64::INFINITY;
            }
            guard += room.ln();
        }
        self.value(x, biases) - barrier * guard
    }

    /// One damped Newton step. Returns how much it promised.
    fn newton(&self, x: &mut Vec<f64>, biases: &mut Vec<f64>, barrier: f64) -> f64 {
        let n = self.order;
        let places: Vec<(usize, usize)> =
            (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))).collect();
        let (entries, unknowns) = (places.len(), places.len() + biases.len());
        // Both places of an entry off the diagonal.
        let ones =
            |&(i, j): &(usize, usize)| if i == j { vec![(i, j)] } else { vec![(i, j), (j, i)] };
        let inverse = invert(x, n);
        let room = self.trace_bound.map(|bound| bound - (0..n).map(|i| x[i * n + i]).sum::<f64>());
        let (slope, bias_slope) = self.slope(x, biases);
        let mut gradient = vec![0.0; unknowns];
        let mut hessian = vec![0.0; unknowns * unknowns];
        for (p, at) in places.iter().enumerate() {
            for (i, j) in ones(at) {
                gradient[p] += slope[i * n + j] - barrier * inverse[i * n + j];
                if let (true, Some(room)) = (i == j, room) {
                    gradient[p] += barrier / room;
                }
            }
            for (q, other) in places.iter().enumerate() {
                let mut bend = 0.0;
                for (r, c) in ones(at) {
                    for (s, t) in ones(other) {
                        bend += inverse[t * n + r] * inverse[c * n + s];
                    }
                }
                if let (true, true, Some(room)) = (at.0 == at.1, other.0 == other.1, room) {
                    bend += 1.0 / (room * room);
                }
                hessian[p * unknowns + q] += barrier * bend;
            }
            if let (true, Some((alpha, weight))) = (at.0 == at.1, self.quartic) {
                let d = x[at.0 * n + at.0];
                let excess = d.sqrt() - alpha.sqrt();
                if excess > 0.0 {
                    hessian[p * unknowns + p] +=
                        weight * excess * excess * (3.0 / d - excess / d.powf(1.5));
                }
            }
        }
        for (b, s) in bias_slope.iter().enumerate() {
            gradient[entries + b] = *s;
            let at = entries + b;
            hessian[at * unknowns + at] += 2.0 * self.ridge.unwrap_or(0.0);
        }
        for (t, a) in self.cells.iter().enumerate() {
            let mut seen: Vec<f64> =
                places.iter().map(|at| ones(at).iter().map(|(i, j)| a[i * n + j]).sum()).collect();
            seen.resize(unknowns, 0.0);
            self.bias_rows[t].iter().for_each(|&row| seen[entries + row] += 1.0);
            for p in (0..unknowns).filter(|&p| seen[p] != 0.0) {
                for q in 0..unknowns {
                    hessian[p * unknowns + q] += 2.0 * self.shares[t] * seen[p] * seen[q];
                }
            }
        }
        let Some(step) = solve(hessian, gradient.iter().map(|g| -g).collect()) else {
            // The barrier has faded below the rounding of the data.
            return 0.0;
        };
        let promise: f64 = -step.iter().zip(&gradient).map(|(s, g)| s * g).sum::<f64>();
        let before = self.guarded(x, biases, barrier);
        let mut length = 1.0;
        for _ in 0..60 {
            let mut moved = x.clone();
            for (p, at) in places.iter().enumerate() {
                for (i, j) in ones(at) {
                    moved[i * n + j] += length * step[p];
                }
            }
            let shifted: Vec<f64> =
                biases.iter().zip(&step[entries..]).map(|(b, s)| b + length * s).collect();
            if self.guarded(&moved, &shifted, barrier) <= before - 1e-4 * length * promise {
                (*x, *biases) = (moved, shifted);
                return promise;
            }
            length *= 0.5;
        }
        // Nothing but rounding is left.
        0.0
    }
}

fn cholesky(a: &[f64], n: usize) -> Option<Vec<f64>> {
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum();
            let left = a[i * n + j] - known;
            if i == j {
                if left.is_nan() || left <= 0.0 {
                    return None;
                }
                l[i * n + i] = left.sqrt();
            } else {
                l[i * n + j] = left / l[j * n + j];
            }
        }
    }
    Some(l)
}

/// The inverse of a positive definite matrix, from its Cholesky factor: `L^-T L^-1`.
fn invert(a: &[f64], n: usize) -> Vec<f64> {
    let l = cholesky(a, n).expect("the point is inside");
    let mut lower = vec![0.0; n * n];
    for j in 0..n {
        for i in j..n {
            let known: f64 = (j..i).map(|k| l[i * n + k] * lower[k * n + j]).sum();
            let unit = if i == j { 1.0 } else { 0.0 };
            lower[i * n + j] = (unit - known) / l[i * n + i];
        }
    }
    (0..n * n)
        .map(|at| (0..n).map(|k| lower[k * n + at / n] * lower[k * n + at % n]).sum())
        .collect()
}

/// Gaussian elimination with row exchanges, where there is one solution.
fn solve(mut a: Vec<f64>, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let n = b.len();
    for k in 0..n {
        let size = |i: usize, a: &[f64]| a[i * n + k].abs();
        let pivot = (k..n).max_by(|&i, &j| size(i, &a).total_cmp(&size(j, &a))).unwrap_or(k);
        if a[pivot * n + k] == 0.0 {
            return None;
        }
        for j in 0..n {
            a.swap(k * n + j, pivot * n + j);
        }
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i * n + k] / a[k * n + k];
            if factor != 0.0 {
                for j in k..n {
                    a[i * n + j] -= factor * a[k * n + j];
                }
                b[i] -= factor * b[k];
            }
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k * n + j] * b[j]).sum();
        b[k] = (b[k] - known) / a[k * n + k];
    }
    Some(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_can_be_solved_by_hand() {
        // (2 x_01 - 1)^2 + tr X: the smallest trace for x_01 = c is 2c, so c = 1/4.
        let program = ConvexProgram {
            order: 2,
            cells: vec![vec![0.0, 1.0, 1.0, 0.0]],
            bias_rows: vec![Vec::new()],
            values: vec![1.0],
            shares: vec![1.0],
            linear: vec![1.0, 0.0, 0.0, 1.0],
            quartic: None,
            trace_bound: None,
            ridge: None,
        };
        let expected = 0.25 + 0.5;
        assert!((program.minimum() - expected).abs() < 1e-8, "{}", program.minimum());
        // Within a trace of 0.2 the best is x_01 = 0.1.
        let bounded = ConvexProgram { trace_bound: Some(0.2), ..program };
        assert!((bounded.minimum() - (0.64 + 0.2)).abs() < 1e-8, "{}", bounded.minimum());
    }
}
