//! How many columns it takes until every random start reaches the global optimum.

use quadfill::model::{ModelSpec, Offsets};
use quadfill::solve::{FitConfig, RankChoice, Silent, Solver, Status, fit};
use quadfill::views::Views;

use super::convex::largest_penalty;
use super::grid::{at, numbers, observations, texts};
use super::recovery;
use super::row::Row;
use super::{Experiment, Extent, words};
use crate::chart::{Axis, Chart, LineChart, Look, Point, Rule, Series, plain};
use crate::error::Result;
use crate::report::{Block, Tone};

pub(super) struct Landscape;

/// Deviation of the noise over the size of the values.
const NOISE: f64 = 0.1;
/// An objective within this share of the certified one has reached it.
const REACHED: f64 = 1e-6;
/// Iterations that a start may take.
const PATIENCE: usize = 20_000;
/// A start has converged when the objective falls by less than this share in a step.
const TOLERANCE: f64 = 1e-11;

/// The smallest R that the paper asks for: the square root of `2m + 2d`.
fn papers_rank(m: usize, d: usize) -> usize {
    (2.0 * (m + d) as f64).sqrt().ceil() as usize
}

/// The smallest R with `R (R + 1) / 2 > m + n`, which counts the terms of all n = 3 d rows.
fn safe_rank(m: usize, d: usize) -> usize {
    let terms = m + 3 * d;
    (1..=terms + 1).find(|rank| rank * (rank + 1) / 2 > terms).unwrap_or(1)
}

/// Ranks from the planted one up, closer together where something happens.
fn ranks(r: usize, m: usize, d: usize) -> Vec<usize> {
    let (paper, safe) = (papers_rank(m, d), safe_rank(m, d));
    let mut ranks: Vec<usize> = (r..paper.min(r + 10)).collect();
    ranks.extend([12, 16, 24, 32].iter().map(|more| r + more).filter(|&rank| rank < paper));
    ranks.extend([paper, safe]);
    ranks.sort_unstable();
    ranks.dedup();
    ranks
}

