//! The shape of a tensor, and random samples of its cells.

use std::collections::HashSet;

use rand::{Rng, RngExt};

use crate::error::{LabError, Result};

/// The sizes of a tensor's modes.
///
/// ```
/// let shape = quadfill_lab::planted::Shape::new(&[200, 30, 7])?;
/// assert_eq!(shape.cells(), 42_000);
/// # Ok::<(), quadfill_lab::LabError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Shape {
    sizes: Vec<usize>,
    cells: u128,
}

/// Samples of more than one cell in this many are drawn from a list of all cells.
const SPARSE: u128 = 4;

impl Shape {
    /// Fails if the number of cells overflows.
    pub fn new(sizes: &[usize]) -> Result<Self> {
        let cells = sizes
            .iter()
            .try_fold(1u128, |cells, &size| cells.checked_mul(size as u128))
            .ok_or(LabError::TooManyCells)?;
        Ok(Self { sizes: sizes.to_vec(), cells })
    }

    /// Labels per mode.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The number of cells.
    pub fn cells(&self) -> u128 {
        self.cells
    }

    /// Fails if no set of `observations` cells can give every label `least` of them.
    pub fn check_coverage(&self, observations: usize, least: usize) -> Result<()> {
        for &size in &self.sizes {
            if least as u128 * size as u128 > observations as u128 {
                return Err(LabError::TooFewObservations {
                    observations,
                    labels: size,
                    min_per_label: least,
                    required: least.saturating_mul(size),
                });
            }
            if least as u128 > self.cells / size as u128 {
                return Err(LabError::TooFewCellsPerLabel {
                    labels: size,
                    cells: self.cells / size as u128,
                    min_per_label: least,
                });
            }
        }
        Ok(())
    }

    /// A uniform sample of distinct cells, as one column per mode.
    pub(super) fn draw(&self, count: usize, rng: &mut impl Rng) -> Vec<Vec<u32>> {
        self.draw_excluding(&[], count, rng)
    }

    /// A uniform sample of distinct cells outside `taken`.
    pub(super) fn draw_excluding(
        &self,
        taken: &[Vec<u32>],
        count: usize,
        rng: &mut impl Rng,
    ) -> Vec<Vec<u32>> {
        let rows = taken.first().map_or(0, Vec::len);
        let mut seen: HashSet<u128> =
            (0..rows).map(|row| self.key(taken.iter().map(|column| column[row]))).collect();
        if (rows + count) as u128 * SPARSE > self.cells {
            let mut left: Vec<u64> =
                (0..self.cells as u64).filter(|&cell| !seen.contains(&u128::from(cell))).collect();
            return self.columns_of(take_some(&mut left, count, rng));
        }
        // Rejection sampling; at least 3 of 4 cells are accepted.
        seen.reserve(count);
        let mut columns = vec![Vec::with_capacity(count); self.sizes.len()];
        let mut cell = vec![0u32; self.sizes.len()];
        while columns[0].len() < count {
            for (label, &size) in cell.iter_mut().zip(&self.sizes) {
                *label = rng.random_range(0..size as u64) as u32;
            }
            if seen.insert(self.key(cell.iter().copied())) {
                for (column, &label) in columns.iter_mut().zip(&cell) {
                    column.push(label);
                }
            }
        }
        columns
    }

    /// The index of a cell in row-major order.
    fn key(&self, cell: impl Iterator<Item = u32>) -> u128 {
        cell.zip(&self.sizes).fold(0, |key, (label, &size)| key * size as u128 + u128::from(label))
    }

    fn columns_of(&self, cells: &[u64]) -> Vec<Vec<u32>> {
        let mut columns = vec![vec![0u32; cells.len()]; self.sizes.len()];
        for (row, &cell) in cells.iter().enumerate() {
            let mut rest = cell;
            for (column, &size) in columns.iter_mut().zip(&self.sizes).rev() {
                column[row] = (rest % size as u64) as u32;
                rest /= size as u64;
            }
        }
        columns
    }
}

/// A uniform sample of `count` items, by a partial Fisher-Yates shuffle.
fn take_some<'a>(items: &'a mut [u64], count: usize, rng: &mut impl Rng) -> &'a [u64] {
    for place in 0..count {
        let other = rng.random_range(place as u64..items.len() as u64) as usize;
        items.swap(place, other);
    }
    &items[..count]
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadfill_kernels::streams::stream;

    #[test]
    fn every_cell_of_a_full_tensor_is_drawn_once() {
        let shape = Shape::new(&[3, 4, 5]).expect("valid");
        let columns = shape.draw(60, &mut stream(1, 0, 0));
        let mut keys: Vec<u128> =
            (0..60).map(|row| shape.key(columns.iter().map(|column| column[row]))).collect();
        keys.sort_unstable();
        assert_eq!(keys, (0..60).collect::<Vec<u128>>());
    }

    #[test]
    fn too_many_cells_to_count_are_refused() {
        assert!(Shape::new(&[u32::MAX as usize; 8]).is_err());
        assert!(Shape::new(&[60_000; 8]).is_ok());
    }

    #[test]
    fn impossible_coverage_is_refused_with_the_numbers() {
        let shape = Shape::new(&[10, 20]).expect("valid");
        let message = |observations, least| {
            shape.check_coverage(observations, least).expect_err("invalid").to_string()
        };
        assert!(message(30, 2).contains("raise `observations` to 40"));
        assert!(message(200, 11).contains("only 10 cells") || message(200, 11).contains("to 220"));
        assert!(shape.check_coverage(200, 10).is_ok());
    }
}
