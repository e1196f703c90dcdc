//! What the rows say.

use super::{MODELS, PAPER};
use crate::chart::{Axis, Chart, LineChart, Look, Point, Series};
use crate::experiment::grid::{numbers, spread};
use crate::experiment::row::Row;
use crate::report::{Block, Tone};

/// How ranks are found, and how that is called.
const CHOICES: [(&str, &str); 4] = [
    ("given", "rank 100"),
    ("automatic", "by hold-out"),
    ("certified", "certified"),
    ("sampled", "by hold-out, mean of draws"),
];

pub(super) fn percent(rate: f64) -> String {
    format!("{} %", (rate * 1e4).round() / 100.0)
}

pub(super) fn model_name(model: &str) -> &'static str {
    if model == "cp" { "CP" } else { "quadratic" }
}

fn at<'a>(rows: &'a [Row], model: &str, choice: &str, rate: f64) -> Vec<&'a Row> {
    rows.iter()
        .filter(|row| row.text("model") == model && row.text("choice") == choice)
        .filter(|row| row.number("rate") == rate)
        .collect()
}

/// The error of a model at a share of cells: the smallest, the median and the largest of all repetitions.
type Errors = fn(&[Row], &str, f64) -> Option<(f64, f64, f64)>;

/// At the paper's rank.
fn given(rows: &[Row], model: &str, rate: f64) -> Option<(f64, f64, f64)> {
    spread(&at(rows, model, "given", rate), "error")
}

/// Of the choice that is best on held-out cells: what a user would have, who sees nothing else.
fn judged(rows: &[Row], model: &str, rate: f64) -> Option<(f64, f64, f64)> {
    let chosen = |choice: &str| spread(&at(rows, model, choice, rate), "validation_rmse");
    let (choice, _) = ["given", "automatic", "sampled"]
        .into_iter()
        .filter_map(|choice| Some((choice, chosen(choice)?.1)))
        .min_by(|x, y| x.1.total_cmp(&y.1))?;
    spread(&at(rows, model, choice, rate), "error")
}

/// Of the first repetition, the row that is best on held-out cells.
pub(super) fn best<'a>(rows: &'a [Row], model: &str, rate: f64) -> Option<&'a Row> {
    let first = numbers(rows, "seed").first().copied()?;
    rows.iter()
        .filter(|row| row.text("model") == model && row.number("rate") == rate)
        .filter(|row| row.number("seed") == first)
        .min_by(|x, y| x.number("validation_rmse").total_cmp(&y.number("validation_rmse")))
}

/// Errors whose ratio is this close to one are called the same.
const LEVEL: f64 = 0.01;

/// At which shares of cells which model is ahead.
fn verdict(setting: &str, errors: Errors, rows: &[Row], rates: &[f64]) -> Block {
    let (mut quadratic, mut level, mut cp) = (Vec::new(), Vec::new(), Vec::new());
    for &rate in rates {
        let both = (errors(rows, "quadratic", rate), errors(rows, "cp", rate));
        let (Some((_, ours, _)), Some((_, theirs, _))) = both else { continue };
        let place = match ours / theirs {
            ratio if ratio < 1.0 - LEVEL => &mut quadratic,
            ratio if ratio > 1.0 + LEVEL => &mut cp,
            _ => &mut level,
        };
        place.push(percent(rate));
    }
    let tone = if quadratic.is_empty() { Tone::Warn } else { Tone::Good };
    let parts = [
        (quadratic, "the quadratic model is ahead at"),
        (level, "the two are within a hundredth of each other at"),
        (cp, "CP is ahead at"),
    ];
    let parts = parts.into_iter().filter(|(rates, _)| !rates.is_empty());
    let words: Vec<String> =
        parts.map(|(rates, words)| format!("{words} {}", rates.join(", "))).collect();
    Block::Note(tone, format!("{setting}: {} of the cells.", words.join("; ")))
}

