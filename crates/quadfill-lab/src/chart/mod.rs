//! Charts as SVG and PNG, drawn from the same shapes; the same data give the same bytes.

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

pub(crate) use axis::plain;
pub use axis::{Axis, Spread};
pub use bars::{Bar, BarChart, Histogram};
pub use heat::{HeatMap, Panel};
pub use lines::{LineChart, Look, Point, Rule, Series};
pub use palette::{Paint, Rgb, heat, style};

use scene::Scene;

/// Any chart.
#[derive(Debug, Clone)]
pub enum Chart {
    /// Curves and points.
    Lines(LineChart),
    /// Bars with names.
    Bars(BarChart),
    /// Bars over bins.
    Histogram(Histogram),
    /// Shares as colours.
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

    /// What it shows.
    pub fn title(&self) -> &str {
        match self {
            Self::Lines(chart) => &chart.title,
            Self::Bars(chart) => &chart.title,
            Self::Histogram(chart) => &chart.title,
            Self::Heat(chart) => &chart.title,
        }
    }

    /// An SVG file.
    pub fn svg(&self) -> String {
        svg::write(&self.scene(), svg::Place::File)
    }

    /// An SVG element for a page that has [`style`].
    pub fn inline_svg(&self) -> String {
        svg::write(&self.scene(), svg::Place::Page)
    }

    /// A PNG file, on light paper.
    pub fn png(&self) -> Vec<u8> {
        png::write(&self.scene())
    }
}
