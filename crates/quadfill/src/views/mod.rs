//! The observations once per mode, grouped by that mode's labels, ready for the row kernels.
//!
//! Three modes in `f32` take 36 bytes per observation: two 32-bit indices and the value in each of
//! three views. Building them never holds more.
//!
//! Within a label the cells are sorted by their other labels. So views do not depend on the order of
//! the data, and the rows that consecutive cells pick are close together in memory. Cells that are
//! held out come last within each label: training data are a prefix of every row, and splitting off
//! or joining a hold-out moves nothing. A [`Selection`] says which part is read.

mod hold_out;
mod plan;
mod selection;

pub(crate) use plan::{Plan, Segment};
pub use selection::{ModeSelection, Selection};

use std::ops::Range;

use crate::observations::Observations;
use quadfill_kernels::Real;

/// All observations, grouped by the labels of one mode.
#[derive(Debug, Clone)]
struct View<T> {
    /// The position of the first observation of each label, and at the end the number of observations.
    starts: Vec<usize>,
    /// How many observations of each label are not held out, where some are.
    training_counts: Option<Vec<u32>>,
    others: Vec<u32>,
    values: Vec<T>,
    weights: Option<Vec<T>>,
    width: usize,
}

/// A run of observations that share a label.
#[derive(Debug, Clone, Copy)]
pub struct Cells<'a, T> {
    /// For each observation the label indices of the other modes, in mode order.
    pub others: &'a [u32],
    /// The values.
    pub values: &'a [T],
    /// The weights, where given.
    pub weights: Option<&'a [T]>,
}

impl<T: Real> View<T> {
    /// How many labels the mode has.
    fn labels(&self) -> usize {
        self.starts.len() - 1
    }

    /// The observations from one position to another.
    fn segment(&self, from: usize, to: usize) -> Cells<'_, T> {
        Cells {
            others: &self.others[from * self.width..to * self.width],
            values: &self.values[from..to],
            weights: self.weights.as_ref().map(|w| &w[from..to]),
        }
    }

    /// Groups observations by `mode`. `visit` passes on every observation in a fixed order; it is called
    /// twice.
    fn build(
        mode: usize,
        labels: usize,
        width: usize,
        len: usize,
        weighted: bool,
        visit: impl Fn(&mut dyn FnMut(&[u32], T, T)),
    ) -> Self {
        let mut starts = vec![0usize; labels + 1];
        visit(&mut |cell, _, _| starts[cell[mode] as usize + 1] += 1);
        for label in 0..labels {
            starts[label + 1] += starts[label];
        }
        let mut next = starts.clone();
        let mut others = vec![0u32; len * width];
        let mut values = vec![T::ZERO; len];
        let mut weights = weighted.then(|| vec![T::ZERO; len]);
        visit(&mut |cell, value, weight| {
            let label = cell[mode] as usize;
            let at = next[label];
            next[label] += 1;
            let row = &mut others[at * width..(at + 1) * width];
            // Entry by entry: so few are faster without a call to memcpy.
            for (b, other) in row.iter_mut().enumerate() {
                *other = cell[b + usize::from(b >= mode)];
            }
            values[at] = value;
            if let Some(weights) = &mut weights {
                weights[at] = weight;
            }
        });
        Self { starts, training_counts: None, others, values, weights, width }
    }

    /// Calls `see` with every observation as a full cell with value and weight.
    fn visit(&self, mode: usize, see: &mut dyn FnMut(&[u32], T, T)) {
        for label in 0..self.labels() {
            self.visit_range(mode, label, self.starts[label]..self.starts[label + 1], see);
        }
    }

    /// The same for some observations of one label.
    fn visit_range(
        &self,
        mode: usize,
        label: usize,
        range: Range<usize>,
        see: &mut dyn FnMut(&[u32], T, T),
    ) {
        let mut cell = [0u32; 8];
        let cell = &mut cell[..=self.width];
        cell[mode] = label as u32;
        for at in range {
            let row = &self.others[at * self.width..(at + 1) * self.width];
            for (b, &other) in row.iter().enumerate() {
                cell[b + usize::from(b >= mode)] = other;
            }
            see(cell, self.values[at], self.weights.as_ref().map_or(T::ONE, |w| w[at]));
        }
    }
}

