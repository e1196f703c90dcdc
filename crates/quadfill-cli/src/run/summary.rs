//! What the data look like, in words.

use quadfill::observations::Summary;

use crate::report::{Lines, grouped, number};

/// The summary as a table, warnings apart.
pub(super) fn lines(summary: &Summary) -> Lines {
    let mut lines = Lines::default();
    let sizes: Vec<String> = summary.modes.iter().map(|mode| mode.labels.to_string()).collect();
    lines.add(
        "data",
        format!(
            "{} observations of {} cells ({} %)",
            grouped(summary.observations),
            sizes.join(" x "),
            number(100.0 * summary.density)
        ),
    );
    for mode in &summary.modes {
        let unobserved = match mode.unobserved {
            0 => String::new(),
            n => format!(", {} labels with none", grouped(n)),
        };
        lines.add(
            format!("  {}", mode.name),
            format!(
                "{} labels with {} to {} observations, median {}{unobserved}",
                grouped(mode.labels),
                grouped(mode.min),
                grouped(mode.max),
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
                "{} free parameters, {} observations for each",
                grouped(freedom),
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
