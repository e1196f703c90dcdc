//! Damped Gauss-Newton steps on the factors and the kernel jointly. Going back and forth between the two
//! crawls near a solution; together they have the last digits in a few steps.

use crate::model::Parameters;
use crate::objective::{KernelEntry, KernelSystem, Objective};
use crate::solve::gauss_newton::RowBlocks;
use crate::solve::step::StepReport;
use crate::solve::vector;
use quadfill_kernels::{Real, cholesky, sum};

const MAX_INNER: usize = 3000;
const MAX_TRIES: usize = 10;
/// What conjugate gradients leave of the squared residual.
const RESIDUAL: f64 = 1e-14;

/// A direction in all parameters and in some entries of the kernel.
#[derive(Clone)]
struct Both<T: Real> {
    parameters: Parameters<T>,
    entries: Vec<f64>,
}

impl<T: Real> Both<T> {
    fn zeros_like(parameters: &Parameters<T>, entries: usize) -> Self {
        Self { parameters: parameters.zeros_like(), entries: vec![0.0; entries] }
    }

    fn dot(&self, other: &Self) -> f64 {
        vector::dot(self.parameters.as_slice(), other.parameters.as_slice())
            + sum::dot(&self.entries, &other.entries)
    }

    /// `self = keep * self + add * other`.
    fn mix(&mut self, keep: f64, add: f64, other: &Self) {
        let others = other.parameters.as_slice();
        for (x, y) in self.parameters.as_mut_slice().iter_mut().zip(others) {
            *x = T::from_f64(keep * x.to_f64() + add * y.to_f64());
        }
        for (x, y) in self.entries.iter_mut().zip(&other.entries) {
            *x = keep * *x + add * y;
        }
    }
}

/// The Gauss-Newton matrix over both.
struct Curvature<'a, 'v, T: Real> {
    objective: &'a Objective<'v, T>,
    at: &'a Parameters<T>,
    blocks: RowBlocks,
    system: KernelSystem,
    coupling: Vec<Parameters<T>>,
    factored: Vec<f64>,
    damping: f64,
}

impl<'a, 'v, T: Real> Curvature<'a, 'v, T> {
    fn new(
        objective: &'a Objective<'v, T>,
        at: &'a Parameters<T>,
        entries: &[KernelEntry],
    ) -> Self {
        let n = entries.len();
        let system = objective.kernel_system(at, entries);
        let mut factored = system.curvature.clone();
        let trace: f64 = (0..n).map(|i| factored[i * (n + 1)]).sum();
        for i in 0..n {
            factored[i * (n + 1)] += (1e-10 * trace).max(f64::MIN_POSITIVE);
        }
        if !cholesky::factor(&mut factored, n, n) {
            factored.fill(0.0);
            (0..n).for_each(|i| factored[i * (n + 1)] = trace.sqrt().max(1e-150));
        }
        Self {
            blocks: RowBlocks::new(objective, at),
            coupling: objective.kernel_coupling(at, entries),
            objective,
            at,
            system,
            factored,
            damping: 0.0,
        }
    }

    fn times(&self, direction: &Both<T>, out: &mut Both<T>) {
        let n = direction.entries.len();
        self.objective.gauss_newton_vec_into(self.at, &direction.parameters, &mut out.parameters);
        for (i, column) in self.coupling.iter().enumerate() {
            let entry = direction.entries[i];
            vector::add_scaled(out.parameters.as_mut_slice(), entry, column.as_slice());
            out.entries[i] = sum::dot(&self.system.curvature[i * n..][..n], &direction.entries)
                + vector::dot(column.as_slice(), direction.parameters.as_slice());
        }
        if self.damping > 0.0 {
            out.mix(1.0, self.damping * self.blocks.mean_diagonal, direction);
        }
    }

    fn precondition(&self, residual: &Both<T>) -> Both<T> {
        let n = residual.entries.len();
        let mut entries = residual.entries.clone();
        cholesky::solve_factored(&self.factored, n, n, &mut entries);
        Both { parameters: self.blocks.solve(&residual.parameters), entries }
    }

    /// Solves with minus the gradient on the right. Scales that move between factors and kernel change
    /// nothing, but the gradient has no part along them, so they are never entered.
    fn solve(&self, gradient: &Both<T>) -> Both<T> {
        let n = gradient.entries.len();
        let mut solution = Both::zeros_like(self.at, n);
        let mut residual = Both::zeros_like(self.at, n);
        residual.mix(0.0, -1.0, gradient);
        let mut preconditioned = self.precondition(&residual);
        let mut search = preconditioned.clone();
        let mut product = Both::zeros_like(self.at, n);
        let mut rho = residual.dot(&preconditioned);
        let start = rho;
        for _ in 0..MAX_INNER {
            if rho <= RESIDUAL * start || rho <= 0.0 {
                break;
            }
            self.times(&search, &mut product);
            let curvature = search.dot(&product);
            if curvature <= 0.0 {
                break;
            }
            let length = rho / curvature;
            solution.mix(1.0, length, &search);
            residual.mix(1.0, -length, &product);
            preconditioned = self.precondition(&residual);
            let next = residual.dot(&preconditioned);
            search.mix(next / rho, 1.0, &preconditioned);
            rho = next;
        }
        solution
    }
}

/// Joint steps, with the damping that the last one needed.
#[derive(Debug, Default)]
pub(super) struct JointStep {
    damping: f64,
}

impl JointStep {
    /// One step down, or none where no way down is found.
    pub(super) fn step<T: Real>(
        &mut self,
        objective: &mut Objective<'_, T>,
        parameters: &mut Parameters<T>,
        entries: &[KernelEntry],
    ) -> StepReport {
        let start = StepReport::at(objective, parameters);
        let kernel = objective.kernel().expect("a quadratic model").clone();
        let fixed = objective.clone();
        let mut curvature = Curvature::new(&fixed, parameters, entries);
        let mut gradient = Both::zeros_like(parameters, entries.len());
        fixed.gradient_into(parameters, &mut gradient.parameters);
        gradient.entries.clone_from(&curvature.system.gradient);
        for _ in 0..MAX_TRIES {
            curvature.damping = self.damping;
            let direction = curvature.solve(&gradient);
            let mut moved = parameters.clone();
            moved.advance(1.0, &direction.parameters);
            let numbers: Vec<f64> = entries
                .iter()
                .zip(&direction.entries)
                .map(|(&(a, b), change)| kernel.get(a, b) + change)
                .collect();
            objective.set_kernel(kernel.with_entries(entries, &numbers));
            let report = StepReport::at(objective, &moved);
            if report.objective < start.objective {
                *parameters = moved;
                self.damping = if self.damping > 1e-12 { self.damping / 10.0 } else { 0.0 };
                return report;
            }
            self.damping = if self.damping == 0.0 { 1e-6 } else { self.damping * 10.0 };
        }
        objective.set_kernel(kernel);
        StepReport { stuck: true, ..start }
    }
}
