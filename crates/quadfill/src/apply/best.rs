//! The best few of many scores, ties broken by label.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use serde::Serialize;

/// A label with its score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Scored {
    /// Its index.
    pub label: u32,
    /// The prediction.
    pub score: f64,
}

/// Ordered so that the worst entry is on top of a heap.
#[derive(Debug, Clone, Copy)]
struct Entry(Scored);

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.score.total_cmp(&self.0.score).then(self.0.label.cmp(&other.0.label))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

/// The highest scores seen so far.
#[derive(Debug, Clone)]
pub(super) struct Best {
    most: usize,
    heap: BinaryHeap<Entry>,
}

impl Best {
    pub(super) fn new(most: usize) -> Self {
        Self { most, heap: BinaryHeap::with_capacity(most.min(1024) + 1) }
    }

    /// Scores at or below it can be skipped while labels are visited in ascending order.
    pub(super) fn floor(&self) -> f64 {
        match self.heap.peek() {
            _ if self.most == 0 => f64::INFINITY,
            Some(worst) if self.heap.len() == self.most => worst.0.score,
            _ => f64::NEG_INFINITY,
        }
    }

    pub(super) fn offer(&mut self, label: u32, score: f64) {
        let entry = Entry(Scored { label, score });
        if self.heap.len() < self.most {
            self.heap.push(entry);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && entry < *worst
        {
            *worst = entry;
        }
    }

    /// All that were kept, best first.
    pub(super) fn into_sorted(self) -> Vec<Scored> {
        self.heap.into_sorted_vec().into_iter().map(|entry| entry.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_smaller_label() {
        let mut best = Best::new(2);
        for (label, score) in [(5, 1.0), (3, 2.0), (4, 2.0), (1, 2.0), (0, -1.0)] {
            best.offer(label, score);
        }
        let labels: Vec<u32> = best.into_sorted().iter().map(|s| s.label).collect();
        assert_eq!(labels, [1, 3]);
        assert_eq!(Best::new(0).floor(), f64::INFINITY);
    }
}
