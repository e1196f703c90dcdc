//! What the first fields of a column say about it.

use std::collections::HashSet;

use quadfill::observations::TimeUnit;

use crate::number::{Number, parse_number};
use crate::times::date_of;

/// How many rows are looked at.
pub(crate) const SAMPLE: usize = 1000;

/// Fewer fields than this say nothing about a column that is not clear from every one of them.
const ENOUGH: usize = 20;

/// Counts of what the first fields of a column are.
#[derive(Debug, Clone, Default)]
pub(crate) struct ColumnFacts {
    rows: usize,
    numbers: usize,
    whole: usize,
    seconds: usize,
    milliseconds: usize,
    dates: usize,
    smallest: f64,
    largest: f64,
    distinct: HashSet<Box<[u8]>>,
    /// The number before, and how many were not above the one before them.
    before: Option<f64>,
    falls: usize,
    /// The file itself says that they are times.
    is_typed: bool,
}

impl ColumnFacts {
    /// Takes one more field, without blanks around it.
    pub(crate) fn push(&mut self, text: &[u8]) {
        self.rows += 1;
        if !self.distinct.contains(text) {
            self.distinct.insert(text.into());
        }
        match parse_number(text) {
            Number::Finite(number) => {
                let is_first = self.numbers == 0;
                self.numbers += 1;
                self.falls += usize::from(self.before.is_some_and(|before| number <= before));
                self.before = Some(number);
                self.smallest = if is_first { number } else { self.smallest.min(number) };
                self.largest = if is_first { number } else { self.largest.max(number) };
                if number.fract() == 0.0 {
                    self.whole += 1;
                    // From 1973 to 2128.
                    self.seconds += usize::from((1e8..5e9).contains(&number));
                    self.milliseconds += usize::from((1e11..5e12).contains(&number));
                }
            }
            Number::NotFinite => {}
            Number::Text => self.dates += usize::from(date_of(text).is_some()),
        }
    }

    /// Says that the file itself calls the column one of times.
    pub(crate) fn set_typed(&mut self) {
        self.is_typed = true;
    }

    /// Nearly all of the fields; a broken one among many must not hide what the others are.
    fn nearly_all(&self, count: usize) -> bool {
        count > 0 && (self.rows - count) * ENOUGH <= self.rows
    }

    /// What its numbers mean, if its fields are dates or as large as those of dates.
    pub(crate) fn time_unit(&self) -> Option<TimeUnit> {
        if self.is_typed || self.nearly_all(self.dates) || self.nearly_all(self.seconds) {
            Some(TimeUnit::Seconds)
        } else if self.nearly_all(self.milliseconds) {
            Some(TimeUnit::Milliseconds)
        } else {
            None
        }
    }

    /// Whether the file itself says that they are times.
    pub(crate) fn is_typed_time(&self) -> bool {
        self.is_typed
    }

    /// Whether its fields are written dates, which no number and no identifier looks like.
    pub(crate) fn are_dates(&self) -> bool {
        self.is_typed || self.nearly_all(self.dates)
    }

    /// Whether at least half of its fields are numbers, so that others are mistakes.
    pub(crate) fn is_numeric(&self) -> bool {
        self.numbers > 0 && 2 * self.numbers >= self.rows
    }

    /// Whether it has few different values, and small ones, as ratings have.
    pub(crate) fn is_small(&self) -> bool {
        self.is_numeric()
            && self.distinct.len() <= 101
            && self.smallest.abs() <= 100.0
            && self.largest.abs() <= 100.0
    }

    /// Whether it has so many different fields that hardly any comes twice.
    pub(crate) fn hardly_repeats(&self) -> bool {
        2 * self.distinct.len() > self.rows
    }

    /// Whether it looks like a number of each row: large whole numbers, each above the one before.
    pub(crate) fn is_row_number(&self) -> bool {
        self.rows >= ENOUGH && self.whole == self.rows && self.falls == 0 && self.smallest >= 1000.0
    }

    /// Whether its numbers have fractions, as no identifier has.
    pub(crate) fn has_fractions(&self) -> bool {
        self.whole < self.numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(fields: impl IntoIterator<Item = String>) -> ColumnFacts {
        let mut facts = ColumnFacts::default();
        fields.into_iter().for_each(|field| facts.push(field.as_bytes()));
        facts
    }

    #[test]
    fn times_are_told_by_their_size_or_their_form() {
        let numbers = |first: u64| facts((0..50).map(|i| (first + 977 * i).to_string()));
        assert_eq!(numbers(881_250_949).time_unit(), Some(TimeUnit::Seconds));
        assert_eq!(numbers(1_400_000_000_000).time_unit(), Some(TimeUnit::Milliseconds));
        assert_eq!(numbers(5).time_unit(), None);
        let dates = facts((1..29).map(|day| format!("2003-05-{day:02}")));
        assert_eq!((dates.time_unit(), dates.are_dates()), (Some(TimeUnit::Seconds), true));
        assert_eq!(facts((2000..2020).map(|year| year.to_string())).time_unit(), None);
        assert_eq!(facts([]).time_unit(), None);
    }

    #[test]
    fn one_broken_field_among_many_hides_nothing() {
        let broken = |rows: u64| {
            let times = (0..rows).map(|i| (881_250_949 + i).to_string());
            facts(times.chain(["unknown".to_owned()]))
        };
        assert_eq!(broken(40).time_unit(), Some(TimeUnit::Seconds));
        assert_eq!(broken(3).time_unit(), None);
    }

    #[test]
    fn ratings_and_row_numbers() {
        let ratings = facts((0..60).map(|i| format!("{}", f64::from(i % 10) / 2.0)));
        assert!(ratings.is_small() && !ratings.is_row_number() && !ratings.hardly_repeats());
        let rows = facts((0..60).map(|i| (20_000 + 7 * i).to_string()));
        assert!(!rows.is_small() && rows.is_row_number() && rows.hardly_repeats());
    }
}
