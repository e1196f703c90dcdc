//! The number of columns with which every random start reaches the global optimum.

use quadfill::FitConfig;
use quadfill::model::{Biases, ModelSpec};
use quadfill::objective::Problem;
use quadfill::solve::{self, Choice, NoObserver, Rank, Solver, Status};
use quadfill_report::chart::{
    Axis, Chart, LineChart, Point, ReferenceLine, Series, SeriesStyle, short_number,
};
use quadfill_report::{Block, Tone};

use super::convex::largest_penalty;
use super::grid::{at, distinct_numbers, distinct_texts, observations};
use super::recovery;
use super::row::Row;
use super::{Experiment, Extent, words};
use crate::error::Result;

pub(super) struct Landscape;

/// Standard deviation of the noise relative to the root mean square of the values.
const NOISE: f64 = 0.1;
/// The relative tolerance within which an objective equals the certified optimum.
const REACHED: f64 = 1e-6;
/// The iteration limit of each start.
const MAX_ITERATIONS: usize = 20_000;
/// A start has converged when a step decreases the objective by less than this relative amount.
const TOLERANCE: f64 = 1e-11;

/// The smallest R that the paper requires: the square root of `2m + 2d`.
fn paper_rank(m: usize, d: usize) -> usize {
    (2.0 * (m + d) as f64).sqrt().ceil() as usize
}

/// The smallest R with `R (R + 1) / 2 > m + n`, which counts the terms of all n = 3 d rows.
fn safe_rank(m: usize, d: usize) -> usize {
    let terms = m + 3 * d;
    (1..=terms + 1).find(|rank| rank * (rank + 1) / 2 > terms).unwrap_or(1)
}

