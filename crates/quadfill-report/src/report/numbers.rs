//! Numbers with as many decimals as they deserve.

use crate::chart::short_number;

/// As many decimals as a number of this size takes to have so many digits; `None` where numbers are
/// better written with a power of ten.
pub(super) fn decimals_of(size: f64, digits: i32) -> Option<usize> {
    let is_usual = (1e-3..1e5).contains(&size);
    is_usual.then(|| (digits - 1 - size.log10().floor() as i32).clamp(0, 6) as usize)
}

/// As many decimals as give a standard error one digit, or two if it begins with a 1.
pub(super) fn decimals_of_error(value: f64, standard_error: f64) -> Option<usize> {
    let is_usual = (1e-3..1e5).contains(&value.abs()) && standard_error > 0.0;
    is_usual.then(|| {
        let first = -standard_error.log10().floor() as i32;
        let leading = standard_error * 10f64.powi(first);
        (first + i32::from(leading < 2.0)).clamp(0, 6) as usize
    })
}

/// A number with so many decimals.
pub(super) fn fixed(value: f64, decimals: Option<usize>) -> String {
    let Some(decimals) = decimals else { return short_number(value) };
    let text = format!("{value:.decimals$}");
    let is_zero = !text.bytes().any(|byte| (b'1'..=b'9').contains(&byte));
    if is_zero { text.replace('-', "") } else { text.replace('-', "\u{2212}") }
}

/// A difference in per cent, with one decimal.
pub(super) fn percent(value: f64) -> String {
    if value.abs() < 0.05 { "less than 0.1 %".to_owned() } else { format!("{value:.1} %") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_follow_from_the_size_or_the_error() {
        assert_eq!(fixed(0.829_4, decimals_of_error(0.829_4, 0.006_2)), "0.829");
        assert_eq!(fixed(0.829_4, decimals_of_error(0.829_4, 0.001_4)), "0.8294");
        assert_eq!(fixed(23.75, decimals_of_error(23.75, 1.1)), "23.8");
        assert_eq!(fixed(324.2, decimals_of_error(324.2, 7.0)), "324");
        assert_eq!(fixed(-0.008_849, decimals_of(1.126, 4)), "\u{2212}0.009");
        assert_eq!(fixed(-0.000_2, decimals_of(1.126, 4)), "0.000");
        assert_eq!(fixed(2e-7, decimals_of(2e-7, 4)), "2·10⁻⁷");
        assert_eq!(percent(0.01), "less than 0.1 %");
        assert_eq!(percent(2.21), "2.2 %");
    }
}
