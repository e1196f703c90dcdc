//! The common parts of charts with two axes: title, legend, grid, axes.

use super::axis::{Axis, Scale};
use super::font;
use super::palette::Paint;
use super::scene::{Anchor, Scene, Shape, Stroke};

pub(super) const WIDTH: f64 = 680.0;
const PLOT_HEIGHT: f64 = 300.0;
const RIGHT: f64 = 20.0;
const TITLE: f64 = 15.0;
pub(super) const LABEL: f64 = 12.0;
const LEGEND_LINE: f64 = 20.0;

/// An entry of the legend.
pub(super) struct Key<'a> {
    pub(super) name: &'a str,
    pub(super) stroke: Stroke,
    pub(super) line: bool,
    pub(super) marker: bool,
}

/// A chart with its axes drawn, ready for the data.
pub(super) struct Frame {
    pub(super) scene: Scene,
    pub(super) x: Scale,
    pub(super) y: Scale,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

/// The contents of a frame.
pub(super) struct Plan<'a> {
    pub(super) title: &'a str,
    pub(super) x: &'a Axis,
    pub(super) y: &'a Axis,
    pub(super) xs: Vec<f64>,
    pub(super) ys: Vec<f64>,
    pub(super) keys: Vec<Key<'a>>,
}

impl Frame {
    pub(super) fn new(plan: &Plan<'_>) -> Self {
        let lines = legend_lines(&plan.keys);
        let top =
            40.0 + lines.len() as f64 * LEGEND_LINE + if lines.is_empty() { 0.0 } else { 6.0 };
        let bottom = top + PLOT_HEIGHT;
        let y = plan.y.lay_out(plan.ys.iter().copied(), bottom, top);
        let widest = y.ticks.iter().map(|(_, label)| font::width(label, LABEL, false));
        let left = 38.0 + widest.fold(0.0, f64::max);
        let right = WIDTH - RIGHT;
        let x = plan.x.lay_out(plan.xs.iter().copied(), left, right);
        let mut scene = Scene::new(WIDTH, bottom + 52.0, plan.title);
        scene.title((14.0, 26.0), plan.title, TITLE, Anchor::Start);
        draw_legend(&mut scene, &plan.keys, &lines);
        let every = labels_that_fit(&y, |_| LABEL);
        for (index, (tick, label)) in y.ticks.iter().enumerate() {
            let at = y.position(*tick);
            scene.line((left, at), (right, at), Stroke::solid(Paint::Grid, 1.0));
            if index.is_multiple_of(every) {
                scene.text((left - 8.0, at + 4.0), label, LABEL, Anchor::End, Paint::Muted);
            }
        }
        let every = labels_that_fit(&x, |label| font::width(label, LABEL, false) + 8.0);
        for (index, (tick, label)) in x.ticks.iter().enumerate() {
            let at = x.position(*tick);
            scene.line((at, bottom), (at, bottom + 4.0), Stroke::solid(Paint::Muted, 1.0));
            if index.is_multiple_of(every) {
                scene.text((at, bottom + 19.0), label, LABEL, Anchor::Middle, Paint::Muted);
            }
        }
        scene.line((left, bottom), (right, bottom), Stroke::solid(Paint::Muted, 1.0));
        let middle = 0.5 * (left + right);
        scene.text((middle, bottom + 41.0), &plan.x.label, LABEL, Anchor::Middle, Paint::Muted);
        scene.vertical_text((18.0, 0.5 * (top + bottom)), &plan.y.label, LABEL);
        Self { scene, x, y, left, right, top, bottom }
    }
}

/// Every how many ticks have a label, so that labels do not touch: `extent` is the room of one.
fn labels_that_fit(scale: &Scale, extent: impl Fn(&str) -> f64) -> usize {
    let rooms: Vec<(f64, f64)> = scale
        .ticks
        .iter()
        .map(|(tick, label)| (scale.position(*tick), 0.5 * extent(label)))
        .collect();
    let fits = |every: &usize| {
        let shown: Vec<_> = rooms.iter().step_by(*every).collect();
        shown.windows(2).all(|pair| (pair[1].0 - pair[0].0).abs() >= pair[0].1 + pair[1].1)
    };
    (1..rooms.len()).find(fits).unwrap_or(rooms.len().max(1))
}

/// The keys on each line of the legend, as many as fit.
fn legend_lines(keys: &[Key<'_>]) -> Vec<Vec<usize>> {
    if keys.len() < 2 {
        return Vec::new();
    }
    let mut lines: Vec<Vec<usize>> = vec![Vec::new()];
    let mut used = 14.0;
    for (index, key) in keys.iter().enumerate() {
        let wide = key_width(key);
        if used + wide > WIDTH - RIGHT && lines.last().is_some_and(|line| !line.is_empty()) {
            lines.push(Vec::new());
            used = 14.0;
        }
        used += wide;
        if let Some(line) = lines.last_mut() {
            line.push(index);
        }
    }
    lines
}

fn key_width(key: &Key<'_>) -> f64 {
    font::width(key.name, LABEL, false) + 46.0
}

fn draw_legend(scene: &mut Scene, keys: &[Key<'_>], lines: &[Vec<usize>]) {
    for (row, line) in lines.iter().enumerate() {
        let y = 46.0 + row as f64 * LEGEND_LINE;
        let mut x = 14.0;
        for key in line.iter().map(|&index| &keys[index]) {
            if key.line {
                scene.line((x, y), (x + 22.0, y), key.stroke);
            }
            if key.marker {
                scene.add(Shape::Circle {
                    x: x + 11.0,
                    y,
                    radius: 3.5,
                    fill: key.stroke.paint,
                    stroke: None,
                });
            }
            scene.text((x + 28.0, y + 4.0), key.name, LABEL, Anchor::Start, Paint::Ink);
            x += key_width(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_do_not_touch() {
        let ticks: Vec<f64> = (0..40).map(|k| 1000.0 + f64::from(k)).collect();
        let axis = Axis::linear("x").with_range(1000.0, 1040.0).with_ticks(&ticks);
        let scale = axis.lay_out([].into_iter(), 0.0, 400.0);
        assert_eq!(labels_that_fit(&scale, |_| 25.0), 3);
        assert_eq!(labels_that_fit(&scale, |_| 9.0), 1);
        assert_eq!(labels_that_fit(&scale, |_| 1e6), 40);
    }
}
