//! Ratings: learn, recommend what is new to a user, say why, and take in a new user.
//!
//! `ratings [FILE]` reads rows of user, film, week and stars, or makes some up.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use quadfill::apply::Part;
use quadfill::model::Biases;
use quadfill::objective::PenaltyScale;
use quadfill::solve::{Choice, Rank};
use quadfill::{FitConfig, Labels, Mode, Model, Observations, OnDuplicate};
use quadfill_io::{ReadOptions, read};
use quadfill_kernels::streams;
use rand::RngExt;

fn main() -> Result<(), Box<dyn Error>> {
    let data = match std::env::args().nth(1) {
        Some(path) => read(path, &ReadOptions::default())?,
        None => made_up()?,
    };

    // What suits ratings: biases, and a penalty in proportion to how much was rated. How large it is,
    // held-out ratings decide.
    let config = FitConfig {
        rank: Rank::Fixed(4),
        biases: Choice::Fixed(Biases::Modes),
        penalty_scale: Choice::Fixed(PenaltyScale::Count),
        path_steps: Choice::Fixed(60),
        ..FitConfig::default()
    };
    let model = quadfill::fit(data.clone(), &config)?;
    println!(
        "held-out rmse {:.3}, penalty {:.2e}",
        model.summary().validation_rmse.unwrap_or(f64::NAN),
        model.summary().penalty
    );

    // The best films for the first user, in the first week, but none that the user has rated.
    let user = data.indices(0)[0];
    let rated: Vec<usize> = (0..data.len()).filter(|&row| data.indices(0)[row] == user).collect();
    let mut seen: Vec<u32> = rated.iter().map(|&row| data.indices(1)[row]).collect();
    seen.sort_unstable();
    let mut cell = vec![0; data.modes().len()];
    cell[0] = user;
    println!("\nnew to user {}:", data.modes()[0].labels.name(user as usize));
    let best = recommend(&model, &cell, &seen);

    if let Some(film) = best {
        cell[1] = film;
        println!("\nwhy the first one:");
        for part in model.explain_cell(&cell)?.parts {
            println!("  {:<16} {:+.2}", words(&model, &part), part.value());
        }
    }

    // Somebody new, who says the same of the first of these films.
    let told = &rated[..rated.len().min(10)];
    let mut modes = data.modes().to_vec();
    modes[0] = Mode::new(&modes[0].name, Labels::from_names(["somebody new"]));
    let column = |mode: usize| told.iter().map(|&row| data.indices(mode)[row]).collect();
    let mut columns: Vec<Vec<u32>> = (0..modes.len()).map(column).collect();
    columns[0].fill(0);
    let stars = told.iter().map(|&row| data.values()[row]).collect();
    let newcomer = Observations::new(modes, columns, stars, None, OnDuplicate::Error)?;
    let model = model.fold_in(newcomer)?;
    cell[0] = model.find_label(0, "somebody new")?;
    println!("\nfor somebody new who said the same of {} films:", told.len());
    recommend(&model, &cell, &seen);
    Ok(())
}

/// Prints the five best films for a user that are not among those seen; gives the first.
fn recommend(model: &Model, cell: &[u32], seen: &[u32]) -> Option<u32> {
    let best = model.ranker(1).top(cell, 5, seen);
    for item in &best {
        println!("  {:<8} {:.2}", model.modes()[1].labels.name(item.label as usize), item.score);
    }
    best.first().map(|item| item.label)
}

/// What a part of a prediction is about.
fn words(model: &Model, part: &Part) -> String {
    let name = |mode: usize| &model.modes()[mode].name;
    match *part {
        Part::Mean { .. } => "mean".to_owned(),
        Part::Bias { mode, .. } => format!("bias of {}", name(mode)),
        Part::Pair { modes: [a, b], .. } => format!("{} and {}", name(a), name(b)),
        Part::Length { mode, .. } => format!("length of {}", name(mode)),
        Part::Column { column, .. } => format!("column {column}"),
    }
}

/// Users with a taste in three directions, films that serve it, and weeks with a mood.
fn made_up() -> quadfill::Result<Observations> {
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
