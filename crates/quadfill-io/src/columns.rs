//! Columns of labels and times while they are read, and how the pieces are put together.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use quadfill::Labels;
use quadfill::observations::{TextLabels, canonical_integer};
use rayon::prelude::*;

use crate::number::canonical_u32;

/// How many rows one thread converts at a time.
const PART: usize = 1 << 16;

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

    pub(crate) fn push_integers(&mut self, numbers: &[i64]) {
        // Any bit beyond 32, that of the sign too, says that not all of them fit.
        let bits = numbers.iter().fold(0, |bits, &number| bits | number as u64);
        match self {
            Self::Numbers(column) if bits >> 32 == 0 => {
                column.extend(numbers.iter().map(|&number| number as u32));
            }
            _ => numbers.iter().for_each(|&number| self.push_integer(number)),
        }
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
        return rank_numbers(numbers.collect());
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
pub(crate) fn rank_numbers(pieces: Vec<Vec<u32>>) -> (Labels, Vec<u32>) {
    let rows: usize = pieces.iter().map(Vec::len).sum();
    let Some(&largest) = pieces.par_iter().filter_map(|piece| piece.iter().max()).max() else {
        return (Labels::Integers(Vec::new()), Vec::new());
    };
    let words = largest as usize / 64 + 1;
    // One bit per possible number as long as those take less room than the column has.
    if words * 12 > (rows * 4).max(1 << 24) {
        return rank_far_numbers(pieces);
    }
    let present = numbers_present(&pieces, words);
    let labels: Vec<i64> = numbers_of_bits(&present).map(|number| number as i64).collect();
    let column = if largest as usize <= rows.max(1 << 20) {
        let mut ranks = vec![0u32; largest as usize + 1];
        for (rank, &number) in labels.iter().enumerate() {
            ranks[number as usize] = rank as u32;
        }
        convert_numbers(pieces, |number| ranks[number as usize])
    } else {
        let mut below = 0;
        let before: Vec<u32> = present
            .iter()
            .map(|bits| {
                below += bits.count_ones();
                below - bits.count_ones()
            })
            .collect();
        convert_numbers(pieces, |number| {
            let word = number as usize / 64;
            before[word] + (present[word] & ((1 << (number % 64)) - 1)).count_ones()
        })
    };
    (Labels::Integers(labels), column)
}

/// One bit per possible number, set for those that are there.
fn numbers_present(pieces: &[Vec<u32>], words: usize) -> Vec<u64> {
    let present: Vec<AtomicU64> = (0..words).map(|_| AtomicU64::new(0)).collect();
    pieces.par_iter().flat_map(|piece| piece.par_chunks(PART)).for_each(|part| {
        for &number in part {
            let (word, bit) = (&present[number as usize / 64], 1 << (number % 64));
            // Most numbers have come before, and reading is cheaper.
            if word.load(Relaxed) & bit == 0 {
                word.fetch_or(bit, Relaxed);
            }
        }
    });
    present.into_iter().map(AtomicU64::into_inner).collect()
}

fn numbers_of_bits(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(word, &bits)| {
        let left = |bits: u64| (bits != 0).then_some(bits);
        std::iter::successors(left(bits), move |&bits| left(bits & (bits - 1)))
            .map(move |bits| word * 64 + bits.trailing_zeros() as usize)
    })
}

/// Numbers that are too far apart for a bit each.
fn rank_far_numbers(pieces: Vec<Vec<u32>>) -> (Labels, Vec<u32>) {
    let column = concat(pieces);
    let mut distinct = column.clone();
    distinct.par_sort_unstable();
    distinct.dedup();
    distinct.shrink_to_fit();
    let rank = |number| distinct.binary_search(&number).unwrap_or_default() as u32;
    let column = convert_numbers(vec![column], rank);
    (Labels::Integers(distinct.into_iter().map(i64::from).collect()), column)
}

/// One vector from many, every number being replaced by another.
pub(crate) fn convert_numbers(
    mut pieces: Vec<Vec<u32>>,
    convert: impl Fn(u32) -> u32 + Sync,
) -> Vec<u32> {
    if pieces.len() > 1 {
        return gather(pieces, convert);
    }
    let mut column = pieces.pop().unwrap_or_default();
    column.par_iter_mut().for_each(|number| *number = convert(*number));
    column
}

/// One vector from many.
pub(crate) fn concat<T: Copy + Default + Send + Sync>(mut pieces: Vec<Vec<T>>) -> Vec<T> {
    if pieces.len() == 1 {
        return pieces.pop().unwrap_or_default();
    }
    gather(pieces, |entry| entry)
}

/// One vector from many, every entry being converted. Each is given back as soon as that is done.
pub(crate) fn gather<S: Copy + Send + Sync, T: Copy + Default + Send>(
    pieces: Vec<Vec<S>>,
    convert: impl Fn(S) -> T + Sync,
) -> Vec<T> {
    let mut whole = vec![T::default(); pieces.iter().map(Vec::len).sum()];
    let mut rest = &mut whole[..];
    let mut parts = Vec::with_capacity(pieces.len());
    for piece in &pieces {
        let (part, after) = rest.split_at_mut(piece.len());
        parts.push(part);
        rest = after;
    }
    parts.into_par_iter().zip(pieces).for_each(|(part, piece)| {
        part.par_chunks_mut(PART).zip(piece.par_chunks(PART)).for_each(|(to, from)| {
            to.iter_mut().zip(from).for_each(|(to, &from)| *to = convert(from));
        });
    });
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
        fn numbers_are_ranked_in_rising_order(numbers in proptest::collection::vec(any::<u32>(), 1..50), piece in 1usize..60, range in prop_oneof![Just(100), Just(3_000_000), Just(u32::MAX)]) {
            let numbers: Vec<u32> = numbers.iter().map(|n| n % range).collect();
            let pieces = numbers.chunks(piece).map(<[u32]>::to_vec).collect();
            let (labels, ranks) = rank_numbers(pieces);
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
