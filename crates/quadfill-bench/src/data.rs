//! Synthetic data with realistic shapes.

use std::io::{BufWriter, Write};
use std::path::Path;

use quadfill::{Labels, Mode, Observations, OnDuplicate};
use quadfill_kernels::streams;
use rand::RngExt;
use rand_distr::{Distribution, LogNormal};

/// Cells and values without labels.
pub(crate) struct Cells {
    pub(crate) sizes: Vec<usize>,
    pub(crate) columns: Vec<Vec<u32>>,
    pub(crate) values: Vec<f32>,
}

/// Number of draws of [`ratings`] that leave just over ten million distinct cells.
pub(crate) const TEN_MILLION: usize = 12_200_000;

/// Ratings over time: few users rate many films, few films are rated by many users, and the ratings
/// of a user are close in time.
pub(crate) fn ratings(users: usize, films: usize, weeks: usize, wanted: usize, seed: u64) -> Cells {
    let mut rng = streams::stream(seed, 1, 0);
    let activity = LogNormal::new(0.0, 1.2).expect("a valid deviation");
    let shares: Vec<f64> = (0..users).map(|_| activity.sample(&mut rng)).collect();
    let total: f64 = shares.iter().sum();
    // Film ranks follow a power law with a flat head; the labels are shuffled.
    let mut cumulative = Vec::with_capacity(films);
    let mut sum = 0.0;
    for rank in 0..films {
        sum += (rank as f64 + 50.0).powf(-1.1);
        cumulative.push(sum);
    }
    let mut label: Vec<u32> = (0..films as u32).collect();
    for i in (1..films).rev() {
        label.swap(i, rng.random_range(0..=i));
    }
    let mut columns: [Vec<u32>; 3] = std::array::from_fn(|_| Vec::with_capacity(wanted));
    let mut values = Vec::with_capacity(wanted);
    let mut seen = vec![u32::MAX; films];
    for (user, share) in shares.iter().enumerate() {
        let count = ((share / total * wanted as f64).round() as usize).clamp(1, films / 4);
        let first: f64 = rng.random::<f64>() * weeks as f64;
        for _ in 0..count {
            let draw = rng.random::<f64>() * sum;
            let film = label[cumulative.partition_point(|&c| c < draw).min(films - 1)];
            if seen[film as usize] == user as u32 {
                continue;
            }
            seen[film as usize] = user as u32;
            let week = ((first + 3.0 * rng.random::<f64>().powi(3)) as usize).min(weeks - 1);
            columns[0].push(user as u32);
            columns[1].push(film);
            columns[2].push(week as u32);
            values.push(0.5 * rng.random_range(1..=10) as f32);
        }
    }
    // Shuffled, as files ordered by time do not group their rows by user.
    let mut order: Vec<usize> = (0..values.len()).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
    let pick = |column: &Vec<u32>| order.iter().map(|&i| column[i]).collect();
    Cells {
        sizes: vec![users, films, weeks],
        columns: columns.iter().map(pick).collect(),
        values: order.iter().map(|&i| values[i]).collect(),
    }
}

/// Uniformly drawn cells of a cube.
pub(crate) fn cube(size: usize, wanted: usize, seed: u64) -> Cells {
    let mut rng = streams::stream(seed, 2, 0);
    let columns =
        (0..3).map(|_| (0..wanted).map(|_| rng.random_range(0..size as u32)).collect()).collect();
    let values = (0..wanted).map(|_| rng.random::<f32>() - 0.5).collect();
    Cells { sizes: vec![size; 3], columns, values }
}

impl Cells {
    pub(crate) fn observations(&self) -> anyhow::Result<Observations> {
        let names = ["user", "film", "week"];
        let modes =
            names.iter().zip(&self.sizes).map(|(name, &n)| Mode::new(*name, Labels::range(n)));
        let values = self.values.iter().map(|&v| f64::from(v)).collect();
        Ok(Observations::new(
            modes.collect(),
            self.columns.clone(),
            values,
            None,
            OnDuplicate::Last,
        )?)
    }

    /// Raw little-endian columns for the peers: `<name>.0.u32` .. and `<name>.values.f32`.
    pub(crate) fn write_raw(&self, folder: &Path, name: &str) -> anyhow::Result<()> {
        for (mode, column) in self.columns.iter().enumerate() {
            let bytes: Vec<u8> = column.iter().flat_map(|i| i.to_le_bytes()).collect();
            std::fs::write(folder.join(format!("{name}.{mode}.u32")), bytes)?;
        }
        let bytes: Vec<u8> = self.values.iter().flat_map(|v| v.to_le_bytes()).collect();
        std::fs::write(folder.join(format!("{name}.values.f32")), bytes)?;
        Ok(())
    }

    /// The cells as text with a time in seconds in place of the week.
    pub(crate) fn write_text(&self, path: &Path, delimiter: &str) -> anyhow::Result<()> {
        const WEEK: u64 = 7 * 86_400;
        let mut out = BufWriter::with_capacity(1 << 20, std::fs::File::create(path)?);
        for i in 0..self.values.len() {
            let time =
                800_000_000 + u64::from(self.columns[2][i]) * 20 * WEEK + (i as u64 % 999_983);
            writeln!(
                out,
                "{}{delimiter}{}{delimiter}{}{delimiter}{time}",
                self.columns[0][i] + 1,
                self.columns[1][i] + 1,
                self.values[i],
            )?;
        }
        Ok(out.flush()?)
    }
}
