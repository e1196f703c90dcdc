//! Drawings as SVG text.

use std::fmt::Write;

use super::palette::{Paint, style};
use super::scene::{Anchor, Item, Scene, Shape, Stroke, Text};

/// Where an SVG is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A standalone file, with its own style.
    File,
    /// Part of a page that has the style.
    Page,
}

pub(crate) fn write(scene: &Scene, place: Place) -> String {
    let mut out = String::new();
    let (w, h) = (length(scene.width), length(scene.height));
    let size = match place {
        Place::File => format!(" width=\"{w}\" height=\"{h}\""),
        Place::Page => String::new(),
    };
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"qf\"{size} viewBox=\"0 0 {w} {h}\" \
         role=\"img\" aria-label=\"{}\">",
        escaped(&scene.description)
    );
    if place == Place::File {
        let _ = write!(out, "<style>{}</style>", style());
        let _ = write!(out, "<rect class=\"f-paper\" width=\"{w}\" height=\"{h}\"/>");
    }
    for item in &scene.items {
        write_item(&mut out, item);
        out.push('\n');
    }
    out.push_str("</svg>\n");
    out
}

fn write_item(out: &mut String, item: &Item) {
    let name = match &item.shape {
        Shape::Path { points, stroke } => {
            let _ = write!(out, "<path d=\"{}\" fill=\"none\" ", path(points));
            write_stroke(out, *stroke);
            "path"
        }
        Shape::Rect { x, y, width, height, corner_radius, fill } => {
            let _ = write!(
                out,
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
                length(*x),
                length(*y),
                length(*width),
                length(*height)
            );
            if *corner_radius > 0.0 {
                let _ = write!(out, " rx=\"{}\"", length(*corner_radius));
            }
            let _ = write!(out, " {}", filled(*fill));
            "rect"
        }
        Shape::Circle { x, y, radius, fill, stroke } => {
            let (class, attribute) = paint("f", "fill", *fill);
            let (more, line) = stroke.map_or((String::new(), String::new()), |stroke| {
                let (class, attribute) = paint("s", "stroke", stroke.paint);
                (class, format!("{attribute} stroke-width=\"{}\"", length(stroke.width)))
            });
            let classes = [class, more].join(" ");
            let _ = write!(
                out,
                "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"{}\"{attribute}{line}",
                length(*x),
                length(*y),
                length(*radius),
                classes.trim()
            );
            "circle"
        }
        Shape::HoverTarget { x, y, radius } => {
            let _ = write!(
                out,
                "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill-opacity=\"0\"",
                length(*x),
                length(*y),
                length(*radius)
            );
            "circle"
        }
        Shape::Text(text) => {
            write_text(out, text);
            return;
        }
    };
    match &item.tooltip {
        Some(tooltip) => {
            let _ = write!(out, "><title>{}</title></{name}>", escaped(tooltip));
        }
        None => out.push_str("/>"),
    }
}

fn write_text(out: &mut String, text: &Text) {
    let anchor = match text.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let (x, y) = (length(text.x), length(text.y));
    let rotation =
        if text.vertical { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
    let weight = if text.bold { " font-weight=\"600\"" } else { "" };
    let _ = write!(
        out,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" {}{anchor}{weight}{rotation}>{}</text>",
        length(text.size),
        filled(text.paint),
        escaped(&text.words)
    );
}

fn write_stroke(out: &mut String, stroke: Stroke) {
    let (class, attribute) = paint("s", "stroke", stroke.paint);
    let _ = write!(
        out,
        "class=\"{class}\"{attribute} stroke-width=\"{}\" stroke-linejoin=\"round\" stroke-linecap=\"round\"",
        length(stroke.width)
    );
    if let Some((dash, gap)) = stroke.dash {
        let _ = write!(out, " stroke-dasharray=\"{} {}\"", length(dash), length(gap));
    }
}

fn filled(fill: Paint) -> String {
    let (class, attribute) = paint("f", "fill", fill);
    if class.is_empty() { attribute.trim_start().to_owned() } else { format!("class=\"{class}\"") }
}

/// The class or the attribute for a colour.
fn paint(prefix: &str, attribute: &str, paint: Paint) -> (String, String) {
    let class = match paint {
        Paint::Ink => "ink".to_owned(),
        Paint::Muted => "muted".to_owned(),
        Paint::Grid => "grid".to_owned(),
        Paint::Paper => "paper".to_owned(),
        Paint::Series(place) => format!("c{}", place % super::palette::SERIES),
        Paint::Fixed(colour) => {
            return (String::new(), format!(" {attribute}=\"{}\"", colour.hex()));
        }
    };
    (format!("{prefix}-{class}"), String::new())
}

fn path(points: &[(f64, f64)]) -> String {
    let mut text = String::new();
    for (index, &(x, y)) in points.iter().enumerate() {
        let _ = write!(text, "{}{} {}", if index == 0 { 'M' } else { 'L' }, length(x), length(y));
    }
    text
}

/// A length to two decimals, without trailing zeros.
fn length(value: f64) -> String {
    let text = format!("{value:.2}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_short_and_text_is_escaped() {
        assert_eq!(length(1.0), "1");
        assert_eq!(length(-0.001), "0");
        assert_eq!(length(2.346), "2.35");
        assert_eq!(escaped("a<b & \"c\""), "a&lt;b &amp; &quot;c&quot;");
    }
}
