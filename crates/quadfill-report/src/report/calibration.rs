//! Whether intervals contain as many observations as they say.

use quadfill::model::UNKNOWN;
use quadfill::solve::Status;
use quadfill::{Model, Observations};

use super::fit::FitStory;
use super::{Block, Section};
use crate::chart::{Axis, Chart, LineChart, Point, Series, SeriesStyle, short_number};

/// Nominal levels, each with its quantile: half the width of its interval over the standard deviation,
/// of a normal distribution.
const LEVELS: [(f64, f64); 6] = [
    (0.5, 0.674_489_750),
    (0.6, 0.841_621_234),
    (0.7, 1.036_433_389),
    (0.8, 1.281_551_566),
    (0.9, 1.644_853_627),
    (0.95, 1.959_963_985),
];
/// The level that the text is about.
const TOLD: f64 = 0.9;
/// At most so many cells are looked at: the shares are then known to half a per cent.
const MAX_CELLS: usize = 10_000;
/// With fewer cells, shares say little.
const FEWEST_CELLS: usize = 50;
/// Differences below this many percentage points are not worth a remark, nor those within two standard
/// errors.
const CLOSE: f64 = 2.0;

/// What it means that intervals of low levels contain too many cells, and those of high levels do not.
const HEAVY_TAILS: &str = " Narrow intervals contain many more than they say and wide ones do not: most \
                           errors are small and a few are very large, unlike the normal noise that is \
                           assumed.";

/// Cells whose values are known, one column of label indices of the model per mode.
#[derive(Debug, Clone, Copy)]
pub struct KnownCells<'a> {
    /// The label indices.
    pub columns: &'a [Vec<u32>],
    /// The values.
    pub values: &'a [f64],
}

/// `None` where there are no intervals, or too few cells to judge them by.
pub(super) fn section(story: &FitStory<'_>) -> Option<Section> {
    // Exact data have no noise, and what is left of the residuals is rounding.
    if story.model.summary().status == Status::Exact {
        return None;
    }
    let cells = Cells::choose(story)?;
    let shares = cells.covered(story.model, story.data)?;
    let curve = Series {
        name: cells.name.to_owned(),
        points: shares
            .iter()
            .map(|&(level, share)| Point {
                x: level,
                y: share,
                error_bar: None,
                tooltip: format!(
                    "{} % intervals contain {} % of the {}",
                    short_number(level),
                    short_number(share),
                    cells.name
                ),
            })
            .collect(),
        style: SeriesStyle::LineAndMarkers,
        colour: 0,
    };
    let ends = [45.0, 100.0].map(|x| Point {
        x,
        y: x,
        error_bar: None,
        tooltip: "as many as the level says".to_owned(),
    });
    let diagonal = Series {
        name: "as the level says".to_owned(),
        points: ends.to_vec(),
        style: SeriesStyle::Dashed,
        colour: 7,
    };
    let lowest = shares.iter().map(|&(_, share)| share).fold(45.0, f64::min);
    let chart = Chart::Lines(LineChart {
        title: "Observations inside their intervals".to_owned(),
        x: Axis::linear("level of the interval (%)")
            .with_range(45.0, 100.0)
            .with_ticks(&[50.0, 60.0, 70.0, 80.0, 90.0, 95.0]),
        y: Axis::linear("inside (%)").with_range((lowest / 10.0).floor() * 10.0, 100.0),
        series: vec![diagonal, curve],
        reference_lines: Vec::new(),
    });
    let told = shares.iter().find(|&&(level, _)| level == 100.0 * TOLD)?.1;
    let mut words = cells.verdict(told);
    if has_heavy_tails(&shares) {
        words.push_str(HEAVY_TAILS);
    }
    Some(Section::new(
        "Intervals",
        vec![Block::Text(words), Block::figure("calibration", chart, "")],
    ))
}

/// Whether the surplus inside falls from the lowest level to the highest by more than it does for any
/// normal distribution of another width.
fn has_heavy_tails(shares: &[(f64, f64)]) -> bool {
    let (Some(first), Some(last)) = (shares.first(), shares.last()) else { return false };
    first.1 - first.0 > 8.0 && last.1 - last.0 < 1.5
}

/// The cells that intervals are judged by.
struct Cells {
    columns: Vec<Vec<u32>>,
    values: Vec<f64>,
    name: &'static str,
    seen: bool,
}

