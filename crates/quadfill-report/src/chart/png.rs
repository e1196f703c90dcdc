//! Drawings as PNG images with a light background.

use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint as Brush, Path, PathBuilder, Pixmap,
    PremultipliedColorU8, Rect, StrokeDash, Transform,
};

use super::font;
use super::palette::{LIGHT, Paint, Rgb};
use super::scene::{Anchor, Scene, Shape, Stroke, Text};

/// Pixels per unit of length, so that charts are sharp when shown at half their size.
const SCALE: f32 = 2.0;

pub(crate) fn write(scene: &Scene) -> Vec<u8> {
    let (width, height) =
        ((scene.width as f32 * SCALE) as u32, (scene.height as f32 * SCALE) as u32);
    let mut image = Pixmap::new(width.max(1), height.max(1)).expect("charts are not empty");
    let Rgb(r, g, b) = LIGHT.paper;
    image.fill(Color::from_rgba8(r, g, b, 255));
    for item in &scene.items {
        draw(&mut image, &item.shape);
    }
    image.encode_png().expect("an image in memory can be encoded")
}

/// Encodes an image as PNG. `pixel` gives the colour at a row and a column, both counted from 0 at the
/// top left.
///
/// ```
/// use quadfill_report::chart::{Rgb, encode_png};
/// let png = encode_png(2, 1, |_, column| Rgb(255 * column as u8, 0, 0));
/// assert!(png.starts_with(b"\x89PNG"));
/// ```
///
/// # Panics
/// If the width or the height is 0.
pub fn encode_png(width: usize, height: usize, pixel: impl Fn(usize, usize) -> Rgb) -> Vec<u8> {
    let mut image =
        Pixmap::new(width as u32, height as u32).expect("width and height are not zero");
    for (index, out) in image.pixels_mut().iter_mut().enumerate() {
        let Rgb(r, g, b) = pixel(index / width, index % width);
        *out = PremultipliedColorU8::from_rgba(r, g, b, 255).expect("opaque colours are valid");
    }
    image.encode_png().expect("an image in memory can be encoded")
}

fn draw(image: &mut Pixmap, shape: &Shape) {
    match shape {
        Shape::Path { points, stroke } => {
            if let Some(path) = polyline(points) {
                outline(image, &path, *stroke);
            }
        }
        Shape::Rect { x, y, width, height, corner_radius, fill } => {
            if let Some(path) = rectangle(*x, *y, *width, *height, *corner_radius) {
                image.fill_path(&path, &brush(*fill), FillRule::Winding, zoom(), None);
            }
        }
        Shape::Circle { x, y, radius, fill, stroke } => {
            if let Some(path) = PathBuilder::from_circle(*x as f32, *y as f32, *radius as f32) {
                image.fill_path(&path, &brush(*fill), FillRule::Winding, zoom(), None);
                if let Some(stroke) = stroke {
                    outline(image, &path, *stroke);
                }
            }
        }
        Shape::HoverTarget { .. } => {}
        Shape::Text(text) => write_text(image, text),
    }
}

fn write_text(image: &mut Pixmap, text: &Text) {
    let mut builder = PathBuilder::new();
    font::outline(&text.words, text.size, text.bold, &mut builder);
    let Some(path) = builder.finish() else { return };
    let width = font::width(&text.words, text.size, text.bold);
    let left = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => -0.5 * width,
        Anchor::End => -width,
    } as f32;
    let angle = if text.vertical { -90.0 } else { 0.0 };
    let transform = Transform::from_translate(left, 0.0)
        .post_concat(Transform::from_rotate(angle))
        .post_translate(text.x as f32, text.y as f32)
        .post_scale(SCALE, SCALE);
    image.fill_path(&path, &brush(text.paint), FillRule::Winding, transform, None);
}

fn outline(image: &mut Pixmap, path: &Path, stroke: Stroke) {
    let pen = tiny_skia::Stroke {
        width: stroke.width as f32,
        line_cap: LineCap::Round,
        line_join: LineJoin::Round,
        dash: stroke
            .dash
            .and_then(|(dash, gap)| StrokeDash::new(vec![dash as f32, gap as f32], 0.0)),
        ..tiny_skia::Stroke::default()
    };
    image.stroke_path(path, &brush(stroke.paint), &pen, zoom(), None);
}

fn zoom() -> Transform {
    Transform::from_scale(SCALE, SCALE)
}

fn brush(paint: Paint) -> Brush<'static> {
    let Rgb(r, g, b) = LIGHT.colour(paint);
    let mut brush = Brush::default();
    brush.set_color_rgba8(r, g, b, 255);
    brush.anti_alias = true;
    brush
}

fn polyline(points: &[(f64, f64)]) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for (index, &(x, y)) in points.iter().enumerate() {
        if index == 0 {
            builder.move_to(x as f32, y as f32);
        } else {
            builder.line_to(x as f32, y as f32);
        }
    }
    builder.finish()
}

fn rectangle(x: f64, y: f64, width: f64, height: f64, corner_radius: f64) -> Option<Path> {
    let (x, y, w, h) = (x as f32, y as f32, width as f32, height as f32);
    if corner_radius <= 0.0 {
        return Some(PathBuilder::from_rect(Rect::from_xywh(x, y, w, h)?));
    }
    let r = (corner_radius as f32).min(w / 2.0).min(h / 2.0);
    let mut builder = PathBuilder::new();
    builder.move_to(x + r, y);
    builder.line_to(x + w - r, y);
    builder.quad_to(x + w, y, x + w, y + r);
    builder.line_to(x + w, y + h - r);
    builder.quad_to(x + w, y + h, x + w - r, y + h);
    builder.line_to(x + r, y + h);
    builder.quad_to(x, y + h, x, y + h - r);
    builder.line_to(x, y + r);
    builder.quad_to(x, y, x + r, y);
    builder.close();
    builder.finish()
}
