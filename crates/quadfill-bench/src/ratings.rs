//! Errors on the ratings of `MovieLens`-100K beside peers: the same split, and the same fields where a peer
//! knows them.

use std::fmt::Write;
use std::path::Path;

use quadfill::model::{Kernel, ModelSpec, Offsets};
use quadfill::objective::PenaltyScale;
use quadfill::solve::{FitConfig, Sampling, Silent, Solver, fit};
use quadfill::{Observations, OnDuplicate};
use quadfill_io::{BinSize, BinSpec, ReadOptions, read};

use crate::peers::Peers;

const RANKS: [usize; 3] = [5, 10, 20];

/// Root mean squared errors at two shares of ratings to learn from.
pub(crate) fn run(peers: &Peers, data: &Path, folder: &Path) -> anyhow::Result<()> {
    let file = data.join("movielens-100k/u.data");
    let day = BinSpec { column: "4".into(), size: BinSize::Seconds(86_400.0) };
    let options = ReadOptions {
        modes: Some(["1", "2", "4"].map(Into::into).to_vec()),
        value: Some("3".into()),
        bins: vec![day],
        ..ReadOptions::default()
    };
    let ratings = read::<f32>(&file, &options)?.observations;
    for p in [0.8, 0.2] {
        let (train, test) = ratings.clone().split_random(1.0 - p, 1)?;
        println!("\nMovieLens-100K, user x movie x day, p = {p}: test RMSE");
        for fields in [2, 3] {
            let name = if fields == 2 { "user, movie" } else { "user, movie, day" };
            let (train, test) = (first(&train, fields)?, first(&test, fields)?);
            for rank in RANKS {
                let path = error(&train, &test, rank, Solver::Path)?;
                let draws = Sampling { chains: 4, ..Sampling::default() };
                let gibbs = error(&train, &test, rank, Solver::Gibbs(draws))?;
                print!(
                    "{name}, rank {rank}: quadfill path {path:.4}, gibbs of 4 chains {gibbs:.4}"
                );
                let [learn, ask] =
                    ["train", "test"].map(|part| folder.join(format!("ratings-{part}.csv")));
                write(&train, &learn)?;
                write(&test, &ask)?;
                // LensKit and cmfrec know users and movies only.
                let others =
                    if fields == 2 { &["myfm", "lenskit", "cmfrec"][..] } else { &["myfm"] };
                for peer in others {
                    let (learn, ask) = (learn.to_string_lossy(), ask.to_string_lossy());
                    let arguments = [peer, learn.as_ref(), ask.as_ref(), &rank.to_string()];
                    if let Some(error) = peers.figure("ratings_error.py", &arguments)? {
                        print!(", {peer} {error:.4}");
                    }
                }
                println!();
            }
        }
    }
    Ok(())
}

fn error(
    train: &Observations<f32>,
    test: &Observations<f32>,
    rank: usize,
    solver: Solver,
) -> anyhow::Result<f64> {
    let is_path = solver == Solver::Path;
    let model = ModelSpec::quadratic(Kernel::pairwise(train.modes().len()), rank);
    let config = FitConfig {
        solver,
        offsets: Some(Offsets::Modes),
        penalty_scale: if is_path { PenaltyScale::Count } else { PenaltyScale::Uniform },
        certify: false,
        ..FitConfig::new(model)
    };
    let fit = fit(train.clone(), &config, &mut Silent)?;
    Ok(fit.predictor().evaluate_on(test).rmse)
}

/// The same with the first modes only.
fn first(data: &Observations<f32>, modes: usize) -> anyhow::Result<Observations<f32>> {
    let indices = (0..modes).map(|mode| data.indices(mode).to_vec()).collect();
    let values = data.values().to_vec();
    let modes = data.modes()[..modes].to_vec();
    Ok(Observations::new(modes, indices, values, None, OnDuplicate::Mean)?)
}

fn write(data: &Observations<f32>, path: &Path) -> anyhow::Result<()> {
    let modes = data.modes().len();
    let names = ["user", "movie", "day"];
    let mut text = format!("{},rating\n", names[..modes].join(","));
    for row in 0..data.len() {
        for mode in 0..modes {
            let _ = write!(text, "{},", data.indices(mode)[row]);
        }
        let _ = writeln!(text, "{}", data.values()[row]);
    }
    Ok(std::fs::write(path, text)?)
}
