//! Self-contained HTML pages, for light and dark screens, phones and print.

mod calibration;
mod card;
mod choice;
mod coverage;
mod fit;
mod numbers;
mod residuals;
mod spectrum;
mod steps;

pub use calibration::KnownCells;
pub use card::model_card;
pub use fit::{FitStory, fit_page};
pub use steps::{Recorded, Recorder};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::chart::{self, Chart};

/// The kind of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Information.
    Plain,
    /// A good result.
    Good,
    /// A warning.
    Warn,
}

/// A raster image.
#[derive(Debug, Clone)]
pub struct Picture {
    /// The file name, without extension.
    pub name: String,
    /// A short title.
    pub title: String,
    /// The contents of a PNG file.
    pub png: Vec<u8>,
}

/// A part of a section.
#[derive(Debug, Clone)]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// A highlighted note.
    Note(Tone, String),
    /// Short facts: pairs of a name and a value.
    Facts(Vec<(String, String)>),
    /// A table.
    Table {
        /// The column headings.
        head: Vec<String>,
        /// The rows.
        rows: Vec<Vec<String>>,
    },
    /// A chart with a caption.
    Figure {
        /// The file name of the chart, without extension.
        name: String,
        /// The chart.
        chart: Box<Chart>,
        /// The caption, or an empty string.
        caption: String,
    },
    /// Pictures side by side.
    Pictures {
        /// The pictures.
        pictures: Vec<Picture>,
        /// The caption, or an empty string.
        caption: String,
    },
    /// A command line.
    Command(String),
    /// A link to another page: its address and its text.
    Link(String, String),
}

impl Block {
    /// A chart with its file name and a caption.
    pub fn figure(name: &str, chart: Chart, caption: impl Into<String>) -> Self {
        Self::Figure { name: name.to_owned(), chart: Box::new(chart), caption: caption.into() }
    }

    /// A table.
    pub fn table(head: &[&str], rows: Vec<Vec<String>>) -> Self {
        Self::Table { head: head.iter().map(|&name| name.to_owned()).collect(), rows }
    }
}

/// A section of a page.
#[derive(Debug, Clone)]
pub struct Section {
    /// The heading.
    pub heading: String,
    /// The contents.
    pub blocks: Vec<Block>,
}

impl Section {
    /// A section with these contents.
    pub fn new(heading: &str, blocks: Vec<Block>) -> Self {
        Self { heading: heading.to_owned(), blocks }
    }
}

/// A page.
///
/// ```
/// use quadfill_report::{Block, Page, Section};
/// let page = Page {
///     kind: "Demonstration".to_owned(),
///     title: "Five <is> five".to_owned(),
///     lead: "A page with one fact.".to_owned(),
///     sections: vec![Section::new(
///         "Facts",
///         vec![Block::Facts(vec![("five".to_owned(), "5".to_owned())])],
///     )],
/// };
/// let html = page.html();
/// assert!(html.starts_with("<!DOCTYPE html>") && html.contains("Five &lt;is&gt; five"));
/// ```
#[derive(Debug, Clone)]
pub struct Page {
    /// The kind of page, shown above the title.
    pub kind: String,
    /// The title.
    pub title: String,
    /// One or two introductory sentences.
    pub lead: String,
    /// The sections.
    pub sections: Vec<Section>,
}

impl Page {
    /// The page as one HTML file that loads nothing else.
    pub fn html(&self) -> String {
        let style = format!("{}{}", include_str!("style.css"), chart::style());
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (self.title) }
                    link rel="icon" href="data:,";
                    style { (PreEscaped(style)) }
                }
                body {
                    main {
                        header {
                            p.mark { (self.kind) }
                            h1 { (self.title) }
                            p { (self.lead) }
                        }
                        @for section in &self.sections {
                            section {
                                h2 { (section.heading) }
                                @for block in &section.blocks { (block.markup()) }
                            }
                        }
                        footer {
                            "Made by Quadfill " (env!("CARGO_PKG_VERSION"))
                            ". Hover over a data point to see its values. This page works offline."
                        }
                    }
                    div #tip role="status" {}
                    script { (PreEscaped(include_str!("hover.js"))) }
                }
            }
        }
        .into_string()
    }

    /// The pictures of the page.
    pub fn pictures(&self) -> impl Iterator<Item = &Picture> {
        self.sections
            .iter()
            .flat_map(|section| &section.blocks)
            .filter_map(|block| match block {
                Block::Pictures { pictures, .. } => Some(pictures),
                _ => None,
            })
            .flatten()
    }

    /// The charts of the page with their file names.
    pub fn charts(&self) -> impl Iterator<Item = (&str, &Chart)> {
        self.sections.iter().flat_map(|section| &section.blocks).filter_map(|block| match block {
            Block::Figure { name, chart, .. } => Some((name.as_str(), chart.as_ref())),
            _ => None,
        })
    }
}

impl Picture {
    /// The picture as a data URL.
    fn data_url(&self) -> String {
        format!("data:image/png;base64,{}", BASE64_STANDARD.encode(&self.png))
    }
}

impl Block {
    fn markup(&self) -> Markup {
        html! {
            @match self {
                Self::Text(words) => { p { (words) } }
                Self::Note(tone, words) => {
                    div class=(match tone {
                        Tone::Plain => "note",
                        Tone::Good => "note good",
                        Tone::Warn => "note warn",
                    }) { (words) }
                }
                Self::Facts(facts) => {
                    dl.facts { @for (name, value) in facts { div.long[value.chars().count() > 36] { dt { (name) } dd { (value) } } } }
                }
                Self::Table { head, rows } => {
                    div.table {
                        table {
                            thead { tr { @for name in head { th { (name) } } } }
                            tbody {
                                @for row in rows {
                                    tr {
                                        @for cell in row {
                                            td.wide[cell.chars().count() > 40] { (cell) }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
                Self::Figure { name, chart, caption } => {
                    figure id=(name) {
                        (PreEscaped(chart.inline_svg()))
                        @if !caption.is_empty() { figcaption { (caption) } }
                    }
                }
                Self::Pictures { pictures, caption } => {
                    figure.pictures {
                        div {
                            @for picture in pictures {
                                div {
                                    img src=(picture.data_url()) alt=(picture.title);
                                    p { (picture.title) }
                                }
                            }
                        }
                        @if !caption.is_empty() { figcaption { (caption) } }
                    }
                }
                Self::Command(line) => { pre { code { (line) } } }
                Self::Link(to, words) => { p { a href=(to) { (words) } } }
            }
        }
    }
}
