//! Columns of labels and times while they are read, and how the pieces are put together.

use std::collections::HashMap;

use quadfill::Labels;
use quadfill::observations::{TextLabels, canonical_integer};
use rayon::prelude::*;

use crate::number::canonical_u32;

/// One column of labels of one piece of the data.
///
/// While every label is a whole number of 32 bits the numbers themselves are the column; the
/// first one that is not turns it into texts.
#[derive(Debug)]
pub(crate) enum LabelColumn {
    Numbers(Vec<u32>),
    Texts { labels: TextLabels, indices: Vec<u32> },
}

/// A label that is not UTF-8.
#[derive(Debug)]
pub(crate) struct NotUtf8;

impl LabelColumn {
    pub(crate) fn with_capacity(rows: usize) -> Self {
        Self::Numbers(Vec::with_capacity(rows))
    }

    #[inline]
    pub(crate) fn push(&mut self, text: &[u8]) -> Result<(), NotUtf8> {
        if let Self::Numbers(numbers) = self
            && let Some(number) = canonical_u32(text)
        {
            numbers.push(number);
            return Ok(());
        }
        self.push_text(std::str::from_utf8(text).map_err(|_| NotUtf8)?);
        Ok(())
    }

    #[inline]
    pub(crate) fn push_integer(&mut self, number: i64) {
        if let Self::Numbers(numbers) = self
            && let Ok(number) = u32::try_from(number)
        {
            numbers.push(number);
            return;
        }
        self.push_text(&number.to_string());
    }

    pub(crate) fn push_text(&mut self, text: &str) {
        if let Self::Numbers(numbers) = self {
            let mut indices = std::mem::take(numbers);
            let mut labels = TextLabels::default();
            NumberInterner::default().replace(&mut labels, &mut indices);
            *self = Self::Texts { labels, indices };
        }
        if let Self::Texts { labels, indices } = self {
            indices.push(labels.intern(text));
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Texts { indices, .. } => indices.len(),
        }
    }
}

/// Interns numbers as text, printing each only once.
#[derive(Default)]
struct NumberInterner(HashMap<u32, u32>);

impl NumberInterner {
    fn replace(&mut self, labels: &mut TextLabels, numbers: &mut [u32]) {
        for number in numbers {
            *number = *self.0.entry(*number).or_insert_with(|| labels.intern(&number.to_string()));
        }
    }
}

/// Puts the pieces of a column together: the labels, and one index into them per row.
///
/// The result does not depend on how the rows were cut into pieces.
pub(crate) fn merge_labels(pieces: Vec<LabelColumn>) -> (Labels, Vec<u32>) {
    if pieces.iter().all(|piece| matches!(piece, LabelColumn::Numbers(_))) {
        let numbers = pieces.into_iter().map(|piece| match piece {
            LabelColumn::Numbers(numbers) | LabelColumn::Texts { indices: numbers, .. } => numbers,
        });
        return rank_numbers(concat(numbers.collect()));
    }
    let mut labels = TextLabels::default();
    let mut numbers_seen = NumberInterner::default();
    let mut indices = Vec::with_capacity(pieces.iter().map(LabelColumn::len).sum());
    for piece in pieces {
        match piece {
            LabelColumn::Numbers(mut numbers) => {
                numbers_seen.replace(&mut labels, &mut numbers);
                indices.append(&mut numbers);
            }
            LabelColumn::Texts { labels: own, indices: own_indices } => {
                let of_own: Vec<u32> =
                    (0..own.len()).map(|index| labels.intern(own.name(index))).collect();
                indices.extend(own_indices.iter().map(|&index| of_own[index as usize]));
            }
        }
    }
    numbers_if_all_are(labels, indices)
}

/// Numbers too large for 32 bits, and negative ones, come as texts; they are numbers all the same.
fn numbers_if_all_are(labels: TextLabels, mut indices: Vec<u32>) -> (Labels, Vec<u32>) {
    let numbers: Option<Vec<i64>> =
        (0..labels.len()).map(|index| canonical_integer(labels.name(index).as_bytes())).collect();
    let Some(numbers) = numbers else {
        return (Labels::Text(labels), indices);
    };
    let mut order: Vec<u32> = (0..numbers.len() as u32).collect();
    order.sort_unstable_by_key(|&index| numbers[index as usize]);
    let mut rank = vec![0u32; numbers.len()];
    for (position, &index) in order.iter().enumerate() {
        rank[index as usize] = position as u32;
    }
    indices.par_iter_mut().for_each(|index| *index = rank[*index as usize]);
    (Labels::Integers(order.iter().map(|&index| numbers[index as usize]).collect()), indices)
}

