//! Numbers and tables for people.

use std::fmt::Write;

use quadfill::model::Biases;
use quadfill::solve::Status;

/// A number with the digits that matter: `0.123`, `1.23e-9`, `4321`.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if !(1e-3..1e6).contains(&size) {
        format!("{value:.2e}")
    } else {
        let digits = (3 - size.log10().floor() as i32).clamp(0, 6) as usize;
        let text = format!("{value:.digits$}");
        match digits {
            0 => text,
            _ => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        }
    }
}

/// A count with its digits in groups of three.
pub(crate) fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count of things: `1 label`, `2,000 labels`.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    format!("{} {thing}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// Why a fit ended.
pub(crate) fn status_in_words(status: Status) -> &'static str {
    match status {
        Status::Exact => "exact: the data are reproduced to working precision",
        Status::Converged => "converged: the objective stopped decreasing",
        Status::Certified => "certified: no additional column lowers the objective",
        Status::Validated => "validated: settings not given were chosen on held-out data",
        Status::Sampled => "sampled: all draws were taken",
        Status::NoProgress => "no progress: no step lowers the objective",
        Status::SweepLimit => "stopped at the sweep limit",
        Status::TimeLimit => "stopped at the time limit",
        Status::RankLimit => "stopped at the largest rank",
        Status::Interrupted => "interrupted",
    }
}

/// What is added to the interaction.
pub(crate) fn biases_in_words(biases: Biases) -> &'static str {
    match biases {
        Biases::None => "no biases",
        Biases::Mean => "the mean",
        Biases::Modes => "the mean and biases",
    }
}

/// Lines of a name and a text, aligned.
#[derive(Debug, Default)]
pub(crate) struct Lines(Vec<(String, String)>);

impl Lines {
    pub(crate) fn add(&mut self, name: impl Into<String>, text: impl Into<String>) {
        self.0.push((name.into(), text.into()));
    }
}

impl std::fmt::Display for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = self.0.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        for (position, (name, text)) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_char('\n')?;
            }
            write!(f, "{name:width$}  {text}")?;
        }
        Ok(())
    }
}

/// A curve as a row of blocks, heights on a logarithmic scale.
pub(crate) fn sparkline(values: &[f64], width: usize) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let heights: Vec<f64> = values
        .iter()
        .filter(|value| value.is_finite())
        .map(|value| value.max(f64::MIN_POSITIVE).ln())
        .collect();
    let low = heights.iter().copied().fold(f64::INFINITY, f64::min);
    let high = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let columns = width.min(heights.len());
    (0..columns)
        .map(|column| {
            let height = heights[column * (heights.len() - 1) / (columns - 1).max(1)];
            let share = if high > low { (height - low) / (high - low) } else { 0.0 };
            BLOCKS[(share * 7.0).round() as usize]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_the_digits_that_matter() {
        for (value, text) in [
            (0.0, "0"),
            (0.123_456, "0.1235"),
            (-2.5, "-2.5"),
            (300.0, "300"),
            (1.5e-9, "1.50e-9"),
            (1234.5, "1234"),
            (2e7, "2.00e7"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1234), "1,234");
        assert_eq!(grouped(8_000_000), "8,000,000");
    }

    #[test]
    fn curves_fall_from_full_to_low() {
        assert_eq!(sparkline(&[100.0, 10.0, 1.0], 3), "█▅▁");
        assert_eq!(sparkline(&[1.0], 10), "▁");
        assert_eq!(sparkline(&[], 10), "");
        assert_eq!(sparkline(&vec![1.0; 100], 20).chars().count(), 20);
    }
}
