//! Splits observations into training data and held-out data.

use super::Observations;
use super::hold_out::{CellHash, is_held_out};
use crate::error::{Error, Result};

impl Observations {
    /// Moves about the share `rate` to the second part, never leaving either part empty. The labels
    /// of a cell and the seed decide, not the order of the rows.
    ///
    /// ```
    /// # use quadfill::{Labels, Mode, Observations, OnDuplicate};
    /// # let modes = vec![Mode::new("a", Labels::range(100)), Mode::new("b", Labels::range(1))];
    /// # let indices = vec![(0..100).collect(), vec![0; 100]];
    /// # let data = Observations::new(modes, indices, vec![1.0; 100], None, OnDuplicate::Error)?;
    /// let (train, validation) = data.split_random(0.1, 7)?;
    /// assert_eq!(train.len() + validation.len(), 100);
    /// assert!((1..30).contains(&validation.len()));
    /// # Ok::<(), quadfill::Error>(())
    /// ```
    pub fn split_random(self, rate: f64, seed: u64) -> Result<(Self, Self)> {
        let hash = CellHash::new(&self.modes, seed);
        let moved = self.hashed_below(rate, |cell| hash.cell(cell))?;
        Ok(self.partition(&moved))
    }

    /// Like [`split_random`](Self::split_random) for symmetric data: observations with the same labels in
    /// another order go to the same part, so that no copy of a training cell is held out.
    ///
    /// ```
    /// # use quadfill::{Labels, Mode, Observations, OnDuplicate};
    /// # let modes = vec![Mode::new("a", Labels::range(100)), Mode::new("b", Labels::range(100))];
    /// let both_ways = vec![(0..100).collect(), (0..100).rev().collect()];
    /// # let data = Observations::new(modes, both_ways, vec![1.0; 100], None, OnDuplicate::Error)?;
    /// let (train, _) = data.split_symmetric(0.3, 7)?;
    /// assert!(train.indices(0).iter().all(|&i| train.indices(0).contains(&(99 - i))));
    /// # Ok::<(), quadfill::Error>(())
    /// ```
    pub fn split_symmetric(self, rate: f64, seed: u64) -> Result<(Self, Self)> {
        let hash = CellHash::new(&self.modes, seed);
        let moved = self.hashed_below(rate, |cell| hash.unordered_cell(cell))?;
        Ok(self.partition(&moved))
    }

    /// Which observations have a hash below `rate` of all hashes: never none and never all.
    fn hashed_below(&self, rate: f64, hash: impl Fn(&[u32]) -> u64) -> Result<Vec<bool>> {
        if !(rate > 0.0 && rate < 1.0) {
            return Err(Error::Split(format!(
                "a share of {rate} cannot be held out: choose a number between 0 and 1, such as 0.1"
            )));
        }
        if self.len() < 2 {
            return Err(Error::Split(
                "a single observation cannot be split: give more data".to_owned(),
            ));
        }
        let mut cell = vec![0; self.modes.len()];
        let hashes: Vec<u64> = (0..self.len())
            .map(|row| {
                for (label, column) in cell.iter_mut().zip(&self.indices) {
                    *label = column[row];
                }
                hash(&cell)
            })
            .collect();
        let mut moved: Vec<bool> = hashes.iter().map(|&hash| is_held_out(hash, rate)).collect();
        let held = moved.iter().filter(|&&m| m).count();
        if held == 0 {
            moved[extreme(&hashes, u64::MIN)] = true;
        } else if held == moved.len() {
            moved[extreme(&hashes, u64::MAX)] = false;
        }
        Ok(moved)
    }

    /// Moves the share `rate` with the highest labels of `mode` (the latest, for a mode of times) to
    /// the second part. Observations of one label stay together.
    pub fn split_latest(self, mode: usize, rate: f64) -> Result<(Self, Self)> {
        let sizes = self.sizes();
        let mut counts = vec![0usize; sizes[mode]];
        for &i in self.indices(mode) {
            counts[i as usize] += 1;
        }
        let wanted = (rate * self.len() as f64).round() as usize;
        let (mut first_moved, mut moved) = (sizes[mode], 0);
        while first_moved > 0 && moved < wanted {
            first_moved -= 1;
            moved += counts[first_moved];
        }
        if moved == 0 || moved == self.len() {
            let name = &self.modes[mode].name;
            return Err(Error::Split(format!(
                "holding out the latest {rate} of mode `{name}` leaves one part empty: \
                 choose another share or finer bins"
            )));
        }
        let mask: Vec<bool> =
            self.indices(mode).iter().map(|&i| i as usize >= first_moved).collect();
        Ok(self.partition(&mask))
    }

    fn partition(self, moved: &[bool]) -> (Self, Self) {
        let modes = self.modes.clone();
        let mut kept_columns = Vec::new();
        let mut moved_columns = Vec::new();
        for column in self.indices {
            let (kept, gone) = divide(column, moved);
            kept_columns.push(kept);
            moved_columns.push(gone);
        }
        let (kept_values, moved_values) = divide(self.values, moved);
        let (kept_weights, moved_weights) = self.weights.map(|w| divide(w, moved)).unzip();
        (
            Self {
                modes: self.modes,
                indices: kept_columns,
                values: kept_values,
                weights: kept_weights,
                source: self.source.clone(),
            },
            Self {
                modes,
                indices: moved_columns,
                values: moved_values,
                weights: moved_weights,
                source: self.source,
            },
        )
    }

