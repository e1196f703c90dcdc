//! Tags of Last.fm: does a model of what was seen beat popularity?

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use quadfill::apply::{KnownCells, Predictor, Ranker};
use quadfill::model::{Kernel, ModelSpec, Offsets};
use quadfill::solve::{FitConfig, Silent, Solver, fit};
use quadfill::{Observations, OnDuplicate};
use quadfill_io::{ReadOptions, read_bytes};
use quadfill_kernels::streams;
use rand::RngExt;

const BEST: usize = 10;

/// Hides the tags of a tenth of the posts and asks for them.
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
        ones: true,
        on_duplicate: OnDuplicate::Last,
        ..ReadOptions::default()
    };
    let data = read_bytes::<f32>("tags.dat", &text, &options)?.observations;
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
    // A user or an artist without any other post is for another method.
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
    popularity("the sum of both", &train, &test, &[0, 1]);
    let columns: Vec<&[u32]> = test.iter().map(Vec::as_slice).collect();
    for (name, spec, weight, penalty) in [
        ("pairwise, rank 64", ModelSpec::quadratic(Kernel::pairwise(3), 64), 1e-4, 1e-6),
        (
            "two pairs, rank 64",
            ModelSpec::quadratic(Kernel::pairs(3, &[(0, 2), (1, 2)])?, 64),
            1e-4,
            1e-6,
        ),
        ("cp, rank 64", ModelSpec::cp(3, 64), 1e-4, 1e-6),
    ] {
        let mut config = FitConfig::new(spec);
        (config.implicit, config.penalty) = (Some(weight), Some(penalty));
        (config.solver, config.offsets) = (Solver::Als, Some(Offsets::None));
        config.sweeps = Some(8);
        let start = Instant::now();
        let ones = vec![1.0f32; train[0].len()];
        let data = Observations::new(
            data.modes().to_vec(),
            train.clone(),
            ones,
            None,
            OnDuplicate::Error,
        )?;
        let fit = fit(data, &config, &mut Silent)?;
        let seconds = start.elapsed().as_secs_f64();
        let ranker = Ranker::new(Predictor::new(&fit.spec, &fit.parameters), 2);
        let ranking = ranker.ranking(&columns, &KnownCells::new(2));
        println!(
            "{name:<22} recall@10 {:.4}  NDCG@10 {:.4}  (w0 {weight}, penalty {penalty}, {seconds:.0} s to train)",
            ranking.recall_at_10, ranking.ndcg_at_10
        );
    }
    Ok(())
}

/// Recommends what the labels of some modes had most often, and then what all had.
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
