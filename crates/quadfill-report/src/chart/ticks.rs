//! The ticks of an axis: round values, and labels that tell them apart.

use super::axis::{Scaling, minus, short_number, superscript};

/// With fewer ticks, a reader cannot tell the scale of an axis.
const FEWEST: usize = 3;

/// The ticks of an axis between two values.
pub(super) fn ticks(scaling: Scaling, low: f64, high: f64) -> Vec<f64> {
    match scaling {
        Scaling::Linear => linear_ticks(low, high),
        Scaling::Log => log_ticks(low, high),
    }
}

/// Multiples of 1, 2 or 5 times a power of ten: three to eight of them.
fn linear_ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 7.0;
    if !(rough.is_finite() && rough > 0.0) {
        return Vec::new();
    }
    let power = 10f64.powf(rough.log10().floor());
    let units = [0.5, 1.0, 2.0, 5.0, 10.0];
    let enough = |unit: f64| unit * power >= rough * (1.0 - 1e-9);
    let at = units.iter().position(|&unit| enough(unit)).unwrap_or(units.len() - 1).max(1);
    let coarse = multiples(units[at] * power, low, high);
    if coarse.len() >= FEWEST { coarse } else { multiples(units[at - 1] * power, low, high) }
}

/// The multiples of a step within a range.
fn multiples(step: f64, low: f64, high: f64) -> Vec<f64> {
    let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    // Dividing by a whole number where there is one gives 0.3 and not 0.30000000000000004.
    let inverse = step.recip().round();
    let is_whole = step < 1.0 && (inverse * step - 1.0).abs() < 1e-9;
    let tick = |k: i64| if is_whole { k as f64 / inverse } else { k as f64 * step };
    (first..=last).map(tick).collect()
}

/// Powers of ten: every second or third if there are many, also 2 and 5 times them if there are few.
/// A range that has hardly any of these is so short that evenly spaced values do.
fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = ((low.log10() - 1e-9).ceil() as i32, (high.log10() + 1e-9).floor() as i32);
    if last - first < 2 {
        let all: Vec<f64> = (first - 1..=last + 1)
            .flat_map(|k| [1.0, 2.0, 5.0].map(|unit| unit * 10f64.powi(k)))
            .filter(|t| *t >= low && *t <= high)
            .collect();
        return if all.len() >= FEWEST { all } else { linear_ticks(low, high) };
    }
    let every = (last - first) / 8 + 1;
    (first..=last).filter(|k| k.rem_euclid(every) == 0).map(|k| 10f64.powi(k)).collect()
}

/// The labels of ticks: evenly spaced ones have equally many decimals, and no two are equal.
pub(super) fn labels(scaling: Scaling, ticks: &[f64]) -> Vec<String> {
    if is_evenly_spaced(ticks) {
        return with_equal_decimals(ticks);
    }
    let short: Vec<String> = ticks.iter().map(|&tick| label(scaling, tick)).collect();
    let repeats = short.windows(2).any(|pair| pair[0] == pair[1]);
    if repeats { with_equal_decimals(ticks) } else { short }
}

fn is_evenly_spaced(ticks: &[f64]) -> bool {
    let step = smallest_step(ticks);
    ticks.len() >= FEWEST
        && ticks.windows(2).all(|pair| (pair[1] - pair[0] - step).abs() < 1e-6 * step)
}

fn smallest_step(ticks: &[f64]) -> f64 {
    let steps = ticks.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    steps.filter(|step| *step > 0.0).fold(f64::INFINITY, f64::min)
}

/// The label of a tick on its own.
fn label(scaling: Scaling, tick: f64) -> String {
    let decade = tick.log10();
    let is_power = (decade - decade.round()).abs() < 1e-9;
    if scaling == Scaling::Log && is_power && !(-2.0..=4.0).contains(&decade.round()) {
        return format!("10{}", superscript(decade.round() as i32));
    }
    short_number(tick)
}

