//! The best kernel for given factors.

use crate::model::Parameters;
use crate::objective::{KernelEntry, KernelSystem, Objective};
use crate::solve::als;
use crate::solve::step::StepReport;
use quadfill_kernels::{Real, dense, sum};

/// Updates every factor matrix once, then some entries of the kernel. Never increases the objective.
///
/// ```
/// use quadfill::model::{Kernel, ModelSpec, Parameters};
/// use quadfill::objective::{Objective, PenaltyScale};
/// use quadfill::views::Views;
/// use quadfill::{Labels, Mode, Observations, OnDuplicate, solve};
///
/// let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(2))];
/// let values = vec![1.0, 4.0, 9.0];
/// let data = Observations::new(modes, vec![vec![0, 0, 1], vec![0, 1, 1]], values, None, OnDuplicate::Error)?;
/// let views = Views::<f64>::new(data);
/// let spec = ModelSpec::quadratic(Kernel::pairwise(2), 1);
/// let mut objective = Objective::new(&views, &spec, 1e-3, PenaltyScale::Uniform);
/// let mut parameters = Parameters::random(&spec, &views.sizes(), 1.0, 7);
/// let before = objective.value(&parameters).total();
/// let entries = Kernel::pairwise(2).distinct_entries();
/// let after = solve::learned_sweep(&mut objective, &mut parameters, &entries);
/// assert!(after.objective < before);
/// # Ok::<(), quadfill::Error>(())
/// ```
///
/// # Panics
/// For CP and for shared factors, whose kernels cannot be learned.
pub fn learned_sweep<T: Real>(
    objective: &mut Objective<'_, T>,
    parameters: &mut Parameters<T>,
    entries: &[KernelEntry],
) -> StepReport {
    let data = als::sweep(objective, parameters);
    let data = data + kernel_step(objective, parameters, entries);
    let rest = objective.penalty_value(parameters);
    StepReport { objective: data + rest, data, stuck: false }
}

/// Sets some entries of the kernel to their best values, and returns the change of the objective, which
/// is never positive.
///
/// The Frobenius norm of the kernel is kept. Otherwise the kernel would grow and the
/// factors shrink, and the penalty would have no effect.
///
/// # Panics
/// For CP and for shared factors, whose kernels cannot be learned.
pub fn kernel_step<T: Real>(
    objective: &mut Objective<'_, T>,
    parameters: &Parameters<T>,
    entries: &[KernelEntry],
) -> f64 {
    if entries.is_empty() {
        return 0.0;
    }
    let system = objective.kernel_system(parameters, entries);
    let kernel = objective.kernel().expect("a quadratic model");
    let before: Vec<f64> = entries.iter().map(|&(a, b)| kernel.get(a, b)).collect();
    // Entries off the diagonal stand twice in the kernel.
    let roots: Vec<f64> =
        entries.iter().map(|(a, b)| if a == b { 1.0 } else { 2f64.sqrt() }).collect();
    let Some(best) = best_on_sphere(&system, &before, &roots) else {
        return 0.0;
    };
    let step: Vec<f64> = best.iter().zip(&before).map(|(x, y)| x - y).collect();
    let change = system.change(&step);
    let moved = kernel.with_entries(entries, &best);
    if change < 0.0 && moved.norm().is_finite() {
        objective.set_kernel(moved);
        return change;
    }
    0.0
}

/// The entries of weighted length as before for which the system is smallest: `(H + shift) z = h`, with
/// the shift at which the length is right.
fn best_on_sphere(system: &KernelSystem, before: &[f64], roots: &[f64]) -> Option<Vec<f64>> {
    const HALVINGS: usize = 200;
    let n = before.len();
    let start: Vec<f64> = before.iter().zip(roots).map(|(k, root)| k * root).collect();
    let length = sum::norm2(&start);
    let curvature: Vec<f64> =
        (0..n * n).map(|i| system.curvature[i] / (roots[i / n] * roots[i % n])).collect();
    let pull: Vec<f64> = (0..n)
        .map(|i| sum::dot(&curvature[i * n..][..n], &start) - system.gradient[i] / roots[i])
        .collect();
    let eigen = dense::symmetric_eigen(&curvature, n)?;
    let along: Vec<f64> = (0..n).map(|i| sum::dot(eigen.vector(i), &pull)).collect();
    let at = |shift: f64| -> Vec<f64> {
        let share = |i: usize| along[i] / (eigen.values[i] + shift).max(f64::MIN_POSITIVE);
        (0..n).map(share).collect()
    };
    // The length falls from infinity to zero as the shift rises from minus the smallest eigenvalue.
    let lowest = -eigen.values[0];
    let (mut low, mut high) = (lowest, lowest + sum::norm2(&pull) / length);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if sum::norm2(&at(middle)) > length {
            low = middle;
        } else {
            high = middle;
        }
    }
    let mut shares = at(high);
    // Where the gradient has no part along the flattest direction, the missing length is put there.
    let short = length.powi(2) - shares.iter().map(|s| s * s).sum::<f64>();
    if short > 1e-12 * length.powi(2) {
        let rest = (shares[0].powi(2) + short).sqrt();
        shares[0] = if sum::dot(eigen.vector(0), &start) < 0.0 { -rest } else { rest };
    }
    let scale = length / sum::norm2(&shares);
    let best = (0..n).map(|i| {
        let number: f64 = (0..n).map(|j| shares[j] * eigen.vector(j)[i]).sum();
        scale * number / roots[i]
    });
    Some(best.collect())
}
