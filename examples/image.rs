//! An image with many bands, of which a few pixels were measured.
//!
//! `image [FILE]` reads a dense `.npy` array of rows, columns and bands, or makes one up; a few per cent
//! of its cells are shown to the fit.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use quadfill::solve::{Choice, Rank};
use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate};
use quadfill_io::{ReadOptions, read};

/// The share of cells that is measured.
const SHARE: f64 = 0.05;

fn main() -> Result<(), Box<dyn Error>> {
    let cube = match std::env::args().nth(1) {
        Some(path) => read(path, &ReadOptions::default())?,
        None => made_up()?,
    };
    let (hidden, measured) = cube.split_random(SHARE, 1)?;
    println!("{} of {} cells are measured", measured.len(), measured.len() + hidden.len());
    for rank in [2, 6] {
        let config = FitConfig {
            rank: Rank::Fixed(rank),
            path_steps: Choice::Fixed(60),
            ..FitConfig::default()
        };
        let model = quadfill::fit(measured.clone(), &config)?;
        let judged = model.evaluate(&hidden)?;
        println!(
            "rank {rank}: relative error {:.4} on the {} others (biases: {:?})",
            judged.relative_error,
            judged.count,
            model.spec().biases
        );
    }
    Ok(())
}

/// Two materials whose shares change over the image, each with its spectrum.
fn made_up() -> quadfill::Result<Observations> {
    let sizes = [60u32, 60, 24];
    let (mut columns, mut values) = (vec![Vec::new(); 3], Vec::new());
    for row in 0..sizes[0] {
        for column in 0..sizes[1] {
            for band in 0..sizes[2] {
                let (x, y, b) =
                    (f64::from(row) / 60.0, f64::from(column) / 60.0, f64::from(band) / 24.0);
                let share = 0.5 + 0.5 * (3.0 * x).sin() * (2.0 * y).cos();
                let (soil, leaf) = (0.3 + 0.5 * b, 0.2 + 0.6 / (1.0 + (-20.0 * (b - 0.6)).exp()));
                values.push(share * leaf + (1.0 - share) * soil);
                columns.iter_mut().zip([row, column, band]).for_each(|(c, label)| c.push(label));
            }
        }
    }
    let mode = |(name, n): (&str, u32)| Mode::new(name, Labels::range(n as usize));
    let modes = ["row", "column", "band"].into_iter().zip(sizes).map(mode).collect();
    Observations::new(modes, columns, values, None, OnDuplicate::Error)
}