impl Experiment for Landscape {
    fn name(&self) -> &'static str {
        "landscape"
    }

    fn title(&self) -> &'static str {
        "Learning the landscape"
    }

    fn question(&self) -> &'static str {
        "With enough columns every local minimum is a global one. How many are enough? Many random starts \
         at one penalty on noisy data: which share ends at the optimum over all ranks, as certified? And \
         with fewer columns than that optimum has, do they at least all end at the same height?"
    }

    fn paper(&self) -> &'static str {
        "Theorem: with R at least \u{221a}(2m + 2d) columns there are no bad local minima. Counting the terms of \
         all n = 3d rows, the argument wants R (R + 1) / 2 > m + n. Whether fewer columns would do is \
         left open."
    }

    fn cells(&self, extent: &Extent) -> Vec<Row> {
        let tensors: &[(usize, usize)] =
            extent.effort.pick(&[(10, 2)], &[(10, 2), (20, 3)], &[(10, 2), (20, 3), (40, 5)]);
        let starts = extent.effort.pick(20, 30, 100);
        let shares: &[f64] = extent.effort.pick(&[0.1, 0.01], &[0.1, 0.01], &[0.1, 0.01, 0.001]);
        let mut cells = Vec::new();
        for &(d, r) in tensors {
            for c in [3.0, 5.0, 10.0] {
                for rank in ranks(r, observations(c, d, r), d) {
                    for &share in shares {
                        for method in ["lbfgs", "als"] {
                            for seed in extent.seeds(2, 3, 5) {
                                cells.push(
                                    recovery::cell(method, d, r, c, seed)
                                        .with("alpha", NOISE)
                                        .with("penalty_share", share)
                                        .with("columns", rank)
                                        .with("starts", starts),
                                );
                            }
                        }
                    }
                }
            }
        }
        cells
    }

    fn measure(&self, cell: &Row) -> Result<Vec<Row>> {
        let mut trial = recovery::trial(cell);
        trial.noise = cell.number("alpha");
        let drawn = trial.draw()?;
        let data = drawn.observations()?;
        let penalty =
            cell.number("penalty_share") * largest_penalty(&trial.spec, data.clone(), trial.seed);
        let config = |spec: ModelSpec| FitConfig {
            offsets: Some(Offsets::None),
            penalty: Some(penalty),
            ..FitConfig::new(spec)
        };
        let all = trial.sizes.iter().sum();
        let climb = FitConfig {
            rank: RankChoice::Auto,
            seed: trial.seed,
            ..config(trial.spec.clone().with_rank(all))
        };
        let optimum = fit(data.clone(), &climb, &mut Silent)?;
        let (lowest, gap) = optimum
            .certificate
            .as_ref()
            .map_or((f64::INFINITY, f64::INFINITY), |c| (c.objective, c.relative_gap));

        let solver = if cell.text("method") == "als" { Solver::Als } else { Solver::Lbfgs };
        let spec = trial.spec.clone().with_rank(cell.count("columns"));
        let views = Views::new(data.clone());
        let starts = cell.count("starts");
        let (mut reached, mut unfinished) = (0, 0);
        let mut excess = Vec::new();
        for start in 0..starts as u64 {
            let walk = FitConfig {
                solver,
                sweeps: Some(PATIENCE),
                tolerance: TOLERANCE,
                seed: trial.seed.wrapping_mul(1 << 20).wrapping_add(start),
                certify: false,
                ..config(spec.clone())
            };
            let end = fit(data.clone(), &walk, &mut Silent)?;
            let objective = walk.objective(&views, &end.spec, penalty)?;
            let over = objective.value(&end.parameters).total() / lowest - 1.0;
            reached += usize::from(over < REACHED);
            unfinished += usize::from(over >= REACHED && end.status == Status::SweepLimit);
            excess.push(over);
        }
        // Against the lowest end of all, where fewer columns cannot reach the optimum.
        let least = excess.iter().copied().fold(f64::INFINITY, f64::min);
        let at_lowest = excess.iter().filter(|&over| over - least < REACHED).count();
        Ok(vec![
            drawn
                .row(cell)
                .with("penalty", penalty)
                .with("optimum", lowest)
                .with("optimum_relative_gap", gap)
                .with("optimum_rank", optimum.spec.rank)
                .with("certified", optimum.status == Status::Certified)
                .with("papers_columns", papers_rank(trial.observations, trial.sizes[0]))
                .with("safe_columns", safe_rank(trial.observations, trial.sizes[0]))
                .with("reached", reached)
                .with("unfinished", unfinished)
                .with("at_lowest", at_lowest)
                .with("smallest_excess", least)
                .with("largest_excess", excess.iter().copied().fold(0.0, f64::max)),
        ])
    }

    fn work(&self, cell: &Row) -> f64 {
        cell.number("starts") * cell.number("c") * cell.number("d") * cell.number("columns")
    }

    fn findings(&self, rows: &[Row]) -> Vec<Block> {
        let mut blocks = vec![
            summary(rows),
            Block::figure(
                "landscape",
                pooled_chart(rows),
                "All settings together, by how many columns there are beyond the rank of the certified \
                 optimum. Below zero nobody can reach it; there the dashed lines tell whether the starts at \
                 least agree, so where these are below 1 there are bad local minima.",
            ),
        ];
        let mut lines = Vec::new();
        for d in numbers(rows, "d") {
            for c in numbers(rows, "c") {
                for share in numbers(rows, "penalty_share") {
                    let here: Vec<Row> = rows
                        .iter()
                        .filter(|row| row.number("d") == d && row.number("c") == c)
                        .filter(|row| row.number("penalty_share") == share)
                        .cloned()
                        .collect();
                    if here.is_empty() {
                        continue;
                    }
                    lines.extend(table(&here));
                }
            }
        }
        blocks.push(Block::table(
            &[
                "d",
                "c",
                "penalty / largest",
                "rank of the optimum",
                "method",
                "fewest R, all starts",
                "R of the paper",
                "safe R",
            ],
            lines,
        ));
        blocks
    }
}

/// How many of how many starts.
fn count<'a>(rows: impl Iterator<Item = &'a Row>, name: &str) -> (usize, usize) {
    rows.fold((0, 0), |(some, all), row| (some + row.count(name), all + row.count("starts")))
}

/// Columns beyond the rank of the optimum.
fn beyond(row: &Row) -> i64 {
    row.count("columns") as i64 - row.count("optimum_rank") as i64
}

fn summary(rows: &[Row]) -> Block {
    let enough = |row: &&Row| row.count("columns") >= row.count("papers_columns");
    let (reached, starts) = count(rows.iter().filter(enough), "reached");
    let (also, some) = count(rows.iter().filter(|row| beyond(row) >= 0 && !enough(row)), "reached");
    let (agree, fewer) = count(rows.iter().filter(|row| beyond(row) < 0), "at_lowest");
    let uncertified = rows.iter().filter(|row| !row.is("certified")).count();
    Block::Note(
        if reached == starts && uncertified == 0 { Tone::Good } else { Tone::Warn },
        format!(
            "With \u{221a}(2m + 2d) columns or more, {reached} of {starts} random starts end within 10\u{207b}\u{2076} of \
             the optimum{}. With fewer, but at least as many as that optimum has, {also} of {some} do. With \
             fewer still none can, and {agree} of {fewer} end at the lowest point that any start with as \
             many columns found{}.",
            match uncertified {
                0 => ", which is certified in every case".to_owned(),
                some => format!(" (in {some} rows that is not certified)"),
            },
            if agree < fewer { ": there are bad local minima" } else { "" }
        ),
    )
}

