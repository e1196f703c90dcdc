//! Curves and points, with error bars and reference lines.

use super::axis::Axis;
use super::font;
use super::frame::{Frame, Key, LABEL, Plan};
use super::palette::Paint;
use super::scene::{Anchor, Scene, Shape, Stroke};

/// A measured point.
#[derive(Debug, Clone)]
pub struct Point {
    /// Its place along the horizontal axis.
    pub x: f64,
    /// Its height.
    pub y: f64,
    /// The ends of its error bar.
    pub bar: Option<(f64, f64)>,
    /// What it says when it is pointed at.
    pub tip: String,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Points joined by a line.
    Curve,
    /// A line without points.
    Line,
    /// A dashed line without points: theory, not measurement.
    Dashed,
    /// Points alone.
    Points,
}

/// Points that belong together.
#[derive(Debug, Clone)]
pub struct Series {
    /// What the legend says.
    pub name: String,
    /// The points, from left to right.
    pub points: Vec<Point>,
    /// How they are drawn.
    pub look: Look,
    /// Which of the colours.
    pub colour: usize,
}

/// A line across the whole chart.
#[derive(Debug, Clone)]
pub enum Rule {
    /// At a place of the horizontal axis.
    Upright(f64, String),
    /// At a height.
    Level(f64, String),
}

/// A chart of curves.
///
/// ```
/// use quadfill_lab::chart::{Axis, Chart, LineChart, Look, Point, Series};
/// let point = |x: f64| Point { x, y: x * x, bar: None, tip: format!("{x} squared") };
/// let chart = Chart::Lines(LineChart {
///     title: "Squares".to_owned(),
///     x: Axis::linear("x"),
///     y: Axis::log("x squared"),
///     series: vec![Series {
///         name: "squares".to_owned(),
///         points: (1..9).map(|x| point(f64::from(x))).collect(),
///         look: Look::Curve,
///         colour: 0,
///     }],
///     rules: Vec::new(),
/// });
/// assert!(chart.svg().contains("<title>3 squared</title>"));
/// assert!(chart.png().starts_with(b"\x89PNG"));
/// ```
#[derive(Debug, Clone)]
pub struct LineChart {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves, the last one on top.
    pub series: Vec<Series>,
    /// Lines across.
    pub rules: Vec<Rule>,
}

impl LineChart {
    pub(super) fn draw(&self) -> Scene {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let bars = points().filter_map(|p| p.bar).flat_map(|(low, high)| [low, high]);
        let mut ys: Vec<f64> = points().map(|p| p.y).chain(bars).collect();
        let mut xs: Vec<f64> = points().map(|p| p.x).collect();
        for rule in &self.rules {
            match rule {
                Rule::Upright(x, _) => xs.push(*x),
                Rule::Level(y, _) => ys.push(*y),
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
        for rule in &self.rules {
            rule.draw(&mut frame);
        }
        for series in &self.series {
            series.draw(&mut frame);
        }
        frame.scene
    }
}

impl Rule {
    fn draw(&self, frame: &mut Frame) {
        let stroke = Stroke::dashed(Paint::Muted, 1.2);
        match self {
            Self::Upright(x, words) => {
                let at = frame.x.place(*x);
                frame.scene.line((at, frame.top), (at, frame.bottom), stroke);
                let wide = font::width(words, LABEL, false) + 8.0;
                let (x, anchor) = if at + wide > frame.right {
                    (at - 6.0, Anchor::End)
                } else {
                    (at + 6.0, Anchor::Start)
                };
                frame.scene.text((x, frame.top + 12.0), words, LABEL, anchor, Paint::Muted);
            }
            Self::Level(y, words) => {
                let at = frame.y.place(*y);
                frame.scene.line((frame.left, at), (frame.right, at), stroke);
                let place = (frame.right, at - 5.0);
                frame.scene.text(place, words, LABEL, Anchor::End, Paint::Muted);
            }
        }
    }
}

impl Series {
    fn stroke(&self) -> Stroke {
        let paint = Paint::Series(self.colour);
        if self.look == Look::Dashed {
            Stroke::dashed(paint, 1.8)
        } else {
            Stroke::solid(paint, 2.0)
        }
    }

    fn key(&self) -> Key<'_> {
        let stroke = match self.look {
            Look::Points => Stroke::solid(Paint::Paper, 1.0),
            _ => self.stroke(),
        };
        let marker = matches!(self.look, Look::Curve);
        match self.look {
            Look::Points => Key {
                name: &self.name,
                stroke: Stroke { width: 6.0, dash: Some((0.1, 100.0)), ..self.stroke() },
                marker: false,
            },
            _ => Key { name: &self.name, stroke, marker },
        }
    }

    fn draw(&self, frame: &mut Frame) {
        let places: Vec<(f64, f64)> =
            self.points.iter().map(|p| (frame.x.place(p.x), frame.y.place(p.y))).collect();
        if self.look != Look::Points && places.len() > 1 {
            frame.scene.add(Shape::Path { points: places.clone(), stroke: self.stroke() });
        }
        let paint = Paint::Series(self.colour);
        for (point, &(x, _)) in self.points.iter().zip(&places) {
            if let Some((low, high)) = point.bar {
                let (low, high) = (frame.y.place(low), frame.y.place(high));
                let stroke = Stroke::solid(paint, 1.2);
                frame.scene.line((x, low), (x, high), stroke);
                frame.scene.line((x - 3.5, low), (x + 3.5, low), stroke);
                frame.scene.line((x - 3.5, high), (x + 3.5, high), stroke);
            }
        }
        for (point, &(x, y)) in self.points.iter().zip(&places) {
            if matches!(self.look, Look::Curve | Look::Points) {
                let stroke = Some(Stroke::solid(Paint::Paper, 1.0));
                frame.scene.add(Shape::Circle { x, y, radius: 3.8, fill: paint, stroke });
            }
            frame.scene.add_with_tip(Shape::Target { x, y, radius: 9.0 }, &point.tip);
        }
    }
}
