//! Errors on the ratings of `MovieLens`-100K compared with peers: the same split, and the same fields
//! where a peer supports them.

use std::path::Path;

use quadfill::model::Biases;
use quadfill::objective::PenaltyScale;
use quadfill::solve::{Choice, Precision, Rank, Sampling, Solver};
use quadfill::{FitConfig, Observations, OnDuplicate};
use quadfill_io::{BinSize, BinSpec, ReadOptions, read};

use crate::peers::Peers;
use crate::split_files::SplitFiles;

const RANKS: [usize; 3] = [5, 10, 20];

/// Root mean squared errors for two training fractions.
pub(crate) fn run(peers: &Peers, data: &Path, folder: &Path) -> anyhow::Result<()> {
    let file = data.join("movielens-100k/u.data");
    let day = BinSpec { column: "4".into(), size: Some(BinSize::Seconds(86_400.0)) };
    let options = ReadOptions {
        modes: Some(["1", "2", "4"].map(Into::into).to_vec()),
        value: Some("3".into()),
        bins: vec![day],
        ..ReadOptions::default()
    };
    let ratings = read(&file, &options)?;
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
                let files = SplitFiles::write(&train, &test, folder)?;
                // LensKit and cmfrec support only users and movies.
                let others =
                    if fields == 2 { &["myfm", "lenskit", "cmfrec"][..] } else { &["myfm"] };
                for peer in others {
                    if let Some(error) = files.error(peers, peer, rank, false)? {
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
    train: &Observations,
    test: &Observations,
    rank: usize,
    solver: Solver,
) -> anyhow::Result<f64> {
    let is_path = solver == Solver::Path;
    let config = FitConfig {
        rank: Rank::Fixed(rank),
        biases: Choice::Fixed(Biases::Modes),
        solver,
        penalty_scale: if is_path { Choice::Fixed(PenaltyScale::Count) } else { Choice::Auto },
        precision: Choice::Fixed(Precision::F32),
        certify: false,
        ..FitConfig::default()
    };
    Ok(quadfill::fit(train.clone(), &config)?.evaluate(test)?.rmse)
}

/// The same data with only the first modes.
fn first(data: &Observations, modes: usize) -> anyhow::Result<Observations> {
    let indices = (0..modes).map(|mode| data.indices(mode).to_vec()).collect();
    let values = data.values().to_vec();
    let modes = data.modes()[..modes].to_vec();
    Ok(Observations::new(modes, indices, values, None, OnDuplicate::Mean)?)
}
