//! Findings.

use quadfill_report::chart::{Axis, Bar, BarChart, Chart, short_number};
use quadfill_report::{Block, Tone};

use super::{FIELDS, SETTINGS};
use crate::experiment::grid::distinct_numbers;
use crate::experiment::row::Row;

/// Mean squared errors of the paper on `MovieLens`-10M: model, p, rank, error.
const PAPER: [(&str, f64, usize, f64); 12] = [
    ("matrix", 0.2, 10, 0.872),
    ("matrix", 0.2, 20, 0.947),
    ("cp", 0.2, 10, 1.068),
    ("cp", 0.2, 20, 1.141),
    ("quadratic", 0.2, 10, 0.798),
    ("quadratic", 0.2, 20, 0.772),
    ("matrix", 0.8, 10, 0.665),
    ("matrix", 0.8, 20, 0.667),
    ("cp", 0.8, 10, 0.719),
    ("cp", 0.8, 20, 0.705),
    ("quadratic", 0.8, 10, 0.642),
    ("quadratic", 0.8, 20, 0.638),
];

/// The name of a model with its fields.
fn name(model: &str, fields: &str) -> String {
    let model = if model == "cp" { "CP" } else { model };
    match fields {
        "none" => model.to_owned(),
        "all" => format!("{model}, day, weekday, age, genre"),
        _ => format!("{model}, {fields}"),
    }
}

/// A short name for the label of a bar.
fn short_name(model: &str, fields: &str) -> String {
    let model = match model {
        "matrix" => "M",
        "cp" => "C",
        _ => "Q",
    };
    let fields = match fields {
        "20 weeks" => "20",
        "week" => "w",
        "day" => "d",
        "all" => "+",
        _ => "",
    };
    format!("{model}{fields}")
}

fn setting_name(setting: &str) -> &'static str {
    match setting {
        "paper" => "as in the paper",
        "biases" => "with biases",
        _ => "posterior mean",
    }
}

/// The settings that distinguish rows, apart from repetitions.
struct Key<'a> {
    setting: &'a str,
    model: &'a str,
    fields: &'a str,
    p: f64,
    rank: f64,
}

/// The mean and, if there are repetitions, the standard deviation of the mean squared error.
fn error(rows: &[Row], key: &Key<'_>) -> Option<(f64, Option<f64>)> {
    let all: Vec<f64> = rows
        .iter()
        .filter(|row| row.text("setting") == key.setting && row.text("model") == key.model)
        .filter(|row| row.text("fields") == key.fields)
        .filter(|row| row.number("p") == key.p && row.number("rank") == key.rank)
        .map(|row| row.number("mse"))
        .collect();
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    let squares: f64 = all.iter().map(|x| (x - mean).powi(2)).sum();
    let deviation = (all.len() > 1).then(|| (squares / (all.len() - 1) as f64).sqrt());
    (!all.is_empty()).then_some((mean, deviation))
}

/// All models with their fields, in the order of the tables.
fn models() -> Vec<(&'static str, &'static str)> {
    let with_time = FIELDS.into_iter().filter(|&fields| fields != "none");
    let all = with_time.flat_map(|fields| [("cp", fields), ("quadratic", fields)]);
    [("matrix", "none")].into_iter().chain(all).collect()
}

pub(super) fn blocks(rows: &[Row]) -> Vec<Block> {
    let (shares, ranks) = (distinct_numbers(rows, "p"), distinct_numbers(rows, "rank"));
    let mut blocks = vec![verdict(rows, &shares, &ranks)];
    let charted = rank_of_all_settings(rows, &ranks);
    for &p in &shares {
        let words = "M is the matrix model, C is CP and Q quadratic; 20 stands for steps of 20 weeks, w for \
                     weeks, d for days, + for days, weekdays and what is known of users and movies.";
        blocks.push(Block::figure(&format!("error-p{p}"), chart(rows, p, charted), words));
    }
    blocks.push(paper_table(rows, &ranks));
    blocks.push(Block::Text(
        "Mean squared error, mean \u{b1} standard deviation over repetitions, with the mean subtracted and a \
         tuned penalty, as in the paper. The paper\u{2019}s results are for MovieLens-10M: compare the order \
         of the models, not their errors."
            .to_owned(),
    ));
    for setting in &SETTINGS[1..] {
        blocks.push(table(rows, setting, &shares, &ranks));
        blocks.push(Block::Text(match *setting {
            "biases" => "The same with a bias for every label.".to_owned(),
            _ => "The posterior mean, with penalties and noise level sampled as well: nothing is tuned. 300 samples \
                  after a burn-in of 100; four chains below a million ratings."
                .to_owned(),
        }));
    }
    blocks
}

