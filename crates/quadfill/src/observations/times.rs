//! Calendar dates and spans of time. Times are seconds since 1970 in UTC, by the Gregorian calendar.

use std::fmt::Write;

pub(crate) const MINUTE: f64 = 60.0;
pub(crate) const DAY: f64 = 86_400.0;

/// The times that a written date covers, from `start` up to but without `end`.
///
/// ```
/// use quadfill::observations::Period;
/// let may = Period::parse("2003-05").unwrap();
/// assert_eq!((may.end - may.start) / 86400.0, 31.0);
/// let noon = Period::parse("2003-05-17T14:00+02:00").unwrap();
/// assert_eq!(noon.start, Period::parse("2003-05-17 12:00:00Z").unwrap().start);
/// assert_eq!(Period::parse("2003-02-29"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Period {
    /// The first second.
    pub start: f64,
    /// The first second after it.
    pub end: f64,
}

impl Period {
    /// Reads a year, a month, a day, or a day with a time: `2003`, `2003-05`, `2003-05-17`,
    /// `2003-05-17T10:00`, `2003-05-17 10:00:30.5+02:00`. Without an offset times are UTC.
    pub fn parse(text: &str) -> Option<Self> {
        let (date, time) = match text.split_once(['T', 't', ' ']) {
            Some((date, time)) => (date, Some(time)),
            None => (text, None),
        };
        let mut parts = date.split('-');
        let year = i64::from(digits(parts.next()?, 4)?);
        let two_digits =
            |part: Option<&str>| part.map(|part| digits(part, 2).ok_or(())).transpose();
        let month = two_digits(parts.next()).ok()?;
        let day = two_digits(parts.next()).ok()?;
        if parts.next().is_some() {
            return None;
        }
        let days = |from: i64, to: i64| Self { start: from as f64 * DAY, end: to as f64 * DAY };
        let (month, day) = match (month, day) {
            (None, _) if time.is_none() => {
                return Some(days(days_before(year, 1, 1), days_before(year + 1, 1, 1)));
            }
            (Some(month), None) if time.is_none() && (1..=12).contains(&month) => {
                let (next_year, next) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
                return Some(days(days_before(year, month, 1), days_before(next_year, next, 1)));
            }
            (Some(month), Some(day)) => (month, day),
            _ => return None,
        };
        let at = days_before(year, month, day);
        if date_of_day(at) != (year, month, day) {
            return None;
        }
        match time {
            None => Some(days(at, at + 1)),
            Some(time) => {
                let (seconds, length) = time_of_day(time)?;
                let start = at as f64 * DAY + seconds;
                Some(Self { start, end: start + length })
            }
        }
    }
}

/// The number that exactly `count` digits spell.
fn digits(text: &str, count: usize) -> Option<u32> {
    let are_digits = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    are_digits.then(|| text.parse().ok()).flatten()
}

/// Seconds since midnight in UTC, and for how long a time that is written so lasts.
fn time_of_day(text: &str) -> Option<(f64, f64)> {
    let (clock, offset) = match text.strip_suffix(['Z', 'z']) {
        Some(clock) => (clock, 0.0),
        None => match text.rfind(['+', '-']) {
            Some(sign) => {
                let minutes = offset_minutes(&text[sign + 1..])?;
                let west = text.as_bytes()[sign] == b'-';
                (&text[..sign], MINUTE * f64::from(if west { -minutes } else { minutes }))
            }
            None => (text, 0.0),
        },
    };
    let mut parts = clock.split(':');
    let hour = digits(parts.next()?, 2).filter(|&hour| hour < 24)?;
    let minute = digits(parts.next()?, 2).filter(|&minute| minute < 60)?;
    let (second, length) = match parts.next() {
        None => (0.0, MINUTE),
        Some(second) => {
            let (whole, fraction) = second.split_once('.').unwrap_or((second, ""));
            let whole = digits(whole, 2).filter(|&second| second <= 60)?;
            let share: f64 = format!("0.{fraction}0").parse().ok()?;
            (f64::from(whole) + share, 1.0)
        }
    };
    if parts.next().is_some() {
        return None;
    }
    Some((f64::from(hour * 60 + minute) * MINUTE + second - offset, length))
}

/// Minutes of an offset from UTC: `02`, `0200` or `02:00`.
fn offset_minutes(text: &str) -> Option<i32> {
    let hours = digits(text.get(..2)?, 2)?;
    let rest = &text[2..];
    let minutes = match rest.strip_prefix(':').unwrap_or(rest) {
        "" => 0,
        minutes => digits(minutes, 2)?,
    };
    (hours < 24 && minutes < 60).then_some((hours * 60 + minutes) as i32)
}

/// Days from 1970-01-01 to a date. Years are counted from March, so that the leap day comes last.
fn days_before(year: i64, month: u32, day: u32) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = i64::from((153 * ((month + 9) % 12) + 2) / 5 + day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Year, month and day that are this many days from 1970-01-01.
fn date_of_day(days: i64) -> (i64, u32, u32) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * from_march + 2) / 5 + 1) as u32;
    let month = ((from_march + 2) % 12 + 1) as u32;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Whether a time has a date with a year of four digits.