/// Ranks from the planted one upwards, denser in the region of the transition.
fn ranks(r: usize, m: usize, d: usize) -> Vec<usize> {
    let (paper, safe) = (paper_rank(m, d), safe_rank(m, d));
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
        "With enough columns every local minimum is global. How many are enough? Of many random starts at one \
         penalty on noisy data, which share reaches the certified optimum over all ranks? And with fewer \
         columns than that optimum has, do all starts at least reach the same objective?"
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
        let config_for = |spec: &ModelSpec| FitConfig {
            biases: Choice::Fixed(Biases::None),
            penalty: Choice::Fixed(penalty),
            ..FitConfig::for_spec(spec)
        };
        let all = trial.sizes.iter().sum();
        let staircase = FitConfig {
            rank: Rank::Auto { max: Some(all) },
            seed: trial.seed,
            ..config_for(&trial.spec)
        };
        let optimum = quadfill::fit(data.clone(), &staircase)?;
        let (lowest, gap) = optimum
            .certificate()
            .map_or((f64::INFINITY, f64::INFINITY), |c| (c.objective, c.relative_gap));

        let solver = if cell.text("method") == "als" { Solver::Als } else { Solver::Lbfgs };
        let spec = trial.spec.clone().with_rank(cell.count("columns"));
        let problem = Problem::new(data.clone(), &spec, &config_for(&spec).terms(), None)?;
        let objective = problem.objective(&spec, penalty);
        let starts = cell.count("starts");
        let (mut reached, mut unfinished) = (0, 0);
        let mut excess = Vec::new();
        for start in 0..starts as u64 {
            let config = FitConfig {
                solver,
                sweeps: Some(MAX_ITERATIONS),
                tolerance: TOLERANCE,
                seed: trial.seed.wrapping_mul(1 << 20).wrapping_add(start),
                certify: false,
                ..config_for(&spec)
            };
            let end = solve::fit::<f64>(data.clone(), &config, &mut NoObserver)?;
            let over = objective.value(&end.parameters).total() / lowest - 1.0;
            reached += usize::from(over < REACHED);
            unfinished += usize::from(over >= REACHED && end.status == Status::SweepLimit);
            excess.push(over);
        }
        // Relative to the lowest objective of all starts, as fewer columns cannot reach the optimum.
        let least = excess.iter().copied().fold(f64::INFINITY, f64::min);
        let at_lowest = excess.iter().filter(|&over| over - least < REACHED).count();
        Ok(vec![
            drawn
                .row(cell)
                .with("penalty", penalty)
                .with("optimum", lowest)
                .with("optimum_relative_gap", gap)
                .with("optimum_rank", optimum.rank())
                .with("certified", optimum.summary().status == Status::Certified)
                .with("papers_columns", paper_rank(trial.observations, trial.sizes[0]))
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
                "All settings together, against the number of columns beyond the rank of the certified \
                 optimum. Below zero that optimum cannot be reached; the dashed lines show whether the \
                 starts at least agree. Where they are below 1 there are bad local minima.",
            ),
        ];
        let mut lines = Vec::new();
        for d in distinct_numbers(rows, "d") {
            for c in distinct_numbers(rows, "c") {
                for share in distinct_numbers(rows, "penalty_share") {
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

/// The number of starts with a property, and of all starts.
fn count<'a>(rows: impl Iterator<Item = &'a Row>, name: &str) -> (usize, usize) {
    rows.fold((0, 0), |(some, all), row| (some + row.count(name), all + row.count("starts")))
}

/// The number of columns beyond the rank of the optimum.
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

/// The share of successful starts over all settings, against the columns beyond the rank of the optimum.
fn pooled_chart(rows: &[Row]) -> Chart {
    const SHOWN: std::ops::RangeInclusive<i64> = -8..=12;
    let mut series = Vec::new();
    for method in distinct_texts(rows, "method") {
        for (words_after, name, style) in [
            ("at the certified optimum", "reached", SeriesStyle::LineAndMarkers),
            ("at the lowest end found with R columns", "at_lowest", SeriesStyle::Dashed),
        ] {
            let points = SHOWN
                .filter_map(|more| {
                    let here =
                        rows.iter().filter(|row| row.text("method") == method && beyond(row) == more);
                    let (some, all) = count(here, name);
                    let tooltip = format!(
                        "{}, {more} columns beyond the optimum\u{2019}s\n{some} of {all} starts {words_after}",
                        words::method(&method)
                    );
                    let y = some as f64 / all as f64;
                    (all > 0).then_some(Point { x: more as f64, y, error_bar: None, tooltip })
                })
                .collect();
            let name = format!("{}, {words_after}", words::method(&method));
            series.push(Series { name, points, style, colour: words::colour(&method) });
        }
    }
    Chart::Lines(LineChart {
        title: "Random starts that end at the optimum".to_owned(),
        x: Axis::linear("columns R beyond the rank of the certified optimum"),
        y: Axis::linear("share of starts").with_range(0.0, 1.2),
        series,
        reference_lines: vec![ReferenceLine::Vertical(
            0.0,
            "as many as the optimum has".to_owned(),
        )],
    })
}

/// The share of starts that reach the optimum.
fn share(rows: &[&Row]) -> f64 {
    let (reached, starts) = count(rows.iter().copied(), "reached");
    reached as f64 / starts as f64
}

/// The smallest and largest rank of the optima.
fn optimum_ranks(rows: &[Row]) -> (f64, f64) {
    let all = distinct_numbers(rows, "optimum_rank");
    (all.first().copied().unwrap_or(0.0), all.last().copied().unwrap_or(0.0))
}

fn table(rows: &[Row]) -> Vec<Vec<String>> {
    let first = &rows[0];
    let (least, most) = optimum_ranks(rows);
    distinct_texts(rows, "method")
        .iter()
        .map(|method| {
            let shares: Vec<(f64, f64)> = distinct_numbers(rows, "columns")
                .into_iter()
                .map(|columns| (columns, share(&at(rows, method, &[("columns", columns)]))))
                .collect();
            let fewest = shares.iter().rev().take_while(|(_, share)| *share == 1.0).last();
            vec![
                short_number(first.number("d")),
                short_number(first.number("c")),
                short_number(first.number("penalty_share")),
                if least == most { short_number(least) } else { format!("{least} to {most}") },
                words::method(method).to_owned(),
                fewest.map_or("none".to_owned(), |(columns, _)| short_number(*columns)),
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
    fn ranks_end_with_what_the_theorem_requires() {
        for (r, m, d) in [(2, 60, 10), (2, 200, 10), (5, 2000, 40)] {
            let ranks = ranks(r, m, d);
            assert_eq!((ranks[0], *ranks.last().expect("some")), (r, safe_rank(m, d)));
            let paper = paper_rank(m, d);
            assert!(paper * paper >= 2 * (m + d) && (paper - 1) * (paper - 1) < 2 * (m + d));
            assert!(ranks.contains(&paper) && safe_rank(m, d) >= paper);
        }
    }
}
