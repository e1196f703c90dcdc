//! Times cut into bins.

use quadfill::observations::{Binning, TimeUnit};

use crate::error::{ReadError, Result};
use crate::escape::one_line;
use crate::options::ColumnRef;

/// How wide the bins of a column are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BinSize {
    /// Bins that suit the span of the times and the number of rows.
    Auto,
    /// Every bin is this many seconds wide.
    Seconds(f64),
    /// This many bins of the same width from the first to the last time.
    Count(u32),
    /// The bins of a model.
    Known(Binning),
}

/// How a column of times is to be cut into bins. Times are numbers of seconds, milliseconds since 1970,
/// or dates such as `2003-05-17` or `2003-05-17T10:00:00`.
///
/// ```
/// use quadfill_io::{BinSize, BinSpec};
/// let weeks = BinSpec::parse("timestamp=20w")?;
/// assert_eq!(weeks.column.text(), "timestamp");
/// assert_eq!(weeks.size, Some(BinSize::Seconds(20.0 * 7.0 * 86400.0)));
/// assert_eq!(BinSpec::parse("4=24")?.size, Some(BinSize::Count(24)));
/// assert_eq!(BinSpec::parse("timestamp=auto")?.size, Some(BinSize::Auto));
/// assert_eq!(BinSpec::parse("timestamp=none")?.size, None);
/// assert!(BinSpec::parse("timestamp=20y").is_err());
/// # Ok::<(), quadfill_io::ReadError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BinSpec {
    /// The column, by its name or number.
    pub column: ColumnRef,
    /// How it is cut; `None` keeps every time a label.
    pub size: Option<BinSize>,
}

impl BinSpec {
    /// Reads `COLUMN=WIDTH` with a unit (`s`, `m`, `h`, `d`, `w`), `COLUMN=COUNT`, `COLUMN=auto` or
    /// `COLUMN=none`.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |reason: &'static str| ReadError::InvalidBins { text: one_line(text), reason };
        let (column, size) = text.rsplit_once('=').ok_or_else(|| wrong("there is no `=`"))?;
        if column.is_empty() {
            return Err(wrong("there is no column"));
        }
        let spec = |size| Ok(Self { column: column.into(), size });
        match size {
            "auto" => return spec(Some(BinSize::Auto)),
            "none" => return spec(None),
            _ => {}
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
                return spec(Some(BinSize::Count(count)));
            }
            _ => return Err(wrong("the unit is not known")),
        };
        let number: f64 =
            size[..size.len() - 1].parse().map_err(|_| wrong("the width is not a number"))?;
        let width = number * seconds;
        if !(width.is_finite() && width > 0.0) {
            return Err(wrong("the width must be above zero"));
        }
        spec(Some(BinSize::Seconds(width)))
    }
}

/// Times of one column: from the first to the last, and how many.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub first: f64,
    pub last: f64,
    pub rows: usize,
}

/// The bins for some times.
pub(crate) fn resolve(file: &str, size: BinSize, span: Span, unit: TimeUnit) -> Result<Binning> {
    let Span { first, last, .. } = span;
    let equal = |count: u32| {
        let width = (last - first) / f64::from(count);
        (first, if width > 0.0 { width } else { 1.0 }, Some(count))
    };
    let (origin, width, count) = match size {
        BinSize::Known(binning) => return Ok(binning),
        BinSize::Seconds(width) => (first, width, None),
        BinSize::Count(count) => equal(count),
        // Numbers from a zero that is not known have neither days nor weeks.
        BinSize::Auto if unit == TimeUnit::Number => equal(wanted_bins(span) as u32),
        BinSize::Auto => {
            let width = suitable_width(span);
            // Days begin at midnight, and so do longer bins.
            let grid = width.min(DAY);
            ((first / grid).floor() * grid, width, None)
        }
    };
    let bins = (last - first) / width;
    if bins.is_nan() || bins >= f64::from(u32::MAX) {
        return Err(ReadError::TooManyBins { file: file.to_owned(), first, last, width });
    }
    Ok(Binning { origin, width, count, unit })
}

const DAY: f64 = 86_400.0;

/// The widths that bins may have when nobody asks for one, in seconds: people think in these.
const WIDTHS: [f64; 12] = [
    1.0,
    10.0,
    60.0,
    300.0,
    900.0,
    3600.0,
    6.0 * 3600.0,
    DAY,
    7.0 * DAY,
    28.0 * DAY,
    91.0 * DAY,
    364.0 * DAY,
];

/// How many bins are wanted: 35, so that a trend over the whole span can be seen, but not so many that
/// there are fewer than 20 rows for each; at least 5.
fn wanted_bins(span: Span) -> f64 {
    (span.rows as f64 / 20.0).clamp(5.0, 35.0)
}

/// The width whose number of bins has the smallest ratio to the number wanted: with 700 rows or more about
/// 18 to 67 bins, as one width has at most four times, and a week seven times, the one before.
fn suitable_width(span: Span) -> f64 {
    let length = span.last - span.first;
    let wanted = wanted_bins(span);
    let distance = |width: f64| ((length / width).max(1.0) / wanted).ln().abs();
    let best = WIDTHS.into_iter().min_by(|a, b| distance(*a).total_cmp(&distance(*b)));
    best.filter(|_| length > 0.0).unwrap_or(DAY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn width(days: f64, rows: usize) -> f64 {
        suitable_width(Span { first: 1e9, last: 1e9 + days * DAY, rows }) / DAY
    }

    #[test]
    fn bins_suit_the_span_of_the_times() {
        for (days, rows, expected) in [
            (30.0, 100_000, 1.0),
            (215.0, 100_000, 7.0),
            (2.5 * 365.0, 100_000, 28.0),
            (14.0 * 365.0, 10_000_000, 91.0),
            (40.0 * 365.0, 100_000, 364.0),
            (1.0, 100_000, 1.0 / 24.0),
            // Few rows cannot fill many bins.
            (215.0, 200, 28.0),
            (0.0, 10, 1.0),
        ] {
            assert_eq!(width(days, rows), expected, "{rows} rows in {days} days");
        }
    }

    proptest! {
        #[test]
        fn every_time_has_a_bin_and_there_are_not_too_many(
            first in 1e8..4e9, length in 0.0..3e9, rows in 1usize..1_000_000,
        ) {
            let span = Span { first, last: first + length, rows };
            let bins = resolve("x", BinSize::Auto, span, TimeUnit::Seconds).expect("bins");
            prop_assert_eq!(bins.bin(first), Some(0));
            let last = bins.bin(span.last).expect("a bin");
            prop_assert!(last <= 110, "{} bins", last);
            prop_assert_eq!(bins.origin % bins.width.min(DAY), 0.0);
        }
    }
}
