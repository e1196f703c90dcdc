//! Charts and reports.
//!
//! [`chart`] draws line charts, bar charts, histograms and heat maps as SVG and PNG. A [`Page`] puts
//! text, tables and charts into one HTML file that loads nothing else, and [`fit_page`] is the page
//! about a fit: the choice, the data, the path, convergence, the certificate, intervals, residuals and factors.

pub mod chart;
mod report;

pub use report::{
    Block, FitStory, KnownCells, Page, Picture, Recorded, Recorder, Section, Tone, fit_page,
    model_card,
};
