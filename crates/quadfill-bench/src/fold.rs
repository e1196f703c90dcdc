//! New users without a new fit: how fast, and how good.

use std::path::Path;

use anyhow::Context;
use quadfill::apply::fold_in;
use quadfill::file::Model;
use quadfill::model::{Kernel, ModelSpec, Offsets};
use quadfill::objective::PenaltyScale;
use quadfill::solve::{FitConfig, Silent, fit};
use quadfill::{Labels, Mode, Observations, OnDuplicate};
use quadfill_io::{ReadOptions, read};
use quadfill_kernels::streams;
use rand::RngExt;

use crate::clock;

/// 1000 new users with 50 ratings each at rank 20, onto 10,000 users and 10,000 films.
pub(crate) fn speed() -> anyhow::Result<()> {
    const USERS: usize = 10_000;
    const FILMS: u32 = 10_000;
    const NEW: u32 = 1000;
    const EACH: u32 = 50;
    let all = USERS + NEW as usize;
    let modes = vec![
        Mode::new("user", Labels::range(all)),
        Mode::new("film", Labels::range(FILMS as usize)),
        Mode::new("week", Labels::range(37)),
    ];
    let mut rng = streams::stream(1, 7, 0);
    let mut columns = vec![Vec::new(); 3];
    let mut values = Vec::new();
    for user in 0..NEW {
        let first = rng.random_range(0..FILMS);
        for film in 0..EACH {
            columns[0].push(USERS as u32 + user);
            columns[1].push((first + film * 199) % FILMS);
            columns[2].push(rng.random_range(0..37));
            values.push(rng.random_range(1..=5) as f32);
        }
    }
    let data = Observations::new(modes.clone(), columns, values, None, OnDuplicate::Error)?;
    let spec = ModelSpec::quadratic(Kernel::pairwise(3), 20).with_offsets(Offsets::Modes);
    let parameters = quadfill::model::Parameters::<f32>::random(&spec, &data.sizes(), 0.3, 1);
    let mut config = FitConfig::new(spec.clone());
    (config.penalty, config.offsets) = (Some(1e-6), Some(Offsets::Modes));
    let model = Model {
        spec: spec.clone(),
        modes,
        parameters,
        notes: quadfill::file::ModelNotes {
            value: "stars".to_owned(),
            bins: Vec::new(),
            precision: "f32".to_owned(),
            config,
            penalty: 1e-6,
            status: quadfill::solve::Status::Converged,
            sweeps: 1,
            observations: 1_000_000,
            train_rmse: 1.0,
            validation_rmse: None,
            path: Vec::new(),
            certificate: None,
            places: None,
            draws: None,
        },
        posterior: None,
    };
    let is_new: Vec<Vec<bool>> = vec![
        (0..all).map(|user| user >= USERS).collect(),
        vec![false; FILMS as usize],
        vec![false; 37],
    ];
    let mut copies: Vec<Model<f32>> = (0..9).map(|_| model.clone()).collect();
    let timing = clock::best(9, || {
        if let Some(model) = copies.pop() {
            let folded = fold_in(model, &data, &is_new);
            assert!(folded.is_ok(), "the data have new labels");
        }
    });
    println!(
        "\nfold-in of {NEW} users with {EACH} ratings at rank 20: {:.1} ms ({:.1} ms of CPU)",
        1e3 * timing.wall,
        1e3 * timing.cpu
    );
    Ok(())
}

/// MovieLens-100K: a tenth of the users come later.
pub(crate) fn quality(folder: &Path) -> anyhow::Result<()> {
    let options = ReadOptions {
        modes: Some(vec!["1".into(), "2".into()]),
        value: Some("3".into()),
        ..ReadOptions::default()
    };
    let file = folder.join("movielens-100k/u.data");
    let data = read::<f64>(&file, &options).context("MovieLens-100K")?.observations;
    let mut rng = streams::stream(5, 8, 0);
    let late: Vec<bool> = (0..data.sizes()[0]).map(|_| rng.random::<f64>() < 0.1).collect();
    // 0: old users, 1: what new users tell, 2: what is to be predicted of them.
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
        Observations::new(data.modes().to_vec(), indices, values, None, OnDuplicate::Error)
    };
    let (old, told, asked) = (pick(&[0])?, pick(&[1])?, pick(&[2])?);
    let mut config = FitConfig::new(ModelSpec::quadratic(Kernel::pairwise(2), 20));
    config.penalty_scale = PenaltyScale::Count;
    config.offsets = Some(Offsets::Modes);
    let count = old.len();
    let first = fit(old, &config, &mut Silent)?;
    config.penalty = Some(first.penalty);
    let whole = fit(pick(&[0, 1])?, &config, &mut Silent)?;
    let refit = whole.predictor().evaluate_on(&asked);
    let modes = data.modes().to_vec();
    let model = Model::new(first, modes, Vec::new(), "stars".to_owned(), count, &config);
    let mut is_new = vec![late, vec![false; data.sizes()[1]]];
    // A film that only new users saw is new, too.
    let mut seen = vec![false; data.sizes()[1]];
    for (row, &film) in data.indices(1).iter().enumerate() {
        seen[film as usize] |= part[row] == 0;
    }
    is_new[1] = seen.iter().map(|&seen| !seen).collect();
    let folded = fold_in(model, &told, &is_new)?;
    let folded = folded.predictor().evaluate_on(&asked);
    println!(
        "MovieLens-100K, {} ratings of new users: rmse {:.4} folded in, {:.4} refitted: {:+.2} %",
        asked.len(),
        folded.rmse,
        refit.rmse,
        100.0 * (folded.rmse / refit.rmse - 1.0)
    );
    Ok(())
}
