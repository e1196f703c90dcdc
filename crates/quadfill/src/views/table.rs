//! Tables of numbers of which few differ, as ratings.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use quadfill_kernels::Real;
use quadfill_kernels::bits::bits_for;

/// The largest number of entries: a code is a byte at most.
const MAX_ENTRIES: usize = 256;

/// Numbers by their codes, and codes by their numbers.
#[derive(Debug, Clone)]
pub(super) struct Table<T> {
    /// Filled up with zeros.
    numbers: Box<[T; MAX_ENTRIES]>,
    entries: usize,
    codes: HashMap<u64, u32, FixedState>,
}

impl<T: Real> Default for Table<T> {
    fn default() -> Self {
        Self {
            numbers: Box::new([T::ZERO; MAX_ENTRIES]),
            entries: 0,
            codes: HashMap::with_hasher(FixedState::default()),
        }
    }
}

impl<T: Real> Table<T> {
    /// The table of some numbers, unless too many differ. Numbers are told apart by their bits.
    pub(super) fn of(numbers: impl Iterator<Item = T>) -> Option<Self> {
        let mut table = Self::default();
        table.add(numbers).then_some(table)
    }

    /// Adds numbers; false if there is no room for all that differ.
    pub(super) fn add(&mut self, numbers: impl Iterator<Item = T>) -> bool {
        let mut last = None;
        for number in numbers {
            let bits = number.to_f64().to_bits();
            if last == Some(bits) {
                continue;
            }
            last = Some(bits);
            if self.codes.contains_key(&bits) {
                continue;
            }
            if self.entries == MAX_ENTRIES {
                return false;
            }
            self.codes.insert(bits, self.entries as u32);
            self.numbers[self.entries] = number;
            self.entries += 1;
        }
        true
    }

    /// The same numbers in another precision, with the same codes.
    pub(super) fn convert<U: Real>(&self) -> Table<U> {
        let numbers = Box::new(self.numbers.map(|number| U::from_f64(number.to_f64())));
        let mut codes = HashMap::with_hasher(FixedState::default());
        // Of numbers that are the same in the other precision, the first one's code is written.
        for (code, number) in numbers[..self.entries].iter().enumerate().rev() {
            codes.insert(number.to_f64().to_bits(), code as u32);
        }
        Table { numbers, entries: self.entries, codes }
    }

    /// The numbers that it has.
    pub(super) fn numbers(&self) -> &[T] {
        &self.numbers[..self.entries]
    }

    /// How many bits a code has.
    pub(super) fn bits(&self) -> u32 {
        bits_for(self.entries)
    }

    /// The code of a number of the table.
    pub(super) fn code(&self, number: T) -> u32 {
        self.codes[&number.to_f64().to_bits()]
    }

    /// Whether it has a number.
    pub(super) fn has(&self, number: T) -> bool {
        self.codes.contains_key(&number.to_f64().to_bits())
    }

    /// The numbers of codes.
    pub(super) fn look_up(&self, codes: &[u32], out: &mut [T]) {
        for (number, code) in out.iter_mut().zip(codes) {
            *number = self.numbers[*code as usize % MAX_ENTRIES];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_to_the_bit() {
        let numbers = [1.5f32, -0.0, 0.0, 1.5, 3.0];
        let table = Table::of(numbers.into_iter()).expect("few numbers");
        assert_eq!(table.bits(), 2);
        let codes = numbers.map(|number| table.code(number));
        let mut out = [0.0; 5];
        table.look_up(&codes, &mut out);
        assert_eq!(out.map(f32::to_bits), numbers.map(f32::to_bits));
    }

    #[test]
    fn a_table_has_up_to_256_entries() {
        assert!(Table::of((0..256).map(f64::from)).is_some_and(|table| table.bits() == 8));
        assert!(Table::of((0..257).map(f64::from)).is_none());
        assert!(Table::of([7.0f64; 3].into_iter()).is_some_and(|table| table.bits() == 0));
    }
}
