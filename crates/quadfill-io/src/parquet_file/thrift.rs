//! Just enough of Thrift's compact protocol to look at what a header claims.

/// Kinds of values, as the low four bits of a field's first byte.
pub(super) const INTEGER: u8 = 5;
pub(super) const LIST: u8 = 9;
pub(super) const STRUCT: u8 = 12;

/// Headers of Parquet nest a few levels.
const MAX_DEPTH: usize = 16;

/// A position in a header; everything is `None` where the bytes do not follow the protocol.
#[derive(Debug)]
pub(super) struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Thrift<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How many bytes were read.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    /// An unsigned number of seven bits a byte, no longer than it must be for 64 bits.
    pub(super) fn unsigned(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// A signed 32-bit number.
    pub(super) fn integer(&mut self) -> Option<i32> {
        let number = self.unsigned()?;
        i32::try_from((number >> 1) as i64 ^ -((number & 1) as i64)).ok()
    }

    /// Kind and number of the elements of a list.
    pub(super) fn list(&mut self) -> Option<(u8, usize)> {
        let first = self.byte()?;
        let count = match first >> 4 {
            15 => usize::try_from(self.unsigned()?).ok()?,
            count => usize::from(count),
        };
        Some((first & 15, count))
    }

    /// Hands the number and kind of every field to `take`, which reads or skips its value.
    pub(super) fn fields(
        &mut self,
        mut take: impl FnMut(&mut Self, i32, u8) -> Option<()>,
    ) -> Option<()> {
        let mut field = 0i32;
        loop {
            let first = self.byte()?;
            let kind = first & 15;
            if kind == 0 {
                return Some(());
            }
            field = match first >> 4 {
                0 => self.integer()?,
                step => field.checked_add(i32::from(step))?,
            };
            take(self, field, kind)?;
        }
    }

    /// Skips the value of a field.
    pub(super) fn skip(&mut self, kind: u8) -> Option<()> {
        self.skip_to_depth(kind, MAX_DEPTH)
    }

    fn skip_to_depth(&mut self, kind: u8, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            // A boolean field is its kind.
            1 | 2 => Some(()),
            3 => self.advance(1),
            4..=6 => self.unsigned().map(|_| ()),
            7 => self.advance(8),
            8 => {
                let length = self.unsigned()?;
                self.advance(usize::try_from(length).ok()?)
            }
            LIST | 10 => {
                let (kind, count) = self.list()?;
                // Booleans in a list take a byte each.
                let kind = if matches!(kind, 1 | 2) { 3 } else { kind };
                (0..count).try_for_each(|_| self.skip_to_depth(kind, depth))
            }
            STRUCT => self.fields(|inner, _, kind| inner.skip_to_depth(kind, depth)),
            _ => None,
        }
    }

    fn advance(&mut self, bytes: usize) -> Option<()> {
        let at = self.at.checked_add(bytes)?;
        (at <= self.bytes.len()).then(|| self.at = at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_fields_and_skips_the_rest() {
        // 1: integer -3, 2: text "ab", 4: list of two structs {1: true}, 5: integer 300.
        let bytes = [0x15, 5, 0x18, 2, b'a', b'b', 0x29, 0x2c, 0x11, 0, 0x11, 0, 0x15, 0xd8, 4, 0];
        let mut seen = Vec::new();
        let mut thrift = Thrift::new(&bytes);
        thrift
            .fields(|inner, field, kind| {
                if kind == INTEGER {
                    seen.push((field, inner.integer()?));
                    return Some(());
                }
                inner.skip(kind)
            })
            .expect("valid");
        assert_eq!(seen, [(1, -3), (5, 300)]);
        assert_eq!(thrift.at(), bytes.len());
    }

    #[test]
    fn refuses_what_does_not_end_or_fit() {
        assert_eq!(Thrift::new(&[0x99; 40]).unsigned(), None);
        assert_eq!(Thrift::new(&[0x80]).unsigned(), None);
        assert_eq!(Thrift::new(&[0xff, 0xff, 0xff, 0xff, 0x7f]).integer(), None);
        assert_eq!(Thrift::new(&[0xff, 0xff, 0xff, 0xff, 0x0f]).integer(), Some(i32::MIN));
        // A text longer than what follows, lists within lists without end.
        assert_eq!(Thrift::new(&[200, 1, 0]).skip(8), None);
        assert_eq!(Thrift::new(&[0x19; 64]).skip(LIST), None);
    }
}
