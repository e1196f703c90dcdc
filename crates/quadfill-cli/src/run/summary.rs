//! A summary of the data, as text.

use quadfill::observations::Summary;

use crate::report::{Lines, counted, grouped, number};

/// The summary as a table, without the warnings.
pub(super) fn lines(summary: &Summary) -> Lines {
    let mut lines = Lines::default();
    let sizes: Vec<String> = summary.modes.iter().map(|mode| mode.labels.to_string()).collect();
    lines.add(
        "data",
        format!(
            "{} of {} cells ({} %)",
            counted(summary.observations, "observation"),
            sizes.join(" x "),
            number(100.0 * summary.density)
        ),
    );
    for mode in &summary.modes {
        let unobserved = match mode.unobserved {
            0 => String::new(),
            n => format!(", {} with none", counted(n, "label")),
        };
        lines.add(
            format!("  {}", mode.name),
            format!(
                "{} with {} to {}, median {}{unobserved}",
                counted(mode.labels, "label"),
                grouped(mode.min),
                counted(mode.max, "observation"),
                grouped(mode.median)
            ),
        );
    }
    lines.add(
        "values",
        format!(
            "{} to {}, mean {}, deviation {}",
            number(summary.min),
            number(summary.max),
            number(summary.mean),
            number(summary.deviation)
        ),
    );
    if let Some(freedom) = summary.degrees_of_freedom {
        lines.add(
            "model",
            format!(
                "{}, {} observations for each",
                counted(freedom, "free parameter"),
                number(summary.observations as f64 / freedom.max(1) as f64)
            ),
        );
    }
    lines
}

/// The warnings, one line each.
pub(super) fn warnings(summary: &Summary) -> impl Iterator<Item = String> + '_ {
    summary.warnings.iter().map(|warning| format!("warning: {warning}"))
}