impl Cells {
    /// Test data where there are any, else the data of the fit.
    fn choose(story: &FitStory<'_>) -> Option<Self> {
        if let Some(KnownCells { columns, values }) = story.test_cells {
            let known: Vec<usize> = (0..values.len())
                .filter(|&row| columns.iter().all(|column| column[row] != UNKNOWN))
                .collect();
            return Self::sample(columns, values, &known, "test cells", false);
        }
        // Intervals are those of observations of weight 1.
        if story.data.weights().is_some() {
            return None;
        }
        let columns = story.model.find_columns(story.data).ok()?;
        let all: Vec<usize> = (0..story.data.len()).collect();
        Self::sample(&columns, story.data.values(), &all, "training cells", true)
    }

    fn sample(
        columns: &[Vec<u32>],
        values: &[f64],
        rows: &[usize],
        name: &'static str,
        seen: bool,
    ) -> Option<Self> {
        if rows.len() < FEWEST_CELLS {
            return None;
        }
        let rows: Vec<usize> =
            rows.iter().copied().step_by(rows.len().div_ceil(MAX_CELLS)).collect();
        let pick = |column: &Vec<u32>| rows.iter().map(|&row| column[row]).collect();
        Some(Self {
            columns: columns.iter().map(pick).collect(),
            values: rows.iter().map(|&row| values[row]).collect(),
            name,
            seen,
        })
    }

    /// For each level the share of cells inside, both in per cent.
    fn covered(&self, model: &Model, data: &Observations) -> Option<Vec<(f64, f64)>> {
        let columns: Vec<&[u32]> = self.columns.iter().map(Vec::as_slice).collect();
        let predictions = model.predict_cells(&columns);
        let inside = |widths: &[f64], scale: f64| {
            let cells = self.values.iter().zip(&predictions).zip(widths);
            let count = cells.filter(|((y, p), width)| (*y - *p).abs() <= scale * **width).count();
            100.0 * count as f64 / self.values.len() as f64
        };
        if model.is_sampled() {
            return LEVELS
                .iter()
                .map(|&(level, _)| {
                    let widths = model.half_widths(&columns, level, None).ok()?;
                    Some((100.0 * level, inside(&widths, 1.0)))
                })
                .collect();
        }
        // Without draws an interval is that of a normal distribution. One level tells all others, and
        // the normal equations of every row are set up once.
        let (first, quantile) = LEVELS[0];
        let widths = model.half_widths(&columns, first, Some(data.clone())).ok()?;
        let share = |&(level, z): &(f64, f64)| (100.0 * level, inside(&widths, z / quantile));
        Some(LEVELS.iter().map(share).collect())
    }

    /// What the share inside the intervals of the level [`TOLD`] means.
    fn verdict(&self, share: f64) -> String {
        let level = 100.0 * TOLD;
        let count = self.values.len();
        let error = 100.0 * (TOLD * (1.0 - TOLD) / count as f64).sqrt();
        let difference = share - level;
        let found = format!(
            "Intervals of {} % contain {share:.1} % of {count} {}",
            short_number(level),
            self.name
        );
        let judgement = match difference {
            d if d.abs() <= CLOSE.max(2.0 * error) => "about as many as they should",
            d if d > 0.0 => "they are wider than they need to be",
            _ => "they are too narrow",
        };
        match (self.seen, difference > 0.0) {
            (false, _) => format!("{found}: {judgement}."),
            (true, true) => format!(
                "{found}. The model was fitted to these, so more of them than of new observations \
                 are inside; test data would tell how many of those are."
            ),
            (true, false) => format!(
                "{found}: {judgement}. The model was fitted to these, and of new observations \
                 fewer are inside."
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heavy_tails_are_told_from_wide_intervals() {
        assert!(has_heavy_tails(&[(50.0, 70.0), (95.0, 95.5)]));
        // A normal distribution with half as much again of the width.
        assert!(!has_heavy_tails(&[(50.0, 69.0), (95.0, 99.7)]));
        assert!(!has_heavy_tails(&[(50.0, 51.0), (95.0, 94.0)]));
    }

    #[test]
    fn the_verdict_allows_for_the_number_of_cells() {
        let cells = |count: usize, seen: bool| Cells {
            columns: Vec::new(),
            values: vec![0.0; count],
            name: if seen { "training cells" } else { "test cells" },
            seen,
        };
        assert!(cells(10_000, false).verdict(91.0).ends_with("about as many as they should."));
        assert!(cells(100, false).verdict(85.0).ends_with("about as many as they should."));
        assert!(cells(10_000, false).verdict(85.0).ends_with("they are too narrow."));
        assert!(cells(10_000, false).verdict(97.0).contains("wider than they need"));
        assert!(cells(10_000, true).verdict(97.0).contains("fitted to these"));
    }
}
