//! Wall and CPU seconds of plain `fit` on two threads, from thousands of cells to ten million.

use std::collections::HashSet;
use std::path::Path;
use std::time::Instant;

use quadfill::model::Kernel;
use quadfill::solve::Effort;
use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate};
use quadfill_kernels::streams;
use quadfill_testkit::Planted;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::datasets::{Sources, ratings};
use super::settings::{chosen, plain};
use crate::clock::cpu_seconds;
use crate::data;
use crate::peers::Peers;
use crate::sweeps::pool;

/// The settings that are timed.
fn efforts() -> Vec<(&'static str, FitConfig)> {
    vec![("normal", plain()), ("quick", FitConfig { effort: Effort::Quick, ..plain() })]
}

/// Data to fit, and cells to compare the model with where they are known.
struct Case {
    name: &'static str,
    train: Observations,
    test: Option<Observations>,
}

/// Times every case; ratings need the folder of data sets.
pub(crate) fn run(
    peers: &Peers,
    data: Option<&Path>,
    folder: &Path,
    row: Option<&str>,
) -> anyhow::Result<()> {
    println!("\nplain fit on two threads");
    println!(
        "{:<36}{:>10}{:>9}{:>9}{:>9}{:>11}  chosen",
        "", "cells", "effort", "wall s", "CPU s", "error"
    );
    let movielens = || -> anyhow::Result<Option<Case>> {
        let Some(data) = data else { return Ok(None) };
        let train = ratings(&Sources { data, folder, peers }, 86_400.0)?;
        Ok(Some(Case { name: "MovieLens-100K", train, test: None }))
    };
    // Built one at a time, as the largest takes much memory.
    let cases: [(&str, &dyn Fn() -> anyhow::Result<Option<Case>>); 5] = [
        ("noisy", &|| noisy().map(Some)),
        ("exact", &|| exact().map(Some)),
        ("movielens", &movielens),
        ("smooth", &|| smooth().map(Some)),
        ("ten million", &|| ten_million().map(Some)),
    ];
    for (name, build) in cases {
        if row.is_some_and(|part| !name.contains(&part.to_lowercase())) {
            continue;
        }
        let Some(case) = build()? else {
            println!("{name:<36} needs --data");
            continue;
        };
        for (effort, config) in efforts() {
            let cells = case.train.len();
            let data = case.train.clone();
            let (start, cpu) = (Instant::now(), cpu_seconds());
            let model = pool(2)?.install(|| quadfill::fit(data, &config))?;
            let (wall, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds() - cpu);
            let error = match &case.test {
                Some(test) => format!("{:.2e}", model.evaluate(test)?.relative_error),
                None => String::new(),
            };
            let (name, chosen) = (case.name, chosen(&model));
            println!("{name:<36}{cells:>10}{effort:>9}{wall:>9.2}{cpu:>9.2}{error:>11}  {chosen}");
        }
    }
    Ok(())
}

/// A pairwise tensor of rank 4 with noise of a tenth of its deviation.
fn noisy() -> anyhow::Result<Case> {
    let mut planted = Planted::new(&[60, 50, 40], 4, Some(pairwise()), 5000, 1);
    let squares = planted.values.iter().map(|v| v * v).sum::<f64>();
    let noise = 0.1 * (squares / planted.values.len() as f64).sqrt();
    let mut rng = streams::stream(1, 3, 0);
    for value in &mut planted.values {
        let draw: f64 = StandardNormal.sample(&mut rng);
        *value += noise * draw;
    }
    planted_case("noisy 60 x 50 x 40, rank 4", planted)
}

/// As few cells of an exact pairwise tensor as recovery needs.
fn exact() -> anyhow::Result<Case> {
    planted_case(
        "exact 200 x 200 x 200, rank 5",
        Planted::new(&[200; 3], 5, Some(pairwise()), 4000, 1),
    )
}

fn pairwise() -> Vec<f64> {
    let kernel = Kernel::pairwise(3);
    (0..9).map(|at| kernel.get(at / 3, at % 3)).collect()
}

