//! Folding in new users without refitting: speed and accuracy.

use std::path::Path;

use anyhow::Context;
use quadfill::model::Biases;
use quadfill::objective::PenaltyScale;
use quadfill::solve::{Choice, Precision, Rank, Solver};
use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate};
use quadfill_io::{ReadOptions, read};
use quadfill_kernels::streams;
use rand::RngExt;

use crate::clock;

/// 1000 new users with 50 ratings each at rank 20, onto 10,000 users and 10,000 films.
pub(crate) fn speed() -> anyhow::Result<()> {
    const USERS: u32 = 10_000;
    const FILMS: u32 = 10_000;
    const WEEKS: u32 = 37;
    const NEW: u32 = 1000;
    const EACH: u32 = 50;
    let mut rng = streams::stream(1, 7, 0);
    let mut ratings = |first_user: u32, users: u32, each: u32| {
        let named = i64::from(first_user)..i64::from(first_user + users);
        let modes = vec![
            Mode::new("user", Labels::from_integers(named.collect())),
            Mode::new("film", Labels::range(FILMS as usize)),
            Mode::new("week", Labels::range(WEEKS as usize)),
        ];
        let mut columns = vec![Vec::new(); 3];
        let mut values = Vec::new();
        for user in 0..users {
            let first = rng.random_range(0..FILMS);
            for film in 0..each {
                columns[0].push(user);
                columns[1].push((first + film * 199) % FILMS);
                columns[2].push(rng.random_range(0..WEEKS));
                values.push(f64::from(rng.random_range(1..=5)));
            }
        }
        Observations::new(modes, columns, values, None, OnDuplicate::Error)
    };
    let known = ratings(0, USERS, EACH)?;
    let newcomers = ratings(USERS, NEW, EACH)?;
    let config = FitConfig {
        rank: Rank::Fixed(20),
        biases: Choice::Fixed(Biases::Modes),
        solver: Solver::Als,
        penalty: Choice::Fixed(1e-6),
        sweeps: Some(2),
        precision: Choice::Fixed(Precision::F32),
        certify: false,
        ..FitConfig::default()
    };
    let model = quadfill::fit(known, &config)?;
    let timing = clock::best(9, || {
        let folded = model.fold_in(newcomers.clone());
        assert!(folded.is_ok(), "the data have new labels");
    });
    println!(
        "\nfold-in of {NEW} users with {EACH} ratings at rank 20: {:.1} ms ({:.1} ms of CPU)",
        1e3 * timing.wall,
        1e3 * timing.cpu
    );
    Ok(())
}

/// MovieLens-100K: a tenth of the users are new.
pub(crate) fn quality(folder: &Path) -> anyhow::Result<()> {
    let options = ReadOptions {
        modes: Some(vec!["1".into(), "2".into()]),
        value: Some("3".into()),
        ..ReadOptions::default()
    };
    let file = folder.join("movielens-100k/u.data");
    let data = read(&file, &options).context("MovieLens-100K")?;
    let mut rng = streams::stream(5, 8, 0);
    let late: Vec<bool> = (0..data.sizes()[0]).map(|_| rng.random::<f64>() < 0.1).collect();
    // 0: old users, 1: known ratings of new users, 2: their ratings to predict.
    let part: Vec<usize> = data
        .indices(0)
        .iter()
        .map(|&user| match (late[user as usize], rng.random::<f64>() < 0.8) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => 2,
        })
        .collect();
    let pick = |wanted: &[usize]| {
        let rows: Vec<usize> = (0..data.len()).filter(|&row| wanted.contains(&part[row])).collect();
        let column = |mode| rows.iter().map(|&row| data.indices(mode)[row]).collect();
        let values = rows.iter().map(|&row| data.values()[row]).collect();
        let indices = (0..2).map(column).collect();
        let picked =
            Observations::new(data.modes().to_vec(), indices, values, None, OnDuplicate::Error)?;
        with_own_labels(picked)
    };
    let (old, known, test) = (pick(&[0])?, pick(&[1])?, pick(&[2])?);
    let mut config = FitConfig {
        rank: Rank::Fixed(20),
        biases: Choice::Fixed(Biases::Modes),
        penalty_scale: Choice::Fixed(PenaltyScale::Count),
        solver: Solver::Path,
        ..FitConfig::default()
    };
    let model = quadfill::fit(old, &config)?;
    config.penalty = Choice::Fixed(model.summary().penalty);
    let refit = quadfill::fit(pick(&[0, 1])?, &config)?.evaluate(&test)?;
    let folded = model.fold_in(known)?.evaluate(&test)?;
    println!(
        "MovieLens-100K, {} ratings of new users: rmse {:.4} folded in, {:.4} refitted: {:+.2} %",
        test.len(),
        folded.rmse,
        refit.rmse,
        100.0 * (folded.rmse / refit.rmse - 1.0)
    );
    Ok(())
}

/// The same with the labels that occur and no others.
fn with_own_labels(data: Observations) -> quadfill::Result<Observations> {
    let modes: Vec<Mode> = data
        .modes()
        .iter()
        .enumerate()
        .map(|(at, mode)| {
            let counts = data.counts(at);
            let used = (0..counts.len()).filter(|&label| counts[label] > 0);
            mode.with_labels(Labels::from_names(used.map(|label| mode.labels.name(label))))
        })
        .collect();
    Ok(data.relabelled(&modes)?.0)
}
