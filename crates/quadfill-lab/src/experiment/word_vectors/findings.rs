//! Findings: the comparison of the two models.

use quadfill_report::chart::{Axis, Chart, LineChart, Point, Series, SeriesStyle, short_number};
use quadfill_report::{Block, Tone};

use super::data::WordData;
use super::{MAX_SHARE, MODELS};
use crate::experiment::grid::{distinct_numbers, distinct_texts};
use crate::experiment::row::Row;

/// The rows of the paper's table: name, title, and the results of CP and the quadratic model.
const PAPER: [(&str, &str, [&str; 2]); 4] = [
    ("mse", "mean squared error", ["0.5893", "0.4253"]),
    ("syntactic", "syntactic analogies", ["30.61 %", "46.14 %"]),
    ("semantic", "semantic analogies", ["42.37 %", "54.76 %"]),
    ("similarity", "similarity", ["0.51", "0.60"]),
];

pub(super) fn blocks(data: &WordData, rows: &[Row]) -> Vec<Block> {
    let Some(first) = rows.first() else {
        return vec![Block::Text("Nothing was measured.".to_owned())];
    };
    let mut blocks = vec![facts(first), Block::Text(how(first))];
    let all_triples: Vec<Row> =
        rows.iter().filter(|row| row.number("share") >= MAX_SHARE).cloned().collect();
    for window in distinct_texts(rows, "window") {
        let chosen = Chosen::new(&all_triples, &window);
        blocks.push(Block::Text(match window.as_str() {
            "ordered" => "Windows count in the order of the text. At the penalty chosen for each model:".to_owned(),
            _ => "Windows count for every order of their words. At the penalty chosen for each model:".to_owned(),
        }));
        blocks.push(chosen.beside_the_paper());
        blocks.extend(chosen.verdicts());
        blocks.push(Block::Text("Analogies by kind, accuracy in percent:".to_owned()));
        blocks.push(chosen.by_section(data));
        blocks.push(Block::Text("Similarity by set, Spearman correlation:".to_owned()));
        blocks.push(chosen.by_set(data));
        blocks.extend(by_share(rows, &window));
        for which in distinct_texts(rows, "cells") {
            let here: Vec<&Row> = all_triples
                .iter()
                .filter(|r| r.text("window") == window && r.text("cells") == which)
                .collect();
            let name = format!("penalties-{}-{which}", window.replace(' ', "-"));
            blocks.push(Block::figure(&name, by_penalty(&here, &which), ""));
        }
    }
    blocks.push(Block::Text("All fits:".to_owned()));
    blocks.push(all_tries(rows));
    blocks
}

fn facts(row: &Row) -> Block {
    let cells = (row.number("vocabulary")).powi(3);
    Block::Facts(vec![
        ("million words of text".to_owned(), format!("{:.1}", row.number("words") / 1e6)),
        ("vocabulary".to_owned(), row.count("vocabulary").to_string()),
        ("million triples".to_owned(), format!("{:.3}", row.number("triples") / 1e6)),
        (
            "share of all cells".to_owned(),
            format!("{:.3} %", 100.0 * row.number("triples") / cells),
        ),
        ("rank".to_owned(), short_number(row.number("rank"))),
    ])
}

fn how(row: &Row) -> String {
    format!(
        "There are two kinds of fits. \u{201c}Observed cells\u{201d} are fits to the triples that occur, with a tenth of them \
         held out (together with all their orders, if those are counted); their error is measured on the held-out triples. \u{201c}All cells\u{201d} are \
         fits to all {} cells, in which triples that do not occur are zeros of equal weight; their error is measured \
         on all cells. Values are log(1 + count). Both models are fitted by at most {} sweeps of \
         alternating least squares from a random start, over the same grid of penalties, and the \
         penalty with the smallest error is chosen for each model. The vector of a word is the concatenation of its rows \
         in the three modes, normalised to unit length. Only questions whose words are all in the vocabulary are asked. \
         Syntactic questions are the MSR set and the sections of the Google set whose names start with gram; semantic questions are its \
         other sections. Similarity is the mean correlation over the sets.",
        short_number(row.number("vocabulary").powi(3)),
        row.count("sweeps"),
    )
}

