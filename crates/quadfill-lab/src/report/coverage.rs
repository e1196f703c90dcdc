//! How the data cover the labels.

use quadfill::observations::Summary;
use quadfill::{Observations, Real};

use super::{Block, Section, Tone};
use crate::chart::{Axis, Chart, LineChart, Look, Point, Rule, Series, plain};

/// The most points of a curve.
const MOST_POINTS: usize = 120;

/// A curve over the labels of a mode, smallest first: at each share of the labels the value there.
pub(super) fn sorted_curve(name: &str, mut values: Vec<f64>, colour: usize, unit: &str) -> Series {
    values.sort_by(f64::total_cmp);
    let count = values.len();
    let points = MOST_POINTS.min(count);
    let points = (0..points)
        .map(|place| {
            let at = place * (count - 1) / (points - 1).max(1);
            let share = 100.0 * at as f64 / (count - 1).max(1) as f64;
            let tip = format!(
                "{name}: {} % of the labels have at most {} {unit}",
                plain(share),
                plain(values[at])
            );
            Point { x: share, y: values[at], bar: None, tip }
        })
        .collect();
    Series { name: name.to_owned(), points, look: Look::Line, colour }
}

pub(super) fn section<T: Real>(data: &Observations<T>, summary: &Summary, rank: usize) -> Section {
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
        rules: vec![Rule::Level(rank as f64, format!("rank {rank}"))],
    });
    let mut blocks = vec![
        Block::Facts(vec![
            ("observations".to_owned(), summary.observations.to_string()),
            ("share of all cells".to_owned(), format!("{} %", plain(100.0 * summary.density))),
            ("values".to_owned(), format!("{} to {}", plain(summary.min), plain(summary.max))),
            (
                "mean ± deviation".to_owned(),
                format!("{} ± {}", plain(summary.mean), plain(summary.deviation)),
            ),
        ]),
        Block::table(&["mode", "labels", "fewest", "median", "most", "without any"], rows),
        Block::figure(
            "coverage",
            chart,
            "A label with fewer observations than the rank rests on the penalty alone.",
        ),
    ];
    blocks.extend(summary.warnings.iter().map(|warning| Block::Note(Tone::Warn, warning.clone())));
    Section::new("Data", blocks)
}