/// The largest rank measured in all settings, or else the largest.
fn rank_of_all_settings(rows: &[Row], ranks: &[f64]) -> f64 {
    let measured = |setting: &str, rank: f64| {
        rows.iter().any(|row| row.text("setting") == setting && row.number("rank") == rank)
    };
    let everywhere = |rank: &&f64| SETTINGS.iter().all(|setting| measured(setting, **rank));
    ranks.iter().rfind(everywhere).or(ranks.last()).copied().unwrap_or(0.0)
}

/// Whether the paper's ranking of the models holds.
fn verdict(rows: &[Row], shares: &[f64], ranks: &[f64]) -> Block {
    let (mut held, mut compared) = (0, 0);
    for &p in shares {
        for &rank in ranks {
            let at = |model, fields| {
                error(rows, &Key { setting: "paper", model, fields, p, rank }).map(|(mean, _)| mean)
            };
            for fields in ["20 weeks", "week", "day"] {
                let Some(quadratic) = at("quadratic", fields) else { continue };
                for other in [at("matrix", "none"), at("cp", fields)].into_iter().flatten() {
                    compared += 1;
                    held += usize::from(quadratic < other);
                }
            }
        }
    }
    let best = shares.last().and_then(|&p| best(rows, p, ranks)).unwrap_or_default();
    Block::Note(
        if held == compared { Tone::Good } else { Tone::Warn },
        format!(
            "Fitted as in the paper, the quadratic model is better than the matrix model and than CP with the same time field \
             in {held} of {compared} comparisons.{best}"
        ),
    )
}

/// The smallest mean error at `p`.
fn best(rows: &[Row], p: f64, ranks: &[f64]) -> Option<String> {
    let mut found: Vec<(f64, String)> = Vec::new();
    for setting in SETTINGS {
        for &rank in ranks {
            for (model, fields) in models() {
                if let Some((mean, _)) = error(rows, &Key { setting, model, fields, p, rank }) {
                    let (what, how) = (name(model, fields), setting_name(setting));
                    found.push((mean, format!("{what} ({how}), rank {}", short_number(rank))));
                }
            }
        }
    }
    let (mean, what) = found.into_iter().min_by(|x, y| x.0.total_cmp(&y.0))?;
    Some(format!(" The best result at p = {} is {what}: {mean:.4}.", short_number(p)))
}

fn chart(rows: &[Row], p: f64, rank: f64) -> Chart {
    let mut bars = Vec::new();
    for (colour, setting) in SETTINGS.into_iter().enumerate() {
        for (model, fields) in models() {
            let key = Key { setting, model, fields, p, rank };
            let found = error(rows, &key);
            let Some((height, _)) = found else { continue };
            let tooltip =
                format!("{}\n{}\n{}", name(model, fields), setting_name(setting), cell(found));
            bars.push(Bar { name: short_name(model, fields), height, colour, tooltip });
        }
    }
    Chart::Bars(BarChart {
        title: format!("Mean squared error, p = {}, rank {}", short_number(p), short_number(rank)),
        x: "blue: as in the paper; orange: with biases; green: posterior mean".to_owned(),
        y: Axis::linear("mean squared error"),
        bars,
    })
}

fn cell(found: Option<(f64, Option<f64>)>) -> String {
    match found {
        None => String::new(),
        Some((mean, None)) => format!("{mean:.4}"),
        Some((mean, Some(deviation))) => format!("{mean:.4} \u{b1} {deviation:.4}"),
    }
}

fn paper_table(rows: &[Row], ranks: &[f64]) -> Block {
    let mut lines = Vec::new();
    for &p in &distinct_numbers(rows, "p") {
        for &rank in ranks {
            for (model, fields) in models() {
                let key = Key { setting: "paper", model, fields, p, rank };
                let found = error(rows, &key);
                if found.is_none() {
                    continue;
                }
                let paper = PAPER.iter().find(|(other, share, columns, _)| {
                    *other == model && *share == p && *columns as f64 == rank
                });
                let paper = paper.filter(|_| matches!(fields, "none" | "20 weeks"));
                let paper = paper.map_or(String::new(), |(.., mse)| format!("{mse:.3}"));
                lines.push(vec![
                    short_number(p),
                    short_number(rank),
                    name(model, fields),
                    cell(found),
                    paper,
                ]);
            }
        }
    }
    Block::table(&["p", "rank", "model", "measured", "paper, on 10M"], lines)
}

fn table(rows: &[Row], setting: &str, shares: &[f64], ranks: &[f64]) -> Block {
    let mut head = vec![format!("model, {}", setting_name(setting))];
    for &p in shares {
        head.extend(
            ranks
                .iter()
                .map(|&rank| format!("p = {}, rank {}", short_number(p), short_number(rank))),
        );
    }
    let mut lines = Vec::new();
    for (model, fields) in models() {
        let mut line = vec![name(model, fields)];
        for &p in shares {
            for &rank in ranks {
                line.push(cell(error(rows, &Key { setting, model, fields, p, rank })));
            }
        }
        if line[1..].iter().any(|cell| !cell.is_empty()) {
            lines.push(line);
        }
    }
    Block::Table { head, rows: lines }
}
