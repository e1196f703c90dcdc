//! The names of the rows of one mode.

use std::borrow::Cow;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// The labels of one mode, each with an index from 0.
///
/// Whole numbers are kept as numbers in ascending order, anything else as text in order of first
/// appearance.
///
/// ```
/// use quadfill::Labels;
/// let ids = Labels::from_integers(vec![30, 10, 20, 10]);
/// assert_eq!(ids.len(), 3);
/// assert_eq!(ids.find("20"), Some(1));
/// assert_eq!(ids.name(2), "30");
/// let words = Labels::from_names(["b", "a"]);
/// assert_eq!(words.find("a"), Some(1));
/// ```
#[derive(Debug, Clone)]
pub enum Labels {
    /// Distinct whole numbers, ascending.
    Integers(Vec<i64>),
    /// Distinct texts.
    Text(TextLabels),
}

impl Labels {
    /// `0, 1, .., n - 1`.
    pub fn range(n: usize) -> Self {
        Self::Integers((0..n as i64).collect())
    }

    /// Whole numbers; they are sorted, and duplicates are dropped.
    pub fn from_integers(mut labels: Vec<i64>) -> Self {
        labels.sort_unstable();
        labels.dedup();
        Self::Integers(labels)
    }

    /// Text labels in the order given; duplicates are dropped.
    pub fn from_names<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Self {
        let mut text = TextLabels::default();
        for name in names {
            text.intern(name.as_ref());
        }
        Self::Text(text)
    }

    /// How many labels there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Integers(labels) => labels.len(),
            Self::Text(text) => text.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The label with this index, as text.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    pub fn name(&self, index: usize) -> Cow<'_, str> {
        match self {
            Self::Integers(labels) => Cow::Owned(labels[index].to_string()),
            Self::Text(text) => Cow::Borrowed(text.name(index)),
        }
    }

    /// The index of a label, if it is known.
    pub fn find(&self, name: &str) -> Option<u32> {
        match self {
            Self::Integers(_) => self.find_integer(canonical_integer(name.as_bytes())?),
            Self::Text(text) => text.find(name),
        }
    }

    /// Some of the labels, in their order.
    pub(crate) fn picked(&self, which: impl Iterator<Item = usize>) -> Self {
        match self {
            Self::Integers(labels) => Self::Integers(which.map(|label| labels[label]).collect()),
            Self::Text(text) => Self::from_names(which.map(|label| text.name(label))),
        }
    }

    /// The index of each label among others, which have all of them.
    pub(crate) fn index_map(&self, all: &Self) -> Vec<u32> {
        let find = |label| all.find(&self.name(label)).expect("the others have every label");
        (0..self.len()).map(find).collect()
    }

    /// A way to find many labels.
    pub fn lookup(&self) -> LabelLookup<'_> {
        LabelLookup::new(self)
    }

    /// The index of a whole number, if it is known.
    pub fn find_integer(&self, value: i64) -> Option<u32> {
        match self {
            Self::Integers(labels) => {
                // Ids that start at 0 or 1 without gaps are found without a search.
                let guess = value.checked_sub(*labels.first()?);
                if let Some(guess) = guess.and_then(|guess| usize::try_from(guess).ok())
                    && labels.get(guess) == Some(&value)
                {
                    return Some(guess as u32);
                }
                labels.binary_search(&value).ok().map(|i| i as u32)
            }
            Self::Text(text) => text.find(&value.to_string()),
        }
    }
}

/// Finds many labels: whole numbers without a search where they have few gaps or none.
///
/// ```
/// use quadfill::Labels;
/// let ids = Labels::from_integers(vec![30, 10, 20]);
/// let lookup = ids.lookup();
/// assert_eq!([10, 25, 30, -7].map(|id| lookup.find_integer(id)), [Some(0), None, Some(2), None]);
/// let mut found = Vec::new();
/// lookup.find_integers(&[30, 7], u32::MAX, &mut found);
/// assert_eq!(found, [2, u32::MAX]);
/// ```
#[derive(Debug)]
pub struct LabelLookup<'a> {
    labels: &'a Labels,
    first: i64,
    way: Way,
}

