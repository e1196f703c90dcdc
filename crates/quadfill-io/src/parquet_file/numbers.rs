//! Columns of numbers, decoded here: plain ones and codes of a dictionary. The other encodings are left to the
//! general decoder, which is slower.

use bytes::Bytes;
use parquet::basic::{LogicalType, Type as Physical};
use parquet::file::metadata::ColumnChunkMetaData;

use super::hybrid::Hybrid;
use super::page_header::{PageHeader, PageKind, Pages};
use super::unpack::{Codec, Unpacked, Unpacker};
use crate::error::ReadError;
use crate::fields::{Fields, TakeFields};

/// How many numbers are decoded at a time, few enough for the fastest cache.
const BATCH: usize = 1 << 11;

/// Numbers of encodings.
const PLAIN: i32 = 0;
const PLAIN_DICTIONARY: i32 = 2;
const RUNS: i32 = 3;
const DICTIONARY: i32 = 8;

/// Why a column was not read to its end.
pub(super) enum Stopped {
    Damaged(&'static str),
    /// A number beyond 63 bits.
    TooLarge,
    /// The row of the group that has no value.
    Null(usize),
    Refused(ReadError),
}

use Stopped::Damaged;

/// A column of numbers in a group whose pages can be decoded here.
pub(super) struct NumberColumn<'a> {
    file: &'a Bytes,
    column: &'a ColumnChunkMetaData,
    rows: usize,
    stored: Stored,
    codec: Codec,
    has_levels: bool,
}

impl<'a> NumberColumn<'a> {
    /// The column, if it is one; its claims must have been checked.
    pub(super) fn new(
        file: &'a Bytes,
        column: &'a ColumnChunkMetaData,
        rows: usize,
    ) -> Option<Self> {
        let descriptor = column.column_descr();
        let is_unsigned = matches!(descriptor.logical_type_ref(),
            Some(LogicalType::Integer(integer)) if !integer.is_signed);
        let stored = Stored::of(descriptor.physical_type(), is_unsigned)?;
        let codec = Codec::of(column.compression())?;
        let has_levels = descriptor.max_def_level() > 0;
        let is_flat = descriptor.max_rep_level() == 0 && descriptor.max_def_level() <= 1;
        let decodes = |page: &PageHeader| match page.kind {
            Some(PageKind::Dictionary) => matches!(page.encoding, PLAIN | PLAIN_DICTIONARY),
            Some(PageKind::Data) if has_levels && page.level_encoding != RUNS => false,
            Some(_) => matches!(page.encoding, PLAIN | PLAIN_DICTIONARY | DICTIONARY),
            None => false,
        };
        let mut pages = Pages::new(file, column).ok()?;
        (is_flat && pages.all(|page| page.is_ok_and(|(page, _)| decodes(&page)))).then_some(Self {
            file,
            column,
            rows,
            stored,
            codec,
            has_levels,
        })
    }

    /// Hands at least `wanted` numbers to `take`, if there are so many, with the row of the group of the first one.
    pub(super) fn each(
        &self,
        unpacker: &mut Unpacker,
        wanted: usize,
        take: &mut TakeFields<'_>,
    ) -> Result<(), Stopped> {
        let mut row = 0;
        let mut dictionary = Numbers::default();
        let mut batch = Batch::default();
        let pages = Pages::new(self.file, self.column).map_err(|_| Damaged("a page is damaged"))?;
        for page in pages {
            let (header, stored) = page.map_err(|_| Damaged("a page is damaged"))?;
            let page = unpacker
                .unpack(self.codec, &header, stored)
                .ok_or(Damaged("a page cannot be unpacked"))?;
            if header.kind == Some(PageKind::Dictionary) {
                let entries = header.entries.unwrap_or(0);
                let bytes = self.stored.plain(page.values, entries).ok_or(TOO_SHORT)?;
                dictionary.clear();
                self.stored.decode(bytes, &mut dictionary)?;
                continue;
            }
            let values = self.without_nulls(&header, page, row)?;
            if header.values > self.rows - row {
                return Err(Damaged("a count of rows is wrong"));
            }
            let mut numbers = if header.encoding == PLAIN {
                Encoded::Plain(self.stored.plain(values, header.values).ok_or(TOO_SHORT)?)
            } else {
                let (&width, codes) = values.split_first().unwrap_or((&0, &[]));
                Encoded::Codes(Hybrid::new(codes, width).ok_or(WRONG_CODE)?)
            };
            let end = row + header.values;
            while row < end && row < wanted {
                let count = BATCH.min(end - row);
                batch.decode(&mut numbers, count, self.stored, &dictionary)?;
                take(batch.numbers.fields(self.stored), row).map_err(Stopped::Refused)?;
                row += count;
            }
            if row >= wanted {
                break;
            }
        }
        Ok(())
    }

