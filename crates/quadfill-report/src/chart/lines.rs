//! Line charts, with error bars and reference lines.

use super::axis::Axis;
use super::font;
use super::frame::{Frame, Key, LABEL, Plan};
use super::palette::Paint;
use super::scene::{Anchor, Scene, Shape, Stroke};

/// A data point.
#[derive(Debug, Clone)]
pub struct Point {
    /// Its horizontal coordinate.
    pub x: f64,
    /// Its vertical coordinate.
    pub y: f64,
    /// The lower and upper end of its error bar.
    pub error_bar: Option<(f64, f64)>,
    /// The text shown on hover.
    pub tooltip: String,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeriesStyle {
    /// Markers joined by a solid line.
    LineAndMarkers,
    /// A solid line without markers.
    Line,
    /// A dashed line without markers, for theory and references.
    Dashed,
    /// Markers without a line.
    Markers,
}

/// A series of points.
#[derive(Debug, Clone)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// The points, from left to right.
    pub points: Vec<Point>,
    /// How they are drawn.
    pub style: SeriesStyle,
    /// The index of its colour in the palette.
    pub colour: usize,
}

/// A labelled line across the whole chart.
#[derive(Debug, Clone)]
pub enum ReferenceLine {
    /// A vertical line at a horizontal coordinate.
    Vertical(f64, String),
    /// A horizontal line at a vertical coordinate.
    Horizontal(f64, String),
}

/// A line chart.
///
/// ```
/// use quadfill_report::chart::{Axis, Chart, LineChart, Point, Series, SeriesStyle};
/// let point = |x: f64| Point { x, y: x * x, error_bar: None, tooltip: format!("{x} squared") };
/// let chart = Chart::Lines(LineChart {
///     title: "Squares".to_owned(),
///     x: Axis::linear("x"),
///     y: Axis::log("x squared"),
///     series: vec![Series {
///         name: "squares".to_owned(),
///         points: (1..9).map(|x| point(f64::from(x))).collect(),
///         style: SeriesStyle::LineAndMarkers,
///         colour: 0,
///     }],
///     reference_lines: Vec::new(),
/// });
/// assert!(chart.svg().contains("<title>3 squared</title>"));
/// assert!(chart.png().starts_with(b"\x89PNG"));
/// ```
#[derive(Debug, Clone)]
pub struct LineChart {
    /// The title.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The series, the last one drawn on top.
    pub series: Vec<Series>,
    /// Reference lines, drawn below the series.
    pub reference_lines: Vec<ReferenceLine>,
}

impl LineChart {
    pub(super) fn draw(&self) -> Scene {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let bars = points().filter_map(|p| p.error_bar).flat_map(|(low, high)| [low, high]);
        let mut ys: Vec<f64> = points().map(|p| p.y).chain(bars).collect();
        let mut xs: Vec<f64> = points().map(|p| p.x).collect();
        for line in &self.reference_lines {
            match line {
                ReferenceLine::Vertical(x, _) => xs.push(*x),
                ReferenceLine::Horizontal(y, _) => ys.push(*y),
            }
        }
        let mut frame = Frame::new(&Plan {
            title: &self.title,
            x: &self.x,
            y: &self.y,
            xs,
            ys,
            keys: self.series.iter().map(Series::key).collect(),
        });
        let mut labels = Vec::new();
        for line in &self.reference_lines {
            line.draw(&mut frame, &mut labels);
        }
        for series in &self.series {
            series.draw(&mut frame);
        }
        frame.scene
    }
}

impl ReferenceLine {
    /// Draws the line; `labels` are the baselines of the labels at the right end so far.
    fn draw(&self, frame: &mut Frame, labels: &mut Vec<f64>) {
        let stroke = Stroke::dashed(Paint::Muted, 1.2);
        match self {
            Self::Vertical(x, words) => {
                let at = frame.x.position(*x);
                frame.scene.line((at, frame.top), (at, frame.bottom), stroke);
                let wide = font::width(words, LABEL, false) + 8.0;
                let (x, anchor) = if at + wide > frame.right {
                    (at - 6.0, Anchor::End)
                } else {
                    (at + 6.0, Anchor::Start)
                };
                frame.scene.text((x, frame.top + 12.0), words, LABEL, anchor, Paint::Muted);
            }
            Self::Horizontal(y, words) => {
                let at = frame.y.position(*y);
                frame.scene.line((frame.left, at), (frame.right, at), stroke);
                // Above the line, or below it where another label is in the way.
                let is_taken = labels.iter().any(|other| (other - (at - 5.0)).abs() < LABEL + 2.0);
                let baseline = if is_taken { at + LABEL + 2.0 } else { at - 5.0 };
                labels.push(baseline);
                // Grid lines do not run through it.
                let width = font::width(words, LABEL, false) + 6.0;
                frame.scene.add(Shape::Rect {
                    x: frame.right - width,
                    y: baseline - LABEL + 2.0,
                    width,
                    height: LABEL + 1.0,
                    corner_radius: 0.0,
                    fill: Paint::Paper,
                });
                let position = (frame.right, baseline);
                frame.scene.text(position, words, LABEL, Anchor::End, Paint::Muted);
            }
        }
    }
}

impl Series {
    fn stroke(&self) -> Stroke {
        let paint = Paint::Series(self.colour);
        if self.style == SeriesStyle::Dashed {
            Stroke::dashed(paint, 1.8)
        } else {
            Stroke::solid(paint, 2.0)
        }
    }

    fn key(&self) -> Key<'_> {
        let marker = matches!(self.style, SeriesStyle::LineAndMarkers | SeriesStyle::Markers);
        let line = self.style != SeriesStyle::Markers;
        Key { name: &self.name, stroke: self.stroke(), line, marker }
    }

    fn draw(&self, frame: &mut Frame) {
        let positions: Vec<(f64, f64)> =
            self.points.iter().map(|p| (frame.x.position(p.x), frame.y.position(p.y))).collect();
        if self.style != SeriesStyle::Markers && positions.len() > 1 {
            frame.scene.add(Shape::Path { points: positions.clone(), stroke: self.stroke() });
        }
        let paint = Paint::Series(self.colour);
        for (point, &(x, _)) in self.points.iter().zip(&positions) {
            if let Some((low, high)) = point.error_bar {
                let (low, high) = (frame.y.position(low), frame.y.position(high));
                let stroke = Stroke::solid(paint, 1.2);
                frame.scene.line((x, low), (x, high), stroke);
                frame.scene.line((x - 3.5, low), (x + 3.5, low), stroke);
                frame.scene.line((x - 3.5, high), (x + 3.5, high), stroke);
            }
        }
        for (point, &(x, y)) in self.points.iter().zip(&positions) {
            if matches!(self.style, SeriesStyle::LineAndMarkers | SeriesStyle::Markers) {
                let stroke = Some(Stroke::solid(Paint::Paper, 1.0));
                frame.scene.add(Shape::Circle { x, y, radius: 3.8, fill: paint, stroke });
            }
            frame.scene.add_with_tooltip(Shape::HoverTarget { x, y, radius: 9.0 }, &point.tooltip);
        }
    }
}