pub(crate) fn has_date(time: f64) -> bool {
    (-62_135_596_800.0..253_402_300_800.0).contains(&time)
}

/// The date of a time: `2003-05-17`.
pub(crate) fn date(time: f64) -> String {
    let (year, month, day) = date_of_day((time / DAY).floor() as i64);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The time of day: `10:00`, or `10:00:30` if seconds are wanted.
pub(crate) fn clock(time: f64, seconds: bool) -> String {
    let of_day = time.rem_euclid(DAY) as u32;
    let mut text = format!("{:02}:{:02}", of_day / 3600, of_day / 60 % 60);
    if seconds {
        let _ = write!(text, ":{:02}", of_day % 60);
    }
    text
}

/// A span of time in the unit that suits it: `4 weeks`, `1 day`, `90 minutes`.
///
/// ```
/// use quadfill::observations::span_in_words;
/// assert_eq!(span_in_words(4.0 * 7.0 * 86400.0), "4 weeks");
/// assert_eq!(span_in_words(86400.0), "1 day");
/// assert_eq!(span_in_words(772_500.5), "8.9 days");
/// ```
pub fn span_in_words(seconds: f64) -> String {
    const UNITS: [(f64, &str); 5] =
        [(604_800.0, "week"), (DAY, "day"), (3600.0, "hour"), (MINUTE, "minute"), (1.0, "second")];
    // A larger count, though whole, says less than a rounded one of a larger unit.
    const MOST: f64 = 366.0;
    let whole = UNITS.iter().find_map(|&(unit, name)| {
        let count = seconds / unit;
        ((1.0..=MOST).contains(&count) && count.fract() == 0.0).then_some((count, name))
    });
    match whole {
        Some((1.0, name)) => format!("1 {name}"),
        Some((count, name)) => format!("{count} {name}s"),
        None => {
            let fits = |&&(unit, _): &&(f64, &str)| seconds >= unit && unit < 604_800.0;
            match UNITS.iter().find(fits) {
                Some(&(unit, name)) => {
                    let text = format!("{:.1}", seconds / unit);
                    format!("{} {name}s", text.trim_end_matches(".0"))
                }
                None => format!("{seconds} seconds"),
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dates_of_many_forms() {
        for (text, start, end) in [
            ("1970", 0.0, 365.0 * DAY),
            ("2000-02", 951_782_400.0 - 28.0 * DAY, 951_782_400.0 + DAY),
            ("2003-05-17", 1_053_129_600.0, 1_053_216_000.0),
            ("2003-05-17T10:00", 1_053_165_600.0, 1_053_165_660.0),
            ("2003-05-17 10:00:30", 1_053_165_630.0, 1_053_165_631.0),
            ("2003-05-17T10:00:30.25Z", 1_053_165_630.25, 1_053_165_631.25),
            ("2003-05-17T10:00:00-0130", 1_053_171_000.0, 1_053_171_001.0),
            ("1969-12-31", -DAY, 0.0),
        ] {
            assert_eq!(Period::parse(text), Some(Period { start, end }), "{text}");
        }
        for text in [
            "",
            "203",
            "2003-5",
            "2003-13",
            "2003-00",
            "2003-05-32",
            "2003-05-",
            "2003-05T10:00",
            "2003-05-17T",
            "2003-05-17T24:00",
            "2003-05-17T10:00+2",
            "2003-05-17T10",
            "20030517",
            "2003-05-17T10:00:00.x",
            "2003-05-17-01",
            "+203-05-17",
            "2003-05-17T10:00é",
        ] {
            assert_eq!(Period::parse(text), None, "{text}");
        }
    }

    #[test]
    fn spans_have_the_unit_that_suits_them() {
        for (seconds, words) in [
            (12_096_000.0, "20 weeks"),
            (604_800.0, "1 week"),
            (172_800.0, "2 days"),
            (5400.0, "90 minutes"),
            (0.5, "0.5 seconds"),
            (100_000.0, "1.2 days"),
            (86_400_000.0, "1000 days"),
        ] {
            assert_eq!(span_in_words(seconds), words);
        }
    }

    proptest! {
        #[test]
        fn every_day_is_found_again(day in -700_000i64..2_900_000) {
            let (year, month, of_month) = date_of_day(day);
            prop_assert_eq!(days_before(year, month, of_month), day);
            let time = day as f64 * DAY;
            prop_assert!(has_date(time));
            prop_assert_eq!(Period::parse(&date(time)).unwrap(), Period { start: time, end: time + DAY });
        }

        #[test]
        fn anything_is_a_date_or_not(text in "[-0-9:T Z+.é]{0,26}") {
            if let Some(period) = Period::parse(&text) {
                prop_assert!(period.end > period.start);
            }
        }
    }
}
