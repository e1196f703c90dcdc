//! Axes: from numbers to places, and the numbers worth marking.

/// How numbers are spread along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// Equal differences are equal lengths.
    Linear,
    /// Equal ratios are equal lengths.
    Log,
}

/// One axis of a chart.
///
/// ```
/// use quadfill_lab::chart::Axis;
/// let axis = Axis::log("mode size d").marked(&[50.0, 200.0, 1000.0]);
/// ```
#[derive(Debug, Clone)]
pub struct Axis {
    pub(super) label: String,
    pub(super) spread: Spread,
    pub(super) range: Option<(f64, f64)>,
    pub(super) marks: Option<Vec<f64>>,
}

impl Axis {
    /// Equal differences are equal lengths.
    pub fn linear(label: &str) -> Self {
        Self { label: label.to_owned(), spread: Spread::Linear, range: None, marks: None }
    }

    /// Equal ratios are equal lengths; numbers that are not positive are drawn at the low end.
    pub fn log(label: &str) -> Self {
        Self { spread: Spread::Log, ..Self::linear(label) }
    }

    /// From one number to another, whatever the data are.
    #[must_use]
    pub fn from_to(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// Marked at these numbers.
    #[must_use]
    pub fn marked(mut self, marks: &[f64]) -> Self {
        self.marks = Some(marks.to_vec());
        self
    }

    /// The axis laid out for data, between two places on paper.
    pub(super) fn lay_out(&self, data: impl Iterator<Item = f64>, from: f64, to: f64) -> Scale {
        let (low, high) = self.range.unwrap_or_else(|| self.span(data));
        let mut scale = Scale { spread: self.spread, low, high, from, to, marks: Vec::new() };
        scale.marks = match &self.marks {
            Some(marks) => marks.iter().copied().filter(|m| *m >= low && *m <= high).collect(),
            None => scale.own_marks(),
        };
        scale
    }

    /// A range with some air around the data.
    fn span(&self, data: impl Iterator<Item = f64>) -> (f64, f64) {
        let usable = |x: &f64| x.is_finite() && (self.spread == Spread::Linear || *x > 0.0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for x in data.filter(usable) {
            low = low.min(x);
            high = high.max(x);
        }
        if low > high {
            return if self.spread == Spread::Log { (0.1, 10.0) } else { (0.0, 1.0) };
        }
        match self.spread {
            Spread::Linear => {
                let air = if high > low { 0.04 * (high - low) } else { 0.5 * high.abs().max(1.0) };
                // Nothing below zero where no data are.
                let floor = if low >= 0.0 && low - air < 0.0 { 0.0 } else { low - air };
                (floor, high + air)
            }
            Spread::Log => {
                let air = if high > low { (high / low).powf(0.04) } else { 3.0 };
                (low / air, high * air)
            }
        }
    }
}

/// An axis on paper.
#[derive(Debug, Clone)]
pub(super) struct Scale {
    spread: Spread,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    pub(super) marks: Vec<f64>,
}

impl Scale {
    /// Where a number stands, within the axis.
    pub(super) fn place(&self, x: f64) -> f64 {
        let share = match self.spread {
            Spread::Linear => (x - self.low) / (self.high - self.low),
            Spread::Log => {
                let x = x.max(f64::MIN_POSITIVE);
                (x / self.low).ln() / (self.high / self.low).ln()
            }
        };
        let share = if share.is_nan() { 1.0 } else { share.clamp(0.0, 1.0) };
        self.from + share * (self.to - self.from)
    }

    fn own_marks(&self) -> Vec<f64> {
        match self.spread {
            Spread::Linear => linear_marks(self.low, self.high),
            Spread::Log => log_marks(self.low, self.high),
        }
    }

    /// What to write at a mark.
    pub(super) fn label(&self, mark: f64) -> String {
        let decade = mark.log10();
        let is_power = (decade - decade.round()).abs() < 1e-9;
        if self.spread == Spread::Log && is_power && !(-2.0..=4.0).contains(&decade.round()) {
            return format!("10{}", superscript(decade.round() as i32));
        }
        plain(mark)
    }
}

/// Multiples of 1, 2 or 5 times a power of ten, at most eight of them.
fn linear_marks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 7.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|unit| unit * power)
        .find(|step| *step >= rough * (1.0 - 1e-9))
        .unwrap_or(10.0 * power);
    let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    (first..=last).map(|k| k as f64 * step).collect()
}

/// Powers of ten, every second or third where there are many, and 2 and 5 times them where few.
fn log_marks(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = ((low.log10() - 1e-9).ceil() as i32, (high.log10() + 1e-9).floor() as i32);
    if last - first < 2 {
        let all: Vec<f64> = (first - 1..=last + 1)
            .flat_map(|k| [1.0, 2.0, 5.0].map(|unit| unit * 10f64.powi(k)))
            .filter(|m| *m >= low && *m <= high)
            .collect();
        return all;
    }
    let every = (last - first) / 8 + 1;
    (first..=last).filter(|k| k.rem_euclid(every) == 0).map(|k| 10f64.powi(k)).collect()
}

/// A number with the digits that matter, and no more than four of them.
pub(crate) fn plain(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return "\u{2013}".to_owned();
    }
    if !(1e-3..1e5).contains(&size) {
        let power = size.log10().floor() as i32;
        let lead = value / 10f64.powi(power);
        let lead = format!("{lead:.1}");
        let lead = lead.trim_end_matches('0').trim_end_matches('.');
        return format!("{}\u{b7}10{}", minus(lead), superscript(power));
    }
    let digits = (3 - size.log10().floor() as i32).clamp(0, 6) as usize;
    let text = format!("{value:.digits$}");
    let short =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    minus(short)
}

fn minus(text: &str) -> String {
    text.replace('-', "\u{2212}")
}

fn superscript(power: i32) -> String {
    let digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let text = power.unsigned_abs().to_string();
    let mut out = String::new();
    if power < 0 {
        out.push('⁻');
    }
    out.extend(text.bytes().map(|digit| digits[usize::from(digit - b'0')]));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_numbers_within_the_range() {
        assert_eq!(linear_marks(0.0, 10.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(log_marks(1e-3, 1.0).len(), 4);
        assert_eq!(log_marks(40.0, 260.0), [50.0, 100.0, 200.0]);
        assert!(log_marks(1e-16, 1.0).len() <= 9);
    }

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
            assert_eq!(plain(value), text);
        }
    }

    #[test]
    fn places_stay_on_the_axis() {
        let scale = Axis::log("x").from_to(1.0, 100.0).lay_out([].into_iter(), 0.0, 10.0);
        assert_eq!(scale.place(10.0), 5.0);
        assert_eq!(scale.place(0.0), 0.0);
        assert_eq!(scale.place(1e9), 10.0);
        assert_eq!(scale.label(100.0), "100");
    }
}
