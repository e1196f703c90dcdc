//! The scoreboard as text, Markdown and JSON.

use std::fmt::Write;

use super::results::{Row, median};

/// Widths of the columns of names, of errors and of what was chosen.
pub(super) const NAME: usize = 24;
const ERROR: usize = 11;
const CHOSEN: usize = 28;
/// Plain `fit` is as good as the best column if it is not more than this many times its error.
const AS_GOOD: f64 = 1.01;

/// The line above the rows.
pub(super) fn head(heads: &[String]) -> String {
    let mut line =
        format!("{:<NAME$}{:>9}{:>10}{:>8}  {:<CHOSEN$}", "", "cells", "plain", "s", "chosen");
    for head in heads {
        let _ = write!(line, "{head:>ERROR$}");
    }
    line + &format!("{:>8}{:>8}  best", "ratio", "worst")
}

/// A row: medians over the splits.
pub(super) fn line(row: &Row, heads: &[String]) -> String {
    let mut line = format!("{:<NAME$}{:>9}", row.marked_name(), row.cells);
    let (error, seconds, chosen) = row.plain_texts();
    let _ = write!(line, "{error:>10}{seconds:>8}  {chosen:<CHOSEN$}");
    for head in heads {
        let _ = write!(line, "{:>ERROR$}", row.column_text(head));
    }
    if let Some(comparison) = row.comparison() {
        let (ratio, worst) = (comparison.ratio, comparison.worst_ratio);
        let _ = write!(line, "{ratio:>8.3}{worst:>8.3}  {}", comparison.best.name);
    }
    line
}

/// What the rows say together, and how plain `fit` compares with myFM where there are several splits.
pub(super) fn summary(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        if let Some((mean, error)) = row.paired_difference("myfm") {
            let _ = writeln!(
                text,
                "{}: plain less myFM (best of its ranks) {mean:+.5}, standard error {error:.5}, {} splits",
                row.name,
                row.plain.len()
            );
        }
    }
    let counted: Vec<_> = rows
        .iter()
        .filter(|row| !row.is_tuned_on)
        .filter_map(|row| Some((row, row.comparison()?)))
        .collect();
    let worst = counted.iter().max_by(|(_, a), (_, b)| a.ratio.total_cmp(&b.ratio));
    if let Some((row, comparison)) = worst {
        let good = counted.iter().filter(|(_, comparison)| comparison.ratio <= AS_GOOD).count();
        let _ = writeln!(
            text,
            "within 1 % of the best column: {good} of {} rows; worst ratio {:.3} ({}, {}); rows with * are not counted",
            counted.len(),
            comparison.ratio,
            row.name,
            comparison.best.name
        );
    }
    text + "~: ended by the time limit\n"
}

/// The table for a document.
pub(super) fn markdown(rows: &[Row], heads: &[String]) -> String {
    let mut text = String::from("| | plain `fit` | s | chosen |");
    for head in heads {
        let _ = write!(text, " {head} |");
    }
    text.push_str(" ratio to the best |\n|---|---|---|---|");
    text.push_str(&"---|".repeat(heads.len() + 1));
    text.push('\n');
    for row in rows {
        let (error, seconds, chosen) = row.plain_texts();
        let _ = write!(text, "| {} | {error} | {seconds} | {chosen} |", row.marked_name());
        for head in heads {
            let _ = write!(text, " {} |", row.column_text(head));
        }
        match row.comparison() {
            Some(comparison) => {
                let _ = writeln!(text, " {:.3} |", comparison.ratio);
            }
            None => text.push_str(" |\n"),
        }
    }
    text + "\n" + &summary(rows)
}

impl Row {
    fn marked_name(&self) -> String {
        format!("{}{}", self.name, if self.is_tuned_on { " *" } else { "" })
    }

    /// Error, seconds and choice of plain `fit`, empty if it was not run.
    fn plain_texts(&self) -> (String, String, String) {
        let Some(last) = self.plain.last() else {
            return Default::default();
        };
        let seconds: Vec<f64> = self.plain.iter().map(|plain| plain.seconds).collect();
        (
            number(median(&self.plain_errors())),
            format!("{:.1}", median(&seconds)),
            last.chosen.clone(),
        )
    }

    fn column_text(&self, name: &str) -> String {
        self.column(name).map_or_else(String::new, |column| {
            let mark = if column.was_cut_short { "~" } else { "" };
            number(median(&column.errors)) + mark
        })
    }
}

/// Four digits.
fn number(value: f64) -> String {
    if value.abs() < 10.0 { format!("{value:.4}") } else { format!("{value:.2}") }
}
