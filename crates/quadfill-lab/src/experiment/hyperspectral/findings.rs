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

/// The median error of the choice that is best on held-out cells: what a user would have, who sees
/// nothing else.
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

pub(super) fn blocks(rows: &[Row]) -> Vec<Block> {
    let rates = numbers(rows, "rate");
    let ahead = |rate: f64| Some(judged(rows, "quadratic", rate)?.1 < judged(rows, "cp", rate)?.1);
    let up_to = rates.iter().copied().take_while(|&rate| ahead(rate) == Some(true)).last();
    let from = rates.iter().copied().rev().take_while(|&rate| ahead(rate) == Some(false)).last();
    let words = match (up_to, from) {
        (Some(up_to), Some(from)) => format!(
            "The quadratic model is ahead up to {} of the cells, CP from {} on: with few samples a model \
             that says less is the better one.",
            percent(up_to),
            percent(from)
        ),
        (Some(_), None) => "The quadratic model is ahead at every share of cells.".to_owned(),
        (None, Some(_)) => "CP is ahead at every share of cells.".to_owned(),
        (None, None) => "Neither model is ahead for few cells and the other for many.".to_owned(),
    };
    vec![
        Block::Note(if up_to.is_some() { Tone::Good } else { Tone::Warn }, words),
        Block::figure(
            "error",
            chart(rows, &rates),
            "Of each model the way of finding the rank that held-out cells prefer, median and range over \
             repetitions. The paper\u{2019}s figures are for another image.",
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

fn chart(rows: &[Row], rates: &[f64]) -> Chart {
    let mut series = Vec::new();
    for (colour, model) in MODELS.into_iter().enumerate() {
        let points = rates.iter().filter_map(|&rate| {
            let (low, y, high) = judged(rows, model, rate)?;
            let tip = format!(
                "{}, {} of the cells\nmedian error {y:.3}, from {low:.3} to {high:.3}",
                model_name(model),
                percent(rate)
            );
            Some(Point { x: 100.0 * rate, y, bar: Some((low, high)), tip })
        });
        series.push(Series {
            name: model_name(model).to_owned(),
            points: points.collect(),
            look: Look::Curve,
            colour,
        });
    }
    for (colour, model) in MODELS.into_iter().enumerate() {
        let points = PAPER.iter().map(|&(rate, cp, quadratic)| {
            let y = if model == "cp" { cp } else { quadratic };
            let tip = format!("paper, {}, {}: {y}", model_name(model), percent(rate));
            Point { x: 100.0 * rate, y, bar: None, tip }
        });
        series.push(Series {
            name: format!("{}, paper (Ribeira)", model_name(model)),
            points: points.collect(),
            look: Look::Dashed,
            colour,
        });
    }
    Chart::Lines(LineChart {
        title: "Error on missing cells".to_owned(),
        x: Axis::log("observed cells, %").marked(&[0.1, 0.3, 1.0, 10.0]),
        y: Axis::log("relative error").marked(&[0.05, 0.1, 0.2, 0.5, 1.0]),
        series,
        rules: Vec::new(),
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
