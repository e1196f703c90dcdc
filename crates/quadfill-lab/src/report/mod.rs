//! One page that tells what was done and found: no network, dark or light, on paper or a phone.

mod coverage;
mod fit;
mod spectrum;
mod steps;

pub use fit::{FitStory, fit_page};
pub use steps::{Recorded, Recorder};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::chart::{self, Chart};

/// How a remark is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Good to know.
    Plain,
    /// What was hoped for.
    Good,
    /// What to be careful about.
    Warn,
}

/// An image made of pixels.
#[derive(Debug, Clone)]
pub struct Picture {
    /// The name of its file, without ending.
    pub name: String,
    /// What it shows, in a few words.
    pub title: String,
    /// The bytes of a PNG file.
    pub png: Vec<u8>,
}

/// A part of a section.
#[derive(Debug, Clone)]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// A remark that stands out.
    Note(Tone, String),
    /// Short facts: a name and a value each.
    Facts(Vec<(String, String)>),
    /// A table with a heading for each column.
    Table {
        /// The headings.
        head: Vec<String>,
        /// The rows.
        rows: Vec<Vec<String>>,
    },
    /// A chart, the name of its files, and what to see in it.
    Figure {
        /// The name of the chart's files, without ending.
        name: String,
        /// The chart.
        chart: Box<Chart>,
        /// What to see in it.
        caption: String,
    },
    /// Pictures side by side.
    Pictures {
        /// The pictures.
        pictures: Vec<Picture>,
        /// What to see in them.
        caption: String,
    },
    /// A command to type.
    Command(String),
    /// A link to another page: where to, and its words.
    Link(String, String),
}

impl Block {
    /// A chart with the name of its files and what to see in it.
    pub fn figure(name: &str, chart: Chart, caption: impl Into<String>) -> Self {
        Self::Figure { name: name.to_owned(), chart: Box::new(chart), caption: caption.into() }
    }

    /// A table.
    pub fn table(head: &[&str], rows: Vec<Vec<String>>) -> Self {
        Self::Table { head: head.iter().map(|&name| name.to_owned()).collect(), rows }
    }
}

/// A part of a page with a heading.
#[derive(Debug, Clone)]
pub struct Section {
    /// The heading.
    pub heading: String,
    /// What stands below it.
    pub blocks: Vec<Block>,
}

impl Section {
    /// A section of some blocks.
    pub fn new(heading: &str, blocks: Vec<Block>) -> Self {
        Self { heading: heading.to_owned(), blocks }
    }
}

/// A whole page.
///
/// ```
/// use quadfill_lab::report::{Block, Page, Section};
/// let page = Page {
///     mark: "Demonstration".to_owned(),
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
    /// What kind of page it is, above the title.
    pub mark: String,
    /// The title.
    pub title: String,
    /// What it is about, in a sentence or two.
    pub lead: String,
    /// The sections.
    pub sections: Vec<Section>,
}

impl Page {
    /// The page as HTML that needs no other file.
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
                            p.mark { (self.mark) }
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
                            ". Point at a mark to see its values. The page works without a network."
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

    /// The charts of the page with the names of their files.
    pub fn charts(&self) -> impl Iterator<Item = (&str, &Chart)> {
        self.sections.iter().flat_map(|section| &section.blocks).filter_map(|block| match block {
            Block::Figure { name, chart, .. } => Some((name.as_str(), chart.as_ref())),
            _ => None,
        })
    }
}

impl Picture {
    /// The picture itself in the form of an address, so that a page needs no other file.
    fn address(&self) -> String {
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
                    dl.facts { @for (name, value) in facts { div { dt { (name) } dd { (value) } } } }
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
                                    img src=(picture.address()) alt=(picture.title);
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
