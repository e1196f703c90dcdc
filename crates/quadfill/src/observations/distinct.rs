//! Whether all cells differ, found out without sorting them.

use rayon::prelude::*;

/// How many rows are distributed over buckets at a time.
const PART: usize = 1 << 20;
/// How many cells a bucket has, about: a table for them stays in the cache of a core.
const BUCKET: usize = 1 << 14;

/// Whether no two rows have the same key. Rows with different keys are different cells, so `false` means only
/// that somebody has to look.
pub(super) fn keys_differ(columns: &[Vec<u32>], sizes: &[usize]) -> bool {
    let rows = columns[0].len();
    let bits = (rows / BUCKET).max(1).ilog2().min(12);
    let parts: Vec<Part> = (0..rows.div_ceil(PART))
        .into_par_iter()
        .map(|part| {
            let range = part * PART..rows.min((part + 1) * PART);
            let slices: Vec<&[u32]> = columns.iter().map(|column| &column[range.clone()]).collect();
            Part::new(&keys(&slices, sizes), bits)
        })
        .collect();
    (0..1usize << bits)
        .into_par_iter()
        .map_init(Vec::new, |table, bucket| {
            let slices: Vec<&[u64]> = parts.iter().map(|part| part.bucket(bucket)).collect();
            all_new(&slices, bits, table)
        })
        .all(|differ| differ)
}

/// One number per row, mixed so that any of its bits tell rows apart. Exact while the sizes multiply to less than
/// 2^64, a hash beyond that.
fn keys(columns: &[&[u32]], sizes: &[usize]) -> Vec<u64> {
    let mut keys: Vec<u64> = columns[0].iter().map(|&index| u64::from(index)).collect();
    for (column, &size) in columns.iter().zip(sizes).skip(1) {
        for (key, &index) in keys.iter_mut().zip(*column) {
            *key = key.wrapping_mul(size as u64).wrapping_add(u64::from(index));
        }
    }
    for key in &mut keys {
        *key = mix(*key);
    }
    keys
}

/// A permutation of all numbers.
fn mix(key: u64) -> u64 {
    let key = (key ^ (key >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (key ^ (key >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// Some keys, those of a bucket together.
struct Part {
    keys: Vec<u64>,
    ends: Vec<usize>,
}

impl Part {
    fn new(keys: &[u64], bits: u32) -> Self {
        let bucket_of = |key: u64| (key >> 1 >> (63 - bits)) as usize;
        let mut next = vec![0usize; 1 << bits];
        for &key in keys {
            next[bucket_of(key)] += 1;
        }
        let mut start = 0;
        for count in &mut next {
            start += std::mem::replace(count, start);
        }
        let mut grouped = vec![0; keys.len()];
        for &key in keys {
            let at = &mut next[bucket_of(key)];
            grouped[*at] = key;
            *at += 1;
        }
        Self { keys: grouped, ends: next }
    }

    fn bucket(&self, bucket: usize) -> &[u64] {
        let start = if bucket == 0 { 0 } else { self.ends[bucket - 1] };
        &self.keys[start..self.ends[bucket]]
    }
}

/// Whether no key of a bucket comes twice. `table` is room for them.
fn all_new(slices: &[&[u64]], bits: u32, table: &mut Vec<u64>) -> bool {
    let count: usize = slices.iter().map(|slice| slice.len()).sum();
    let slots = (2 * count).next_power_of_two().max(2);
    table.clear();
    table.resize(slots, 0);
    let mut zero_seen = false;
    for &key in slices.iter().copied().flatten() {
        // A zero is a free place.
        if key == 0 {
            if std::mem::replace(&mut zero_seen, true) {
                return false;
            }
            continue;
        }
        // The first bits are those of the bucket.
        let mut at = ((key << bits) >> (64 - slots.ilog2())) as usize;
        while table[at] != 0 {
            if table[at] == key {
                return false;
            }
            at = (at + 1) & (slots - 1);
        }
        table[at] = key;
    }
    true
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agrees_with_a_set(cells in proptest::collection::vec((0u32..9, 0u32..40, 0u32..9), 1..60)) {
            let columns = [
                cells.iter().map(|cell| cell.0).collect(),
                cells.iter().map(|cell| cell.1).collect::<Vec<u32>>(),
                cells.iter().map(|cell| cell.2).collect(),
            ];
            let distinct: HashSet<_> = cells.iter().collect();
            prop_assert_eq!(keys_differ(&columns, &[9, 40, 9]), distinct.len() == cells.len());
        }
    }

    #[test]
    fn one_repeated_cell_among_many_is_seen() {
        let rows = 3 * PART as u32 / 2;
        let mut columns = [
            (0..rows).map(|row| row / 1000).collect::<Vec<u32>>(),
            (0..rows).map(|row| row % 1000).collect(),
        ];
        let sizes = [rows as usize / 1000 + 1, 1000];
        assert!(keys_differ(&columns, &sizes));
        for column in &mut columns {
            column[rows as usize - 1] = column[0];
        }
        assert!(!keys_differ(&columns, &sizes));
    }
}
