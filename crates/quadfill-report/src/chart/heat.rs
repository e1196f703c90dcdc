//! Heat maps: values between 0 and 1 over two variables, in one or more panels.

use super::axis::short_number;
use super::font;
use super::frame::LABEL;
use super::palette::{Paint, Rgb, heat_colour};
use super::scene::{Anchor, Scene, Shape, Stroke};

/// One panel of a heat map.
#[derive(Debug, Clone)]
pub struct Panel {
    /// The title above it.
    pub name: String,
    /// The value and the hover text for each row and column; `None` where nothing was measured.
    pub cells: Vec<Vec<Option<(f64, String)>>>,
}

/// A heat map.
///
/// ```
/// use quadfill_report::chart::{Chart, HeatMap, Panel};
/// let cells = vec![vec![Some((0.0, "never".to_owned())), Some((1.0, "always".to_owned()))]];
/// let chart = Chart::Heat(HeatMap {
///     title: "Success".to_owned(),
///     x: "c".to_owned(),
///     y: "r".to_owned(),
///     columns: vec![3.0, 4.0],
///     rows: vec![5.0],
///     panels: vec![Panel { name: "path".to_owned(), cells }],
///     line: Some(("free parameters".to_owned(), vec![2.9])),
///     scale: ("never".to_owned(), "always".to_owned()),
/// });
/// assert!(chart.svg().contains("always"));
/// ```
#[derive(Debug, Clone)]
pub struct HeatMap {
    /// The title.
    pub title: String,
    /// The label of the horizontal axis.
    pub x: String,
    /// The label of the vertical axis.
    pub y: String,
    /// The coordinate of each column, ascending.
    pub columns: Vec<f64>,
    /// The coordinate of each row, from the bottom up.
    pub rows: Vec<f64>,
    /// The panels from left to right.
    pub panels: Vec<Panel>,
    /// A line across every panel: its name, and its horizontal coordinate in each row.
    pub line: Option<(String, Vec<f64>)>,
    /// The labels of 0 and 1 in the colour scale.
    pub scale: (String, String),
}

const GAP: f64 = 18.0;
const LEFT: f64 = 58.0;
const TOP: f64 = 66.0;
const RULE: Paint = Paint::Fixed(Rgb(0xff, 0x4d, 0x5e));
const RULE_EDGE: Paint = Paint::Fixed(Rgb(0xff, 0xff, 0xff));

impl HeatMap {
    pub(super) fn draw(&self) -> Scene {
        let count = self.panels.len().max(1) as f64;
        let width = 680f64.max(LEFT + 20.0 + count * 290.0);
        let panel = (width - LEFT - 20.0 - (count - 1.0) * GAP) / count;
        let row_height = (260.0 / self.rows.len().max(1) as f64).clamp(22.0, 46.0);
        let bottom = TOP + row_height * self.rows.len() as f64;
        let mut scene = Scene::new(width, bottom + 92.0, &self.title);
        scene.title((14.0, 26.0), &self.title, 15.0, Anchor::Start);
        for (place, one) in self.panels.iter().enumerate() {
            let left = LEFT + place as f64 * (panel + GAP);
            let area = Area { left, width: panel, bottom, row_height };
            self.draw_panel(&mut scene, one, &area, place == 0);
        }
        let middle = 0.5 * (LEFT + width - 20.0);
        scene.text((middle, bottom + 40.0), &self.x, LABEL, Anchor::Middle, Paint::Muted);
        scene.vertical_text((18.0, 0.5 * (TOP + bottom)), &self.y, LABEL);
        self.draw_scale(&mut scene, bottom + 66.0);
        scene
    }

