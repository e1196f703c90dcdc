//! The glyphs of PNG charts: widths and outlines, identical on every machine.
//!
//! The two files are subsets of `DejaVu` Sans.

use std::sync::OnceLock;

use ttf_parser::{Face, OutlineBuilder};

const REGULAR: &[u8] = include_bytes!("font/regular.ttf");
const BOLD: &[u8] = include_bytes!("font/bold.ttf");

fn face(bold: bool) -> &'static Face<'static> {
    static FACES: OnceLock<[Face<'static>; 2]> = OnceLock::new();
    let faces = FACES.get_or_init(|| {
        [REGULAR, BOLD].map(|bytes| Face::parse(bytes, 0).expect("the built-in font is valid"))
    });
    &faces[usize::from(bold)]
}

/// The width of a text. The fonts of browsers are usually narrower.
pub(crate) fn width(words: &str, size: f64, bold: bool) -> f64 {
    let face = face(bold);
    let units: f64 = words.chars().map(|letter| advance(face, letter)).sum();
    units * size / f64::from(face.units_per_em())
}

fn advance(face: &Face<'_>, letter: char) -> f64 {
    let glyph = face.glyph_index(letter).unwrap_or_default();
    f64::from(face.glyph_hor_advance(glyph).unwrap_or(0))
}

/// Draws the outlines of a text that starts at the origin, in pixels, with `y` pointing down.
pub(crate) fn outline(words: &str, size: f64, bold: bool, out: &mut tiny_skia::PathBuilder) {
    let face = face(bold);
    let scale = size / f64::from(face.units_per_em());
    let mut pen = 0.0;
    for letter in words.chars() {
        if let Some(glyph) = face.glyph_index(letter) {
            face.outline_glyph(glyph, &mut Pen { out, scale, left: pen });
        }
        pen += advance(face, letter) * scale;
    }
}

struct Pen<'a> {
    out: &'a mut tiny_skia::PathBuilder,
    scale: f64,
    left: f64,
}

impl Pen<'_> {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        ((self.left + f64::from(x) * self.scale) as f32, (-f64::from(y) * self.scale) as f32)
    }
}

impl OutlineBuilder for Pen<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.out.move_to(x, y);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.out.line_to(x, y);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.out.quad_to(x1, y1, x, y);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.out.cubic_to(x1, y1, x2, y2, x, y);
    }
    fn close(&mut self) {
        self.out.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_of_the_charts_has_a_glyph() {
        let letters = "abcXYZ 0123456789 .,:;()/%=+-\u{2212}\u{d7}\u{b1}\u{b7}\u{2013}\u{2026}⁰¹²³⁴⁵⁶⁷⁸⁹⁻αελμσ√≤≥≈";
        for letter in letters.chars() {
            for bold in [false, true] {
                assert!(face(bold).glyph_index(letter).is_some(), "{letter}");
            }
        }
    }

    #[test]
    fn wider_texts_are_wider() {
        assert!(width("mmm", 12.0, false) > width("iii", 12.0, false));
        assert!(width("error", 12.0, true) > width("error", 12.0, false));
    }
}