/// How a whole number is found.
#[derive(Debug)]
enum Way {
    /// There are no gaps, up to this many labels.
    Counted(u64),
    /// The index of each number from the first on.
    Table(Vec<u32>),
    Search,
}

/// Stands in the table for a number that is not a label.
const NO_LABEL: u32 = u32::MAX;

impl<'a> LabelLookup<'a> {
    /// Entries of the table for each label, at most.
    const SPREAD: usize = 16;

    fn new(labels: &'a Labels) -> Self {
        let mut lookup = Self { labels, first: 0, way: Way::Search };
        if let Labels::Integers(numbers) = labels
            && let (Some(&first), Some(&last)) = (numbers.first(), numbers.last())
            && let Some(span) = last.checked_sub(first).and_then(|span| usize::try_from(span).ok())
            && span / Self::SPREAD <= numbers.len()
        {
            lookup.first = first;
            lookup.way = if span + 1 == numbers.len() {
                Way::Counted(numbers.len() as u64)
            } else {
                let mut table = vec![NO_LABEL; span + 1];
                for (index, number) in numbers.iter().enumerate() {
                    table[(number - first) as usize] = index as u32;
                }
                Way::Table(table)
            };
        }
        lookup
    }

    /// The labels that are searched.
    pub fn labels(&self) -> &'a Labels {
        self.labels
    }

    /// How far a number is from the first label; numbers below it are beyond the last one.
    #[inline]
    fn distance(&self, value: i64) -> u64 {
        value.wrapping_sub(self.first) as u64
    }

    /// The index of a whole number, if it is known.
    #[inline]
    pub fn find_integer(&self, value: i64) -> Option<u32> {
        let at = self.distance(value);
        match &self.way {
            Way::Counted(count) => (at < *count).then_some(at as u32),
            Way::Table(table) => {
                let index = usize::try_from(at).ok().and_then(|at| table.get(at));
                index.copied().filter(|&index| index != NO_LABEL)
            }
            Way::Search => self.labels.find_integer(value),
        }
    }

    /// Appends the indices of whole numbers to `found`, `unknown` for those that are not known.
    pub fn find_integers(&self, values: &[i64], unknown: u32, found: &mut Vec<u32>) {
        // One loop for each way, so that none of them decides it again for every number.
        match &self.way {
            Way::Counted(count) => found.extend(values.iter().map(|&value| {
                let at = self.distance(value);
                if at < *count { at as u32 } else { unknown }
            })),
            Way::Table(_) | Way::Search => {
                found.extend(
                    values.iter().map(|&value| self.find_integer(value).unwrap_or(unknown)),
                );
            }
        }
    }
}

/// The number that `text` spells, if printing that number gives `text` back (`7`, `-3`; not `007`,
/// `+7` or `7.0`).
pub fn canonical_integer(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    if digits.is_empty()
        || digits.len() > 18
        || (digits[0] == b'0' && (digits.len() > 1 || negative))
    {
        return None;
    }
    let mut value = 0i64;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(digit - b'0');
    }
    Some(if negative { -value } else { value })
}

/// Distinct texts in one arena, with a table to find them.
#[derive(Debug, Clone, Default)]
pub struct TextLabels {
    arena: String,
    ends: Vec<usize>,
    table: HashTable<u32>,
}

const HASHER: FixedState = FixedState::with_seed(0x51_6164_6669_6c6c);

impl TextLabels {
    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text with this index.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    pub fn name(&self, index: usize) -> &str {
        text_at(&self.arena, &self.ends, index)
    }