/// As many decimals for all as the one that needs most; beyond the usual sizes, of a power of ten that
/// all have in common.
fn with_equal_decimals(ticks: &[f64]) -> Vec<String> {
    let largest = ticks.iter().fold(0.0, |most: f64, tick| most.max(tick.abs()));
    let step = smallest_step(ticks);
    if largest == 0.0 || !step.is_finite() {
        return ticks.iter().map(|&tick| short_number(tick)).collect();
    }
    let exponent = if (1e-3..1e5).contains(&largest) { 0 } else { largest.log10().floor() as i32 };
    let unit = 10f64.powi(exponent);
    let is_enough = |decimals: &usize| {
        let scale = 10f64.powi(*decimals as i32) / unit;
        ticks.iter().all(|tick| (tick * scale - (tick * scale).round()).abs() < 1e-3 * step * scale)
    };
    let decimals = (0..12).find(is_enough).unwrap_or(12);
    let text = |&tick: &f64| match (tick == 0.0, exponent) {
        (true, _) => "0".to_owned(),
        (_, 0) => minus(&format!("{tick:.decimals$}")),
        _ => {
            let mantissa = format!("{:.decimals$}", tick / unit);
            format!("{}\u{b7}10{}", minus(&mantissa), superscript(exponent))
        }
    };
    ticks.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(scaling: Scaling, low: f64, high: f64) -> Vec<String> {
        labels(scaling, &ticks(scaling, low, high))
    }

    #[test]
    fn ticks_are_round_numbers_within_the_range() {
        assert_eq!(linear_ticks(0.0, 10.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(linear_ticks(0.0, 0.5), [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]);
        assert_eq!(log_ticks(1e-3, 1.0).len(), 4);
        assert_eq!(log_ticks(40.0, 260.0), [50.0, 100.0, 200.0]);
        assert!(log_ticks(1e-16, 1.0).len() <= 9);
    }

    #[test]
    fn short_logarithmic_ranges_have_ticks_too() {
        assert_eq!(shown(Scaling::Log, 0.83, 0.92), ["0.84", "0.86", "0.88", "0.90", "0.92"]);
        assert_eq!(shown(Scaling::Log, 28.0, 47.0), ["30", "35", "40", "45"]);
        assert_eq!(shown(Scaling::Log, 2.1, 9.9), ["4", "6", "8"]);
        assert_eq!(shown(Scaling::Log, 0.9, 1.1), ["0.90", "0.95", "1.00", "1.05", "1.10"]);
        let narrow = shown(Scaling::Log, 0.831_21, 0.831_29);
        assert!(narrow.len() >= 3 && narrow[0].starts_with("0.8312"), "{narrow:?}");
    }

    #[test]
    fn every_range_has_three_to_nine_different_labels() {
        for scaling in [Scaling::Linear, Scaling::Log] {
            for middle in [1.3e-9, 4.7e-4, 0.83, 1.0, 36.2, 9_871.0, 99_990.0, 3.3e5, 7.77e12] {
                for width in [1e-5, 1e-3, 0.04, 0.3, 0.9, 0.99] {
                    let (low, high) = (middle * (1.0 - width), middle * (1.0 + width));
                    let ticks = ticks(scaling, low, high);
                    let mut labels = labels(scaling, &ticks);
                    let words = format!("{scaling:?} {low} {high}: {labels:?}");
                    assert!((3..=9).contains(&ticks.len()), "{words}");
                    assert!(
                        ticks.iter().all(|t| *t >= low * (1.0 - 1e-9) && *t <= high * (1.0 + 1e-9))
                    );
                    labels.dedup();
                    assert_eq!(labels.len(), ticks.len(), "{words}");
                }
            }
        }
    }

    #[test]
    fn evenly_spaced_labels_have_equal_decimals() {
        assert_eq!(shown(Scaling::Linear, -1.0, 1.0), ["−1.0", "−0.5", "0", "0.5", "1.0"]);
        assert_eq!(
            shown(Scaling::Linear, 0.0, 3e5),
            ["0", "0.5·10⁵", "1.0·10⁵", "1.5·10⁵", "2.0·10⁵", "2.5·10⁵", "3.0·10⁵"]
        );
        assert_eq!(shown(Scaling::Linear, 100_000.0, 100_004.0)[1], "1.00001·10⁵");
    }

    #[test]
    fn powers_of_ten_are_written_as_such() {
        assert_eq!(labels(Scaling::Log, &[1e-4, 1e-2, 1.0]), ["10⁻⁴", "0.01", "1"]);
    }

    #[test]
    fn ranges_without_a_length_have_no_ticks() {
        assert!(linear_ticks(1.0, 1.0).is_empty());
        assert!(linear_ticks(0.0, f64::INFINITY).is_empty());
    }
}
