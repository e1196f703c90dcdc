//! The data step: the minimiser of the data term and all linear terms plus the squared distance to a
//! given matrix. It has one sparse equation per cell, solved by conjugate gradients from the last
//! solution.

use super::program::Program;
use quadfill_kernels::sum::{dot, norm2};

/// The maximum number of iterations of one solve. Every step continues from the last one, so that the
/// next corrects an inexact solve.
const MOST_ITERATIONS: usize = 300;

/// The data step, with its warm start.
pub(super) struct DataStep {
    /// The multiplier of each cell: the derivative of the data term by its prediction.
    pub(super) multipliers: Vec<f64>,
    /// The biases that go with them.
    pub(super) biases: Vec<f64>,
    metric: Vec<f64>,
    shift: Vec<f64>,
    preconditioner: Vec<f64>,
    rho: f64,
}

/// Room for one solve.
struct Scratch {
    entries: Vec<f64>,
    biases: Vec<f64>,
}

impl DataStep {
    pub(super) fn new(program: &Program) -> Self {
        let cells = program.sensing.len();
        Self {
            multipliers: vec![0.0; cells],
            biases: vec![0.0; if program.bias_ridge.is_some() { program.order() } else { 0 }],
            metric: Vec::new(),
            shift: Vec::new(),
            preconditioner: Vec::new(),
            rho: f64::NAN,
        }
    }

    /// Adapts to a new weight of the distance.
    fn set_rho(&mut self, program: &Program, rho: f64) {
        if rho == self.rho {
            return;
        }
        self.rho = rho;
        let sensing = &program.sensing;
        // Entries off the diagonal count twice in the distance, and those on it do, too, where
        // there is a second copy of the diagonal.
        let on = if program.diagonal.is_some() { 2.0 * rho } else { rho };
        self.metric = sensing.by_place(on, 2.0 * rho);
        self.shift = if program.is_exact() {
            vec![0.0; sensing.len()]
        } else {
            sensing.shares.iter().map(|share| 0.5 / share).collect()
        };
        let modes = 1.0 / program.bias_ridge.map_or(f64::INFINITY, |ridge| 2.0 * ridge);
        let diagonal = sensing.gram_diagonal(&self.metric);
        self.preconditioner = diagonal
            .iter()
            .zip(&self.shift)
            .map(|(d, shift)| 1.0 / (d + shift + modes).max(f64::MIN_POSITIVE))
            .collect();
    }

    /// Moves `matrix` to the minimiser of the data term plus `rho / 2` times the squared distance,
    /// and finds the multipliers and biases there. `accuracy` is how far the equations may be off,
    /// relative to the values.
    pub(super) fn solve(&mut self, program: &Program, rho: f64, accuracy: f64, matrix: &mut [f64]) {
        self.set_rho(program, rho);
        let sensing = &program.sensing;
        let mut entries = vec![0.0; sensing.width()];
        sensing.gather(matrix, &mut entries);
        let mut right = vec![0.0; sensing.len()];
        sensing.forward(&entries, &mut right);
        for (r, y) in right.iter_mut().zip(&sensing.values) {
            *r -= y;
        }
        self.conjugate_gradients(program, &right, accuracy * norm2(&sensing.values));
        let mut gradient = vec![0.0; sensing.width()];
        sensing.adjoint(&self.multipliers, &mut gradient);
        for ((x, s), metric) in entries.iter_mut().zip(&gradient).zip(&self.metric) {
            *x -= s / metric;
        }
        sensing.scatter(&entries, matrix);
        if let Some(ridge) = program.bias_ridge {
            sensing.bias_adjoint(&self.multipliers, &mut self.biases);
            for b in &mut self.biases {
                *b /= -2.0 * ridge;
            }
        }
    }

    fn conjugate_gradients(&mut self, program: &Program, right: &[f64], enough: f64) {
        let cells = right.len();
        let mut scratch = Scratch {
            entries: vec![0.0; program.sensing.width()],
            biases: vec![0.0; self.biases.len()],
        };
        let mut product = vec![0.0; cells];
        self.apply(program, &self.multipliers, &mut scratch, &mut product);
        let mut left: Vec<f64> = right.iter().zip(&product).map(|(r, p)| r - p).collect();
        let precondition = |left: &[f64]| -> Vec<f64> {
            left.iter().zip(&self.preconditioner).map(|(r, p)| r * p).collect()
        };
        let mut lifted = precondition(&left);
        let mut direction = lifted.clone();
        let mut size = dot(&left, &lifted);
        let mut multipliers = std::mem::take(&mut self.multipliers);
        for _ in 0..MOST_ITERATIONS {
            if norm2(&left) <= enough || size <= 0.0 {
                break;
            }
            self.apply(program, &direction, &mut scratch, &mut product);
            let bend = dot(&direction, &product);
            if bend.is_nan() || bend <= 0.0 {
                break;
            }
            let step = size / bend;
            for t in 0..cells {
                multipliers[t] += step * direction[t];
                left[t] -= step * product[t];
            }
            for ((z, r), p) in lifted.iter_mut().zip(&left).zip(&self.preconditioner) {
                *z = r * p;
            }
            let next = dot(&left, &lifted);
            let keep = next / size;
            size = next;
            for (d, z) in direction.iter_mut().zip(&lifted) {
                *d = z + keep * *d;
            }
        }
        self.multipliers = multipliers;
    }

    /// `out = (A D^-1 A^T + B B^T / (2 ridge) + shift) v`.
    fn apply(&self, program: &Program, v: &[f64], scratch: &mut Scratch, out: &mut [f64]) {
        let sensing = &program.sensing;
        sensing.adjoint(v, &mut scratch.entries);
        for (e, metric) in scratch.entries.iter_mut().zip(&self.metric) {
            *e /= metric;
        }
        sensing.forward(&scratch.entries, out);
        if let Some(ridge) = program.bias_ridge {
            sensing.bias_adjoint(v, &mut scratch.biases);
            for b in &mut scratch.biases {
                *b /= 2.0 * ridge;
            }
            sensing.add_biases(&scratch.biases, out);
        }
        for ((o, v), shift) in out.iter_mut().zip(v).zip(&self.shift) {
            *o += shift * v;
        }
    }
}
