//! A knowledge graph: learn from triples alone, and ask for the missing end of new ones.
//!
//! `knowledge_graph [FILE]` reads triples separated by tabs, or makes a family of towns up.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::fmt::Write;

use quadfill::apply::{KnownCells, Predictor, Ranker};
use quadfill::model::ModelSpec;
use quadfill::solve::{FitConfig, Silent, Solver, fit};
use quadfill_io::{ReadOptions, read, read_bytes};

fn main() -> Result<(), Box<dyn Error>> {
    // Triples have no values: each row says that its cell was seen.
    let options = ReadOptions { ones: true, ..ReadOptions::default() };
    let data = match std::env::args().nth(1) {
        Some(path) => read::<f64>(path.as_ref(), &options)?,
        None => read_bytes::<f64>("towns.tsv", made_up().as_bytes(), &options)?,
    };
    let (train, test) = data.observations.split_random(0.1, 1)?;
    let modes = train.modes().to_vec();
    println!("{} triples to learn from, {} to ask for", train.len(), test.len());

    // All other cells count as zeros with a small weight, in closed form: none of them is visited.
    let mut config = FitConfig::new(ModelSpec::cp(3, 16));
    (config.solver, config.sweeps) = (Solver::Als, Some(30));
    (config.implicit, config.penalty) = (Some(0.05), Some(1e-4));
    let mut known = KnownCells::new(2);
    let columns = |part: &quadfill::Observations<f64>| -> Vec<Vec<u32>> {
        (0..3).map(|mode| part.indices(mode).to_vec()).collect()
    };
    let seen = columns(&train);
    known.add(&seen.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let fit = fit(train, &config, &mut Silent)?;
    let ranker = Ranker::new(Predictor::new(&fit.spec, &fit.parameters), 2);

    let asked = columns(&test);
    let asked: Vec<&[u32]> = asked.iter().map(Vec::as_slice).collect();
    let ranking = ranker.ranking(&asked, &known);
    println!(
        "filtered MRR {:.3}, hits@1 {:.3}, hits@10 {:.3}",
        ranking.mrr, ranking.hits_at_1, ranking.hits_at_10
    );
    for row in 0..test.len().min(3) {
        let cell: Vec<u32> = asked.iter().map(|column| column[row]).collect();
        let best = ranker.top(&cell, 1, &[]);
        println!(
            "{}: best guess {}",
            test.describe(row),
            modes[2].labels.name(best[0].label as usize)
        );
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
