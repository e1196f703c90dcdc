//! Bands as greyscale images.

use quadfill_report::chart::{Rgb, encode_png};

use super::cube::Cube;

/// Small images are enlarged by a whole factor to about this width.
const WIDTH: usize = 256;

/// The values that are drawn black and white.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tones {
    black: f32,
    white: f32,
}

impl Tones {
    /// From the smallest value of a band to its 99th percentile: a single specular highlight would leave
    /// the rest dark.
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

/// The colour of cells without a value: orange, to stand out from the greys.
const UNKNOWN: Rgb = Rgb(196, 98, 16);

/// One band as PNG.
pub(super) fn band(cube: &Cube, band: usize, tones: Tones) -> Vec<u8> {
    let [rows, columns, bands] = cube.sizes;
    let zoom = (WIDTH / columns.max(1)).max(1);
    encode_png(columns * zoom, rows * zoom, |row, column| {
        let value = cube.values[(row / zoom * columns + column / zoom) * bands + band];
        if value.is_nan() {
            return UNKNOWN;
        }
        let grey = tones.grey(value);
        Rgb(grey, grey, grey)
    })
}