/// The name of the error by which the penalty is chosen.
fn error_name(cells: &str) -> &'static str {
    if cells == "all" { "mse_all_cells" } else { "mse_held_out" }
}

fn smallest_error<'a>(rows: impl Iterator<Item = &'a Row>, error: &str) -> Option<&'a Row> {
    rows.min_by(|x, y| x.number(error).total_cmp(&y.number(error)))
}

fn cells_in_words(cells: &str) -> &'static str {
    if cells == "all" { "all cells" } else { "observed cells" }
}

fn model_in_words(model: &str) -> &'static str {
    if model == "cp" { "CP" } else { "quadratic" }
}

/// The rows of one kind of window at the penalty with the smallest error, for each kind of cells and model.
struct Chosen<'a> {
    kinds: Vec<(String, Vec<Option<&'a Row>>)>,
}

impl<'a> Chosen<'a> {
    fn new(rows: &'a [Row], window: &str) -> Self {
        let best = |which: &str, model: &str| {
            let of_kind = rows
                .iter()
                .filter(|row| row.text("window") == window && row.text("cells") == which);
            smallest_error(of_kind.filter(|row| row.text("model") == model), error_name(which))
        };
        let kinds = distinct_texts(rows, "cells")
            .into_iter()
            .map(|which| {
                let both = ["cp", "quadratic"].map(|model| best(&which, model)).to_vec();
                (which, both)
            })
            .collect();
        Self { kinds }
    }

    /// Column headings: CP and quadratic for each kind of cells.
    fn head(&self, first: &[&str]) -> Vec<String> {
        let mut head: Vec<String> = first.iter().map(|&name| name.to_owned()).collect();
        for (which, _) in &self.kinds {
            for model in ["cp", "quadratic"] {
                head.push(format!("{which}, {}", model_in_words(model)));
            }
        }
        head
    }

    /// One field per kind of cells and model.
    fn line(&self, field: impl Fn(&str, &Row) -> String) -> Vec<String> {
        self.kinds
            .iter()
            .flat_map(|(which, both)| {
                both.iter().map(|row| row.map_or(String::new(), |row| field(which, row)))
            })
            .collect()
    }

    fn beside_the_paper(&self) -> Block {
        let mut lines = Vec::new();
        for (name, words, paper) in PAPER {
            let mut line = vec![words.to_owned(), paper[0].to_owned(), paper[1].to_owned()];
            line.extend(self.line(|which, row| match name {
                "mse" => format!("{:.6}", row.number(error_name(which))),
                "similarity" => correlation(row, name),
                _ => percent(row, name),
            }));
            lines.push(line);
        }
        for (name, words) in [
            ("sweeps_done", "sweeps"),
            ("penalty", "penalty"),
            ("sweep_seconds", "seconds per sweep"),
        ] {
            let mut line = vec![words.to_owned(), String::new(), String::new()];
            line.extend(self.line(|_, row| short_number(row.number(name))));
            lines.push(line);
        }
        Block::Table { head: self.head(&["", "paper, CP", "paper, quadratic"]), rows: lines }
    }

