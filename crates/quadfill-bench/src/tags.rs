//! Tags of Last.fm: does a model of the observed tags beat popularity?

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use quadfill::apply::KnownCells;
use quadfill::model::{Biases, ModelKind};
use quadfill::solve::{Choice, Precision, Rank, Solver};
use quadfill::{FitConfig, Observations, OnDuplicate};
use quadfill_io::{ReadOptions, read_bytes};
use quadfill_kernels::streams;
use rand::RngExt;

const BEST: usize = 10;

/// Holds out the tags of a tenth of the posts and predicts them.
pub(crate) fn run(folder: &Path) -> anyhow::Result<()> {
    let mut text = Vec::new();
    for name in ["user_taggedartists.dat", "user_taggedartists_2.dat"] {
        let path = folder.join("tags-lastfm").join(name);
        let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
        let header = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(0) + 1;
        let skipped = if text.is_empty() { 0 } else { header };
        text.extend_from_slice(&bytes[skipped..]);
    }
    let options = ReadOptions {
        modes: Some(vec!["userID".into(), "artistID".into(), "tagID".into()]),
        values_are_ones: true,
        on_duplicate: OnDuplicate::Last,
        ..ReadOptions::default()
    };
    let data = read_bytes("tags.dat", &text, &options)?;
    let sizes = data.sizes();
    println!("\nLast.fm tags: {} of {sizes:?}, a tenth of the posts held out", data.len());
    let mut rng = streams::stream(3, 9, 0);
    let mut held: HashMap<(u32, u32), bool> = HashMap::new();
    let moved: Vec<bool> = (0..data.len())
        .map(|row| {
            let post = (data.indices(0)[row], data.indices(1)[row]);
            *held.entry(post).or_insert_with(|| rng.random::<f64>() < 0.1)
        })
        .collect();
    let part = |wanted: bool| -> Vec<Vec<u32>> {
        let rows = || (0..data.len()).filter(|&row| moved[row] == wanted);
        (0..3).map(|mode| rows().map(|row| data.indices(mode)[row]).collect()).collect()
    };
    let (train, mut test) = (part(false), part(true));
    // Users and artists without any training post cannot be predicted.
    let seen = |mode: usize| -> Vec<bool> {
        let mut seen = vec![false; sizes[mode]];
        train[mode].iter().for_each(|&label| seen[label as usize] = true);
        seen
    };
    let (users, artists) = (seen(0), seen(1));
    let keep: Vec<usize> = (0..test[0].len())
        .filter(|&row| users[test[0][row] as usize] && artists[test[1][row] as usize])
        .collect();
    for column in &mut test {
        *column = keep.iter().map(|&row| column[row]).collect();
    }
    popularity("popularity by user", &train, &test, &[0]);
    popularity("popularity by artist", &train, &test, &[1]);
    popularity("sum of both", &train, &test, &[0, 1]);
    let columns: Vec<&[u32]> = test.iter().map(Vec::as_slice).collect();
    for (name, model, weight, penalty) in [
        ("pairwise, rank 64", ModelKind::Pairwise, 1e-4, 1e-6),
        ("two pairs, rank 64", ModelKind::Pairs(vec![(0, 2), (1, 2)]), 1e-4, 1e-6),
        ("cp, rank 64", ModelKind::Cp, 1e-4, 1e-6),
    ] {
        let config = FitConfig {
            model,
            rank: Rank::Fixed(64),
            biases: Choice::Fixed(Biases::None),
            implicit: Some(weight),
            penalty: Choice::Fixed(penalty),
            solver: Solver::Als,
            sweeps: Some(8),
            precision: Choice::Fixed(Precision::F32),
            ..FitConfig::default()
        };
        let start = Instant::now();
        let ones = vec![1.0; train[0].len()];
        let data = Observations::new(
            data.modes().to_vec(),
            train.clone(),
            ones,
            None,
            OnDuplicate::Error,
        )?;
        let model = quadfill::fit(data, &config)?;
        let seconds = start.elapsed().as_secs_f64();
        let ranking = model.ranker(2).ranking(&columns, &KnownCells::new(2));
        println!(
            "{name:<22} recall@10 {:.4}  NDCG@10 {:.4}  (w0 {weight}, penalty {penalty}, {seconds:.0} s to train)",
            ranking.recall_at_10, ranking.ndcg_at_10
        );
    }
    Ok(())
}

/// Recommends the most frequent tags of the labels of some modes, then the most frequent tags overall.
fn popularity(name: &str, train: &[Vec<u32>], test: &[Vec<u32>], modes: &[usize]) {
    let mut counts: Vec<HashMap<u32, HashMap<u32, f64>>> = vec![HashMap::new(); modes.len()];
    let mut all: HashMap<u32, f64> = HashMap::new();
    for row in 0..train[0].len() {
        let tag = train[2][row];
        *all.entry(tag).or_default() += 1.0;
        for (counts, &mode) in counts.iter_mut().zip(modes) {
            *counts.entry(train[mode][row]).or_default().entry(tag).or_default() += 1.0;
        }
    }
    let mut queries: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
    for row in 0..test[0].len() {
        queries.entry([test[0][row], test[1][row]]).or_default().push(test[2][row]);
    }
    let total: f64 = all.values().sum();
    let (mut recall, mut ndcg) = (0.0, 0.0);
    for (post, right) in &queries {
        let mut scores: HashMap<u32, f64> =
            all.iter().map(|(&tag, count)| (tag, 1e-3 * count / total)).collect();
        for (counts, &mode) in counts.iter().zip(modes) {
            if let Some(counts) = counts.get(&post[mode]) {
                let own: f64 = counts.values().sum();
                for (&tag, count) in counts {
                    *scores.entry(tag).or_default() += count / own;
                }
            }
        }
        let mut best: Vec<(u32, f64)> = scores.into_iter().collect();
        best.sort_by(|x, y| y.1.total_cmp(&x.1).then(x.0.cmp(&y.0)));
        let gain = |place: usize| 1.0 / (place as f64 + 2.0).log2();
        let hits =
            || best.iter().take(BEST).enumerate().filter(|(_, (tag, _))| right.contains(tag));
        recall += hits().count() as f64 / right.len() as f64;
        let ideal: f64 = (0..right.len().min(BEST)).map(gain).sum();
        ndcg += hits().map(|(place, _)| gain(place)).sum::<f64>() / ideal;
    }
    let count = queries.len() as f64;
    println!(
        "{name:<22} recall@10 {:.4}  NDCG@10 {:.4}  ({count} posts)",
        recall / count,
        ndcg / count
    );
}