    /// Appends the observations of `other`, which must have the same modes.
    #[must_use]
    pub fn join(mut self, other: Self) -> Self {
        assert_eq!(self.sizes(), other.sizes(), "only parts of the same data can be joined");
        for (column, more) in self.indices.iter_mut().zip(other.indices) {
            column.extend_from_slice(&more);
        }
        self.values.extend_from_slice(&other.values);
        if let (Some(weights), Some(more)) = (&mut self.weights, &other.weights) {
            weights.extend_from_slice(more);
        }
        self
    }
}

/// The position of the hash that is closest to `end`.
fn extreme(hashes: &[u64], end: u64) -> usize {
    let closest = (0..hashes.len()).min_by_key(|&row| hashes[row].abs_diff(end));
    closest.expect("there are observations")
}

fn divide<V: Copy>(mut column: Vec<V>, moved: &[bool]) -> (Vec<V>, Vec<V>) {
    let gone = column.iter().zip(moved).filter(|&(_, &m)| m).map(|(&v, _)| v).collect();
    let mut flags = moved.iter();
    column.retain(|_| !flags.next().expect("one flag per entry"));
    column.shrink_to_fit();
    (column, gone)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]
mod tests {
    use crate::observations::{Labels, Mode, Observations, OnDuplicate};

    fn data(n: u32) -> Observations {
        let modes =
            vec![Mode::new("a", Labels::range(n as usize)), Mode::new("b", Labels::range(2))];
        let values = (0..n).map(f64::from).collect();
        Observations::new(
            modes,
            vec![(0..n).collect(), vec![1; n as usize]],
            values,
            None,
            OnDuplicate::Error,
        )
        .unwrap()
    }

    #[test]
    fn a_random_split_keeps_every_observation_once() {
        let (train, held) = data(1000).split_random(0.2, 3).unwrap();
        assert!((150..250).contains(&held.len()), "{}", held.len());
        let mut all: Vec<u32> = train.join(held).indices(0).to_vec();
        all.sort_unstable();
        assert_eq!(all, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn the_order_of_the_rows_does_not_matter() {
        let held = |data: Observations| {
            let mut held = data.split_random(0.3, 1).unwrap().1.indices(0).to_vec();
            held.sort_unstable();
            held
        };
        let (modes, mut indices, mut values, _) = data(100).into_parts();
        for column in &mut indices {
            column.reverse();
        }
        values.reverse();
        let reversed = Observations::new(modes, indices, values, None, OnDuplicate::Error).unwrap();
        assert_eq!(held(reversed), held(data(100)));
    }

    #[test]
    fn the_seed_decides_the_split() {
        let held = |seed| data(100).split_random(0.3, seed).unwrap().1.indices(0).to_vec();
        assert_eq!(held(1), held(1));
        assert_ne!(held(1), held(2));
    }

    #[test]
    fn neither_part_is_ever_empty() {
        for seed in 0..20 {
            for rate in [1e-9, 1.0 - 1e-9] {
                let (train, held) = data(2).split_random(rate, seed).unwrap();
                assert_eq!((train.len(), held.len()), (1, 1));
            }
        }
    }

    #[test]
    fn other_orders_of_the_same_labels_stay_together() {
        let modes = ["a", "b", "c"].map(|name| Mode::new(name, Labels::range(40))).to_vec();
        let mut columns = vec![Vec::new(); 3];
        for i in 0..400u32 {
            let labels = [i % 40, (7 * i + 3) % 40, (11 * i + i / 40) % 40];
            for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                for (column, at) in columns.iter_mut().zip(order) {
                    column.push(labels[at]);
                }
            }
        }
        let values = vec![1.0f64; columns[0].len()];
        let data = Observations::new(modes, columns, values, None, OnDuplicate::Last).unwrap();
        let (train, held) = data.split_symmetric(0.25, 5).unwrap();
        let share = held.len() as f64 / (train.len() + held.len()) as f64;
        assert!((0.15..0.35).contains(&share), "{share}");
        let sets = |part: &Observations| -> std::collections::HashSet<Vec<u32>> {
            (0..part.len())
                .map(|row| {
                    let mut labels: Vec<u32> = (0..3).map(|mode| part.indices(mode)[row]).collect();
                    labels.sort_unstable();
                    labels
                })
                .collect()
        };
        assert!(sets(&train).is_disjoint(&sets(&held)));
    }

    #[test]
    fn the_latest_labels_are_held_out_together() {
        let (train, held) = data(10).split_latest(0, 0.3).unwrap();
        assert_eq!(held.indices(0), [7, 8, 9]);
        assert_eq!(train.len(), 7);
        assert!(data(10).split_latest(1, 0.3).is_err());
    }
}
