//! A point of the parameter space in the layout of the row kernels.

use super::{ModeForm, Objective};
use crate::model::{Interaction, Parameters};
use crate::views::{Reader, Segment};
use quadfill_kernels::Real;
use quadfill_kernels::cells::{Direction, Form, ModeContext, RowCells};

/// Parameters with, for each mode, the factor matrices of the other modes side by side.
pub(crate) struct Point<'a, T: Real> {
    parameters: &'a Parameters<T>,
    forms: &'a [ModeForm<T>],
    product: bool,
    others: Vec<Vec<&'a [T]>>,
    biases: Option<Vec<Vec<&'a [T]>>>,
    groups: &'a [usize],
}

impl<T: Real> Objective<'_, T> {
    /// Lays out parameters for the kernels.
    pub(crate) fn point<'p>(&'p self, parameters: &'p Parameters<T>) -> Point<'p, T> {
        let modes = self.spec.modes();
        let beside = |mode: usize| (0..modes).filter(move |&b| b != mode);
        Point {
            parameters,
            forms: &self.forms,
            product: self.spec.interaction == Interaction::Cp,
            others: (0..modes)
                .map(|mode| beside(mode).map(|b| parameters.mode_factors(b)).collect())
                .collect(),
            biases: parameters.layout().has_biases().then(|| {
                (0..modes)
                    .map(|mode| beside(mode).filter_map(|b| parameters.mode_biases(b)).collect())
                    .collect()
            }),
            groups: &self.spec.groups,
        }
    }
}

impl<'a, T: Real> Point<'a, T> {
    /// The same with a column of the Jacobian that is constantly 1, as if biases of zero were fitted, unless
    /// there are biases already.
    pub(crate) fn with_constant_column(mut self, zeros: &'a [Vec<T>]) -> Self {
        if self.biases.is_none() {
            let modes = self.groups.len();
            let beside = |mode: usize| (0..modes).filter(move |&b| b != mode);
            let zero = |b: usize| zeros[self.groups[b]].as_slice();
            self.biases = Some((0..modes).map(|mode| beside(mode).map(zero).collect()).collect());
        }
        self
    }

    /// What is fixed while `mode` is updated.
    pub(crate) fn context(&self, mode: usize) -> ModeContext<'_, T> {
        let form = &self.forms[mode];
        let layout = self.parameters.layout();
        ModeContext {
            form: if self.product {
                Form::Product
            } else {
                Form::Quadratic { own: form.own, cross: &form.cross, among: &form.among }
            },
            rank: layout.rank(),
            stride: layout.stride(),
            factors: &self.others[mode],
            biases: self.biases.as_ref().map(|biases| biases[mode].as_slice()),
            mean: T::from_f64(self.parameters.mean),
        }
    }

    /// The observations of a segment together with its own row.
    pub(crate) fn row_cells<'b>(
        &'b self,
        reader: &'b mut Reader<'_, T>,
        segment: &Segment,
    ) -> RowCells<'b, T> {
        let group = self.groups[segment.mode];
        let (cells, others) = reader.read_ahead(segment.mode, segment.cells.clone());
        RowCells {
            own: self.parameters.padded_row(group, segment.row),
            own_bias: self.parameters.bias(group, segment.row),
            others,
            values: cells.values,
            weights: cells.weights,
        }
    }

    /// This point seen as a direction, from the row of a segment.
    pub(crate) fn direction(&self, segment: &Segment) -> Direction<'_, T> {
        let group = self.groups[segment.mode];
        Direction {
            own: self.parameters.padded_row(group, segment.row),
            own_bias: self.parameters.bias(group, segment.row),
            factors: &self.others[segment.mode],
            biases: self.biases.as_ref().map(|biases| biases[segment.mode].as_slice()),
        }
    }
}
