//! Hyperspectral images and samples of their cells.

use std::path::Path;

use quadfill::{Labels, Mode, Observations, OnDuplicate};
use quadfill_io::{ReadOptions, read};
use quadfill_kernels::streams;
use rand::RngExt;

use crate::error::{LabError, Result};

const SAMPLE_STREAM: u64 = 0x6375_6265;

/// A dense array over row, column and band, in units of its own standard deviation. Cells without a
/// value are NaN.
#[derive(Debug, Clone)]
pub(super) struct Cube {
    pub(super) sizes: [usize; 3],
    pub(super) values: Vec<f32>,
    /// The standard deviation, in the units of the file.
    pub(super) unit: f32,
}

/// A sample of the cells.
pub(super) struct Sample {
    pub(super) seen: Vec<bool>,
    pub(super) observations: Observations,
}

impl Cube {
    /// Reads a `.npy` or `.mat` array.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let cells = read(path, &ReadOptions::default())?;
        let sizes: [usize; 3] = cells.sizes().try_into().map_err(|sizes: Vec<usize>| {
            LabError::NotAnImage { path: path.to_owned(), dimensions: sizes.len() }
        })?;
        let mut values = vec![f32::NAN; sizes.iter().product()];
        for (cell, &value) in cells.values().iter().enumerate() {
            let [i, j, k] = [0, 1, 2].map(|mode| cells.indices(mode)[cell] as usize);
            values[(i * sizes[1] + j) * sizes[2] + k] = value as f32;
        }
        Ok(Self { sizes, values, unit: 1.0 }.scaled())
    }

    /// Scales the values to standard deviation 1, so that penalties are comparable between images.
    fn scaled(mut self) -> Self {
        let known = || self.values.iter().filter(|value| !value.is_nan()).map(|&v| f64::from(v));
        let count = known().count().max(1) as f64;
        let mean = known().sum::<f64>() / count;
        let deviation = (known().map(|v| (v - mean).powi(2)).sum::<f64>() / count).sqrt();
        if deviation > 0.0 {
            self.values.iter_mut().for_each(|v| *v = (f64::from(*v) / deviation) as f32);
            self.unit = (f64::from(self.unit) * deviation) as f32;
        }
        self
    }

    /// Averages blocks of `step` by `step` pixels; incomplete blocks at the edges are dropped.
    pub(super) fn downsampled(&self, step: usize) -> Self {
        let [rows, columns, bands] = self.sizes;
        let sizes = [(rows / step).max(1), (columns / step).max(1), bands];
        let mut values = Vec::with_capacity(sizes.iter().product());
        for i in 0..sizes[0] {
            for j in 0..sizes[1] {
                for k in 0..bands {
                    let square = (i * step..((i + 1) * step).min(rows)).flat_map(|i| {
                        (j * step..((j + 1) * step).min(columns)).map(move |j| (i, j))
                    });
                    let known: Vec<f32> = square
                        .map(|(i, j)| self.values[(i * columns + j) * bands + k])
                        .filter(|value| !value.is_nan())
                        .collect();
                    values.push(known.iter().sum::<f32>() / known.len() as f32);
                }
            }
        }
        Self { sizes, values, unit: self.unit }.scaled()
    }

    /// Samples every cell that has a value with probability `rate`.
    pub(super) fn sample(&self, rate: f64, seed: u64) -> Result<Sample> {
        let mut rng = streams::stream(seed, SAMPLE_STREAM, 0);
        let seen: Vec<bool> =
            self.values.iter().map(|v| rng.random::<f64>() < rate && !v.is_nan()).collect();
        let (indices, values) = self.cells(|cell| seen[cell]);
        let names = ["row", "column", "band"];
        let modes =
            names.iter().zip(self.sizes).map(|(&name, size)| Mode::new(name, Labels::range(size)));
        let observations =
            Observations::new(modes.collect(), indices, values, None, OnDuplicate::Error)?;
        Ok(Sample { seen, observations })
    }

    /// Indices and values of the cells that have a value and satisfy `wanted`.
    pub(super) fn cells(&self, wanted: impl Fn(usize) -> bool) -> (Vec<Vec<u32>>, Vec<f64>) {
        let [_, columns, bands] = self.sizes;
        let (mut indices, mut values) = (vec![Vec::new(); 3], Vec::new());
        for (cell, &value) in self.values.iter().enumerate() {
            if !value.is_nan() && wanted(cell) {
                let at = [cell / bands / columns, cell / bands % columns, cell % bands];
                indices.iter_mut().zip(at).for_each(|(index, at)| index.push(at as u32));
                values.push(f64::from(value));
            }
        }
        (indices, values)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]
mod tests {
    use super::*;

    fn cube() -> Cube {
        let values = (0..4 * 6 * 2).map(|cell| (cell / 2) as f32 + 100.0 * (cell % 2) as f32);
        Cube { sizes: [4, 6, 2], values: values.collect(), unit: 1.0 }
    }

    #[test]
    fn blocks_are_averaged() {
        let mut cube = cube();
        cube.values[0] = f32::NAN;
        let small = cube.downsampled(2);
        assert_eq!(small.sizes, [2, 3, 2]);
        // Pixels 0, 1, 6 and 7 of band 0, of which the first is not known, and all four of band 1.
        let [first, second] = [small.values[0] * small.unit, small.values[1] * small.unit];
        assert!((first - 14.0 / 3.0).abs() < 1e-4 && (second - 103.5).abs() < 1e-3);
    }

    #[test]
    fn a_sample_holds_its_share_and_its_values() {
        let mut cube = cube();
        cube.values[5] = f32::NAN;
        let sample = cube.sample(0.5, 3).unwrap();
        assert!(!sample.seen[5]);
        let cells = sample.observations;
        assert!((10..40).contains(&cells.len()));
        assert_eq!(cells.len(), sample.seen.iter().filter(|seen| **seen).count());
        for (cell, &value) in cells.values().iter().enumerate() {
            let [i, j, k] = [0, 1, 2].map(|mode| cells.indices(mode)[cell] as usize);
            assert_eq!(value, f64::from(cube.values[(i * 6 + j) * 2 + k]));
        }
    }
}
