//! What is in the columns: the labels of a mode, the span of its times.

use std::collections::HashMap;

use quadfill::Labels;
use quadfill::observations::{LabelLookup, TextLabels, canonical_integer};

use crate::bins::Span;
use crate::columns::LabelColumn;
use crate::table::ModeColumn;
use crate::time_column::wider;

/// The labels or times of a mode in the pieces so far.
pub(super) enum Seen {
    /// One bit per number that occurs.
    Numbers(Vec<u64>),
    /// In the order in which they first occur.
    Texts {
        labels: TextLabels,
        of_numbers: HashMap<u32, u32>,
    },
    Times(Span),
}

/// The first text among labels that were numbers so far: their order is not known any more, and the data have to
/// be read again.
pub(super) struct TextAfterNumbers;

impl Seen {
    pub(super) fn numbers() -> Self {
        Self::Numbers(Vec::new())
    }

    pub(super) fn texts() -> Self {
        Self::Texts { labels: TextLabels::default(), of_numbers: HashMap::new() }
    }

    pub(super) fn times() -> Self {
        Self::Times(Span { first: f64::INFINITY, last: f64::NEG_INFINITY, rows: 0 })
    }

    /// Notes a column. `is_first` where no rows came before.
    pub(super) fn add(
        &mut self,
        column: ModeColumn,
        is_first: bool,
    ) -> Result<(), TextAfterNumbers> {
        match (&mut *self, column) {
            (Self::Numbers(bits), ModeColumn::Labels(LabelColumn::Numbers(numbers))) => {
                set_bits(bits, &numbers);
            }
            (Self::Numbers(_), column @ ModeColumn::Labels(LabelColumn::Texts { .. })) => {
                if !is_first {
                    return Err(TextAfterNumbers);
                }
                *self = Self::texts();
                return self.add(column, true);
            }
            (Self::Texts { labels, of_numbers }, ModeColumn::Labels(column)) => match column {
                LabelColumn::Numbers(numbers) => {
                    for number in numbers {
                        of_numbers
                            .entry(number)
                            .or_insert_with(|| labels.intern(&number.to_string()));
                    }
                }
                LabelColumn::Texts { labels: own, .. } => {
                    (0..own.len()).for_each(|label| _ = labels.intern(own.name(label)));
                }
            },
            (Self::Times(span), ModeColumn::Times(times)) => {
                let (first, last) = wider((span.first, span.last), times.span());
                (span.first, span.last) = (first, last);
                span.rows += times.len();
            }
            _ => unreachable!("a mode has labels or times throughout"),
        }
        Ok(())
    }

    /// The labels, where they are not times.
    pub(super) fn into_labels(self) -> Labels {
        match self {
            Self::Numbers(bits) => Labels::Integers(set_numbers(&bits).collect()),
            Self::Texts { labels, .. } => {
                let numbers =
                    (0..labels.len()).map(|label| canonical_integer(labels.name(label).as_bytes()));
                match numbers.collect::<Option<Vec<i64>>>() {
                    Some(numbers) => Labels::from_integers(numbers),
                    None => Labels::Text(labels),
                }
            }
            Self::Times(_) => Labels::Integers(Vec::new()),
        }
    }
}

fn set_bits(bits: &mut Vec<u64>, numbers: &[u32]) {
    let words = numbers.iter().max().map_or(0, |&largest| largest as usize / 64 + 1);
    if bits.len() < words {
        bits.resize(words, 0);
    }
    for &number in numbers {
        bits[number as usize / 64] |= 1 << (number % 64);
    }
}

fn set_numbers(words: &[u64]) -> impl Iterator<Item = i64> + '_ {
    let of_word = |(at, &word): (usize, &u64)| {
        let left = |bits: u64| (bits != 0).then_some(bits);
        std::iter::successors(left(word), move |&bits| left(bits & (bits - 1)))
            .map(move |bits| (at * 64) as i64 + i64::from(bits.trailing_zeros()))
    };
    words.iter().enumerate().flat_map(of_word)
}

/// The indices of a column of labels, all of which are known.
pub(super) fn indices_of(column: LabelColumn, lookup: &LabelLookup<'_>) -> Vec<u32> {
    let labels = lookup.labels();
    let find = |text: &str| labels.find(text).unwrap_or_default();
    match (column, labels) {
        (LabelColumn::Numbers(numbers), Labels::Integers(_)) => numbers
            .into_iter()
            .map(|number| lookup.find_integer(i64::from(number)).unwrap_or_default())
            .collect(),
        (LabelColumn::Numbers(numbers), Labels::Text(_)) => {
            let mut known = HashMap::new();
            let of_number =
                |number: u32| *known.entry(number).or_insert_with(|| find(&number.to_string()));
            numbers.into_iter().map(of_number).collect()
        }
        (LabelColumn::Texts { labels: own, indices }, _) => {
            let of_own: Vec<u32> = (0..own.len()).map(|label| find(own.name(label))).collect();
            indices.into_iter().map(|index| of_own[index as usize]).collect()
        }
    }
}
