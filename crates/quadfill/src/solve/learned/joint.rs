//! Damped Gauss-Newton steps on the factors and the kernel jointly. Alternating between the two
//! converges slowly near a solution; joint steps converge in a few iterations.

use crate::model::Parameters;
use crate::objective::{KernelEntry, KernelSystem, Objective};
use crate::solve::conjugate_gradients::{Direction, Enough, conjugate_gradients};
use crate::solve::damping::Damping;
use crate::solve::gauss_newton::RowBlocks;
use crate::solve::step::StepReport;
use crate::solve::vector;
use quadfill_kernels::{Real, cholesky, sum};

/// Tighter than for steps of the factors alone.
const ENOUGH: Enough = Enough { residual: 1e-14, steps: 3000 };

/// A direction in all parameters and in some entries of the kernel.
#[derive(Clone)]
struct Both<T: Real> {
    parameters: Parameters<T>,
    entries: Vec<f64>,
}

impl<T: Real> Direction for Both<T> {
    fn dot(&self, other: &Self) -> f64 {
        self.parameters.dot(&other.parameters) + sum::dot(&self.entries, &other.entries)
    }

    fn mix(&mut self, keep: f64, add: f64, other: &Self) {
        self.parameters.mix(keep, add, &other.parameters);
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
        }
    }

    fn times(&self, damping: f64, direction: &Both<T>, out: &mut Both<T>) {
        let n = direction.entries.len();
        self.objective.gauss_newton_vec_into(self.at, &direction.parameters, &mut out.parameters);
        for (i, column) in self.coupling.iter().enumerate() {
            let entry = direction.entries[i];
            vector::add_scaled(out.parameters.as_mut_slice(), entry, column.as_slice());
            out.entries[i] = sum::dot(&self.system.curvature[i * n..][..n], &direction.entries)
                + vector::dot(column.as_slice(), direction.parameters.as_slice());
        }
        if damping > 0.0 {
            out.mix(1.0, damping * self.blocks.mean_diagonal, direction);
        }
    }

    fn precondition(&self, residual: &Both<T>) -> Both<T> {
        let n = residual.entries.len();
        let mut entries = residual.entries.clone();
        cholesky::solve_factored(&self.factored, n, n, &mut entries);
        Both { parameters: self.blocks.solve(&residual.parameters), entries }
    }
}

/// Joint steps, with the damping that the last one needed.
#[derive(Debug, Default)]
pub(super) struct JointStep {
    damping: Damping,
}

impl JointStep {
    /// One descent step, or none where none is found.
    pub(super) fn step<T: Real>(
        &mut self,
        objective: &mut Objective<'_, T>,
        parameters: &mut Parameters<T>,
        entries: &[KernelEntry],
    ) -> StepReport {
        let start = StepReport::at(objective, parameters);
        let kernel = objective.kernel().expect("a quadratic model").clone();
        let fixed = objective.clone();
        let curvature = Curvature::new(&fixed, parameters, entries);
        let mut gradient = parameters.zeros_like();
        fixed.gradient_into(parameters, &mut gradient);
        let gradient = Both { parameters: gradient, entries: curvature.system.gradient.clone() };
        let moved = self.damping.until_down(|damping| {
            let times = |search: &Both<T>, out: &mut Both<T>| curvature.times(damping, search, out);
            let precondition = |residual: &Both<T>| curvature.precondition(residual);
            let direction = conjugate_gradients(&gradient, times, precondition, &ENOUGH);
            let mut moved = parameters.clone();
            moved.advance(1.0, &direction.parameters);
            let numbers: Vec<f64> = entries
                .iter()
                .zip(&direction.entries)
                .map(|(&(a, b), change)| kernel.get(a, b) + change)
                .collect();
            objective.set_kernel(kernel.with_entries(entries, &numbers));
            let report = StepReport::at(objective, &moved);
            (report.objective < start.objective).then_some((moved, report))
        });
        let Some((moved, report)) = moved else {
            objective.set_kernel(kernel);
            return StepReport { stuck: true, ..start };
        };
        *parameters = moved;
        report
    }
}
