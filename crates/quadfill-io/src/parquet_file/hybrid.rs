//! Small whole numbers stored as runs: one number many times, or many of a few bits each.

use super::thrift::Thrift;

/// The numbers of a list of runs. Whatever the bytes hold, no number is made up.
pub(super) struct Hybrid<'a> {
    rest: &'a [u8],
    width: usize,
    run: Run<'a>,
}

enum Run<'a> {
    Repeated { number: u32, left: usize },
    Packed { bytes: &'a [u8], at: usize, left: usize },
}

impl<'a> Hybrid<'a> {
    /// Numbers of `width` bits, 32 at most.
    pub(super) fn new(bytes: &'a [u8], width: u8) -> Option<Self> {
        let run = Run::Repeated { number: 0, left: 0 };
        (width <= 32).then(|| Self { rest: bytes, width: usize::from(width), run })
    }

    /// Replaces `numbers` by the next ones; `None` if there are not so many.
    pub(super) fn fill(&mut self, mut numbers: &mut [u32]) -> Option<()> {
        while !numbers.is_empty() {
            let taken = match &mut self.run {
                Run::Repeated { left: 0, .. } | Run::Packed { left: 0, .. } => {
                    self.run = self.next_run()?;
                    continue;
                }
                Run::Repeated { number, left } => {
                    let taken = numbers.len().min(*left);
                    numbers[..taken].fill(*number);
                    *left -= taken;
                    taken
                }
                Run::Packed { bytes, at, left } => {
                    let taken = numbers.len().min(*left);
                    unpack(bytes, *at, self.width, &mut numbers[..taken]);
                    *at += taken;
                    *left -= taken;
                    taken
                }
            };
            numbers = &mut numbers[taken..];
        }
        Some(())
    }

    fn next_run(&mut self) -> Option<Run<'a>> {
        let mut head = Thrift::new(self.rest);
        let head_bits = head.unsigned()?;
        let length = usize::try_from(head_bits >> 1).ok()?;
        let rest = &self.rest[head.at()..];
        if head_bits & 1 == 0 {
            let (number, rest) = rest.split_at_checked(self.width.div_ceil(8))?;
            self.rest = rest;
            let number = number.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte));
            return Some(Run::Repeated { number, left: length });
        }
        // Some writers leave out the end of the last group, which nobody needs.
        let bytes = length.checked_mul(self.width)?.min(rest.len());
        let (bytes, rest) = rest.split_at(bytes);
        self.rest = rest;
        let groups_of_eight = length.checked_mul(8)?;
        let left = (bytes.len() * 8).checked_div(self.width).unwrap_or(groups_of_eight);
        Some(Run::Packed { bytes, at: 0, left })
    }
}

/// Numbers of `width` bits from the number `first` on.
fn unpack(bytes: &[u8], first: usize, width: usize, numbers: &mut [u32]) {
    let mask = (1u64 << width) - 1;
    let mut bit = first * width;
    for number in numbers {
        let from = bytes.get(bit / 8..).unwrap_or_default();
        let word = from.first_chunk().copied().unwrap_or_else(|| {
            let mut word = [0; 8];
            word[..from.len()].copy_from_slice(from);
            word
        });
        *number = ((u64::from_le_bytes(word) >> (bit % 8)) & mask) as u32;
        bit += width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unsigned(mut number: u64, bytes: &mut Vec<u8>) {
        while number > 0x7f {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
    }

    /// Runs of whole groups of eight, packed or repeated.
    fn write(runs: &[(bool, Vec<u32>)], width: usize) -> (Vec<u8>, Vec<u32>) {
        let (mut bytes, mut numbers) = (Vec::new(), Vec::new());
        for (is_packed, run) in runs {
            let run: Vec<u32> =
                run.iter().map(|&number| (u64::from(number) & ((1 << width) - 1)) as u32).collect();
            if *is_packed {
                let length = run.len().div_ceil(8);
                unsigned((length << 1 | 1) as u64, &mut bytes);
                let first = bytes.len();
                bytes.resize(first + length * width, 0);
                for (at, number) in run.iter().enumerate() {
                    for bit in (0..width).filter(|bit| number >> bit & 1 == 1) {
                        let place = at * width + bit;
                        bytes[first + place / 8] |= 1 << (place % 8);
                    }
                }
                numbers.extend(&run);
                numbers.extend(std::iter::repeat_n(0, length * 8 - run.len()));
            } else {
                unsigned((run.len() << 1) as u64, &mut bytes);
                let number = run.first().copied().unwrap_or_default();
                bytes.extend(&number.to_le_bytes()[..width.div_ceil(8)]);
                numbers.extend(std::iter::repeat_n(number, run.len()));
            }
        }
        (bytes, numbers)
    }

    proptest! {
        #[test]
        fn every_run_comes_back(
            runs in proptest::collection::vec(
                (any::<bool>(), proptest::collection::vec(any::<u32>(), 0..40)), 1..6),
            width in 0u8..=32,
            part in 1usize..50,
        ) {
            let (bytes, expected) = write(&runs, usize::from(width));
            let mut numbers = vec![7; expected.len()];
            let mut hybrid = Hybrid::new(&bytes, width).expect("a width");
            for part in numbers.chunks_mut(part) {
                prop_assert_eq!(hybrid.fill(part), Some(()));
            }
            prop_assert_eq!(numbers, expected);
            prop_assert_eq!(hybrid.fill(&mut [0]), None);
        }

        #[test]
        fn any_bytes_end(bytes in proptest::collection::vec(any::<u8>(), 0..60), width in 0u8..40) {
            if let Some(mut hybrid) = Hybrid::new(&bytes, width) {
                let mut numbers = [0; 100];
                let _ = (0..100).try_for_each(|_| hybrid.fill(&mut numbers));
            }
        }
    }

    #[test]
    fn a_last_group_may_be_cut() {
        // Two groups of 4-bit numbers, of which five bytes are there.
        let bytes = [5, 0x21, 0x43, 0x65, 0x87, 0xa9];
        let mut numbers = [0; 10];
        let mut hybrid = Hybrid::new(&bytes, 4).expect("a width");
        assert_eq!(hybrid.fill(&mut numbers), Some(()));
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        assert_eq!(hybrid.fill(&mut numbers[..1]), None);
    }
}
