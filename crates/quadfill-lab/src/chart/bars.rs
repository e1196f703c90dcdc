//! Bars: one per name, or one per bin of a histogram.

use super::axis::{Axis, plain};
use super::font;
use super::frame::{Frame, LABEL, Plan};
use super::palette::Paint;
use super::scene::{Anchor, Scene, Shape};

/// One bar.
#[derive(Debug, Clone)]
pub struct Bar {
    /// What stands below it.
    pub name: String,
    /// Its height.
    pub height: f64,
    /// Which of the colours.
    pub colour: usize,
    /// What it says when it is pointed at.
    pub tip: String,
}

/// Bars side by side.
///
/// ```
/// use quadfill_lab::chart::{Axis, Bar, BarChart, Chart};
/// let bar = |name: &str, height| {
///     Bar { name: name.to_owned(), height, colour: 0, tip: format!("{height} of {name}") }
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
    /// What it shows.
    pub title: String,
    /// What the bars are.
    pub x: String,
    /// The vertical axis.
    pub y: Axis,
    /// The bars from left to right.
    pub bars: Vec<Bar>,
}

/// What is left free between two names.
const BETWEEN_NAMES: f64 = 4.0;

/// The size of names that would not all have room at the size of other labels.
const SMALL_NAME: f64 = 10.0;

impl BarChart {
    pub(super) fn draw(&self) -> Scene {
        let count = self.bars.len();
        let mut heights: Vec<f64> = self.bars.iter().map(|bar| bar.height).collect();
        heights.push(0.0);
        let mut frame = Frame::new(&Plan {
            title: &self.title,
            x: &Axis::linear(&self.x).from_to(0.0, count.max(1) as f64).marked(&[]),
            y: &self.y,
            xs: Vec::new(),
            ys: heights,
            keys: Vec::new(),
        });
        // As many names as have room, small ones if that shows them all.
        let every = |size: f64| {
            let widest = self.bars.iter().map(|bar| font::width(&bar.name, size, false));
            let widest = widest.fold(0.0, f64::max) + BETWEEN_NAMES;
            (widest / (frame.x.place(1.0) - frame.x.place(0.0))).ceil() as usize
        };
        let is_tight = every(LABEL) > 1 && every(SMALL_NAME) == 1;
        let size = if is_tight { SMALL_NAME } else { LABEL };
        let every = every(size);
        for (place, bar) in self.bars.iter().enumerate() {
            let (left, right) = (frame.x.place(place as f64), frame.x.place(place as f64 + 1.0));
            let gap = (0.12 * (right - left)).min(6.0);
            let top = frame.y.place(bar.height);
            frame.scene.add_with_tip(
                Shape::Rect {
                    x: left + gap,
                    y: top,
                    width: right - left - 2.0 * gap,
                    height: (frame.bottom - top).max(0.5),
                    round: 1.5,
                    fill: Paint::Series(bar.colour),
                },
                &bar.tip,
            );
            if place.is_multiple_of(every) {
                let at = (0.5 * (left + right), frame.bottom + 19.0);
                frame.scene.text(at, &bar.name, size, Anchor::Middle, Paint::Muted);
            }
        }
        frame.scene
    }
}

/// How often values fall into each of many equal bins.
///
/// ```
/// use quadfill_lab::chart::{Chart, Histogram};
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
    /// What it shows.
    pub title: String,
    /// What the values are.
    pub x: String,
    /// The values; those that are not finite are left out.
    pub values: Vec<f64>,
    /// How many bins.
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
            x: &Axis::linear(&self.x).from_to(low, high),
            y: &Axis::linear("count"),
            xs: Vec::new(),
            ys: counts.iter().map(|&count| count as f64).chain([0.0]).collect(),
            keys: Vec::new(),
        });
        for (place, &count) in counts.iter().enumerate() {
            let (from, to) = (low + place as f64 * width, low + (place + 1) as f64 * width);
            let (left, right) = (frame.x.place(from), frame.x.place(to));
            let top = frame.y.place(count as f64);
            frame.scene.add_with_tip(
                Shape::Rect {
                    x: left + 0.5,
                    y: top,
                    width: (right - left - 1.0).max(0.5),
                    height: (frame.bottom - top).max(0.0),
                    round: 0.0,
                    fill: Paint::Series(0),
                },
                &format!("{count} values from {} to {}", plain(from), plain(to)),
            );
        }
        frame.scene
    }
}

/// A range that holds all values and is not empty.
fn range(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if high > low {
        (low, high)
    } else if low.is_finite() {
        let air = 0.5 * low.abs().max(f64::MIN_POSITIVE);
        (low - air, low + air)
    } else {
        (0.0, 1.0)
    }
}