    /// Where the quadratic model is better, and where it is not.
    fn verdicts(&self) -> Vec<Block> {
        self.kinds
            .iter()
            .filter_map(|(which, both)| {
                let [Some(cp), Some(quadratic)] = both[..] else { return None };
                let (mut better, mut worse) = (Vec::new(), Vec::new());
                for (name, words, _) in PAPER {
                    let is_better = if name == "mse" {
                        quadratic.number(error_name(which)) < cp.number(error_name(which))
                    } else {
                        let score = |row: &Row| row.get(name).and_then(serde_json::Value::as_f64);
                        score(quadratic) > score(cp)
                    };
                    if is_better { better.push(words) } else { worse.push(words) }
                }
                let kind = cells_in_words(which);
                Some(if worse.is_empty() {
                    Block::Note(
                        Tone::Good,
                        format!("On {kind} the quadratic model is better than CP in every task."),
                    )
                } else if better.is_empty() {
                    Block::Note(
                        Tone::Warn,
                        format!("On {kind} the quadratic model is better than CP in no task."),
                    )
                } else {
                    Block::Note(
                        Tone::Warn,
                        format!(
                            "On {kind} the quadratic model is better than CP in {}, and not in {}.",
                            better.join(", "),
                            worse.join(", ")
                        ),
                    )
                })
            })
            .collect()
    }

    fn by_section(&self, data: &WordData) -> Block {
        let any = self.kinds.iter().flat_map(|(_, both)| both).find_map(|row| *row);
        let questions = |name: &str| any.map_or(0, |row| row.count(&format!("{name}_questions")));
        let mut lines = Vec::new();
        let mut names: Vec<&str> = vec!["syntactic", "semantic"];
        for (set, section) in data.sections() {
            if !names.contains(&set) {
                names.push(set);
            }
            if !section.contains("analog") {
                names.push(section);
            }
        }
        // Sections without any question in the vocabulary are omitted.
        for name in names.into_iter().filter(|&name| questions(name) > 0) {
            let mut line = vec![name.to_owned(), questions(name).to_string()];
            line.extend(self.line(|_, row| percent(row, name)));
            lines.push(line);
        }
        Block::Table { head: self.head(&["kind", "questions"]), rows: lines }
    }

    fn by_set(&self, data: &WordData) -> Block {
        let any = self.kinds.iter().flat_map(|(_, both)| both).find_map(|row| *row);
        let mut lines = Vec::new();
        for name in data.similarity_sets() {
            let pairs = any.map_or(0, |row| row.count(&format!("{name}_pairs")));
            let mut line = vec![name.to_owned(), pairs.to_string()];
            line.extend(self.line(|_, row| correlation(row, name)));
            lines.push(line);
        }
        Block::Table { head: self.head(&["set", "pairs"]), rows: lines }
    }
}

fn percent(row: &Row, name: &str) -> String {
    row.get(name)
        .and_then(serde_json::Value::as_f64)
        .map_or("none asked".to_owned(), |share| format!("{:.2} %", 100.0 * share))
}

/// A correlation; none for zero vectors, to which CP collapses if the penalty is too large.
fn correlation(row: &Row, name: &str) -> String {
    let rho = row.get(name).and_then(serde_json::Value::as_f64);
    rho.map_or("none".to_owned(), |rho| format!("{rho:.3}"))
}

