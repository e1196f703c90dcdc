//! Charts as SVG and PNG. Both are drawn from the same shapes, and equal data give identical bytes.

mod axis;
mod bars;
mod font;
mod frame;
mod heat;
mod lines;
mod palette;
mod png;
mod scene;
mod svg;
mod ticks;

pub use axis::{Axis, short_number};
pub use bars::{Bar, BarChart, Histogram};
pub use heat::{HeatMap, Panel};
pub use lines::{LineChart, Point, ReferenceLine, Series, SeriesStyle};
pub use palette::{Rgb, heat_colour, style};
pub use png::encode_png;

use scene::Scene;

/// A chart of any kind.
#[derive(Debug, Clone)]
pub enum Chart {
    /// Lines and markers.
    Lines(LineChart),
    /// One bar per category.
    Bars(BarChart),
    /// Counts over equal bins.
    Histogram(Histogram),
    /// Values between 0 and 1 as colours.
    Heat(HeatMap),
}

impl Chart {
    fn scene(&self) -> Scene {
        match self {
            Self::Lines(chart) => chart.draw(),
            Self::Bars(chart) => chart.draw(),
            Self::Histogram(chart) => chart.draw(),
            Self::Heat(chart) => chart.draw(),
        }
    }

    /// The title.
    pub fn title(&self) -> &str {
        match self {
            Self::Lines(chart) => &chart.title,
            Self::Bars(chart) => &chart.title,
            Self::Histogram(chart) => &chart.title,
            Self::Heat(chart) => &chart.title,
        }
    }

    /// The chart as an SVG file.
    pub fn svg(&self) -> String {
        svg::write(&self.scene(), svg::Place::File)
    }

    /// The chart as an SVG element, for a page that includes [`style`].
    pub fn inline_svg(&self) -> String {
        svg::write(&self.scene(), svg::Place::Page)
    }

    /// The chart as a PNG file with a light background.
    pub fn png(&self) -> Vec<u8> {
        png::write(&self.scene())
    }
}