    fn draw_panel(&self, scene: &mut Scene, panel: &Panel, area: &Area, first: bool) {
        let middle = area.left + 0.5 * area.width;
        scene.title((middle, TOP - 10.0), &panel.name, 13.0, Anchor::Middle);
        let wide = area.width / self.columns.len().max(1) as f64;
        for (row, cells) in panel.cells.iter().enumerate() {
            let y = area.bottom - (row + 1) as f64 * area.row_height;
            for (column, cell) in cells.iter().enumerate() {
                let x = area.left + column as f64 * wide;
                let (fill, tooltip) = match cell {
                    Some((share, tooltip)) => (Paint::Fixed(heat_colour(*share)), tooltip.as_str()),
                    None => (Paint::Grid, "not measured"),
                };
                let (width, height) = (wide - 1.5, area.row_height - 1.5);
                scene.add_with_tooltip(
                    Shape::Rect { x, y, width, height, corner_radius: 2.0, fill },
                    tooltip,
                );
            }
            if first {
                let at = (area.left - 8.0, y + 0.5 * area.row_height + 4.0);
                scene.text(at, short_number(self.rows[row]), LABEL, Anchor::End, Paint::Muted);
            }
        }
        let widest = self.columns.iter().map(|&c| font::width(&short_number(c), LABEL, false));
        let every = ((widest.fold(0.0, f64::max) + 8.0) / wide).ceil().max(1.0) as usize;
        for (column, &number) in self.columns.iter().enumerate() {
            if column.is_multiple_of(every) {
                let at = (area.left + (column as f64 + 0.5) * wide, area.bottom + 17.0);
                scene.text(at, short_number(number), LABEL, Anchor::Middle, Paint::Muted);
            }
        }
        if let Some((_, line)) = &self.line {
            let points: Vec<(f64, f64)> = line
                .iter()
                .enumerate()
                .flat_map(|(row, &at)| {
                    let x = area.left + wide * self.column_of(at);
                    let low = area.bottom - row as f64 * area.row_height;
                    [(x, low), (x, low - area.row_height)]
                })
                .collect();
            scene
                .add(Shape::Path { points: points.clone(), stroke: Stroke::solid(RULE_EDGE, 4.4) });
            scene.add(Shape::Path { points, stroke: Stroke::solid(RULE, 2.4) });
        }
    }

    /// The position of a coordinate among the columns, in column widths.
    fn column_of(&self, number: f64) -> f64 {
        let last = self.columns.len().saturating_sub(1);
        if last == 0 {
            return 0.5;
        }
        let at = (1..last).find(|&at| number < self.columns[at]).unwrap_or(last);
        let (low, high) = (self.columns[at - 1], self.columns[at]);
        let place = at as f64 - 0.5 + (number - low) / (high - low);
        place.clamp(0.0, last as f64 + 1.0)
    }

    fn draw_scale(&self, scene: &mut Scene, y: f64) {
        const STEPS: usize = 60;
        let (low, high) = (&self.scale.0, &self.scale.1);
        let mut x = LEFT;
        scene.text((x, y + 10.0), low, LABEL, Anchor::Start, Paint::Muted);
        x += font::width(low, LABEL, false) + 8.0;
        for step in 0..STEPS {
            let fill = Paint::Fixed(heat_colour(step as f64 / (STEPS - 1) as f64));
            let x = x + step as f64 * 2.5;
            scene.add(Shape::Rect { x, y, width: 2.9, height: 12.0, corner_radius: 0.0, fill });
        }
        x += STEPS as f64 * 2.5 + 8.0;
        scene.text((x, y + 10.0), high, LABEL, Anchor::Start, Paint::Muted);
        x += font::width(high, LABEL, false) + 28.0;
        if let Some((name, _)) = &self.line {
            let points = vec![(x, y + 6.0), (x + 24.0, y + 6.0)];
            scene
                .add(Shape::Path { points: points.clone(), stroke: Stroke::solid(RULE_EDGE, 4.4) });
            scene.add(Shape::Path { points, stroke: Stroke::solid(RULE, 2.4) });
            scene.text((x + 32.0, y + 10.0), name, LABEL, Anchor::Start, Paint::Muted);
        }
    }
}

/// The position of a panel.
struct Area {
    left: f64,
    width: f64,
    bottom: f64,
    row_height: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_passes_at_its_coordinates() {
        let map = HeatMap {
            title: String::new(),
            x: String::new(),
            y: String::new(),
            columns: vec![2.0, 3.0, 4.0, 6.0],
            rows: vec![],
            panels: vec![],
            line: None,
            scale: (String::new(), String::new()),
        };
        assert_eq!(map.column_of(2.0), 0.5);
        assert_eq!(map.column_of(2.5), 1.0);
        assert_eq!(map.column_of(5.0), 3.0);
        assert_eq!(map.column_of(0.0), 0.0);
        assert_eq!(map.column_of(99.0), 4.0);
    }
}
