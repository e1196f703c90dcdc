//! Labels whose cells there is room for.

use std::ops::Range;

use crate::views::memory::total_memory;

/// How many cells may be unpacked at a time, by all threads together and by one.
#[derive(Debug, Clone, Copy)]
pub(in crate::views) struct Room {
    pub(super) cells: usize,
    pub(super) threads: usize,
}

/// Bytes for unpacked cells: a share of the memory, between these.
const SHARE: usize = 8;
const LEAST: usize = 256 << 20;
const MOST: usize = 8 << 30;

impl Room {
    /// Room for cells of this many bytes.
    pub(in crate::views) fn for_cells_of(bytes: usize) -> Self {
        let total = total_memory().unwrap_or(LEAST * SHARE);
        let room = (total / SHARE).clamp(LEAST, MOST);
        Self { cells: room / bytes, threads: rayon::current_num_threads() }
    }

    /// Ranges of labels that follow one another, each with as many cells as one thread has room for, or of one
    /// label that has more.
    pub(super) fn ranges(self, counts: &[usize]) -> Vec<Range<usize>> {
        let limit = self.of_one_thread();
        let mut ranges = Vec::new();
        let (mut first, mut cells) = (0, 0);
        for (label, &count) in counts.iter().enumerate() {
            if cells + count > limit && label > first {
                ranges.push(first..label);
                (first, cells) = (label, 0);
            }
            cells += count;
        }
        if first < counts.len() {
            ranges.push(first..counts.len());
        }
        ranges
    }

    pub(super) fn of_one_thread(self) -> usize {
        (self.cells / self.threads).max(1)
    }
}

/// The position of the first cell of each label, and at the end the number of cells.
pub(super) fn starts_of(counts: &[usize]) -> Vec<usize> {
    let mut starts = Vec::with_capacity(counts.len() + 1);
    let mut start = 0;
    for count in counts {
        starts.push(start);
        start += count;
    }
    starts.push(start);
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_all_labels_and_fit() {
        let room = Room { cells: 20, threads: 2 };
        let ranges = room.ranges(&[4, 6, 1, 30, 0, 0, 9, 1]);
        assert_eq!(ranges, [0..2, 2..3, 3..4, 4..8]);
        assert!(room.ranges(&[]).is_empty());
        assert_eq!(starts_of(&[4, 0, 6]), [0, 4, 4, 10]);
    }
}
