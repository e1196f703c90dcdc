//! A knowledge graph: learn from triples alone, and ask for the missing end of new ones.
//!
//! `knowledge_graph [FILE]` reads triples separated by tabs, or makes a family of towns up.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::fmt::Write;

use quadfill::FitConfig;
use quadfill::apply::KnownCells;
use quadfill::model::ModelKind;
use quadfill::solve::{Choice, Rank, Solver};
use quadfill_io::{ReadOptions, read, read_bytes};

fn main() -> Result<(), Box<dyn Error>> {
    // Triples have no values: each row says that its cell was seen.
    let options = ReadOptions { values_are_ones: true, ..ReadOptions::default() };
    let data = match std::env::args().nth(1) {
        Some(path) => read(path, &options)?,
        None => read_bytes("towns.tsv", made_up().as_bytes(), &options)?,
    };
    let (train, test) = data.split_random(0.1, 1)?;
    println!("{} triples to learn from, {} to ask for", train.len(), test.len());

    // All other cells count as zeros with a small weight, in closed form: none of them is visited.
    let config = FitConfig {
        model: ModelKind::Cp,
        rank: Rank::Fixed(16),
        solver: Solver::Als,
        sweeps: Some(30),
        implicit: Some(0.05),
        penalty: Choice::Fixed(1e-4),
        ..FitConfig::default()
    };
    let model = quadfill::fit(train.clone(), &config)?;

    // Where is the right tail among all of them, those aside that are known to be right, too?
    let mut known = KnownCells::new(2);
    known.add(&train.columns());
    let ranking = model.ranker(2).ranking(&test.columns(), &known);
    println!(
        "filtered MRR {:.3}, hits@1 {:.3}, hits@10 {:.3}",
        ranking.mrr, ranking.hits_at_1, ranking.hits_at_10
    );
    let [head, relation, tail] = [0, 1, 2].map(|mode| &test.modes()[mode]);
    for row in 0..test.len().min(3) {
        let [from, by] = [0, 1].map(|mode| test.indices(mode)[row] as usize);
        let (from, by) = (head.labels.name(from), relation.labels.name(by));
        let best = model.top(&[(&head.name, &from), (&relation.name, &by)], &tail.name, 1)?;
        println!("{}: best guess {}", test.describe(row), best[0].label);
    }
    Ok(())
}

/// Towns on a grid, each beside its neighbours and in its district.
fn made_up() -> String {
    const SIDE: i32 = 12;
    let town = |x: i32, y: i32| format!("town{x}_{y}");
    let mut text = String::new();
    for x in 0..SIDE {
        for y in 0..SIDE {
            let _ = writeln!(text, "{}\tin\tdistrict{}_{}", town(x, y), x / 4, y / 4);
            for (relation, dx, dy) in [("west of", 1, 0), ("south of", 0, 1), ("near", 1, 1)] {
                let (to_x, to_y) = (x + dx, y + dy);
                if to_x < SIDE && to_y < SIDE {
                    let _ = writeln!(text, "{}\t{relation}\t{}", town(x, y), town(to_x, to_y));
                }
            }
        }
    }
    text
}
