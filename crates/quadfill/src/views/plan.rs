//! How the rows of a factor matrix are distributed over threads.
//!
//! The plan depends on the data alone. Every sum is taken within one unit or one segment and then
//! folded in order, so results are bit-identical on any number of threads.

use std::ops::Range;

use super::Selection;
use quadfill_kernels::Real;

/// Rows with more observations than this are cut into segments of this size.
const SEGMENT: usize = 16 * 1024;
/// The size of one unit of work, in observations (each row adds `ROW_COST`).
const UNIT: usize = 16 * 1024;
const ROW_COST: usize = 32;

/// A run of observations of one row in one mode's view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The row.
    pub row: usize,
    /// The mode whose view is read.
    pub mode: usize,
    /// Positions in that view.
    pub cells: Range<usize>,
}

/// Units of rows, and the segments of rows that are too long for one thread.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    modes: Vec<usize>,
    units: Vec<Range<usize>>,
    heavy: Vec<Segment>,
}

impl Plan {
    /// A plan for the rows that `modes` share.
    pub(crate) fn new<T: Real>(views: Selection<'_, T>, modes: Vec<usize>) -> Self {
        let rows = modes.iter().map(|&mode| views.mode(mode).labels()).max().unwrap_or(0);
        let mut plan = Self { modes, units: Vec::new(), heavy: Vec::new() };
        let (mut first, mut cost) = (0, 0);
        for row in 0..rows {
            let count = plan.count(views, row);
            if count > SEGMENT {
                plan.heavy.extend(plan.segments(views, row));
                cost += ROW_COST;
            } else {
                cost += ROW_COST + count;
            }
            if cost >= UNIT {
                plan.units.push(first..row + 1);
                (first, cost) = (row + 1, 0);
            }
        }
        if first < rows {
            plan.units.push(first..rows);
        }
        plan
    }

    fn count<T: Real>(&self, views: Selection<'_, T>, row: usize) -> usize {
        self.modes.iter().map(|&mode| views.mode(mode).count(row)).sum()
    }

    /// The observations of a row, cut where they are many.
    pub(crate) fn segments<T: Real>(&self, views: Selection<'_, T>, row: usize) -> Vec<Segment> {
        let mut segments = Vec::new();
        for &mode in &self.modes {
            let Range { start: mut from, end } = views.mode(mode).range(row);
            while from < end {
                let to = end.min(from + SEGMENT);
                segments.push(Segment { row, mode, cells: from..to });
                from = to;
            }
        }
        segments
    }

    /// Units of consecutive rows; together they cover all rows.
    pub(crate) fn units(&self) -> &[Range<usize>] {
        &self.units
    }

    /// The segments of all rows that are too long for one thread, in order.
    pub(crate) fn heavy(&self) -> &[Segment] {
        &self.heavy
    }

    /// The modes whose rows are planned.
    pub(crate) fn modes(&self) -> &[usize] {
        &self.modes
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]
mod tests {
    use super::*;
    use crate::observations::{Labels, Mode, Observations, OnDuplicate};
    use crate::views::Views;

    #[test]
    fn units_cover_all_rows_and_long_rows_are_cut() {
        let n = 100_000u32;
        let modes =
            vec![Mode::new("a", Labels::range(n as usize)), Mode::new("b", Labels::range(2))];
        let second = (0..n).map(|i| u32::from(i < 10)).collect();
        let data = Observations::new(
            modes,
            vec![(0..n).collect(), second],
            vec![1.0; n as usize],
            None,
            OnDuplicate::Error,
        )
        .unwrap();
        let views = Views::<f32>::new(data);
        let views = views.all();
        for mode in 0..2 {
            let plan = Plan::new(views, vec![mode]);
            let mut next = 0;
            for unit in plan.units() {
                assert_eq!(unit.start, next);
                next = unit.end;
            }
            assert_eq!(next, views.mode(mode).labels());
            let cut: usize = plan.heavy().iter().map(|s| s.cells.len()).sum();
            assert_eq!(cut, if mode == 0 { 0 } else { n as usize - 10 });
            assert!(plan.heavy().iter().all(|s| s.cells.len() <= SEGMENT && s.row == 0));
        }
    }
}