    /// The values of a page whose levels say that none is null.
    fn without_nulls<'p>(
        &self,
        header: &PageHeader,
        page: Unpacked<'p>,
        first: usize,
    ) -> Result<&'p [u8], Stopped> {
        if !self.has_levels {
            return Ok(page.values);
        }
        let (levels, values) = match page.levels {
            Some(levels) => (levels, page.values),
            None => page
                .values
                .split_first_chunk::<4>()
                .and_then(|(length, rest)| {
                    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
                })
                .ok_or(NO_LEVELS)?,
        };
        let mut runs = Hybrid::new(levels, 1).ok_or(NO_LEVELS)?;
        let mut batch = [0; BATCH];
        for start in (0..header.values).step_by(BATCH) {
            let batch = &mut batch[..BATCH.min(header.values - start)];
            runs.fill(batch).ok_or(NO_LEVELS)?;
            if batch.iter().fold(1, |all, level| all & level) == 0 {
                let null = batch.iter().position(|&level| level == 0).unwrap_or_default();
                return Err(Stopped::Null(first + start + null));
            }
        }
        Ok(values)
    }
}

const NO_LEVELS: Stopped = Damaged("the levels of a page are damaged");
const TOO_SHORT: Stopped = Damaged("a page has fewer values than it claims");
const WRONG_CODE: Stopped = Damaged("a code stands for no value");

/// How numbers are stored where they are plain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stored {
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Stored {
    fn of(physical: Physical, is_unsigned: bool) -> Option<Self> {
        match physical {
            Physical::INT32 if is_unsigned => Some(Self::U32),
            Physical::INT32 => Some(Self::I32),
            Physical::INT64 if is_unsigned => Some(Self::U64),
            Physical::INT64 => Some(Self::I64),
            Physical::FLOAT => Some(Self::F32),
            Physical::DOUBLE => Some(Self::F64),
            _ => None,
        }
    }

    fn is_real(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    fn width(self) -> usize {
        if matches!(self, Self::I32 | Self::U32 | Self::F32) { 4 } else { 8 }
    }

    /// The bytes of `count` plain numbers.
    fn plain(self, bytes: &[u8], count: usize) -> Option<&[u8]> {
        bytes.get(..count.checked_mul(self.width())?)
    }

    /// Appends plain numbers.
    fn decode(self, bytes: &[u8], to: &mut Numbers) -> Result<(), Stopped> {
        let (integers, reals) = (&mut to.integers, &mut to.reals);
        let (fours, eights) = (bytes.as_chunks().0.iter(), bytes.as_chunks().0.iter());
        match self {
            Self::I32 => integers.extend(fours.map(|&four| i64::from(i32::from_le_bytes(four)))),
            Self::U32 => integers.extend(fours.map(|&four| i64::from(u32::from_le_bytes(four)))),
            Self::I64 | Self::U64 => {
                let start = integers.len();
                integers.extend(eights.map(|&eight| i64::from_le_bytes(eight)));
                if self == Self::U64 && integers[start..].iter().any(|&number| number < 0) {
                    return Err(Stopped::TooLarge);
                }
            }
            Self::F32 => reals.extend(fours.map(|&four| f64::from(f32::from_le_bytes(four)))),
            Self::F64 => reals.extend(eights.map(|&eight| f64::from_le_bytes(eight))),
        }
        Ok(())
    }
}

/// Numbers of one of two types.
#[derive(Default)]
struct Numbers {
    integers: Vec<i64>,
    reals: Vec<f64>,
}

impl Numbers {
    fn clear(&mut self) {
        self.integers.clear();
        self.reals.clear();
    }

    fn fields(&self, stored: Stored) -> Fields<'_> {
        if stored.is_real() { Fields::Reals(&self.reals) } else { Fields::Integers(&self.integers) }
    }
}

/// What is left of the numbers of a page.
enum Encoded<'a> {
    Plain(&'a [u8]),
    Codes(Hybrid<'a>),
}

/// The numbers that are decoded at a time, and their codes.
#[derive(Default)]
struct Batch {
    numbers: Numbers,
    codes: Vec<u32>,
}

impl Batch {
    fn decode(
        &mut self,
        encoded: &mut Encoded<'_>,
        count: usize,
        stored: Stored,
        dictionary: &Numbers,
    ) -> Result<(), Stopped> {
        self.numbers.clear();
        match encoded {
            Encoded::Plain(bytes) => {
                let (now, later) = bytes.split_at(count * stored.width());
                *bytes = later;
                stored.decode(now, &mut self.numbers)
            }
            Encoded::Codes(codes) => {
                self.codes.resize(count, 0);
                codes.fill(&mut self.codes).ok_or(TOO_SHORT)?;
                let found = if stored.is_real() {
                    look_up(&self.codes, &dictionary.reals, &mut self.numbers.reals)
                } else {
                    look_up(&self.codes, &dictionary.integers, &mut self.numbers.integers)
                };
                found.ok_or(WRONG_CODE)
            }
        }
    }
}

/// Appends the entries that codes stand for.
fn look_up<N: Copy>(codes: &[u32], dictionary: &[N], to: &mut Vec<N>) -> Option<()> {
    let largest = codes.iter().fold(0, |largest, &code| largest.max(code));
    if largest as usize >= dictionary.len() {
        return codes.is_empty().then_some(());
    }
    to.extend(codes.iter().map(|&code| dictionary[code as usize]));
    Some(())
}
