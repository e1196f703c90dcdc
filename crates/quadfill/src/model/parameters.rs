//! The parameters of a model, in one flat vector.

use std::ops::Range;

use super::{Biases, ModelSpec};
use quadfill_kernels::{AlignedVec, Real, streams};

/// Every row of all factor matrices, as matrix and label, in stacked order.
pub(crate) fn each_row(rows: &[usize]) -> impl Iterator<Item = (usize, usize)> + '_ {
    rows.iter().enumerate().flat_map(|(group, &n)| (0..n).map(move |label| (group, label)))
}

/// Where each parameter of a model is in the flat vector.
///
/// First every factor matrix, row by row, each row padded with zeros to whole cache lines; then,
/// with [`Biases::Modes`], the biases of every factor matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    rank: usize,
    stride: usize,
    rows: Vec<usize>,
    factors: Vec<usize>,
    biases: Option<Vec<usize>>,
    len: usize,
    groups: Vec<usize>,
}

impl Layout {
    /// The layout of a model for data with `sizes` labels per mode, in precision `T`.
    pub fn new<T: Real>(spec: &ModelSpec, sizes: &[usize]) -> Self {
        let stride = spec.rank.next_multiple_of(T::LINE);
        let rows = spec.group_sizes(sizes);
        let mut len = 0;
        let mut place = |size: usize| {
            let at = len;
            len += size.next_multiple_of(T::LINE);
            at
        };
        let factors = rows.iter().map(|&n| place(n * stride)).collect();
        let biases =
            (spec.biases == Biases::Modes).then(|| rows.iter().map(|&n| place(n)).collect());
        Self { rank: spec.rank, stride, rows, factors, biases, len, groups: spec.groups.clone() }
    }

    /// Columns of each factor matrix.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The padded length of a row.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Rows of each factor matrix.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// For each mode the factor matrix it uses.
    pub fn groups(&self) -> &[usize] {
        &self.groups
    }

    /// Whether biases are fitted.
    pub fn has_biases(&self) -> bool {
        self.biases.is_some()
    }

    /// Unknowns of one row: its columns, and its bias if there is one.
    pub fn row_unknowns(&self) -> usize {
        self.rank + usize::from(self.has_biases())
    }

    /// The range of factor matrix `group`.
    pub(crate) fn factor_range(&self, group: usize) -> Range<usize> {
        self.factors[group]..self.factors[group] + self.rows[group] * self.stride
    }

    /// The range of the biases of `group`.
    pub(crate) fn bias_range(&self, group: usize) -> Option<Range<usize>> {
        self.biases.as_ref().map(|at| at[group]..at[group] + self.rows[group])
    }
}

/// The factor matrices and biases of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters<T: Real> {
    layout: Layout,
    numbers: AlignedVec<T>,
    /// What is added to every prediction; 0 with [`Biases::None`].
    pub mean: f64,
}

impl<T: Real> Parameters<T> {
    /// All zero.
    pub fn zeros(spec: &ModelSpec, sizes: &[usize]) -> Self {
        let layout = Layout::new::<T>(spec, sizes);
        let numbers = AlignedVec::zeros(layout.len);
        Self { layout, numbers, mean: 0.0 }
    }

    /// All zero, in the shape of `self`.
    #[must_use]
    pub fn zeros_like(&self) -> Self {
        Self {
            layout: self.layout.clone(),
            numbers: AlignedVec::zeros(self.layout.len),
            mean: self.mean,
        }
    }

    /// Independent normal entries of standard deviation `scale`; biases stay zero. One stream per matrix.
    pub fn random(spec: &ModelSpec, sizes: &[usize], scale: f64, seed: u64) -> Self {
        const START_STREAM: u64 = 0x73_7461_7274;
        let mut parameters = Self::zeros(spec, sizes);
        let rank = spec.rank;
        for group in 0..parameters.layout.rows.len() {
            let mut rng = streams::stream(seed, START_STREAM, group as u64);
            let mut row = vec![0.0; rank];
            for label in 0..parameters.layout.rows[group] {
                streams::fill_normal(&mut row, &mut rng);
                let target = parameters.row_mut(group, label);
                for (t, &x) in target.iter_mut().zip(&row) {
                    *t = T::from_f64(scale * x);
                }
            }
        }
        parameters
    }

    /// The layout.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// All numbers, padding included.
    pub fn as_slice(&self) -> &[T] {
        &self.numbers
    }

    /// All numbers, padding included. Padding must stay zero.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.numbers
    }

    /// A factor matrix, rows padded to [`Layout::stride`].
    pub fn factors(&self, group: usize) -> &[T] {
        &self.numbers[self.layout.factor_range(group)]
    }

    /// The factor matrix that a mode uses.
    pub(crate) fn mode_factors(&self, mode: usize) -> &[T] {
        self.factors(self.layout.groups[mode])
    }

    /// The biases of a factor matrix.
    pub fn biases(&self, group: usize) -> Option<&[T]> {
        self.layout.bias_range(group).map(|range| &self.numbers[range])
    }

    /// The biases that a mode uses.
    pub(crate) fn mode_biases(&self, mode: usize) -> Option<&[T]> {
        self.biases(self.layout.groups[mode])
    }

    /// One row without its padding.
    pub fn row(&self, group: usize, label: usize) -> &[T] {
        let at = self.layout.factors[group] + label * self.layout.stride;
        &self.numbers[at..at + self.layout.rank]
    }

    /// One row without its padding.
    pub fn row_mut(&mut self, group: usize, label: usize) -> &mut [T] {
        let at = self.layout.factors[group] + label * self.layout.stride;
        &mut self.numbers[at..at + self.layout.rank]
    }

    /// One row with its padding.
    pub(crate) fn padded_row(&self, group: usize, label: usize) -> &[T] {
        let at = self.layout.factors[group] + label * self.layout.stride;
        &self.numbers[at..at + self.layout.stride]
    }

    /// The bias of a row, 0 without biases.
    pub fn bias(&self, group: usize, label: usize) -> T {
        self.biases(group).map_or(T::ZERO, |biases| biases[label])
    }

    /// Sets the bias of a row.
    ///
    /// # Panics
    /// Without biases.
    pub fn set_bias(&mut self, group: usize, label: usize, bias: T) {
        let range = self.layout.bias_range(group).expect("the model has biases");
        self.numbers[range.start + label] = bias;
    }

    /// `self += step * direction`.
    pub fn advance(&mut self, step: f64, direction: &Self) {
        let step = T::from_f64(step);
        for (x, &d) in self.numbers.iter_mut().zip(direction.numbers.iter()) {
            *x += step * d;
        }
    }
}
