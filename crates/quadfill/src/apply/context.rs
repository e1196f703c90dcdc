//! A prediction as a function of one row, all other labels being fixed.

use super::predict::{Predictor, inner};
use crate::model::Interaction;
use quadfill_kernels::{AlignedVec, Real};

/// `constant + bias(u) + <slope, u> + own <u, u>`: what a cell is predicted to be if its label in one
/// mode has the row `u`.
#[derive(Debug, Clone)]
pub struct Context<T: Real> {
    /// What does not depend on the row.
    pub constant: f64,
    /// What the row is multiplied with, padded with zeros as rows are.
    pub slope: AlignedVec<T>,
    /// `K[a][a]`.
    pub own: f64,
}

impl<T: Real> Predictor<'_, T> {
    /// What `mode` sees of a cell. The label of that mode is not looked at; terms of other labels
    /// that are [`UNKNOWN`](super::UNKNOWN) are left out unless rows stand for them.
    ///
    /// ```
    /// use quadfill::apply::Predictor;
    /// use quadfill::model::{Kernel, ModelSpec, Parameters};
    /// let spec = ModelSpec::quadratic(Kernel::pairwise(3), 2);
    /// let parameters = Parameters::<f64>::random(&spec, &[4, 5, 6], 1.0, 7);
    /// let predictor = Predictor::new(&spec, &parameters);
    /// let context = predictor.context(1, &[3, 0, 2]);
    /// let row = parameters.row(1, 4);
    /// let linear: f64 = context.slope.iter().zip(row).map(|(s, u)| s * u).sum();
    /// assert!((context.constant + linear - predictor.cell(&[3, 4, 2])).abs() < 1e-12);
    /// ```
    pub fn context(&self, mode: usize, labels: &[u32]) -> Context<T> {
        let rank = self.spec.rank;
        let mut slope = vec![0.0; rank];
        let mut own = 0.0;
        let others = || (0..labels.len()).filter(|&b| b != mode);
        let row = |b: usize| self.row(b, labels[b]);
        match &self.spec.interaction {
            Interaction::Quadratic(kernel) => {
                own = kernel.get(mode, mode);
                for b in others() {
                    let weight = 2.0 * kernel.get(mode, b);
                    if let (Some(row), true) = (row(b), weight != 0.0) {
                        for (s, u) in slope.iter_mut().zip(row) {
                            *s += weight * u.to_f64();
                        }
                    }
                }
            }
            Interaction::Cp => {
                let rows: Option<Vec<&[T]>> = others().map(row).collect();
                if let Some(rows) = rows {
                    for (l, s) in slope.iter_mut().enumerate() {
                        *s = rows.iter().map(|row| row[l].to_f64()).product();
                    }
                }
            }
        }
        let mut padded = AlignedVec::zeros(self.parameters.layout().stride());
        for (p, s) in padded.iter_mut().zip(slope) {
            *p = T::from_f64(s);
        }
        Context { constant: self.cell_without(labels, Some(mode)), slope: padded, own }
    }

    /// What a row adds to every context besides its product with the slope: its bias and
    /// `K[a][a] <u, u>`.
    pub fn row_offset(&self, mode: usize, label: u32) -> f64 {
        let group = self.spec.groups[mode];
        let own = match &self.spec.interaction {
            Interaction::Quadratic(kernel) => kernel.get(mode, mode),
            Interaction::Cp => 0.0,
        };
        let row = self.parameters.row(group, label as usize);
        let square = if own == 0.0 { 0.0 } else { own * inner(row, row) };
        self.parameters.bias(group, label as usize).to_f64() + square
    }

    /// Whether [`row_offset`](Self::row_offset) is anything but zero.
    pub fn has_row_offsets(&self, mode: usize) -> bool {
        self.parameters.layout().has_biases()
            || match &self.spec.interaction {
                Interaction::Quadratic(kernel) => kernel.get(mode, mode) != 0.0,
                Interaction::Cp => false,
            }
    }
}