    /// The index of a text, if it is known.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.table.find(HASHER.hash_one(name), |&i| self.name(i as usize) == name).copied()
    }

    /// The whole numbers that these texts spell, if all of them do.
    pub(crate) fn as_integers(&self) -> Option<Vec<i64>> {
        let texts = (0..self.len()).map(|index| self.name(index));
        let numbers: Option<Vec<i64>> =
            texts.map(|text| canonical_integer(text.as_bytes())).collect();
        numbers.map(|mut numbers| {
            numbers.sort_unstable();
            numbers
        })
    }

    /// The index of a text, adding it at the end if it is new.
    pub fn intern(&mut self, name: &str) -> u32 {
        let Self { arena, ends, table } = self;
        let hash = HASHER.hash_one(name);
        if let Some(&found) = table.find(hash, |&i| text_at(arena, ends, i as usize) == name) {
            return found;
        }
        let index = ends.len() as u32;
        arena.push_str(name);
        ends.push(arena.len());
        table.insert_unique(hash, index, |&i| HASHER.hash_one(text_at(arena, ends, i as usize)));
        index
    }
}

fn text_at<'a>(arena: &'a str, ends: &[usize], index: usize) -> &'a str {
    let start = if index == 0 { 0 } else { ends[index - 1] };
    &arena[start..ends[index]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_integers_are_numbers() {
        for (text, expected) in [
            ("0", Some(0)),
            ("42", Some(42)),
            ("-3", Some(-3)),
            ("007", None),
            ("-0", None),
            ("+7", None),
            ("7.0", None),
            ("", None),
            ("-", None),
            ("9999999999999999999", None),
        ] {
            assert_eq!(canonical_integer(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn a_lookup_finds_what_a_search_finds() {
        for numbers in [
            vec![0, 1, 2],
            vec![-3, 40, 41, 90],
            vec![1, 1 << 40],
            vec![i64::MIN, i64::MAX],
            vec![i64::MAX - 1, i64::MAX],
            vec![i64::MIN, i64::MIN + 1],
            vec![],
        ] {
            let labels = Labels::from_integers(numbers.clone());
            let lookup = labels.lookup();
            let around = numbers.iter().flat_map(|&n| [n, n.wrapping_add(1), n.wrapping_sub(1)]);
            for number in around.chain([0, 7, i64::MIN, i64::MAX]) {
                let expected = labels.find_integer(number);
                assert_eq!(lookup.find_integer(number), expected, "{number}");
                let mut found = Vec::new();
                lookup.find_integers(&[number], 77, &mut found);
                assert_eq!(found, [expected.unwrap_or(77)], "{number}");
            }
        }
        assert_eq!(Labels::from_names(["7", "x"]).lookup().find_integer(7), Some(0));
    }

    #[test]
    fn interned_texts_keep_their_index() {
        let mut text = TextLabels::default();
        for i in 0..1000 {
            assert_eq!(text.intern(&format!("label {i}")), i);
        }
        assert_eq!(text.intern("label 500"), 500);
        assert_eq!(text.find("label 999"), Some(999));
        assert_eq!(text.find("label 1000"), None);
        assert_eq!(text.name(7), "label 7");
    }

    #[test]
    fn integers_with_gaps_are_found() {
        let labels = Labels::from_integers(vec![5, 1, 2, 900]);
        assert_eq!(labels.find_integer(1), Some(0));
        assert_eq!(labels.find_integer(5), Some(2));
        assert_eq!(labels.find_integer(900), Some(3));
        assert_eq!(labels.find_integer(3), None);
        assert_eq!(labels.find_integer(i64::MIN), None);
        assert_eq!(Labels::from_integers(vec![]).find_integer(0), None);
        // The distance to the first label overflows 64 bits.
        let far = Labels::from_integers(vec![i64::MIN, 0, i64::MAX]);
        assert_eq!(far.find_integer(0), Some(1));
        assert_eq!(far.find_integer(i64::MAX), Some(2));
    }
}