/// Passes every observation to a closure, in a fixed order.
type Visit<'a, T> = dyn Fn(&mut dyn FnMut(&[u32], T, T)) + 'a;

/// The observations once per mode, in the precision of the fit.
#[derive(Debug, Clone)]
pub struct Views<T> {
    views: Vec<View<T>>,
}

impl<T: Real> Views<T> {
    /// Groups the observations by each mode in turn and frees the originals.
    ///
    /// ```
    /// # use quadfill::{Labels, Mode, Observations, OnDuplicate, views::Views};
    /// # let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(2))];
    /// # let data = Observations::new(modes, vec![vec![0, 1, 1], vec![1, 0, 1]],
    /// #     vec![1.0, 2.0, 3.0], None, OnDuplicate::Error)?;
    /// let views = Views::<f64>::new(data);
    /// assert_eq!(views.all().mode(0).cells(1).values, [2.0, 3.0]);
    /// assert_eq!(views.all().mode(1).cells(1).others, [0, 1]);
    /// # Ok::<(), quadfill::Error>(())
    /// ```
    pub fn new(data: Observations) -> Self {
        let sizes = data.sizes();
        let (modes, len) = (sizes.len(), data.len());
        let weighted = data.weights().is_some();
        let build = |mode: usize, visit: &Visit<'_, T>| {
            View::build(mode, sizes[mode], modes - 1, len, weighted, visit)
        };
        // Grouping keeps the order within a label. So grouping by the last mode first, and by the first
        // mode last, sorts the cells; each step frees the one before it.
        let mut sorted = build(modes - 1, &|see| visit_columns(&data, see));
        drop(data);
        for mode in (0..modes - 1).rev() {
            sorted = build(mode, &|see| sorted.visit(mode + 1, see));
        }
        let mut views = vec![sorted];
        for mode in 1..modes {
            let view = build(mode, &|see| views[0].visit(0, see));
            views.push(view);
        }
        Self { views }
    }

    /// All observations.
    pub fn all(&self) -> Selection<'_, T> {
        Selection::all(self)
    }

    /// Those that are not held out.
    pub fn training(&self) -> Selection<'_, T> {
        Selection::training(self)
    }

    /// Those that are held out.
    pub fn held_out(&self) -> Selection<'_, T> {
        Selection::held_out(self)
    }

    /// The number of labels of each mode.
    pub fn sizes(&self) -> Vec<usize> {
        self.views.iter().map(View::labels).collect()
    }

    /// How many observations there are in all.
    pub fn len(&self) -> usize {
        self.views[0].values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn visit_columns<T: Real>(data: &Observations, see: &mut dyn FnMut(&[u32], T, T)) {
    let modes = data.modes().len();
    let mut cell = [0u32; 8];
    for row in 0..data.len() {
        for mode in 0..modes {
            cell[mode] = data.indices(mode)[row];
        }
        let weight = data.weights().map_or(T::ONE, |w| T::from_f64(w[row]));
        see(&cell[..modes], T::from_f64(data.values()[row]), weight);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]
mod tests {
    use super::*;
    use crate::observations::{Labels, Mode, OnDuplicate};

    fn views(order: &[usize]) -> Views<f64> {
        let cells = [[0u32, 1, 1], [0, 0, 1], [1, 1, 0], [0, 0, 0], [1, 0, 1]];
        let modes = (0..3).map(|_| Mode::new("m", Labels::range(2))).collect();
        let column = |mode: usize| order.iter().map(|&i| cells[i][mode]).collect();
        let values = order.iter().map(|&i| i as f64).collect();
        let indices = (0..3).map(column).collect();
        Views::new(Observations::new(modes, indices, values, None, OnDuplicate::Error).unwrap())
    }

    #[test]
    fn views_are_sorted_whatever_the_order_of_the_data() {
        for order in [[0, 1, 2, 3, 4], [4, 2, 0, 3, 1]] {
            let views = views(&order);
            assert_eq!(views.all().mode(0).cells(0).values, [3.0, 1.0, 0.0]);
            assert_eq!(views.all().mode(0).cells(0).others, [0, 0, 0, 1, 1, 1]);
            assert_eq!(views.all().mode(1).cells(0).values, [3.0, 1.0, 4.0]);
            assert_eq!(views.all().mode(2).cells(1).others, [0, 0, 0, 1, 1, 0]);
        }
    }
}
