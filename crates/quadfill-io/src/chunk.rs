//! Fields of a column in memory, in whichever type they are.

use std::ops::Range;

use crate::error::{ReadError, Result};
use crate::fields::Fields;

/// How many fields are converted at a time.
const BATCH: usize = 1 << 12;

/// The texts of a column in memory.
pub trait Texts: Send + Sync {
    /// How many there are.
    fn len(&self) -> usize;

    /// One of them.
    fn text(&self, row: usize) -> &[u8];

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Texts for Vec<String> {
    fn len(&self) -> usize {
        Vec::len(self)
    }

    fn text(&self, row: usize) -> &[u8] {
        self[row].as_bytes()
    }
}

/// Fields of a column that follow one another in memory.
#[expect(missing_docs, reason = "the names say all")]
pub enum Chunk<'a> {
    I8(&'a [i8]),
    I16(&'a [i16]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    U8(&'a [u8]),
    U16(&'a [u16]),
    U32(&'a [u32]),
    U64(&'a [u64]),
    F32(&'a [f32]),
    F64(&'a [f64]),
    /// Whole numbers that were stored in another form.
    Converted(Vec<i64>),
    Texts(Box<dyn Texts + 'a>),
    /// Each field is the position of its value.
    Codes {
        codes: Box<Chunk<'a>>,
        values: Box<Chunk<'a>>,
    },
    /// Fields that are neither numbers nor texts, by their kind and number; only a column that is not used
    /// may have them.
    Unsupported {
        kind: String,
        len: usize,
    },
}

/// What cannot be read.
pub(crate) enum Unreadable {
    /// A whole number beyond 64 bits with a sign.
    TooLarge,
    /// A code without a value.
    NoValue,
    Kind(String),
    Refused(ReadError),
}

impl From<ReadError> for Unreadable {
    fn from(error: ReadError) -> Self {
        Self::Refused(error)
    }
}

/// Hands integers of one type to `take` in batches.
macro_rules! integers {
    ($fields:expr, $rows:expr, $take:expr) => {{
        let mut batch = Vec::with_capacity(BATCH.min($rows.len()));
        for fields in $fields[$rows].chunks(BATCH) {
            batch.clear();
            batch.extend(fields.iter().map(|&field| i64::from(field)));
            $take(Fields::Integers(&batch))?;
        }
        Ok(())
    }};
}

impl Chunk<'_> {
    /// How many fields there are.
    pub fn len(&self) -> usize {
        match self {
            Self::I8(fields) => fields.len(),
            Self::I16(fields) => fields.len(),
            Self::I32(fields) => fields.len(),
            Self::I64(fields) => fields.len(),
            Self::U8(fields) => fields.len(),
            Self::U16(fields) => fields.len(),
            Self::U32(fields) => fields.len(),
            Self::U64(fields) => fields.len(),
            Self::F32(fields) => fields.len(),
            Self::F64(fields) => fields.len(),
            Self::Texts(texts) => texts.len(),
            Self::Converted(fields) => fields.len(),
            Self::Codes { codes, .. } => codes.len(),
            Self::Unsupported { len, .. } => *len,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Hands some rows to `take`, in order.
    pub(crate) fn each(
        &self,
        rows: Range<usize>,
        take: &mut dyn FnMut(Fields<'_>) -> Result<()>,
    ) -> std::result::Result<(), Unreadable> {
        match self {
            Self::I8(fields) => integers!(fields, rows, take),
            Self::I16(fields) => integers!(fields, rows, take),
            Self::I32(fields) => integers!(fields, rows, take),
            Self::U8(fields) => integers!(fields, rows, take),
            Self::U16(fields) => integers!(fields, rows, take),
            Self::U32(fields) => integers!(fields, rows, take),
            Self::I64(fields) => Ok(take(Fields::Integers(&fields[rows]))?),
            Self::Converted(fields) => Ok(take(Fields::Integers(&fields[rows]))?),
            Self::U64(fields) => {
                for fields in fields[rows].chunks(BATCH) {
                    let batch: std::result::Result<Vec<i64>, _> =
                        fields.iter().map(|&field| i64::try_from(field)).collect();
                    take(Fields::Integers(&batch.map_err(|_| Unreadable::TooLarge)?))?;
                }
                Ok(())
            }
            Self::F32(fields) => {
                for fields in fields[rows].chunks(BATCH) {
                    let batch: Vec<f64> = fields.iter().map(|&field| f64::from(field)).collect();
                    take(Fields::Reals(&batch))?;
                }
                Ok(())
            }
            Self::F64(fields) => Ok(take(Fields::Reals(&fields[rows]))?),
            Self::Texts(texts) => {
                let mut batch = Vec::with_capacity(BATCH.min(rows.len()));
                for first in rows.clone().step_by(BATCH) {
                    batch.clear();
                    let end = rows.end.min(first + BATCH);
                    batch.extend((first..end).map(|row| texts.text(row)));
                    take(Fields::Texts(&batch))?;
                }
                Ok(())
            }
            Self::Codes { codes, values } => decode(codes, values, rows, take),
            Self::Unsupported { kind, .. } => Err(Unreadable::Kind(kind.clone())),
        }
    }
}

/// The values that codes stand for, if all of them do.
fn gather<V: Copy>(codes: &[i64], values: &[V]) -> Option<Vec<V>> {
    codes.iter().map(|&code| values.get(usize::try_from(code).ok()?).copied()).collect()
}

/// Replaces codes by their values.
fn decode(
    codes: &Chunk<'_>,
    values: &Chunk<'_>,
    rows: Range<usize>,
    take: &mut dyn FnMut(Fields<'_>) -> Result<()>,
) -> std::result::Result<(), Unreadable> {
    let (mut integers, mut reals, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    if let Chunk::Texts(all) = values {
        texts = (0..all.len()).map(|value| all.text(value)).collect();
    } else {
        values.each(0..values.len(), &mut |fields| {
            match fields {
                Fields::Integers(fields) => integers.extend_from_slice(fields),
                Fields::Reals(fields) => reals.extend_from_slice(fields),
                Fields::Texts(_) => {}
            }
            Ok(())
        })?;
    }
    let mut missing = false;
    codes.each(rows, &mut |fields| {
        let Fields::Integers(codes) = fields else {
            missing = true;
            return Ok(());
        };
        let taken = match values {
            Chunk::Texts(_) => gather(codes, &texts).map(|batch| take(Fields::Texts(&batch))),
            Chunk::F32(_) | Chunk::F64(_) => {
                gather(codes, &reals).map(|batch| take(Fields::Reals(&batch)))
            }
            _ => gather(codes, &integers).map(|batch| take(Fields::Integers(&batch))),
        };
        missing |= taken.is_none();
        taken.unwrap_or(Ok(()))
    })?;
    if missing { Err(Unreadable::NoValue) } else { Ok(()) }
}