fn planted_case(name: &'static str, planted: Planted) -> anyhow::Result<Case> {
    let Planted { sizes, train, values, test, test_values, .. } = planted;
    Ok(Case {
        name,
        train: observations(&sizes, train, values)?,
        test: Some(observations(&sizes, test, test_values)?),
    })
}

fn observations(
    sizes: &[usize],
    columns: Vec<Vec<u32>>,
    values: Vec<f64>,
) -> anyhow::Result<Observations> {
    let modes =
        sizes.iter().enumerate().map(|(mode, &n)| Mode::new(format!("{mode}"), Labels::range(n)));
    Ok(Observations::new(modes.collect(), columns, values, None, OnDuplicate::Error)?)
}

/// A tenth of an image cube: spots of light with smooth spectra on a smooth ground, and noise of 2 %.
fn smooth() -> anyhow::Result<Case> {
    const SIZES: [usize; 3] = [145, 145, 200];
    const SPOTS: usize = 12;
    const CELLS: usize = 420_500;
    let mut rng = streams::stream(1, 4, 0);
    let spots: Vec<[f64; 7]> =
        (0..SPOTS).map(|_| std::array::from_fn(|_| rng.random::<f64>())).collect();
    let value = |cell: &[u32; 3]| {
        let [x, y, z] = std::array::from_fn(|mode| f64::from(cell[mode]) / SIZES[mode] as f64);
        let bump = |x: f64, centre: f64, width: f64| {
            (-((x - centre) / (0.05 + 0.3 * width)).powi(2)).exp()
        };
        let light = spots.iter().map(|[a, b, c, u, v, w, height]| {
            (0.3 + height) * bump(x, *a, *u) * bump(y, *b, *v) * (0.3 + bump(z, *c, *w))
        });
        1.0 + 0.3 * (3.0 * x + 2.0 * z).sin() * (2.0 * y + z).cos() + light.sum::<f64>()
    };
    let mut seen = HashSet::new();
    let mut draw = |count: usize| {
        let (mut columns, mut values) = (vec![Vec::new(); 3], Vec::with_capacity(count));
        while values.len() < count {
            let cell: [u32; 3] = SIZES.map(|size| rng.random_range(0..size as u32));
            if seen.insert(cell) {
                columns.iter_mut().zip(cell).for_each(|(column, index)| column.push(index));
                let noise: f64 = StandardNormal.sample(&mut rng);
                values.push(value(&cell) + 0.02 * noise);
            }
        }
        observations(&SIZES, columns, values)
    };
    Ok(Case {
        name: "smooth 145 x 145 x 200, a tenth",
        train: draw(CELLS)?,
        test: Some(draw(100_000)?),
    })
}

/// Ten million ratings with biases, tastes of four columns, and noise: without structure a fit would end too soon.
fn ten_million() -> anyhow::Result<Case> {
    const TASTES: usize = 4;
    let mut cells = data::ratings(71_567, 10_681, 37, data::TEN_MILLION, 2);
    let mut rng = streams::stream(1, 5, 0);
    let mut table = |rows: usize| -> Vec<[f32; TASTES + 1]> {
        (0..rows).map(|_| std::array::from_fn(|_| StandardNormal.sample(&mut rng))).collect()
    };
    let (users, films) = (table(cells.sizes[0]), table(cells.sizes[1]));
    for at in 0..cells.values.len() {
        let (user, film) =
            (users[cells.columns[0][at] as usize], films[cells.columns[1][at] as usize]);
        let taste: f32 = (0..TASTES).map(|l| user[l] * film[l]).sum();
        let noise: f32 = StandardNormal.sample(&mut rng);
        let value = 3.5 + 0.4 * (user[TASTES] + film[TASTES]) + 0.25 * taste + 0.75 * noise;
        cells.values[at] = ((2.0 * value).round() / 2.0).clamp(0.5, 5.0);
    }
    Ok(Case { name: "ratings 71567 x 10681 x 37", train: cells.observations()?, test: None })
}
