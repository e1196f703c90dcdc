//! Sensor readings with gaps: fill them in, with bounds.
//!
//! `sensors [FILE]` reads rows of sensor, day, hour and reading, or makes some up.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use quadfill::solve::{Choice, Rank};
use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate};
use quadfill_io::{ReadOptions, read};
use quadfill_kernels::streams;
use rand::RngExt;

fn main() -> Result<(), Box<dyn Error>> {
    let data = match std::env::args().nth(1) {
        Some(path) => read(path, &ReadOptions::default())?,
        None => made_up()?,
    };
    let (known, lost) = data.split_random(0.3, 1)?;
    println!("{} readings, {} of them lost", known.len() + lost.len(), lost.len());
    let config =
        FitConfig { rank: Rank::Fixed(3), path_steps: Choice::Fixed(60), ..FitConfig::default() };
    let model = quadfill::fit(known.clone(), &config)?;
    println!("rmse {:.3} on the lost ones", model.evaluate(&lost)?.rmse);

    // How far off may a reading be? The equations of the rows tell, and those need the data.
    let cells = lost.columns();
    let filled = model.predict_cells(&cells);
    let bounds = model.half_widths(&cells, 0.9, Some(known))?;
    let is_inside = |&row: &usize| (lost.values()[row] - filled[row]).abs() <= bounds[row];
    let inside = (0..lost.len()).filter(is_inside).count();
    println!(
        "{:.1} % of the lost readings are within their 90 % bounds",
        100.0 * inside as f64 / lost.len() as f64
    );
    for row in 0..3 {
        println!(
            "  {}: {:.2} ± {:.2}, was {:.2}",
            lost.describe(row),
            filled[row],
            bounds[row],
            lost.values()[row]
        );
    }
    Ok(())
}

/// Temperatures: every sensor has its place, every day its weather, and the sun goes round.
fn made_up() -> quadfill::Result<Observations> {
    let sizes = [20u32, 30, 24];
    let mut rng = streams::stream(2, 1, 0);
    let mut normal = |n: u32| {
        let mut draws = vec![0.0; n as usize];
        streams::fill_normal(&mut draws, &mut rng);
        draws
    };
    let (place, shade, weather, noise) = (
        normal(sizes[0]),
        normal(sizes[0]),
        normal(sizes[1]),
        normal(sizes[0] * sizes[1] * sizes[2]),
    );
    let (mut columns, mut values) = (vec![Vec::new(); 3], Vec::new());
    for sensor in 0..sizes[0] {
        for day in 0..sizes[1] {
            for hour in 0..sizes[2] {
                if rng.random::<f64>() < 0.4 {
                    continue;
                }
                let sun = (std::f64::consts::TAU * (f64::from(hour) - 9.0) / 24.0).sin();
                let (s, d) = (sensor as usize, day as usize);
                let cloud = 1.0 + 0.4 * weather[d];
                let at = (s * 30 + d) * 24 + hour as usize;
                values.push(
                    12.0 + place[s]
                        + 3.0 * weather[d]
                        + (4.0 + shade[s]) * sun
                        + 2.0 * cloud * sun
                        + 0.5 * noise[at],
                );
                columns.iter_mut().zip([sensor, day, hour]).for_each(|(c, label)| c.push(label));
            }
        }
    }
    let mode = |(name, n): (&str, u32)| Mode::new(name, Labels::range(n as usize));
    let modes = ["sensor", "day", "hour"].into_iter().zip(sizes).map(mode).collect();
    Observations::new(modes, columns, values, None, OnDuplicate::Error)
}