/// The error against the share of the triples used for training, and which model is better at which share.
fn by_share(rows: &[Row], window: &str) -> Vec<Block> {
    let observed: Vec<Row> = rows
        .iter()
        .filter(|row| row.text("window") == window && row.text("cells") == "observed")
        .cloned()
        .collect();
    let error = |row: &Row| row.number(error_name("observed"));
    let best = |model: &str, share: f64| {
        let of_share = observed.iter().filter(|row| row.number("share") == share);
        smallest_error(of_share.filter(|row| row.text("model") == model), error_name("observed"))
    };
    let shares = distinct_numbers(&observed, "share");
    let mut series = Vec::new();
    for (colour, model) in MODELS.into_iter().enumerate() {
        let point = |row: &Row| Point {
            x: 100.0 * row.number("share"),
            y: error(row),
            error_bar: None,
            tooltip: format!(
                "{}: {:.4} from {} % of the triples\npenalty {}",
                model_in_words(model),
                error(row),
                short_number(100.0 * row.number("share")),
                short_number(row.number("penalty"))
            ),
        };
        let points = shares.iter().filter_map(|&share| best(model, share)).map(point).collect();
        let name = model_in_words(model).to_owned();
        series.push(Series { name, points, style: SeriesStyle::LineAndMarkers, colour });
    }
    let marks: Vec<f64> = shares.iter().map(|share| 100.0 * share).collect();
    let chart = Chart::Lines(LineChart {
        title: "Error on held-out triples against the training share".to_owned(),
        x: Axis::log("share of the triples (%)").with_ticks(&marks),
        y: Axis::linear("mean squared error"),
        series,
        reference_lines: Vec::new(),
    });
    let name = format!("shares-{}", window.replace(' ', "-"));
    let (mut better, mut worse) = (Vec::new(), Vec::new());
    for &share in &shares {
        let [Some(quadratic), Some(cp)] = MODELS.map(|model| best(model, share)) else { continue };
        let words = format!(
            "{} % ({:.4} against {:.4})",
            short_number(100.0 * share),
            error(quadratic),
            error(cp)
        );
        if error(quadratic) < error(cp) { better.push(words) } else { worse.push(words) }
    }
    let list = |words: Vec<String>| {
        if words.is_empty() { "no share".to_owned() } else { words.join(", ") }
    };
    let tone = if worse.is_empty() { Tone::Good } else { Tone::Warn };
    let verdict = format!(
        "Held-out triples are predicted better by the quadratic model from {}, and better by CP from {}.",
        list(better),
        list(worse)
    );
    vec![Block::figure(&name, chart, ""), Block::Note(tone, verdict)]
}

/// Accuracy and similarity against the penalty.
fn by_penalty(rows: &[&Row], which: &str) -> Chart {
    let mut series = Vec::new();
    for (task, scale) in [("syntactic", 100.0), ("semantic", 100.0), ("similarity", 100.0)] {
        for model in MODELS {
            let points = rows
                .iter()
                .filter(|row| row.text("model") == model && row.number(task).is_finite())
                .map(|row| Point {
                    x: row.number("penalty"),
                    y: scale * row.number(task),
                    error_bar: None,
                    tooltip: format!(
                        "{task}, {}: {} at a penalty of {}\nerror {}",
                        model_in_words(model),
                        short_number(scale * row.number(task)),
                        short_number(row.number("penalty")),
                        short_number(row.number(error_name(which)))
                    ),
                })
                .collect();
            let name = format!("{task}, {}", model_in_words(model));
            series.push(Series {
                name,
                points,
                style: SeriesStyle::LineAndMarkers,
                colour: series.len(),
            });
        }
    }
    let owned: Vec<Row> = rows.iter().map(|&row| row.clone()).collect();
    Chart::Lines(LineChart {
        title: format!("Tasks against the penalty: {}", cells_in_words(which)),
        x: Axis::log("penalty").with_ticks(&distinct_numbers(&owned, "penalty")),
        y: Axis::linear("accuracy (%), correlation (times 100)"),
        series,
        reference_lines: Vec::new(),
    })
}

fn all_tries(rows: &[Row]) -> Block {
    let lines = rows
        .iter()
        .map(|row| {
            let which = row.text("cells");
            vec![
                row.text("window").to_owned(),
                which.to_owned(),
                short_number(100.0 * row.number("share")),
                model_in_words(row.text("model")).to_owned(),
                short_number(row.number("penalty")),
                format!("{:.4}", row.number("mse_seen")),
                format!("{:.6}", row.number(error_name(which))),
                percent(row, "syntactic"),
                percent(row, "semantic"),
                correlation(row, "similarity"),
                short_number(row.number("seconds")),
            ]
        })
        .collect();
    Block::table(
        &[
            "window",
            "cells",
            "share (%)",
            "model",
            "penalty",
            "training error",
            "error",
            "syntactic",
            "semantic",
            "similarity",
            "seconds",
        ],
        lines,
    )
}
