//! Words and one number for each: first how often it occurs, then which word it is.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::words::Word;

const HASHER: FixedState = FixedState::with_seed(0x776f_7264_7321);

/// Words in one arena, with a table to find them; short words are in a table of their own.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    short: ShortWords,
    arena: Vec<u8>,
    long: HashTable<LongWord>,
}

#[derive(Debug)]
struct LongWord {
    start: usize,
    length: usize,
    number: u64,
}

impl LongWord {
    fn text<'a>(&self, arena: &'a [u8]) -> &'a [u8] {
        &arena[self.start..self.start + self.length]
    }
}

impl Dictionary {
    /// How many words there are.
    pub(super) fn len(&self) -> usize {
        self.short.used + self.long.len()
    }

    /// The number of a word, if it is known.
    pub(super) fn number(&self, word: Word<'_>) -> Option<u64> {
        if word.packed != 0 {
            return self.short.number(word.packed);
        }
        let is_it = |known: &LongWord| known.text(&self.arena) == word.text;
        self.long.find(HASHER.hash_one(word.text), is_it).map(|found| found.number)
    }

    /// The number of a word, 0 if it is new.
    pub(super) fn number_mut(&mut self, word: Word<'_>) -> &mut u64 {
        if word.packed != 0 {
            return self.short.number_mut(word.packed);
        }
        let Self { arena, long, .. } = self;
        let found = long.entry(
            HASHER.hash_one(word.text),
            |known| known.text(arena) == word.text,
            |known| HASHER.hash_one(known.text(arena)),
        );
        let entry = match found {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let start = arena.len();
                arena.extend_from_slice(word.text);
                entry.insert(LongWord { start, length: word.text.len(), number: 0 }).into_mut()
            }
        };
        &mut entry.number
    }

    /// Hands out all words with their numbers, in any order.
    pub(super) fn for_each(&self, mut see: impl FnMut(Word<'_>, u64)) {
        for slot in self.short.slots.iter().filter(|slot| slot.packed() != 0) {
            let bytes = slot.packed().to_le_bytes();
            let length = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
            see(Word { text: &bytes[..length], packed: slot.packed() }, slot.number);
        }
        for word in &self.long {
            see(Word { text: word.text(&self.arena), packed: 0 }, word.number);
        }
    }

    /// All words of some dictionaries with the sums of their numbers.
    pub(super) fn sum(dictionaries: Vec<Self>) -> Self {
        let mut dictionaries = dictionaries.into_iter();
        let mut all = dictionaries.next().unwrap_or_default();
        for other in dictionaries {
            other.for_each(|word, number| *all.number_mut(word) += number);
        }
        all
    }

    /// The words with the highest numbers, in falling order, those of the same number by the alphabet.
    pub(super) fn most_frequent(&self, count: usize) -> (Vec<String>, Vec<u64>) {
        let mut words: Vec<(u64, Vec<u8>)> = Vec::with_capacity(self.len());
        self.for_each(|word, number| words.push((number, word.text.to_vec())));
        words.sort_unstable_by(|x, y| y.0.cmp(&x.0).then_with(|| x.1.cmp(&y.1)));
        words
            .iter()
            .take(count)
            .map(|(number, word)| (String::from_utf8_lossy(word).into_owned(), *number))
            .unzip()
    }

    /// Words with their positions in a list.
    pub(super) fn of_ids(words: &[String]) -> Self {
        let mut ids = Self::default();
        for (id, word) in words.iter().enumerate() {
            *ids.number_mut(Word::new(word.as_bytes())) = id as u64;
        }
        ids
    }
}

/// Words that are numbers, each at the first free slot from where its hash points to. At least a
/// quarter of the slots are free, so that the way is short.
#[derive(Debug)]
struct ShortWords {
    slots: Vec<ShortWord>,
    used: usize,
}

/// A free slot where the halves are 0. Rare words are seldom in the cache, so every byte counts: a
/// `u128` would take 8 more.
#[derive(Debug, Clone, Copy, Default)]
struct ShortWord {
    halves: [u64; 2],
    number: u64,
}

impl ShortWord {
    fn packed(self) -> u128 {
        u128::from(self.halves[0]) | u128::from(self.halves[1]) << 64
    }
}

impl Default for ShortWords {
    fn default() -> Self {
        Self { slots: vec![ShortWord::default(); 1 << 10], used: 0 }
    }
}

impl ShortWords {
    /// Where a word is, or the free slot where it would be.
    fn find(&self, packed: u128) -> usize {
        let last = self.slots.len() - 1;
        let mut at = hash(packed) as usize & last;
        loop {
            let here = self.slots[at].packed();
            if here == packed || here == 0 {
                return at;
            }
            at = (at + 1) & last;
        }
    }

    fn number(&self, packed: u128) -> Option<u64> {
        let slot = &self.slots[self.find(packed)];
        (slot.packed() == packed).then_some(slot.number)
    }

    fn number_mut(&mut self, packed: u128) -> &mut u64 {
        let mut at = self.find(packed);
        if self.slots[at].packed() == 0 {
            if 4 * (self.used + 1) > 3 * self.slots.len() {
                self.grow();
                at = self.find(packed);
            }
            self.slots[at].halves = [packed as u64, (packed >> 64) as u64];
            self.used += 1;
        }
        &mut self.slots[at].number
    }

    fn grow(&mut self) {
        let wider = vec![ShortWord::default(); 2 * self.slots.len()];
        for slot in std::mem::replace(&mut self.slots, wider) {
            if slot.packed() != 0 {
                let at = self.find(slot.packed());
                self.slots[at] = slot;
            }
        }
    }
}

/// Both halves of a product of both halves.
fn hash(packed: u128) -> u64 {
    let (low, high) = (packed as u64, (packed >> 64) as u64);
    let product =
        u128::from(low ^ 0x9e37_79b9_7f4a_7c15) * u128::from(high ^ 0xd1b5_4a32_d192_ed03);
    product as u64 ^ (product >> 64) as u64
}
