//! Which cells are held out: decided by their labels and a seed alone.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::Mode;

/// Hashes of cells by the text of their labels. They do not depend on the order of the rows, nor on
/// which index a label has, so the same cells are held out however the data are stored.
#[derive(Debug, Clone)]
pub(crate) struct CellHash {
    labels: Vec<Vec<u64>>,
}

impl CellHash {
    /// Hashes with this seed.
    pub(crate) fn new(modes: &[Mode], seed: u64) -> Self {
        let labels = modes
            .iter()
            .map(|mode| {
                let names = (0..mode.labels.len()).map(|label| mode.labels.name(label));
                names.map(|name| xxh3_64_with_seed(name.as_bytes(), seed)).collect()
            })
            .collect();
        Self { labels }
    }

    /// The hash of a cell, given one label index per mode.
    pub(crate) fn cell(&self, cell: &[u32]) -> u64 {
        fold(cell.iter().zip(&self.labels).map(|(&label, hashes)| hashes[label as usize]))
    }

    /// The same for every order of the labels.
    pub(super) fn unordered_cell(&self, cell: &[u32]) -> u64 {
        let mut hashes: Vec<u64> =
            cell.iter().zip(&self.labels).map(|(&label, hashes)| hashes[label as usize]).collect();
        hashes.sort_unstable();
        fold(hashes.into_iter())
    }
}

fn fold(hashes: impl Iterator<Item = u64>) -> u64 {
    let mixed = hashes.fold(0x243f_6a88_85a3_08d3_u64, |all, hash| {
        (all ^ hash).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    });
    // The finaliser of SplitMix64: every bit of the sum reaches every bit of the result.
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Whether a hash is among the `share` of all hashes that is held out.
pub(crate) fn is_held_out(hash: u64, share: f64) -> bool {
    // Exact to 53 bits, which is all that `share` has.
    ((hash >> 11) as f64) < share * (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observations::Labels;

    #[test]
    fn labels_decide_and_not_their_indices() {
        let rising = [Mode::new("a", Labels::range(4)), Mode::new("b", Labels::range(3))];
        let texts = [
            Mode::new("a", Labels::from_names(["3", "1", "0", "2"])),
            Mode::new("b", Labels::from_names(["2", "1", "0"])),
        ];
        let (one, other) = (CellHash::new(&rising, 5), CellHash::new(&texts, 5));
        assert_eq!(one.cell(&[3, 0]), other.cell(&[0, 2]));
        assert_ne!(one.cell(&[3, 0]), one.cell(&[0, 2]));
        assert_ne!(one.cell(&[1, 2]), one.cell(&[2, 1]));
        assert_eq!(one.unordered_cell(&[1, 2]), one.unordered_cell(&[2, 1]));
        assert_ne!(one.cell(&[3, 0]), CellHash::new(&rising, 6).cell(&[3, 0]));
    }

    #[test]
    fn about_the_asked_share_is_held_out() {
        let modes = [Mode::new("a", Labels::range(300)), Mode::new("b", Labels::range(300))];
        let hash = CellHash::new(&modes, 0);
        for share in [0.01, 0.1, 0.5] {
            let cells = (0..300).flat_map(|i| (0..300).map(move |j| [i, j]));
            let held = cells.filter(|cell| is_held_out(hash.cell(cell), share)).count() as f64;
            let (expected, deviation) = (9e4 * share, (9e4 * share * (1.0 - share)).sqrt());
            assert!((held - expected).abs() < 4.0 * deviation, "{held} of {expected}");
        }
    }
}
