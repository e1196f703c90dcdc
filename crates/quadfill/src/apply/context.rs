//! A prediction as a function of one row, all other labels being fixed.

use crate::model::Interaction;
use crate::model::{Predictor, inner};
use quadfill_kernels::{AlignedVec, Real};

/// `constant + bias(u) + <jacobian, u> + own <u, u>`: the prediction of a cell whose label in one
/// mode has the row `u`.
#[derive(Debug, Clone)]
pub struct Context<T: Real> {
    /// The part that does not depend on the row.
    pub constant: f64,
    /// The derivative in the row at zero, padded with zeros as rows are.
    pub jacobian: AlignedVec<T>,
    /// `K[a][a]`.
    pub own: f64,
}

impl<T: Real> Predictor<'_, T> {
    /// The prediction of a cell as a function of its row in `mode`. The label of that mode is ignored;
    /// terms of [`UNKNOWN`](crate::model::UNKNOWN) labels are left out unless there are rows for them.
    ///
    /// ```
    /// use quadfill::model::{Kernel, ModelSpec, Parameters, Predictor};
    /// let spec = ModelSpec::quadratic(Kernel::pairwise(3), 2);
    /// let parameters = Parameters::<f64>::random(&spec, &[4, 5, 6], 1.0, 7);
    /// let predictor = Predictor::new(&spec, &parameters);
    /// let context = predictor.context(1, &[3, 0, 2]);
    /// let row = parameters.row(1, 4);
    /// let linear: f64 = context.jacobian.iter().zip(row).map(|(s, u)| s * u).sum();
    /// assert!((context.constant + linear - predictor.cell(&[3, 4, 2])).abs() < 1e-12);
    /// ```
    pub fn context(&self, mode: usize, labels: &[u32]) -> Context<T> {
        let rank = self.spec.rank;
        let mut jacobian = vec![0.0; rank];
        let mut own = 0.0;
        let others = || (0..labels.len()).filter(|&b| b != mode);
        let row = |b: usize| self.row(b, labels[b]);
        match &self.spec.interaction {
            Interaction::Quadratic(kernel) => {
                own = kernel.get(mode, mode);
                for b in others() {
                    let weight = 2.0 * kernel.get(mode, b);
                    if let (Some(row), true) = (row(b), weight != 0.0) {
                        for (s, u) in jacobian.iter_mut().zip(row) {
                            *s += weight * u.to_f64();
                        }
                    }
                }
            }
            Interaction::Cp => {
                let rows: Option<Vec<&[T]>> = others().map(row).collect();
                if let Some(rows) = rows {
                    for (l, s) in jacobian.iter_mut().enumerate() {
                        *s = rows.iter().map(|row| row[l].to_f64()).product();
                    }
                }
            }
        }
        let mut padded = AlignedVec::zeros(self.parameters.layout().stride());
        for (p, s) in padded.iter_mut().zip(jacobian) {
            *p = T::from_f64(s);
        }
        Context { constant: self.cell_without(labels, Some(mode)), jacobian: padded, own }
    }

    /// What a row adds to every context besides its product with the Jacobian: its bias and
    /// `K[a][a] <u, u>`.
    pub(crate) fn row_offset(&self, mode: usize, label: u32) -> f64 {
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
    pub(crate) fn has_row_offsets(&self, mode: usize) -> bool {
        self.parameters.layout().has_biases()
            || match &self.spec.interaction {
                Interaction::Quadratic(kernel) => kernel.get(mode, mode) != 0.0,
                Interaction::Cp => false,
            }
    }
}
