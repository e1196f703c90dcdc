//! The observations once per mode, grouped by that mode's labels, ready for the row kernels.
//!
//! Three modes in `f32` take 36 bytes per observation: two 32-bit indices and the value in each of
//! three views. Building them never holds more.
//!
//! Within a label the cells are sorted by their other labels. So views do not depend on the order of
//! the data, and the rows that consecutive cells pick are close together in memory.

mod plan;

pub use plan::{Plan, Segment};

use crate::observations::Observations;
use quadfill_kernels::Real;

/// All observations, grouped by the labels of one mode.
#[derive(Debug, Clone)]
pub struct View<T> {
    starts: Vec<usize>,
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
    pub fn labels(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many observations a label has.
    pub fn count(&self, label: usize) -> usize {
        self.starts[label + 1] - self.starts[label]
    }

    /// The running number of the first observation of a label (and, past the end, of all).
    pub fn start(&self, label: usize) -> usize {
        self.starts[label]
    }

    /// The observations of a label.
    pub fn cells(&self, label: usize) -> Cells<'_, T> {
        self.segment(self.starts[label], self.starts[label + 1])
    }

    /// The observations from one running number to another.
    pub fn segment(&self, from: usize, to: usize) -> Cells<'_, T> {
        Cells {
            others: &self.others[from * self.width..to * self.width],
            values: &self.values[from..to],
            weights: self.weights.as_ref().map(|w| &w[from..to]),
        }
    }

    /// Groups observations by `mode`. `visit` hands out every observation in a fixed order, twice.
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
            // Entry by entry: so few are not worth a call that copies memory.
            for (b, other) in row.iter_mut().enumerate() {
                *other = cell[b + usize::from(b >= mode)];
            }
            values[at] = value;
            if let Some(weights) = &mut weights {
                weights[at] = weight;
            }
        });
        Self { starts, others, values, weights, width }
    }

    /// Hands out every observation as a full cell with value and weight.
    fn visit(&self, mode: usize, see: &mut dyn FnMut(&[u32], T, T)) {
        let mut cell = [0u32; 8];
        let cell = &mut cell[..=self.width];
        for label in 0..self.labels() {
            cell[mode] = label as u32;
            for at in self.starts[label]..self.starts[label + 1] {
                let row = &self.others[at * self.width..(at + 1) * self.width];
                for (b, &other) in row.iter().enumerate() {
                    cell[b + usize::from(b >= mode)] = other;
                }
                see(cell, self.values[at], self.weights.as_ref().map_or(T::ONE, |w| w[at]));
            }
        }
    }
}

/// Hands out every observation to a closure, in a fixed order.
type Visit<'a, T> = dyn Fn(&mut dyn FnMut(&[u32], T, T)) + 'a;

/// One [`View`] per mode.
#[derive(Debug, Clone)]
pub struct Views<T> {
    views: Vec<View<T>>,
    total_weight: f64,
}

impl<T: Real> Views<T> {
    /// Groups the observations by each mode in turn and lets go of the originals.
    ///
    /// ```
    /// # use quadfill::{Labels, Mode, Observations, OnDuplicate, views::Views};
    /// # let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(2))];
    /// # let data = Observations::new(modes, vec![vec![0, 1, 1], vec![1, 0, 1]],
    /// #     vec![1.0, 2.0, 3.0], None, OnDuplicate::Error)?;
    /// let views = Views::new(data);
    /// assert_eq!(views.view(0).cells(1).values, [2.0, 3.0]);
    /// assert_eq!(views.view(1).cells(1).others, [0, 1]);
    /// # Ok::<(), quadfill::Error>(())
    /// ```
    pub fn new(data: Observations<T>) -> Self {
        let sizes = data.sizes();
        let (modes, len) = (sizes.len(), data.len());
        let weighted = data.weights().is_some();
        let total_weight =
            data.weights().map_or(len as f64, |w| w.iter().map(|w| w.to_f64()).sum());
        let build = |mode: usize, visit: &Visit<'_, T>| {
            View::build(mode, sizes[mode], modes - 1, len, weighted, visit)
        };
        // Grouping keeps the order within a label. So grouping by the last mode first, and by the first
        // mode last, sorts the cells; each step lets go of the one before it.
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
        Self { views, total_weight }
    }

    /// The view of one mode.
    pub fn view(&self, mode: usize) -> &View<T> {
        &self.views[mode]
    }

    /// How many modes there are.
    pub fn modes(&self) -> usize {
        self.views.len()
    }

    /// The number of labels of each mode.
    pub fn sizes(&self) -> Vec<usize> {
        self.views.iter().map(View::labels).collect()
    }

    /// How many observations there are.
    pub fn len(&self) -> usize {
        self.views[0].values.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the observations have weights.
    pub fn is_weighted(&self) -> bool {
        self.views[0].weights.is_some()
    }

    /// The sum of the weights (the number of observations without them).
    pub fn total_weight(&self) -> f64 {
        self.total_weight
    }

    /// Hands out every observation as a full cell with value and weight, in a fixed order.
    pub fn for_each(&self, mut see: impl FnMut(&[u32], T, T)) {
        self.views[0].visit(0, &mut see);
    }

    /// The weighted mean of the values.
    pub fn mean(&self) -> f64 {
        let mut sum = 0.0;
        self.for_each(|_, value, weight| sum += value.to_f64() * weight.to_f64());
        sum / self.total_weight.max(f64::MIN_POSITIVE)
    }

    /// Turns the views back into columns, ordered by the first mode. One view is kept at a time.
    pub fn into_columns(mut self) -> (Vec<Vec<u32>>, Vec<T>, Option<Vec<T>>) {
        self.views.truncate(1);
        let (modes, len) = (self.views[0].width + 1, self.views[0].values.len());
        let mut columns = vec![Vec::with_capacity(len); modes];
        self.views[0].visit(0, &mut |cell, _, _| {
            for (column, &index) in columns.iter_mut().zip(cell) {
                column.push(index);
            }
        });
        let view = self.views.remove(0);
        (columns, view.values, view.weights)
    }
}

fn visit_columns<T: Real>(data: &Observations<T>, see: &mut dyn FnMut(&[u32], T, T)) {
    let modes = data.modes().len();
    let mut cell = [0u32; 8];
    for row in 0..data.len() {
        for mode in 0..modes {
            cell[mode] = data.indices(mode)[row];
        }
        see(&cell[..modes], data.values()[row], data.weights().map_or(T::ONE, |w| w[row]));
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
            assert_eq!(views.view(0).cells(0).values, [3.0, 1.0, 0.0]);
            assert_eq!(views.view(0).cells(0).others, [0, 0, 0, 1, 1, 1]);
            assert_eq!(views.view(1).cells(0).values, [3.0, 1.0, 4.0]);
            assert_eq!(views.view(2).cells(1).others, [0, 0, 0, 1, 1, 0]);
        }
    }
}
