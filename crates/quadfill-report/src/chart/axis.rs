//! Axes: from values to positions.

use super::ticks;

/// The scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scaling {
    Linear,
    Log,
}

/// One axis of a chart.
///
/// ```
/// use quadfill_report::chart::Axis;
/// let axis = Axis::log("mode size d").with_ticks(&[50.0, 200.0, 1000.0]);
/// ```
#[derive(Debug, Clone)]
pub struct Axis {
    pub(super) label: String,
    pub(super) scaling: Scaling,
    pub(super) range: Option<(f64, f64)>,
    pub(super) ticks: Option<Vec<f64>>,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: &str) -> Self {
        Self { label: label.to_owned(), scaling: Scaling::Linear, range: None, ticks: None }
    }

    /// A logarithmic axis. Values that are not positive are drawn at its lower end.
    pub fn log(label: &str) -> Self {
        Self { scaling: Scaling::Log, ..Self::linear(label) }
    }

    /// Sets the range, which otherwise follows from the data.
    #[must_use]
    pub fn with_range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// Sets the ticks, which otherwise follow from the range.
    #[must_use]
    pub fn with_ticks(mut self, ticks: &[f64]) -> Self {
        self.ticks = Some(ticks.to_vec());
        self
    }

    /// The axis for some data, between two positions on the drawing.
    pub(super) fn lay_out(&self, data: impl Iterator<Item = f64>, from: f64, to: f64) -> Scale {
        let (low, high) = self.range.unwrap_or_else(|| self.span(data));
        let ticks = match &self.ticks {
            Some(ticks) => ticks.iter().copied().filter(|t| *t >= low && *t <= high).collect(),
            None => ticks::ticks(self.scaling, low, high),
        };
        let labels = ticks::labels(self.scaling, &ticks);
        let ticks = ticks.into_iter().zip(labels).collect();
        Scale { scaling: self.scaling, low, high, from, to, ticks }
    }

    /// The range of the data with some padding.
    fn span(&self, data: impl Iterator<Item = f64>) -> (f64, f64) {
        let usable = |x: &f64| x.is_finite() && (self.scaling == Scaling::Linear || *x > 0.0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for x in data.filter(usable) {
            low = low.min(x);
            high = high.max(x);
        }
        if low > high {
            return if self.scaling == Scaling::Log { (0.1, 10.0) } else { (0.0, 1.0) };
        }
        match self.scaling {
            Scaling::Linear => {
                let padding =
                    if high > low { 0.04 * (high - low) } else { 0.5 * high.abs().max(1.0) };
                // Padding does not make nonnegative data reach below zero.
                let floor = if low >= 0.0 && low - padding < 0.0 { 0.0 } else { low - padding };
                (floor, high + padding)
            }
            Scaling::Log => {
                let padding = if high > low { (high / low).powf(0.04) } else { 3.0 };
                (low / padding, high * padding)
            }
        }
    }
}

/// An axis with a range and a position on the drawing.
#[derive(Debug, Clone)]
pub(super) struct Scale {
    scaling: Scaling,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    /// The values of the ticks with their labels.
    pub(super) ticks: Vec<(f64, String)>,
}

impl Scale {
    /// The position of a value, clamped to the axis.
    pub(super) fn position(&self, x: f64) -> f64 {
        let share = match self.scaling {
            Scaling::Linear => (x - self.low) / (self.high - self.low),
            Scaling::Log => {
                let x = x.max(f64::MIN_POSITIVE);
                (x / self.low).ln() / (self.high / self.low).ln()
            }
        };
        let share = if share.is_nan() { 1.0 } else { share.clamp(0.0, 1.0) };
        self.from + share * (self.to - self.from)
    }
}

/// A number for people to read: at most four significant digits, powers of ten as superscripts.
///
/// ```
/// use quadfill_report::chart::short_number;
/// assert_eq!(short_number(0.30000000000000004), "0.3");
/// assert_eq!(short_number(2.5e7), "2.5·10⁷");
/// ```
pub fn short_number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return "\u{2013}".to_owned();
    }
    if !(1e-3..1e5).contains(&size) {
        let exponent = size.log10().floor() as i32;
        let mantissa = value / 10f64.powi(exponent);
        let mantissa = format!("{mantissa:.1}");
        let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
        return format!("{}\u{b7}10{}", minus(mantissa), superscript(exponent));
    }
    let digits = (3 - size.log10().floor() as i32).clamp(0, 6) as usize;
    let text = format!("{value:.digits$}");
    let short =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    minus(short)
}

pub(super) fn minus(text: &str) -> String {
    text.replace('-', "\u{2212}")
}

pub(super) fn superscript(exponent: i32) -> String {
    let digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let text = exponent.unsigned_abs().to_string();
    let mut out = String::new();
    if exponent < 0 {
        out.push('⁻');
    }
    out.extend(text.bytes().map(|digit| digits[usize::from(digit - b'0')]));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (0.25, "0.25"),
            (-3.0, "−3"),
            (1000.0, "1000"),
            (1e-5, "1·10⁻⁵"),
            (2.5e7, "2.5·10⁷"),
            (0.1 + 0.2, "0.3"),
        ] {
            assert_eq!(short_number(value), text);
        }
    }

    #[test]
    fn positions_stay_on_the_axis() {
        let scale = Axis::log("x").with_range(1.0, 100.0).lay_out([].into_iter(), 0.0, 10.0);
        assert_eq!(scale.position(10.0), 5.0);
        assert_eq!(scale.position(0.0), 0.0);
        assert_eq!(scale.position(1e9), 10.0);
        assert_eq!(scale.ticks.last(), Some(&(100.0, "100".to_owned())));
    }
}
