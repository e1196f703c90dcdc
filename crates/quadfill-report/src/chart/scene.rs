//! Drawings as lists of shapes, independent of the output format.

use super::palette::Paint;

/// The point of a text that its position refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// The stroke of a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stroke {
    pub(crate) paint: Paint,
    pub(crate) width: f64,
    /// The lengths of dashes and gaps; `None` for a solid line.
    pub(crate) dash: Option<(f64, f64)>,
}

impl Stroke {
    pub(crate) fn solid(paint: Paint, width: f64) -> Self {
        Self { paint, width, dash: None }
    }

    pub(crate) fn dashed(paint: Paint, width: f64) -> Self {
        Self { paint, width, dash: Some((5.0, 4.0)) }
    }
}

/// A line of text.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    pub(crate) x: f64,
    /// The baseline.
    pub(crate) y: f64,
    pub(crate) words: String,
    pub(crate) size: f64,
    pub(crate) bold: bool,
    pub(crate) anchor: Anchor,
    pub(crate) paint: Paint,
    /// Rotated by 90 degrees, reading upwards.
    pub(crate) vertical: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Shape {
    Path {
        points: Vec<(f64, f64)>,
        stroke: Stroke,
    },
    Rect {
        x: f64,
        y: f64,
        width: f64,
        height: f64,
        corner_radius: f64,
        fill: Paint,
    },
    Circle {
        x: f64,
        y: f64,
        radius: f64,
        fill: Paint,
        stroke: Option<Stroke>,
    },
    /// An invisible circle that responds to hovering.
    HoverTarget {
        x: f64,
        y: f64,
        radius: f64,
    },
    Text(Text),
}

/// A shape and its hover text.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) shape: Shape,
    pub(crate) tooltip: Option<String>,
}

/// A drawing.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// The text alternative.
    pub(crate) description: String,
    pub(crate) items: Vec<Item>,
}

impl Scene {
    pub(crate) fn new(width: f64, height: f64, description: &str) -> Self {
        Self { width, height, description: description.to_owned(), items: Vec::new() }
    }

    pub(crate) fn add(&mut self, shape: Shape) {
        self.items.push(Item { shape, tooltip: None });
    }

    pub(crate) fn add_with_tooltip(&mut self, shape: Shape, tooltip: &str) {
        self.items.push(Item { shape, tooltip: Some(tooltip.to_owned()) });
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: Stroke) {
        self.add(Shape::Path { points: vec![from, to], stroke });
    }

    pub(crate) fn text(
        &mut self,
        (x, y): (f64, f64),
        words: impl Into<String>,
        size: f64,
        anchor: Anchor,
        paint: Paint,
    ) {
        let words = words.into();
        self.add(Shape::Text(Text {
            x,
            y,
            words,
            size,
            bold: false,
            anchor,
            paint,
            vertical: false,
        }));
    }

    pub(crate) fn title(&mut self, (x, y): (f64, f64), words: &str, size: f64, anchor: Anchor) {
        let (words, paint) = (words.to_owned(), Paint::Ink);
        self.add(Shape::Text(Text {
            x,
            y,
            words,
            size,
            bold: true,
            anchor,
            paint,
            vertical: false,
        }));
    }

    pub(crate) fn vertical_text(&mut self, (x, y): (f64, f64), words: &str, size: f64) {
        self.add(Shape::Text(Text {
            x,
            y,
            words: words.to_owned(),
            size,
            bold: false,
            anchor: Anchor::Middle,
            paint: Paint::Muted,
            vertical: true,
        }));
    }
}
