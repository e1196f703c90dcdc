//! Times as they stand in a file: numbers, or dates.

use quadfill::observations::{Period, TimeUnit};

use crate::number::{Number, parse_number};

/// The date, or date and time, that a text is; not a year or a month alone.
pub(crate) fn date_of(text: &[u8]) -> Option<f64> {
    // What is shorter than a day is a number, or nothing that stands for one time.
    if text.len() < "2003-05-17".len() || text[4] != b'-' {
        return None;
    }
    Period::parse(std::str::from_utf8(text).ok()?).map(|period| period.start)
}

/// A time in seconds.
pub(crate) fn parse_time(text: &[u8], unit: TimeUnit) -> Number {
    match parse_number(text) {
        Number::Finite(number) => Number::Finite(number * unit.seconds()),
        Number::Text => date_of(text).map_or(Number::Text, Number::Finite),
        Number::NotFinite => Number::NotFinite,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_dates_are_times() {
        for (text, unit, expected) in [
            ("881250949", TimeUnit::Seconds, Number::Finite(881_250_949.0)),
            ("1500", TimeUnit::Milliseconds, Number::Finite(1.5)),
            ("1970-01-02", TimeUnit::Number, Number::Finite(86_400.0)),
            ("1970-01-02", TimeUnit::Milliseconds, Number::Finite(86_400.0)),
            ("2003", TimeUnit::Number, Number::Finite(2003.0)),
            ("2003-05", TimeUnit::Number, Number::Text),
            ("noon", TimeUnit::Number, Number::Text),
            ("nan", TimeUnit::Number, Number::NotFinite),
        ] {
            assert_eq!(parse_time(text.as_bytes(), unit), expected, "{text}");
        }
    }
}