/// The distinct numbers in rising order, and the column with every number replaced by its rank.
pub(crate) fn rank_numbers(mut column: Vec<u32>) -> (Labels, Vec<u32>) {
    let Some(&largest) = column.par_iter().max() else {
        return (Labels::Integers(Vec::new()), column);
    };
    let words = largest as usize / 64 + 1;
    // One bit per possible number as long as those take less room than the column has.
    if words * 12 <= (column.len() * 4).max(1 << 24) {
        let mut present = vec![0u64; words];
        for &number in &column {
            present[number as usize / 64] |= 1 << (number % 64);
        }
        let mut before = Vec::with_capacity(words);
        let mut labels = Vec::new();
        for (word, &bits) in present.iter().enumerate() {
            before.push(labels.len() as u32);
            let mut left = bits;
            while left != 0 {
                labels.push((word * 64) as i64 + i64::from(left.trailing_zeros()));
                left &= left - 1;
            }
        }
        column.par_iter_mut().for_each(|number| {
            let word = *number as usize / 64;
            let below = present[word] & ((1 << (*number % 64)) - 1);
            *number = before[word] + below.count_ones();
        });
        return (Labels::Integers(labels), column);
    }
    let mut distinct = column.clone();
    distinct.par_sort_unstable();
    distinct.dedup();
    distinct.shrink_to_fit();
    column.par_iter_mut().for_each(|number| {
        *number = distinct.binary_search(number).unwrap_or_default() as u32;
    });
    (Labels::Integers(distinct.into_iter().map(i64::from).collect()), column)
}

/// One vector from many, each given back as soon as it is copied.
pub(crate) fn concat<T: Copy + Default + Send>(mut pieces: Vec<Vec<T>>) -> Vec<T> {
    if pieces.len() == 1 {
        return pieces.pop().unwrap_or_default();
    }
    let mut whole = vec![T::default(); pieces.iter().map(Vec::len).sum()];
    let mut rest = &mut whole[..];
    let mut parts = Vec::with_capacity(pieces.len());
    for piece in &pieces {
        let (part, after) = rest.split_at_mut(piece.len());
        parts.push(part);
        rest = after;
    }
    parts.into_par_iter().zip(pieces).for_each(|(part, piece)| part.copy_from_slice(&piece));
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn merged(labels: &[String], piece: usize) -> (Vec<String>, Vec<u32>) {
        let pieces = labels.chunks(piece).map(|piece| {
            let mut column = LabelColumn::with_capacity(0);
            for label in piece {
                column.push(label.as_bytes()).expect("UTF-8");
            }
            column
        });
        let (labels, indices) = merge_labels(pieces.collect());
        ((0..labels.len()).map(|index| labels.name(index).into_owned()).collect(), indices)
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(
            labels in proptest::collection::vec("[0-9]{1,2}|-?[1-9]|x[0-9]|42949672[0-9]{2}", 1..40),
            piece in 1usize..40,
        ) {
            let (names, indices) = merged(&labels, piece);
            prop_assert_eq!(merged(&labels, labels.len()), (names.clone(), indices.clone()));
            let back: Vec<&String> = indices.iter().map(|&index| &names[index as usize]).collect();
            prop_assert_eq!(back, labels.iter().collect::<Vec<_>>());
        }

        #[test]
        fn numbers_are_ranked_in_rising_order(numbers in proptest::collection::vec(any::<u32>(), 1..50), far in any::<bool>()) {
            let numbers: Vec<u32> = numbers.iter().map(|n| if far { *n } else { n % 100 }).collect();
            let (labels, ranks) = rank_numbers(numbers.clone());
            let Labels::Integers(labels) = labels else { panic!("numbers stay numbers") };
            prop_assert!(labels.is_sorted_by(|a, b| a < b));
            for (number, rank) in numbers.iter().zip(ranks) {
                prop_assert_eq!(i64::from(*number), labels[rank as usize]);
            }
        }
    }

    #[test]
    fn one_text_makes_the_whole_column_text_in_order_of_appearance() {
        let labels: Vec<String> = ["9", "3", "x", "3", "007"].map(String::from).to_vec();
        let (names, indices) = merged(&labels, 2);
        assert_eq!(names, ["9", "3", "x", "007"]);
        assert_eq!(indices, [0, 1, 2, 1, 3]);
    }
}
