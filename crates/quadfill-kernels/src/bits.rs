//! Columns of whole numbers in a fixed number of bits each, lowest bits first.
//!
//! Number `i` is in bits `i * bits .. (i + 1) * bits` of the column, so eight numbers begin and end at
//! whole bytes, and any multiple of eight is a place to begin reading.

use crate::Backend;
#[cfg(any(target_arch = "x86_64", test))]
use crate::Isa;

/// The number of bits that numbers below `count` need.
///
/// ```
/// use quadfill_kernels::bits::bits_for;
/// assert_eq!([1, 2, 3, 16, 17].map(bits_for), [0, 1, 2, 4, 5]);
/// ```
pub fn bits_for(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

/// Numbers that begin at whole bytes.
pub const GROUP: usize = 8;

/// Packs numbers one after the other into bytes.
///
/// ```
/// use quadfill_kernels::{Backend, bits::Packer};
/// let mut bytes = Vec::new();
/// let mut packer = Packer::new(20);
/// [1_000_000, 7, 1].map(|number| packer.push(number, &mut bytes));
/// packer.finish(&mut bytes);
/// assert_eq!(bytes.len(), 8);
/// let mut numbers = [0; 3];
/// Backend::detect().unpack(&bytes, 20, 0, &mut numbers);
/// assert_eq!(numbers, [1_000_000, 7, 1]);
/// ```
#[derive(Debug, Clone)]
pub struct Packer {
    bits: u32,
    /// Bits that do not fill a byte yet, and how many they are: fewer than 32.
    pending: u64,
    filled: u32,
}

impl Packer {
    /// Packs numbers of this many bits.
    ///
    /// # Panics
    /// If they are more than 32.
    pub fn new(bits: u32) -> Self {
        assert!(bits <= 32, "numbers have up to 32 bits");
        Self { bits, pending: 0, filled: 0 }
    }

    /// Appends a number; whole words go to `bytes`.
    #[inline]
    pub fn push(&mut self, number: u32, bytes: &mut Vec<u8>) {
        debug_assert!(u64::from(number) >> self.bits == 0, "the number has more bits");
        self.pending |= u64::from(number) << self.filled;
        self.filled += self.bits;
        if self.filled >= 32 {
            bytes.extend_from_slice(&(self.pending as u32).to_le_bytes());
            self.pending >>= 32;
            self.filled -= 32;
        }
    }

    /// Appends the bits that are left, filled up with zeros to a whole byte.
    pub fn finish(self, bytes: &mut Vec<u8>) {
        let left = self.filled.div_ceil(8) as usize;
        bytes.extend_from_slice(&self.pending.to_le_bytes()[..left]);
    }
}

impl Backend {
    /// Reads numbers of `bits` bits each from the number at `first` on, a multiple of [`GROUP`].
    ///
    /// # Panics
    /// If the column ends before `out` is full, or `first` is not a multiple of [`GROUP`].
    pub fn unpack(self, column: &[u8], bits: u32, first: usize, out: &mut [u32]) {
        assert!(bits <= 32 && first.is_multiple_of(GROUP), "a column is read from whole bytes on");
        if bits == 0 {
            out.fill(0);
            return;
        }
        let column = &column[first / GROUP * bits as usize..];
        assert!(column.len() >= (out.len() * bits as usize).div_ceil(8), "the column is too short");
        #[cfg(target_arch = "x86_64")]
        let done = if self.isa() >= Isa::Avx2 && bits <= avx2::MAX_BITS {
            // SAFETY: a backend exists only for instructions that the machine has.
            unsafe { avx2::unpack(column, bits as usize, out) }
        } else {
            0
        };
        #[cfg(not(target_arch = "x86_64"))]
        let done = 0;
        unpack_plain(column, bits as usize, done, out);
    }
}

/// Reads the numbers from `done` on.
fn unpack_plain(column: &[u8], bits: usize, done: usize, out: &mut [u32]) {
    let mask = u64::MAX >> (64 - bits);
    for (i, number) in out.iter_mut().enumerate().skip(done) {
        let at = i * bits;
        let rest = &column[at / 8..];
        let word = if let Some(word) = rest.first_chunk::<8>() {
            u64::from_le_bytes(*word)
        } else {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            u64::from_le_bytes(word)
        };
        *number = (word >> (at % 8) & mask) as u32;
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        _mm_loadu_si128, _mm256_and_si256, _mm256_loadu_si256, _mm256_set_m128i, _mm256_set1_epi32,
        _mm256_shuffle_epi8, _mm256_srlv_epi32, _mm256_storeu_si256,
    };

    use super::GROUP;

    /// Up to this many bits, a number is within four bytes wherever it begins.
    pub(super) const MAX_BITS: u32 = 25;

    /// Reads whole groups as long as whole vectors can be loaded, and returns how many numbers that were.
    ///
    /// # Safety
    /// The machine has AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn unpack(column: &[u8], bits: usize, out: &mut [u32]) -> usize {
        // A group is two vectors of four numbers; the second begins at this byte, and `odd` bits into it.
        let (half, odd) = (bits / 2, bits * 4 % 8);
        let (mut picks, mut shifts) = ([0u8; 32], [0u32; GROUP]);
        for (i, shift) in shifts.iter_mut().enumerate() {
            let at = i % 4 * bits + if i < 4 { 0 } else { odd };
            *shift = (at % 8) as u32;
            for byte in 0..4 {
                picks[i * 4 + byte] = (at / 8 + byte) as u8;
            }
        }
        // SAFETY: both arrays have the length of a vector.
        let (picks, shifts) = unsafe {
            (_mm256_loadu_si256(picks.as_ptr().cast()), _mm256_loadu_si256(shifts.as_ptr().cast()))
        };
        let mask = _mm256_set1_epi32((u32::MAX >> (32 - bits)) as i32);
        // The last vector of a group ends 16 bytes after its half.
        let room = column.len().saturating_sub(half + 16);
        let groups = if column.len() < half + 16 { 0 } else { room / bits + 1 };
        let groups = groups.min(out.len() / GROUP);
        for group in 0..groups {
            // SAFETY: `groups` counts those whose both vectors are within the column, and whose numbers are
            // within `out`.
            unsafe {
                let from = column.as_ptr().add(group * bits);
                let low = _mm_loadu_si128(from.cast());
                let high = _mm_loadu_si128(from.add(half).cast());
                let bytes = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), picks);
                let numbers = _mm256_and_si256(_mm256_srlv_epi32(bytes, shifts), mask);
                _mm256_storeu_si256(out.as_mut_ptr().add(group * GROUP).cast(), numbers);
            }
        }
        groups * GROUP
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Every instruction set reads what was packed, from any group on, at any width and length.
        #[test]
        fn numbers_come_back(
            bits in 0u32..=32,
            seed in any::<u64>(),
            count in 0usize..300,
            first in 0usize..30,
        ) {
            let mask = u32::try_from((1u64 << bits) - 1).expect("up to 32 bits");
            let numbers: Vec<u32> = (0..count as u64)
                .map(|i| ((seed ^ i).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32 & mask)
                .collect();
            let mut packer = Packer::new(bits);
            let mut bytes = Vec::new();
            for &number in &numbers {
                packer.push(number, &mut bytes);
            }
            packer.finish(&mut bytes);
            prop_assert_eq!(bytes.len(), (count * bits as usize).div_ceil(8));
            let first = (first * GROUP).min(count / GROUP * GROUP);
            for isa in Isa::available() {
                for end in first..=count {
                    let mut out = vec![u32::MAX; end - first];
                    Backend::new(isa).unpack(&bytes, bits, first, &mut out);
                    prop_assert_eq!(&out, &numbers[first..end], "{}", isa);
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "too short")]
    fn a_column_that_is_too_short_is_refused() {
        Backend::detect().unpack(&[0; 7], 8, 0, &mut [0; 8]);
    }
}
