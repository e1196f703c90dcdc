//! A summary of the data, as text.

use quadfill::observations::Summary;
use quadfill_io::ColumnRoles;

use super::columns;
use crate::report::{Lines, counted, grouped, number};

/// The summary as a table, without the warnings, and what the columns were taken for.
pub(super) fn lines(summary: &Summary, roles: Option<&ColumnRoles>) -> Lines {
    let mut lines = Lines::default();
    if let Some(roles) = roles {
        lines.add("columns", columns::in_words(roles));
    }
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
        let labels = match &mode.bins {
            None => counted(mode.labels, "label"),
            Some(bins) => format!(
                "{} of {} ({} to {})",
                counted(mode.labels, "bin"),
                bins.span,
                bins.first,
                bins.last
            ),
        };
        lines.add(
            format!("  {}", mode.name),
            format!(
                "{labels} with {} to {}, median {}{unobserved}",
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
pub(super) fn warnings(
    summary: &Summary,
    roles: Option<&ColumnRoles>,
) -> impl Iterator<Item = String> {
    let about_data = summary.warnings.iter().map(|warning| format!("warning: {warning}"));
    columns::warnings(roles).chain(about_data)
}
