//! Findings.

use quadfill_report::chart::{Axis, Chart, LineChart, Point, Series, SeriesStyle};
use quadfill_report::{Block, Tone};

use super::{MODELS, PAPER};
use crate::experiment::grid::{distinct_numbers, min_median_max};
use crate::experiment::row::Row;

/// How the rank is chosen, and the name of that in tables.
const CHOICES: [(&str, &str); 4] = [
    ("given", "rank 100"),
    ("automatic", "by hold-out"),
    ("certified", "certified"),
    ("sampled", "by hold-out, posterior mean"),
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

/// The minimum, median and maximum error of a model at a sampling rate.
type Errors = fn(&[Row], &str, f64) -> Option<(f64, f64, f64)>;

/// At the paper's rank.
fn given(rows: &[Row], model: &str, rate: f64) -> Option<(f64, f64, f64)> {
    min_median_max(&at(rows, model, "given", rate), "error")
}

/// The error of the choice that is best on held-out cells, as in practice.
fn judged(rows: &[Row], model: &str, rate: f64) -> Option<(f64, f64, f64)> {
    let chosen = |choice: &str| min_median_max(&at(rows, model, choice, rate), "validation_rmse");
    let (choice, _) = ["given", "automatic", "sampled"]
        .into_iter()
        .filter_map(|choice| Some((choice, chosen(choice)?.1)))
        .min_by(|x, y| x.1.total_cmp(&y.1))?;
    min_median_max(&at(rows, model, choice, rate), "error")
}

/// The row of the first repetition that is best on held-out cells.
pub(super) fn best<'a>(rows: &'a [Row], model: &str, rate: f64) -> Option<&'a Row> {
    let first = distinct_numbers(rows, "seed").first().copied()?;
    rows.iter()
        .filter(|row| row.text("model") == model && row.number("rate") == rate)
        .filter(|row| row.number("seed") == first)
        .min_by(|x, y| x.number("validation_rmse").total_cmp(&y.number("validation_rmse")))
}

/// Errors whose ratio differs from 1 by less than this count as equal.
const LEVEL: f64 = 0.01;

/// Which model is better at which sampling rates.
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
        (quadratic, "the quadratic model is better at"),
        (level, "the two are within 1 % of each other at"),
        (cp, "CP is better at"),
    ];
    let parts = parts.into_iter().filter(|(rates, _)| !rates.is_empty());
    let words: Vec<String> =
        parts.map(|(rates, words)| format!("{words} {}", rates.join(", "))).collect();
    Block::Note(tone, format!("{setting}: {} of the cells.", words.join("; ")))
}

pub(super) fn blocks(rows: &[Row]) -> Vec<Block> {
    let rates = distinct_numbers(rows, "rate");
    let title = "Error on missing cells at rank 100";
    let mut as_in_the_paper = chart(title, given, rows, &rates);
    as_in_the_paper.series.extend(paper_series());
    let best = chart("Error on missing cells, best on held-out cells", judged, rows, &rates);
    vec![
        verdict("Rank 100 with tuned penalties, as in the paper", given, rows, &rates),
        Block::figure(
            "error",
            Chart::Lines(as_in_the_paper),
            "Median and range over repetitions. The paper\u{2019}s results are for a different image.",
        ),
        verdict("The rank and method that are best on held-out cells", judged, rows, &rates),
        Block::figure(
            "error-best",
            Chart::Lines(best),
            "For each model the best on held-out cells of rank 100, the rank chosen by hold-out, and the \
             posterior mean.",
        ),
        table(rows, &rates),
        Block::Text(
            "Chosen ranks are in brackets. Rank 100 is the paper\u{2019}s. \u{201c}Certified\u{201d} minimises the same objective over all ranks, at the \
             penalty chosen for rank 100: it assesses the objective, not the model. The relative gap in \
             results.json bounds the distance of each quadratic fit from the optimum over all ranks."
                .to_owned(),
        ),
    ]
}

fn chart(title: &str, errors: Errors, rows: &[Row], rates: &[f64]) -> LineChart {
    let series = MODELS.into_iter().enumerate().map(|(colour, model)| {
        let points = rates.iter().filter_map(|&rate| {
            let (low, y, high) = errors(rows, model, rate)?;
            let tooltip = format!(
                "{}, {} of the cells\nmedian error {y:.3}, from {low:.3} to {high:.3}",
                model_name(model),
                percent(rate)
            );
            Some(Point { x: 100.0 * rate, y, error_bar: Some((low, high)), tooltip })
        });
        let (name, points) = (model_name(model).to_owned(), points.collect());
        Series { name, points, style: SeriesStyle::LineAndMarkers, colour }
    });
    LineChart {
        title: title.to_owned(),
        x: Axis::log("observed cells, %").with_ticks(&[0.1, 0.3, 1.0, 10.0]),
        y: Axis::log("relative error").with_ticks(&[0.05, 0.1, 0.2, 0.3, 0.5, 1.0]),
        series: series.collect(),
        reference_lines: Vec::new(),
    }
}

fn paper_series() -> impl Iterator<Item = Series> {
    MODELS.into_iter().enumerate().map(|(colour, model)| {
        let points = PAPER.iter().map(|&(rate, cp, quadratic)| {
            let y = if model == "cp" { cp } else { quadratic };
            let tooltip = format!("paper, {}, {}: {y}", model_name(model), percent(rate));
            Point { x: 100.0 * rate, y, error_bar: None, tooltip }
        });
        let name = format!("{}, paper (Ribeira)", model_name(model));
        Series { name, points: points.collect(), style: SeriesStyle::Dashed, colour }
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
                let rank = min_median_max(&here, "rank").map_or(0.0, |(_, rank, _)| rank);
                line.push(match min_median_max(&here, "error") {
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
                "Here: the quadratic model is better at 0.3 %; the two are within 1 % of each other at \
                 0.1 %; CP is better at 10 % of the cells."
            );
        }
    }
}
