//! Bar charts and histograms.

use super::axis::{Axis, short_number};
use super::font;
use super::frame::{Frame, LABEL, Plan};
use super::palette::Paint;
use super::scene::{Anchor, Scene, Shape};

/// One bar.
#[derive(Debug, Clone)]
pub struct Bar {
    /// The label below it.
    pub name: String,
    /// Its height.
    pub height: f64,
    /// The index of its colour in the palette.
    pub colour: usize,
    /// The text shown on hover.
    pub tooltip: String,
}

/// A bar chart.
///
/// ```
/// use quadfill_report::chart::{Axis, Bar, BarChart, Chart};
/// let bar = |name: &str, height| {
///     Bar { name: name.to_owned(), height, colour: 0, tooltip: format!("{height} of {name}") }
/// };
/// let chart = Chart::Bars(BarChart {
///     title: "Fruit".to_owned(),
///     x: String::new(),
///     y: Axis::linear("pieces"),
///     bars: vec![bar("apples", 3.0), bar("pears", 5.0)],
/// });
/// assert!(chart.svg().contains("5 of pears"));
/// ```
#[derive(Debug, Clone)]
pub struct BarChart {
    /// The title.
    pub title: String,
    /// The label of the horizontal axis.
    pub x: String,
    /// The vertical axis.
    pub y: Axis,
    /// The bars from left to right.
    pub bars: Vec<Bar>,
}

/// The gap between two labels.
const BETWEEN_NAMES: f64 = 4.0;

/// The font size of labels that would not all fit at the usual size.
const SMALL_NAME: f64 = 10.0;

impl BarChart {
    pub(super) fn draw(&self) -> Scene {
        let count = self.bars.len();
        let mut heights: Vec<f64> = self.bars.iter().map(|bar| bar.height).collect();
        heights.push(0.0);
        let mut frame = Frame::new(&Plan {
            title: &self.title,
            x: &Axis::linear(&self.x).with_range(0.0, count.max(1) as f64).with_ticks(&[]),
            y: &self.y,
            xs: Vec::new(),
            ys: heights,
            keys: Vec::new(),
        });
        // As many labels as fit, in the small size if they all fit then.
        let every = |size: f64| {
            let widest = self.bars.iter().map(|bar| font::width(&bar.name, size, false));
            let widest = widest.fold(0.0, f64::max) + BETWEEN_NAMES;
            (widest / (frame.x.position(1.0) - frame.x.position(0.0))).ceil() as usize
        };
        let is_tight = every(LABEL) > 1 && every(SMALL_NAME) == 1;
        let size = if is_tight { SMALL_NAME } else { LABEL };
        let every = every(size);
        for (index, bar) in self.bars.iter().enumerate() {
            let (left, right) =
                (frame.x.position(index as f64), frame.x.position(index as f64 + 1.0));
            let gap = (0.12 * (right - left)).min(6.0);
            let top = frame.y.position(bar.height);
            frame.scene.add_with_tooltip(
                Shape::Rect {
                    x: left + gap,
                    y: top,
                    width: right - left - 2.0 * gap,
                    height: (frame.bottom - top).max(0.5),
                    corner_radius: 1.5,
                    fill: Paint::Series(bar.colour),
                },
                &bar.tooltip,
            );
            if index.is_multiple_of(every) {
                let at = (0.5 * (left + right), frame.bottom + 19.0);
                frame.scene.text(at, &bar.name, size, Anchor::Middle, Paint::Muted);
            }
        }
        frame.scene
    }
}

/// The number of values in each of several equal bins.
///
/// ```
/// use quadfill_report::chart::{Chart, Histogram};
/// let values: Vec<f64> = (0..100).map(f64::from).collect();
/// let chart = Chart::Histogram(Histogram {
///     title: "Numbers".to_owned(),
///     x: "value".to_owned(),
///     values,
///     bins: 10,
/// });
/// assert!(chart.svg().contains("10 values"));
/// ```
#[derive(Debug, Clone)]
pub struct Histogram {
    /// The title.
    pub title: String,
    /// The label of the horizontal axis.
    pub x: String,
    /// The values; those that are not finite are ignored.
    pub values: Vec<f64>,
    /// The number of bins.
    pub bins: usize,
}

impl Histogram {
    pub(super) fn draw(&self) -> Scene {
        let finite: Vec<f64> = self.values.iter().copied().filter(|v| v.is_finite()).collect();
        let (low, high) = range(&finite);
        let bins = self.bins.max(1);
        let width = (high - low) / bins as f64;
        let mut counts = vec![0usize; bins];
        for value in &finite {
            counts[(((value - low) / width) as usize).min(bins - 1)] += 1;
        }
        let mut frame = Frame::new(&Plan {
            title: &self.title,
            x: &Axis::linear(&self.x).with_range(low, high),
            y: &Axis::linear("count"),
            xs: Vec::new(),
            ys: counts.iter().map(|&count| count as f64).chain([0.0]).collect(),
            keys: Vec::new(),
        });
        for (index, &count) in counts.iter().enumerate() {
            let (from, to) = (low + index as f64 * width, low + (index + 1) as f64 * width);
            let (left, right) = (frame.x.position(from), frame.x.position(to));
            let top = frame.y.position(count as f64);
            frame.scene.add_with_tooltip(
                Shape::Rect {
                    x: left + 0.5,
                    y: top,
                    width: (right - left - 1.0).max(0.5),
                    height: (frame.bottom - top).max(0.0),
                    corner_radius: 0.0,
                    fill: Paint::Series(0),
                },
                &format!("{count} values from {} to {}", short_number(from), short_number(to)),
            );
        }
        frame.scene
    }
}

/// A range of positive length that contains all values.
fn range(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if high > low {
        (low, high)
    } else if low.is_finite() {
        let padding = 0.5 * low.abs().max(f64::MIN_POSITIVE);
        (low - padding, low + padding)
    } else {
        (0.0, 1.0)
    }
}
