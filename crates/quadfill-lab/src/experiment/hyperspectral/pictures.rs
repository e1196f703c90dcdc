//! Bands as grey pictures.

use tiny_skia::{Pixmap, PremultipliedColorU8};

use super::cube::Cube;

/// Small images are shown with every pixel as a square of so many that this width is reached.
const WIDTH: usize = 256;

/// What is white and what is black in a band.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tones {
    black: f32,
    white: f32,
}

impl Tones {
    /// From the smallest value of a band to the 99th percentile, as one glint would leave the rest dark.
    pub(super) fn of(cube: &Cube, band: usize) -> Self {
        let mut values: Vec<f32> = (0..cube.sizes[0] * cube.sizes[1])
            .map(|pixel| cube.values[pixel * cube.sizes[2] + band])
            .filter(|value| !value.is_nan())
            .collect();
        values.sort_by(f32::total_cmp);
        let at = |share: f64| values.get((share * values.len() as f64) as usize).copied();
        Self { black: at(0.0).unwrap_or(0.0), white: at(0.99).unwrap_or(1.0) }
    }

    fn grey(self, value: f32) -> u8 {
        (255.0 * (value - self.black) / (self.white - self.black).max(f32::MIN_POSITIVE)) as u8
    }
}

/// One band as PNG. Cells without a value are a warm orange, which no grey is.
pub(super) fn band(cube: &Cube, band: usize, tones: Tones) -> Vec<u8> {
    let [rows, columns, bands] = cube.sizes;
    let zoom = (WIDTH / columns.max(1)).max(1);
    let mut image =
        Pixmap::new((columns * zoom) as u32, (rows * zoom) as u32).expect("images have a size");
    for (place, pixel) in image.pixels_mut().iter_mut().enumerate() {
        let (i, j) = (place / (columns * zoom) / zoom, place % (columns * zoom) / zoom);
        let value = cube.values[(i * columns + j) * bands + band];
        let [r, g, b] = if value.is_nan() { [196, 98, 16] } else { [tones.grey(value); 3] };
        *pixel = PremultipliedColorU8::from_rgba(r, g, b, 255).expect("opaque colours are valid");
    }
    image.encode_png().expect("an image in memory can be encoded")
}
