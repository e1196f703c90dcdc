//! Times cut into bins.

use quadfill::observations::Binning;

use crate::error::{ReadError, Result};
use crate::escape::one_line;
use crate::options::ColumnRef;

/// How wide the bins of a column are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BinSize {
    /// Every bin is this many seconds wide.
    Seconds(f64),
    /// This many bins of the same width from the first to the last time.
    Count(u32),
    /// The bins of a model.
    Known(Binning),
}

/// How a column of times, in seconds, is to be cut into bins.
///
/// ```
/// use quadfill_io::{BinSize, BinSpec};
/// let weeks = BinSpec::parse("timestamp=20w")?;
/// assert_eq!(weeks.column.text(), "timestamp");
/// assert_eq!(weeks.size, BinSize::Seconds(20.0 * 7.0 * 86400.0));
/// assert_eq!(BinSpec::parse("4=24")?.size, BinSize::Count(24));
/// assert!(BinSpec::parse("timestamp=20y").is_err());
/// # Ok::<(), quadfill_io::ReadError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BinSpec {
    /// The column, by its name or number.
    pub column: ColumnRef,
    /// How it is cut.
    pub size: BinSize,
}

impl BinSpec {
    /// Reads `COLUMN=WIDTH` with a unit (`s`, `m`, `h`, `d`, `w`) or `COLUMN=COUNT`.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |reason: &'static str| ReadError::InvalidBins { text: one_line(text), reason };
        let (column, size) = text.rsplit_once('=').ok_or_else(|| wrong("there is no `=`"))?;
        if column.is_empty() {
            return Err(wrong("there is no column"));
        }
        let seconds = match size.as_bytes().last() {
            Some(b's') => 1.0,
            Some(b'm') => 60.0,
            Some(b'h') => 3600.0,
            Some(b'd') => 86_400.0,
            Some(b'w') => 604_800.0,
            Some(byte) if byte.is_ascii_digit() => {
                let count: u32 =
                    size.parse().map_err(|_| wrong("the count is not a whole number"))?;
                if count == 0 {
                    return Err(wrong("there must be at least one bin"));
                }
                return Ok(Self { column: column.into(), size: BinSize::Count(count) });
            }
            _ => return Err(wrong("the unit is not known")),
        };
        let number: f64 =
            size[..size.len() - 1].parse().map_err(|_| wrong("the width is not a number"))?;
        let width = number * seconds;
        if !(width.is_finite() && width > 0.0) {
            return Err(wrong("the width must be above zero"));
        }
        Ok(Self { column: column.into(), size: BinSize::Seconds(width) })
    }
}

/// The bins for times from `first` to `last`.
pub(crate) fn resolve(file: &str, size: BinSize, first: f64, last: f64) -> Result<Binning> {
    let (width, count) = match size {
        BinSize::Seconds(width) => (width, None),
        BinSize::Count(count) => {
            let width = (last - first) / f64::from(count);
            (if width > 0.0 { width } else { 1.0 }, Some(count))
        }
        BinSize::Known(binning) => return Ok(binning),
    };
    let bins = (last - first) / width;
    if bins.is_nan() || bins >= f64::from(u32::MAX) {
        return Err(ReadError::TooManyBins { file: file.to_owned(), first, last, width });
    }
    Ok(Binning { origin: first, width, count })
}
