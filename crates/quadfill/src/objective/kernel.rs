//! The objective as a function of the kernel. With the factors held fixed a prediction is linear in the
//! distinct entries of `K`: the derivative in entry `(a, b)` is `<u_a, u_b>`, twice that off the diagonal.

use super::{CellScratch, ModeForm, Objective};
use crate::model::{Interaction, Kernel, Parameters};
use crate::views::Segment;
use quadfill_kernels::{Real, sum};

/// A distinct entry of a symmetric kernel: its row and its column, which is not before the row.
pub type KernelEntry = (usize, usize);

/// The objective as a function of a change `d` of some entries of the kernel: it changes by
/// `<gradient, d> + <d, curvature d> / 2`, exactly.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelSystem {
    /// One number per entry.
    pub gradient: Vec<f64>,
    /// A symmetric matrix over the entries, row-major.
    pub curvature: Vec<f64>,
}

impl KernelSystem {
    /// How much a change of the entries changes the objective.
    pub fn change(&self, step: &[f64]) -> f64 {
        let curved = self.curvature.chunks_exact(step.len()).map(|row| sum::dot(row, step));
        let quadratic: f64 = curved.zip(step).map(|(c, s)| 0.5 * c * s).sum();
        sum::dot(&self.gradient, step) + quadratic
    }
}

/// One observation with the rows that it picks, in plain double precision.
struct Cell<'a, T> {
    rows: Vec<&'a [T]>,
    offset: f64,
    value: f64,
    weight: f64,
}

impl<T: Real> Cell<'_, T> {
    fn derivative(&self, (a, b): KernelEntry) -> f64 {
        let times = if a == b { 1.0 } else { 2.0 };
        let products = self.rows[a].iter().zip(self.rows[b]).map(|(x, y)| x.to_f64() * y.to_f64());
        times * products.sum::<f64>()
    }

    fn residual(&self, kernel: &Kernel) -> f64 {
        let entries = kernel.distinct_entries().into_iter();
        let terms = entries.map(|(a, b)| kernel.get(a, b) * self.derivative((a, b)));
        self.offset + terms.sum::<f64>() - self.value
    }
}

impl<T: Real> Objective<'_, T> {
    /// The kernel, where the model has one.
    pub fn kernel(&self) -> Option<&Kernel> {
        self.spec.kernel()
    }

    /// Changes the kernel, keeping everything else.
    ///
    /// # Panics
    /// If it is for a different number of modes.
    pub fn set_kernel(&mut self, kernel: Kernel) {
        assert_eq!(kernel.modes(), self.spec.modes(), "a kernel for as many modes");
        self.spec.interaction = Interaction::Quadratic(kernel);
        self.forms = (0..self.spec.modes()).map(|mode| ModeForm::new(&self.spec, mode)).collect();
    }

    /// The gradient and curvature in some entries of the kernel at these parameters.
    ///
    /// # Panics
    /// For CP and for shared factors.
    pub fn kernel_system(
        &self,
        parameters: &Parameters<T>,
        entries: &[KernelEntry],
    ) -> KernelSystem {
        let kernel = self.kernel().expect("a quadratic model");
        let n = entries.len();
        let width = n * (n + 1);
        let rows = self.row_sums(0, width, &|segment, scratch, out| {
            let mut jacobian = vec![0.0; n];
            self.for_each_cell(parameters, segment, scratch, |cell| {
                for (derivative, &entry) in jacobian.iter_mut().zip(entries) {
                    *derivative = cell.derivative(entry);
                }
                let residual = cell.residual(kernel);
                for (i, out) in out.chunks_exact_mut(n + 1).enumerate() {
                    let weighted = cell.weight * jacobian[i];
                    for (o, derivative) in out.iter_mut().zip(&jacobian) {
                        *o += weighted * derivative;
                    }
                    out[n] += weighted * residual;
                }
            });
        });
        let total = |place: usize| {
            let terms: Vec<f64> = rows.chunks_exact(width).map(|row| row[place]).collect();
            2.0 / self.observations * sum::ordered_sum(&terms)
        };
        KernelSystem {
            gradient: (0..n).map(|i| total(i * (n + 1) + n)).collect(),
            curvature: (0..n * n).map(|i| total(i / n * (n + 1) + i % n)).collect(),
        }
    }

    /// The Gauss-Newton matrix between the parameters and some entries of the kernel, one column each.
    pub(crate) fn kernel_coupling(
        &self,
        parameters: &Parameters<T>,
        entries: &[KernelEntry],
    ) -> Vec<Parameters<T>> {
        let kernel = self.kernel().expect("a quadratic model");
        let rank = parameters.layout().rank();
        let unknowns = parameters.layout().row_unknowns();
        let mut columns = vec![parameters.zeros_like(); entries.len()];
        for group in 0..self.plans.len() {
            let rows = self.row_sums(group, unknowns * entries.len(), &|segment, scratch, out| {
                let mut jacobian = vec![1.0; unknowns];
                self.for_each_cell(parameters, segment, scratch, |cell| {
                    jacobian[..rank].fill(0.0);
                    for (b, row) in cell.rows.iter().enumerate() {
                        let strength = 2.0 * kernel.get(segment.mode, b);
                        for (derivative, u) in jacobian.iter_mut().zip(*row) {
                            *derivative += strength * u.to_f64();
                        }
                    }
                    for (&entry, out) in entries.iter().zip(out.chunks_exact_mut(unknowns)) {
                        let weighted = cell.weight * cell.derivative(entry);
                        for (o, derivative) in out.iter_mut().zip(&jacobian) {
                            *o += weighted * derivative;
                        }
                    }
                });
            });
            for (label, sums) in rows.chunks_exact(unknowns * entries.len()).enumerate() {
                for (column, sums) in columns.iter_mut().zip(sums.chunks_exact(unknowns)) {
                    let scale = 2.0 / self.observations;
                    super::write_row(column, group, label, |place| scale * sums[place]);
                }
            }
        }
        columns
    }

    fn for_each_cell<'p>(
        &self,
        parameters: &'p Parameters<T>,
        segment: &Segment,
        scratch: &mut CellScratch<'_, T>,
        mut see: impl FnMut(&Cell<'p, T>),
    ) {
        let modes = self.spec.modes();
        assert!(!self.spec.is_tied(), "every mode has factors of its own");
        let cells = scratch.reader.read(segment.mode, segment.cells.clone());
        let own = parameters.row(segment.mode, segment.row);
        let mut cell = Cell { rows: vec![own; modes], offset: 0.0, value: 0.0, weight: 1.0 };
        for (place, others) in cells.others.chunks_exact(modes - 1).enumerate() {
            cell.offset = parameters.mean + parameters.bias(segment.mode, segment.row).to_f64();
            let beside = (0..modes).filter(|&mode| mode != segment.mode);
            for (mode, &label) in beside.zip(others) {
                cell.rows[mode] = parameters.row(mode, label as usize);
                cell.offset += parameters.bias(mode, label as usize).to_f64();
            }
            cell.value = cells.values[place].to_f64();
            cell.weight = cells.weights.map_or(1.0, |weights| weights[place].to_f64());
            see(&cell);
        }
    }
}
