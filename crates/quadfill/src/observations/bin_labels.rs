//! Bins of times as people read and write them.

use super::binning::{Binning, TimeUnit};
use super::times::{DAY, Period, clock, date, has_date, span_in_words};

/// Times from 1973 to 2128: numbers in this range are taken for seconds since 1970.
pub(super) const UNIX_SECONDS: std::ops::Range<f64> = 1e8..5e9;

/// What a text says about a time in some bins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Asked {
    /// The number of a bin.
    Bin,
    /// Any time of a period.
    Period(Period),
}

impl Binning {
    /// How wide the bins are: `4 weeks`.
    pub fn span(&self) -> String {
        span_in_words(self.width)
    }

    /// Whether the times are dates: they are known to be, or they are as large as those of dates.
    pub fn has_dates(&self) -> bool {
        let dated = self.unit != TimeUnit::Number || UNIX_SECONDS.contains(&self.origin);
        dated && has_date(self.origin) && self.width >= 1.0
    }

    /// The times of a bin: `2003-05-01 to 2003-05-28`, both included, or for short bins
    /// `2003-05-01 10:00 to 11:00`. Times that are not dates stay numbers.
    ///
    /// ```
    /// use quadfill::observations::{Binning, TimeUnit};
    /// let weeks =
    ///     Binning { origin: 1_051_747_200.0, width: 604_800.0, count: None, unit: TimeUnit::Seconds };
    /// assert_eq!(weeks.label(0), "2003-05-01 to 2003-05-07");
    /// assert_eq!(Binning { width: 86_400.0, ..weeks }.label(2), "2003-05-03");
    /// assert_eq!(Binning { width: 3600.0, ..weeks }.label(30), "2003-05-02 06:00 to 07:00");
    /// ```
    pub fn label(&self, bin: u32) -> String {
        let (start, end) = self.times(bin);
        if !(self.has_dates() && has_date(end)) {
            return format!("{} to {}", number(start), number(end));
        }
        let (first, last) = (date(start), date(end - 1.0));
        let is_days = self.width % DAY == 0.0 && self.origin % DAY == 0.0;
        if is_days || self.width >= 2.0 * DAY {
            return if first == last { first } else { format!("{first} to {last}") };
        }
        let seconds = self.width < 600.0;
        let (from, to) = (clock(start, seconds), clock(end, seconds));
        if first == date(end) {
            format!("{first} {from} to {to}")
        } else {
            format!("{first} {from} to {} {to}", date(end))
        }
    }

    /// When a bin begins and ends.
    fn times(&self, bin: u32) -> (f64, f64) {
        let start = self.origin + self.width * f64::from(bin);
        (start, start + self.width)
    }

    /// The first time of a bin and the last one of another: `2003-05-01`, `2004-02-11`.
    pub(super) fn ends(&self, first: u32, last: u32) -> (String, String) {
        let (start, _) = self.times(first);
        let (_, end) = self.times(last);
        if !(self.has_dates() && has_date(end)) {
            return (number(start), number(end));
        }
        let at = |time: f64| {
            if self.width < DAY {
                format!("{} {}", date(time), clock(time, false))
            } else {
                date(time)
            }
        };
        (at(start), at(if self.width < DAY { end } else { end - 1.0 }))
    }

    /// Whether a bin and a period have a time in common.
    pub(super) fn overlaps(&self, bin: u32, period: Period) -> bool {
        let (start, end) = self.times(bin);
        start < period.end && end > period.start
    }

    /// What a text asks for. Where times are dates, four digits are a year, and larger numbers are
    /// times as the column had them; any other number is that of a bin.
    pub(super) fn asked(&self, text: &str) -> Option<Asked> {
        if !self.has_dates() {
            return Some(Asked::Bin);
        }
        if let Some(period) = Period::parse(text) {
            return Some(Asked::Period(period));
        }
        let number: f64 = text.parse().ok()?;
        let time = number * self.unit.seconds();
        if UNIX_SECONDS.contains(&time) {
            // One moment: a period that has no other time.
            return Some(Asked::Period(Period { start: time, end: time.next_up() }));
        }
        Some(Asked::Bin)
    }
}

/// A number without the noise of its last digits.
fn number(value: f64) -> String {
    if value.abs() < 1e9 { ((value * 1e6).round() / 1e6).to_string() } else { value.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins(origin: f64, width: f64) -> Binning {
        Binning { origin, width, count: None, unit: TimeUnit::Number }
    }

    #[test]
    fn labels_show_what_tells_bins_apart() {
        // 1997-09-20 03:05:10
        let origin = 874_724_710.0;
        for (width, bin, label) in [
            (20.0 * 7.0 * DAY, 0, "1997-09-20 to 1998-02-07"),
            (DAY, 1, "1997-09-21 03:05 to 1997-09-22 03:05"),
            (3600.0, 0, "1997-09-20 03:05 to 04:05"),
            (60.0, 2, "1997-09-20 03:07:10 to 03:08:10"),
            (0.5, 0, "874724710 to 874724710.5"),
        ] {
            assert_eq!(bins(origin, width).label(bin), label);
        }
        assert_eq!(bins(1000.0, 3600.0).label(1), "4600 to 8200");
        let before = Binning { unit: TimeUnit::Seconds, ..bins(-DAY, DAY) };
        assert_eq!(before.label(0), "1969-12-31");
        assert_eq!(bins(1e9, 1e300).label(7), format!("{} to {}", 7e300, 8e300));
    }

    #[test]
    fn numbers_are_bins_years_or_times() {
        let days = bins(1_051_747_200.0, DAY);
        assert_eq!(days.asked("7"), Some(Asked::Bin));
        assert_eq!(days.asked("2003"), Period::parse("2003").map(Asked::Period));
        assert!(matches!(days.asked("1051750000"), Some(Asked::Period(_))));
        assert_eq!(days.asked("May"), None);
        assert_eq!(bins(0.0, 1.0).asked("2003"), Some(Asked::Bin));
        let milliseconds = Binning { unit: TimeUnit::Milliseconds, ..days };
        let Some(Asked::Period(moment)) = milliseconds.asked("1051750000000") else {
            panic!("a time");
        };
        assert!(milliseconds.overlaps(0, moment) && !milliseconds.overlaps(1, moment));
    }
}
