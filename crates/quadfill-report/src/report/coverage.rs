//! How the observations cover the labels.

use quadfill::Observations;
use quadfill::observations::Summary;

use super::{Block, Section, Tone};
use crate::chart::{
    Axis, Chart, LineChart, Point, ReferenceLine, Series, SeriesStyle, short_number,
};

/// The largest number of points of a curve.
const MAX_POINTS: usize = 120;

/// The quantile curve of a value over the labels of a mode.
pub(super) fn sorted_curve(name: &str, mut values: Vec<f64>, colour: usize, unit: &str) -> Series {
    values.sort_by(f64::total_cmp);
    let count = values.len();
    let points = MAX_POINTS.min(count);
    let points = (0..points)
        .map(|index| {
            let at = index * (count - 1) / (points - 1).max(1);
            let share = 100.0 * at as f64 / (count - 1).max(1) as f64;
            let tooltip = format!(
                "{name}: {} % of the labels have at most {} {unit}",
                short_number(share),
                short_number(values[at])
            );
            Point { x: share, y: values[at], error_bar: None, tooltip }
        })
        .collect();
    Series { name: name.to_owned(), points, style: SeriesStyle::Line, colour }
}

pub(super) fn section(data: &Observations, summary: &Summary, rank: usize) -> Section {
    let mut rows = Vec::new();
    for mode in &summary.modes {
        rows.push(vec![
            mode.name.clone(),
            mode.labels.to_string(),
            mode.min.to_string(),
            mode.median.to_string(),
            mode.max.to_string(),
            mode.unobserved.to_string(),
        ]);
    }
    let series = (0..data.modes().len())
        .map(|mode| {
            let counts = data.counts(mode).into_iter().map(|count| count as f64).collect();
            sorted_curve(&data.modes()[mode].name, counts, mode, "observations")
        })
        .collect();
    let chart = Chart::Lines(LineChart {
        title: "Observations per label".to_owned(),
        x: Axis::linear("labels, fewest observations first (%)"),
        y: Axis::log("observations"),
        series,
        reference_lines: vec![ReferenceLine::Horizontal(rank as f64, format!("rank {rank}"))],
    });
    let mut blocks = vec![
        Block::Facts(vec![
            ("observations".to_owned(), summary.observations.to_string()),
            (
                "observed share of all cells".to_owned(),
                format!("{} %", short_number(100.0 * summary.density)),
            ),
            (
                "values".to_owned(),
                format!("{} to {}", short_number(summary.min), short_number(summary.max)),
            ),
            (
                "mean ± standard deviation".to_owned(),
                format!("{} ± {}", short_number(summary.mean), short_number(summary.deviation)),
            ),
        ]),
        Block::table(&["mode", "labels", "fewest", "median", "most", "unobserved"], rows),
        Block::figure(
            "coverage",
            chart,
            "A label with fewer observations than the rank is underdetermined without the penalty.",
        ),
    ];
    blocks.extend(summary.warnings.iter().map(|warning| Block::Note(Tone::Warn, warning.clone())));
    Section::new("Data", blocks)
}
