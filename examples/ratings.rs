//! Ratings: learn, recommend what is new to a user, say why, and take in a new user.
//!
//! `ratings [FILE]` reads rows of user, film, week and stars, or makes some up.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use quadfill::apply::{Part, Ranker, fold_in};
use quadfill::file::Model;
use quadfill::model::{Kernel, ModelSpec, Offsets};
use quadfill::objective::PenaltyScale;
use quadfill::observations::Grown;
use quadfill::solve::{FitConfig, Silent, fit};
use quadfill::{Labels, Mode, Observations, OnDuplicate};
use quadfill_io::ReadOptions;
use quadfill_kernels::streams;
use rand::RngExt;

fn main() -> Result<(), Box<dyn Error>> {
    let data = match std::env::args().nth(1) {
        Some(path) => {
            quadfill_io::read::<f64>(path.as_ref(), &ReadOptions::default())?.observations
        }
        None => made_up()?,
    };
    let modes = data.modes().to_vec();
    let (user, count) = (data.indices(0)[0], data.len());
    let rated: Vec<usize> = (0..count).filter(|&row| data.indices(0)[row] == user).collect();
    let mut seen: Vec<u32> = rated.iter().map(|&row| data.indices(1)[row]).collect();
    seen.sort_unstable();
    seen.dedup();
    // What somebody new will say: the first ratings of this user.
    let told = &rated[..rated.len().min(10)];
    let mut told_cells: Vec<Vec<u32>> = (0..modes.len())
        .map(|mode| told.iter().map(|&row| data.indices(mode)[row]).collect())
        .collect();
    let told_stars: Vec<f64> = told.iter().map(|&row| data.values()[row]).collect();

    // Penalty and rank are for ratings: count-scaled, with biases. The penalty is found by hold-out.
    let mut config = FitConfig::new(ModelSpec::quadratic(Kernel::pairwise(modes.len()), 4));
    (config.penalty_scale, config.offsets) = (PenaltyScale::Count, Some(Offsets::Modes));
    config.path_steps = Some(60);
    let fit = fit(data, &config, &mut Silent)?;
    println!(
        "held-out rmse {:.3}, penalty {:.2e}",
        fit.validation_rmse.unwrap_or(f64::NAN),
        fit.penalty
    );
    let model = Model::new(fit, modes.clone(), Vec::new(), "stars".to_owned(), count, &config);

    println!("\nnew to user {}:", modes[0].labels.name(user as usize));
    let mut given = vec![0; modes.len()];
    given[0] = user;
    let best = Ranker::new(model.predictor(), 1).top(&given, 5, &seen);
    for item in &best {
        println!("  {:<8} {:.2}", modes[1].labels.name(item.label as usize), item.score);
    }
    if let Some(first) = best.first() {
        given[1] = first.label;
        println!("\nwhy the first one:");
        for part in model.predictor().parts(&given) {
            let what = match part {
                Part::Mean { .. } => "mean".to_owned(),
                Part::Bias { mode, .. } => format!("bias of {}", modes[mode].name),
                Part::Pair { modes: [a, b], .. } => {
                    format!("{} and {}", modes[a].name, modes[b].name)
                }
                Part::Length { mode, .. } => format!("length of {}", modes[mode].name),
                Part::Column { column, .. } => format!("column {column}"),
            };
            println!("  {what:<16} {:+.2}", part.value());
        }
    }

    // Somebody new, who has said as much as these ratings.
    let mut more = vec![Vec::new(); modes.len()];
    more[0].push("somebody new".to_owned());
    let grown = Grown::new(&modes, &model.spec.groups, &more);
    let newcomer = grown.modes[0].labels.find("somebody new").unwrap_or_default();
    told_cells[0].fill(newcomer);
    let count = told_stars.len();
    let told =
        Observations::new(grown.modes.clone(), told_cells, told_stars, None, OnDuplicate::Error)?;
    let folded = fold_in(model.grown(&grown), &told, &grown.new_labels())?;
    given[0] = newcomer;
    println!("\nfor somebody new who said the same of {count} films:");
    for item in Ranker::new(folded.predictor(), 1).top(&given, 5, &seen) {
        println!("  {:<8} {:.2}", modes[1].labels.name(item.label as usize), item.score);
    }
    Ok(())
}

/// Users with a taste in three directions, films that serve it, and weeks with a mood.
fn made_up() -> quadfill::Result<Observations<f64>> {
    let sizes = [200usize, 100, 10];
    let mut rng = streams::stream(1, 1, 0);
    let factors: Vec<Vec<f64>> = sizes
        .iter()
        .map(|&n| {
            let mut factors = vec![0.0; n * 3];
            streams::fill_normal(&mut factors, &mut rng);
            factors
        })
        .collect();
    let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (mut columns, mut values) = (vec![Vec::new(); 3], Vec::new());
    for user in 0..sizes[0] {
        for film in 0..sizes[1] {
            if rng.random::<f64>() < 0.3 {
                let cell = [user, film, rng.random_range(0..sizes[2])];
                let row = |mode: usize| &factors[mode][cell[mode] * 3..][..3];
                let taste = inner(row(0), row(1)) + 0.3 * inner(row(1), row(2));
                values.push((3.5 + 0.5 * taste + 0.2 * rng.random::<f64>()).clamp(0.5, 5.0));
                columns.iter_mut().zip(cell).for_each(|(column, label)| column.push(label as u32));
            }
        }
    }
    let names = |what: &str, n: usize| Labels::from_names((0..n).map(|i| format!("{what}{i}")));
    let modes = vec![
        Mode::new("user", names("u", sizes[0])),
        Mode::new("film", names("f", sizes[1])),
        Mode::new("week", names("w", sizes[2])),
    ];
    Observations::new(modes, columns, values, None, OnDuplicate::Error)
}
