//! What columns are for, where nobody has said so.

mod facts;
mod names;

pub(crate) use facts::{ColumnFacts, SAMPLE};
pub(crate) use names::Meaning;

use quadfill::observations::TimeUnit;

use crate::column_roles::ColumnWarning;

/// What is known about the columns of a table: their names, and what the first rows hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evidence<'a> {
    pub names: Option<&'a [String]>,
    /// One per column; none if the format itself says what the columns are.
    pub facts: &'a [ColumnFacts],
}

impl Evidence<'_> {
    fn meaning(&self, column: usize) -> Meaning {
        let name = self.names.and_then(|names| names.get(column));
        match name.map_or(Meaning::Anything, |name| names::meaning(name)) {
            // `humid` is not an identifier although it ends like one.
            Meaning::Identifier if self.facts[column].has_fractions() => Meaning::Anything,
            meaning => meaning,
        }
    }

    /// What numbers in a column mean, if it is one of times: its name and its fields say so. Written dates
    /// need no name, and without names the last of four or more columns needs none.
    pub(crate) fn time(&self, column: usize) -> Option<TimeUnit> {
        let facts = self.facts.get(column)?;
        let named = match self.names {
            Some(_) => match self.meaning(column) {
                Meaning::Time => true,
                Meaning::DatePart => facts.are_dates(),
                _ => false,
            },
            None => facts.are_dates() || (column + 1 == self.facts.len() && column >= 3),
        };
        facts.time_unit().filter(|_| named || facts.is_typed_time())
    }

    /// What numbers in a column mean, if they are as large as those of times.
    pub(crate) fn time_unit(&self, column: usize) -> TimeUnit {
        self.facts.get(column).and_then(ColumnFacts::time_unit).unwrap_or_default()
    }

    /// Whether a column has hardly any field twice.
    pub(crate) fn hardly_repeats(&self, column: usize) -> bool {
        self.facts.get(column).is_some_and(ColumnFacts::hardly_repeats)
    }

    /// Whether a column is called a weight, and holds numbers.
    pub(crate) fn is_weight(&self, column: usize) -> bool {
        self.meaning(column) == Meaning::Weight
            && self.facts.get(column).is_some_and(ColumnFacts::is_numeric)
    }

    /// The column of values among those that are `free`, where it can be told:
    ///
    /// 1. one that is called like a value and holds numbers, the best of [`names`] and then the last;
    /// 2. the last column, unless it is a time, an identifier, a part of a date or a weight;
    /// 3. the last column after the first two that is a number and none of these.
    ///
    /// Without names it is the last column, or the one before it where four or more columns end with a time
    /// and that one has few and small values. `None` means that nothing speaks against the last column, or
    /// that no other one can be meant.
    pub(crate) fn value(&self, free: impl Fn(usize) -> bool) -> Option<usize> {
        let columns = || (0..self.facts.len()).filter(|&column| free(column));
        let Some(names) = self.names else {
            let last = self.facts.len().checked_sub(1)?;
            let before = last.checked_sub(1)?;
            let facts = &self.facts[before];
            let is_value = facts.is_small() || (self.facts[last].are_dates() && facts.is_numeric());
            return (self.time(last).is_some() && is_value && free(before)).then_some(before);
        };
        // Where `x` stands beside it, `y` is a coordinate.
        let has_x = names.iter().any(|name| name.eq_ignore_ascii_case("x"));
        let called_value = columns().filter_map(|column| match self.meaning(column) {
            Meaning::Value(_) if has_x && names[column].eq_ignore_ascii_case("y") => None,
            Meaning::Value(tier) if self.facts[column].is_numeric() => Some((tier, column)),
            _ => None,
        });
        let best = called_value.min_by_key(|&(tier, column)| (tier, usize::MAX - column));
        if let Some((_, column)) = best {
            return Some(column);
        }
        let last = columns().next_back()?;
        if self.may_be_value(last) {
            return Some(last);
        }
        columns().rev().find(|&column| {
            column >= 2 && self.facts[column].is_numeric() && self.may_be_value(column)
        })
    }

    fn may_be_value(&self, column: usize) -> bool {
        let facts = &self.facts[column];
        matches!(self.meaning(column), Meaning::Anything | Meaning::Value(_) | Meaning::Time)
            && facts.time_unit().is_none()
            && !facts.is_row_number()
    }

    /// What speaks against a column of values. Parts of dates are only doubted where nobody asked for them.
    pub(crate) fn doubt(
        &self,
        column: usize,
        name: String,
        is_asked: bool,
    ) -> Option<ColumnWarning> {
        let facts = self.facts.get(column)?;
        match self.meaning(column) {
            _ if facts.time_unit().is_some() => Some(ColumnWarning::ValueIsTime { column: name }),
            Meaning::DatePart if !is_asked => Some(ColumnWarning::ValueIsTime { column: name }),
            Meaning::Identifier => Some(ColumnWarning::ValueIsIdentifier { column: name }),
            Meaning::Value(_) => None,
            _ if facts.is_row_number() => Some(ColumnWarning::ValueIsIdentifier { column: name }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
