//! Finds cells that are given more than once, and merges them.

use rayon::prelude::*;

use super::distinct::keys_differ;
use super::{Observations, OnDuplicate};
use crate::error::{Error, Result};

/// Observations of the same cell, in the order given.
type Group = Vec<u32>;

pub(super) fn merge(data: &mut Observations, policy: OnDuplicate) -> Result<()> {
    let sizes: Vec<usize> = data.modes.iter().map(|mode| mode.labels.len()).collect();
    if keys_differ(&data.indices, &sizes) {
        return Ok(());
    }
    let mut groups = repeated_cells(data);
    if groups.is_empty() {
        return Ok(());
    }
    if policy == OnDuplicate::Error {
        groups.sort_unstable_by_key(|group| group[1]);
        let (first, second) = (groups[0][0] as usize, groups[0][1] as usize);
        return Err(Error::DuplicateCell { cell: data.describe(first), first, second });
    }
    let mut keep = vec![true; data.len()];
    let mut given = Vec::new();
    for group in &groups {
        given.clear();
        given.extend(group.iter().map(|&row| {
            let weight = data.weights.as_ref().map_or(1.0, |weights| weights[row as usize]);
            (data.values[row as usize], weight)
        }));
        let (value, weight) = policy.merged(&given);
        let first = group[0] as usize;
        data.values[first] = value;
        if let Some(weights) = &mut data.weights {
            weights[first] = weight;
        }
        for &other in &group[1..] {
            keep[other as usize] = false;
        }
    }
    for column in &mut data.indices {
        retain(column, &keep);
    }
    retain(&mut data.values, &keep);
    if let Some(weights) = &mut data.weights {
        retain(weights, &keep);
    }
    Ok(())
}

fn retain<V>(column: &mut Vec<V>, keep: &[bool]) {
    let mut keep = keep.iter();
    column.retain(|_| *keep.next().expect("one flag per entry"));
}

impl OnDuplicate {
    /// The value and the weight of a cell that is given with several, in the order of the rows.
    pub(crate) fn merged(self, given: &[(f64, f64)]) -> (f64, f64) {
        let total_weight: f64 = given.iter().map(|(_, weight)| weight).sum();
        let sum: f64 = given.iter().map(|(value, _)| value).sum();
        let count = given.len() as f64;
        match self {
            Self::Error => unreachable!("refused before merging"),
            Self::Last => *given.last().expect("a group has two or more"),
            Self::Sum => (sum, total_weight / count),
            Self::Mean if total_weight > 0.0 => {
                let sum: f64 = given.iter().map(|(value, weight)| weight * value).sum();
                (sum / total_weight, total_weight)
            }
            Self::Mean => (sum / count, 0.0),
        }
    }
}

/// Sorts the cells of each label of the first mode by their other labels; equal ones are neighbours.
fn repeated_cells(data: &Observations) -> Vec<Group> {
    let first = &data.indices[0];
    let mut starts = vec![0usize; data.modes[0].labels.len() + 1];
    for &i in first {
        starts[i as usize + 1] += 1;
    }
    for i in 1..starts.len() {
        starts[i] += starts[i - 1];
    }
    let mut next = starts.clone();
    let mut order = vec![0u32; data.len()];
    for (row, &i) in first.iter().enumerate() {
        order[next[i as usize]] = row as u32;
        next[i as usize] += 1;
    }
    let same = |x: u32, y: u32| {
        data.indices[1..].iter().all(|column| column[x as usize] == column[y as usize])
    };
    let key = |row: u32| {
        // Exact while the other modes' sizes multiply to less than 2^64, a hash beyond that.
        data.indices[1..].iter().zip(&data.modes[1..]).fold(0u64, |key, (column, mode)| {
            key.wrapping_mul(mode.labels.len() as u64).wrapping_add(u64::from(column[row as usize]))
        })
    };
    starts
        .par_windows(2)
        .with_min_len(256)
        .flat_map_iter(|window| {
            let mut keyed: Vec<(u64, u32)> =
                order[window[0]..window[1]].iter().map(|&row| (key(row), row)).collect();
            keyed.sort_unstable();
            let mut groups: Vec<Group> = Vec::new();
            for run in keyed.chunk_by(|x, y| x.0 == y.0 && same(x.1, y.1)) {
                if run.len() > 1 {
                    groups.push(run.iter().map(|&(_, row)| row).collect());
                }
            }
            groups
        })
        .collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]
mod tests {
    use crate::observations::{Labels, Mode, Observations, OnDuplicate};

    fn data(policy: OnDuplicate, weights: Option<Vec<f64>>) -> crate::Result<Observations> {
        let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(3))];
        Observations::new(
            modes,
            vec![vec![1, 0, 1, 1], vec![2, 0, 2, 1]],
            vec![1.0, 2.0, 4.0, 8.0],
            weights,
            policy,
        )
    }

    #[test]
    fn duplicates_are_refused_by_default_with_both_positions() {
        let error = data(OnDuplicate::Error, None).unwrap_err().to_string();
        assert_eq!(
            error,
            "cell (1, 2) is given more than once: set `on_duplicate` to mean, last or sum"
        );
    }

    #[test]
    fn each_policy_merges_as_it_says() {
        let values = |policy| data(policy, None).unwrap().values().to_vec();
        assert_eq!(values(OnDuplicate::Mean), [2.5, 2.0, 8.0]);
        assert_eq!(values(OnDuplicate::Last), [4.0, 2.0, 8.0]);
        assert_eq!(values(OnDuplicate::Sum), [5.0, 2.0, 8.0]);
        let weighted = data(OnDuplicate::Mean, Some(vec![3.0, 1.0, 1.0, 1.0])).unwrap();
        assert_eq!(weighted.values(), [1.75, 2.0, 8.0]);
        assert_eq!(weighted.weights().unwrap(), [4.0, 1.0, 1.0]);
        assert_eq!(weighted.indices(0), [1, 0, 1]);
    }
}