/// The shares of all settings against columns beyond the rank of the optimum.
fn pooled_chart(rows: &[Row]) -> Chart {
    const SHOWN: std::ops::RangeInclusive<i64> = -8..=12;
    let mut series = Vec::new();
    for method in texts(rows, "method") {
        for (words_after, name, look) in [
            ("at the certified optimum", "reached", Look::Curve),
            ("at the lowest end found with R columns", "at_lowest", Look::Dashed),
        ] {
            let points = SHOWN
                .filter_map(|more| {
                    let here =
                        rows.iter().filter(|row| row.text("method") == method && beyond(row) == more);
                    let (some, all) = count(here, name);
                    let tip = format!(
                        "{}, {more} columns beyond the optimum\u{2019}s\n{some} of {all} starts {words_after}",
                        words::method(&method)
                    );
                    let y = some as f64 / all as f64;
                    (all > 0).then_some(Point { x: more as f64, y, bar: None, tip })
                })
                .collect();
            let name = format!("{}, {words_after}", words::method(&method));
            series.push(Series { name, points, look, colour: words::colour(&method) });
        }
    }
    Chart::Lines(LineChart {
        title: "Random starts that end at the optimum".to_owned(),
        x: Axis::linear("columns R beyond the rank of the certified optimum"),
        y: Axis::linear("share of starts").from_to(0.0, 1.2),
        series,
        rules: vec![Rule::Upright(0.0, "as many as the optimum has".to_owned())],
    })
}

/// The share of starts at one number of columns, over all seeds.
fn share(rows: &[&Row]) -> f64 {
    let (reached, starts) = count(rows.iter().copied(), "reached");
    reached as f64 / starts as f64
}

/// The ranks of the optima, as a range.
fn optimum_ranks(rows: &[Row]) -> (f64, f64) {
    let all = numbers(rows, "optimum_rank");
    (all.first().copied().unwrap_or(0.0), all.last().copied().unwrap_or(0.0))
}

fn table(rows: &[Row]) -> Vec<Vec<String>> {
    let first = &rows[0];
    let (least, most) = optimum_ranks(rows);
    texts(rows, "method")
        .iter()
        .map(|method| {
            let shares: Vec<(f64, f64)> = numbers(rows, "columns")
                .into_iter()
                .map(|columns| (columns, share(&at(rows, method, &[("columns", columns)]))))
                .collect();
            let fewest = shares.iter().rev().take_while(|(_, share)| *share == 1.0).last();
            vec![
                plain(first.number("d")),
                plain(first.number("c")),
                plain(first.number("penalty_share")),
                if least == most { plain(least) } else { format!("{least} to {most}") },
                words::method(method).to_owned(),
                fewest.map_or("none".to_owned(), |(columns, _)| plain(*columns)),
                first.count("papers_columns").to_string(),
                first.count("safe_columns").to_string(),
            ]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_enough_reach_the_optimum_and_fewer_than_it_has_do_not() {
        let measure = |method: &str, columns: usize| {
            let cell = recovery::cell(method, 8, 2, 4.0, 1)
                .with("alpha", NOISE)
                .with("penalty_share", 0.05)
                .with("columns", columns)
                .with("starts", 4);
            Landscape.measure(&cell).expect("measured").remove(0)
        };
        let enough = measure("lbfgs", safe_rank(64, 8));
        assert!(enough.is("certified"), "{}", enough.key());
        assert_eq!((enough.count("reached"), enough.count("at_lowest")), (4, 4));
        let rank = enough.count("optimum_rank");
        assert!(rank > 2, "{}", enough.key());
        let fewer = measure("als", rank - 1);
        assert_eq!(fewer.count("reached"), 0, "{}", fewer.key());
        assert!(fewer.number("smallest_excess") > REACHED && beyond(&fewer) == -1);
    }

    #[test]
    fn ranks_end_with_what_the_theorem_asks_for() {
        for (r, m, d) in [(2, 60, 10), (2, 200, 10), (5, 2000, 40)] {
            let ranks = ranks(r, m, d);
            assert_eq!((ranks[0], *ranks.last().expect("some")), (r, safe_rank(m, d)));
            let paper = papers_rank(m, d);
            assert!(paper * paper >= 2 * (m + d) && (paper - 1) * (paper - 1) < 2 * (m + d));
            assert!(ranks.contains(&paper) && safe_rank(m, d) >= paper);
        }
    }
}