pub(super) fn blocks(rows: &[Row]) -> Vec<Block> {
    let rates = numbers(rows, "rate");
    let title = "Error on missing cells at rank 100";
    let mut as_in_the_paper = chart(title, given, rows, &rates);
    as_in_the_paper.series.extend(paper_series());
    let best = chart("Error on missing cells, best on held-out cells", judged, rows, &rates);
    vec![
        verdict("Rank 100 with tuned penalties, as in the paper", given, rows, &rates),
        Block::figure(
            "error",
            Chart::Lines(as_in_the_paper),
            "Median and range over repetitions. The paper\u{2019}s figures are for another image.",
        ),
        verdict("The rank and the way of fitting that held-out cells prefer", judged, rows, &rates),
        Block::figure(
            "error-best",
            Chart::Lines(best),
            "Of each model the best of rank 100, the rank that hold-out finds and the mean of draws, as \
             held-out cells see it.",
        ),
        table(rows, &rates),
        Block::Text(
            "Ranks that were found stand in brackets. Rank 100 is the paper\u{2019}s. \u{201c}Certified\u{201d} minimises the same objective at the penalty that was \
             chosen for rank 100, over all ranks: it says what the objective is worth, not what the model is. \
             The relative gap in results.json says how far each quadratic fit is from the best of all ranks."
                .to_owned(),
        ),
    ]
}

fn chart(title: &str, errors: Errors, rows: &[Row], rates: &[f64]) -> LineChart {
    let series = MODELS.into_iter().enumerate().map(|(colour, model)| {
        let points = rates.iter().filter_map(|&rate| {
            let (low, y, high) = errors(rows, model, rate)?;
            let tip = format!(
                "{}, {} of the cells\nmedian error {y:.3}, from {low:.3} to {high:.3}",
                model_name(model),
                percent(rate)
            );
            Some(Point { x: 100.0 * rate, y, bar: Some((low, high)), tip })
        });
        let (name, points) = (model_name(model).to_owned(), points.collect());
        Series { name, points, look: Look::Curve, colour }
    });
    LineChart {
        title: title.to_owned(),
        x: Axis::log("observed cells, %").marked(&[0.1, 0.3, 1.0, 10.0]),
        y: Axis::log("relative error").marked(&[0.05, 0.1, 0.2, 0.3, 0.5, 1.0]),
        series: series.collect(),
        rules: Vec::new(),
    }
}

fn paper_series() -> impl Iterator<Item = Series> {
    MODELS.into_iter().enumerate().map(|(colour, model)| {
        let points = PAPER.iter().map(|&(rate, cp, quadratic)| {
            let y = if model == "cp" { cp } else { quadratic };
            let tip = format!("paper, {}, {}: {y}", model_name(model), percent(rate));
            Point { x: 100.0 * rate, y, bar: None, tip }
        });
        let name = format!("{}, paper (Ribeira)", model_name(model));
        Series { name, points: points.collect(), look: Look::Dashed, colour }
    })
}

fn table(rows: &[Row], rates: &[f64]) -> Block {
    let mut head = vec!["model".to_owned(), "rank".to_owned()];
    head.extend(rates.iter().map(|&rate| percent(rate)));
    let mut lines = Vec::new();
    for model in MODELS {
        for (choice, words) in CHOICES {
            if at(rows, model, choice, rates[0]).is_empty() {
                continue;
            }
            let mut line = vec![model_name(model).to_owned(), words.to_owned()];
            for &rate in rates {
                let here = at(rows, model, choice, rate);
                let rank = spread(&here, "rank").map_or(0.0, |(_, rank, _)| rank);
                line.push(match spread(&here, "error") {
                    Some((_, error, _)) if choice == "given" => format!("{error:.3}"),
                    Some((_, error, _)) => format!("{error:.3} ({})", rank.round()),
                    None => String::new(),
                });
            }
            lines.push(line);
        }
        let mut line = vec![model_name(model).to_owned(), "paper, on Ribeira".to_owned()];
        line.extend(rates.iter().map(|&rate| {
            PAPER.iter().find(|(other, ..)| *other == rate).map_or(String::new(), |paper| {
                format!("{:.3}", if model == "cp" { paper.1 } else { paper.2 })
            })
        }));
        lines.push(line);
    }
    Block::Table { head, rows: lines }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_names_every_share_of_cells() {
        let rates = [0.001, 0.003, 0.1];
        let mut rows = Vec::new();
        for (rate, errors) in rates.into_iter().zip([[0.4, 0.401], [0.3, 0.31], [0.2, 0.1]]) {
            for (model, error) in ["quadratic", "cp"].into_iter().zip(errors) {
                let row = Row::new().with("model", model).with("choice", "given");
                let row = row.with("rate", rate).with("seed", 0u64);
                rows.push(row.with("error", error).with("validation_rmse", error));
            }
        }
        for errors in [given as Errors, judged] {
            let Block::Note(_, words) = verdict("Here", errors, &rows, &rates) else {
                panic!("no verdict")
            };
            assert_eq!(
                words,
                "Here: the quadratic model is ahead at 0.3 %; the two are within a hundredth of each other at \
                 0.1 %; CP is ahead at 10 % of the cells."
            );
        }
    }
}
