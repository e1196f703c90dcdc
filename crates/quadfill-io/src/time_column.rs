//! Times of one column while they are read, and their bins.

use quadfill::observations::Binning;
use rayon::prelude::*;

use crate::columns::{convert_numbers, gather};

/// Times in seconds. While all are whole numbers of 32 bits, they take no more room than their bins will.
#[derive(Debug)]
pub(crate) enum TimeColumn {
    Whole(Vec<u32>),
    Real(Vec<f64>),
}

impl TimeColumn {
    pub(crate) fn with_capacity(rows: usize) -> Self {
        Self::Whole(Vec::with_capacity(rows))
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Whole(times) => times.len(),
            Self::Real(times) => times.len(),
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, time: f64) {
        // A time that is negative or too large becomes another number.
        let whole = time as u32;
        match self {
            Self::Whole(times) if f64::from(whole) == time => times.push(whole),
            Self::Real(times) => times.push(time),
            Self::Whole(_) => self.reals().push(time),
        }
    }

    /// Appends whole numbers of a unit of this many seconds.
    pub(crate) fn push_integers(&mut self, numbers: &[i64], seconds: f64) {
        // Any bit beyond 32, that of the sign too, says that not all of them fit.
        let bits = numbers.iter().fold(0, |bits, &number| bits | number as u64);
        match self {
            Self::Whole(times) if bits >> 32 == 0 && seconds == 1.0 => {
                times.extend(numbers.iter().map(|&number| number as u32));
            }
            Self::Whole(_) => {
                for &number in numbers {
                    self.push(number as f64 * seconds);
                }
            }
            Self::Real(times) => {
                times.extend(numbers.iter().map(|&number| number as f64 * seconds));
            }
        }
    }

    #[cold]
    fn reals(&mut self) -> &mut Vec<f64> {
        if let Self::Whole(whole) = self {
            let mut times = Vec::with_capacity(whole.capacity());
            times.extend(whole.iter().map(|&time| f64::from(time)));
            *self = Self::Real(times);
        }
        match self {
            Self::Real(times) => times,
            Self::Whole(_) => unreachable!("they were replaced"),
        }
    }

    /// The first and the last time; infinite if there are none.
    pub(crate) fn span(&self) -> (f64, f64) {
        let none = (f64::INFINITY, f64::NEG_INFINITY);
        match self {
            Self::Whole(times) => times
                .par_iter()
                .fold(|| (u32::MAX, 0), |(first, last), &time| (time.min(first), time.max(last)))
                .map(|(first, last)| (f64::from(first), f64::from(last)))
                .reduce(|| none, wider),
            Self::Real(times) => times.iter().fold(none, |(first, last), &time| {
                (if time < first { time } else { first }, if time > last { time } else { last })
            }),
        }
    }
}

/// The span of both.
pub(crate) fn wider(one: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    (one.0.min(other.0), one.1.max(other.1))
}

/// The bins of all times, every one of which has one.
pub(crate) fn bins_of(pieces: Vec<TimeColumn>, binning: &Binning) -> Vec<u32> {
    let bin = |time| binning.bin(time).unwrap_or_default();
    if pieces.iter().all(|piece| matches!(piece, TimeColumn::Whole(_))) {
        let whole = pieces.into_iter().filter_map(|piece| match piece {
            TimeColumn::Whole(times) => Some(times),
            TimeColumn::Real(_) => None,
        });
        return convert_numbers(whole.collect(), |time| bin(f64::from(time)));
    }
    let reals = pieces.into_iter().map(|mut piece| std::mem::take(piece.reals()));
    gather(reals.collect(), bin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use quadfill::observations::TimeUnit;

    proptest! {
        #[test]
        fn times_of_both_kinds_have_the_bins_they_have_alone(
            numbers in proptest::collection::vec(prop_oneof![0i64..5_000, -3i64..6_000_000_000], 1..60),
            seconds in prop_oneof![Just(1.0), Just(1e-3), Just(86_400.0)],
            piece in 1usize..70,
        ) {
            let pieces: Vec<TimeColumn> = numbers
                .chunks(piece)
                .map(|numbers| {
                    let mut column = TimeColumn::with_capacity(0);
                    column.push_integers(numbers, seconds);
                    column
                })
                .collect();
            let times: Vec<f64> = numbers.iter().map(|&number| number as f64 * seconds).collect();
            let (first, last) = pieces.iter().map(TimeColumn::span).reduce(wider).expect("some");
            prop_assert_eq!(Some(first), times.iter().copied().reduce(f64::min));
            prop_assert_eq!(Some(last), times.iter().copied().reduce(f64::max));
            let width = ((last - first) / 1e6).max(7.5);
            let binning = Binning { origin: first, width, count: None, unit: TimeUnit::Seconds };
            let expected: Vec<u32> =
                times.iter().map(|&time| binning.bin(time).expect("a bin")).collect();
            prop_assert_eq!(bins_of(pieces, &binning), expected);
        }
    }
}
