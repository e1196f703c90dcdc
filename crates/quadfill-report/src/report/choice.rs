//! What was raced, and why one contender was chosen.

use quadfill::Model;
use quadfill::solve::{Heat, HeldOutError, RaceReport};

use super::numbers::{decimals_of, decimals_of_error, fixed, percent};
use super::{Block, Section, Tone};
use crate::chart::{
    Axis, Chart, LineChart, Point, ReferenceLine, Series, SeriesStyle, short_number,
};

/// A baseline is drawn if that makes the axis at most this many times as long.
const STRETCH: f64 = 2.0;

pub(super) fn section(model: &Model) -> Option<Section> {
    let race = model.summary().race.as_ref()?;
    let mut blocks = vec![Block::Text(reason(race, model))];
    if race.heats.len() > 1 && race.chosen + 1 == race.heats.len() {
        blocks.push(Block::Note(
            Tone::Plain,
            "The last heat is the best: errors still fell when the race ended, so a longer one may \
             find a better model."
                .to_owned(),
        ));
    }
    blocks.push(Block::figure("choice", Chart::Lines(chart(race)), caption(race)));
    blocks.push(table(race));
    Some(Section::new("Choice", blocks))
}

/// The held-out error of the chosen model beside those of the baselines.
pub(super) fn comparison(race: &RaceReport) -> String {
    let HeldOutError { rmse, standard_error } = race.held_out;
    let decimals = decimals_of_error(rmse, standard_error);
    let number = |value: f64| fixed(value, decimals);
    format!(
        "mean {}, biases {}, this model {} ± {}",
        number(race.baselines.mean),
        number(race.baselines.biases),
        number(rmse),
        number(standard_error)
    )
}

/// How far a heat is behind the chosen one, in per cent.
fn behind(race: &RaceReport, heat: &Heat) -> f64 {
    100.0 * (heat.error / race.winner().error - 1.0)
}

/// What was chosen and why, in two sentences.
fn reason(race: &RaceReport, model: &Model) -> String {
    let winner = race.winner();
    let folds = match race.folds {
        1 => String::new(),
        folds => format!(", averaged over {folds} hold-outs"),
    };
    let sample = race
        .sample
        .map_or(String::new(), |sample| format!(" on a sample of {sample} observations"));
    let rivals = race.heats.iter().enumerate().filter(|&(at, heat)| {
        at != race.chosen && heat.sweeps() == winner.sweeps() && heat.contender != winner.contender
    });
    let lead = match rivals.min_by(|x, y| x.1.error.total_cmp(&y.1.error)) {
        Some((at, heat)) => {
            format!("; the next best, heat {}, is {} behind", at + 1, percent(behind(race, heat)))
        }
        None => String::new(),
    };
    let drawn = match model.summary().draws {
        Some(1) if model.rank() == winner.spec.rank => {
            "It was then sampled given all data, and the mean of its draws was distilled into one \
             model of the same rank."
                .to_owned()
        }
        Some(1) => format!(
            "It was then sampled given all data, and the mean of its draws was distilled into one \
             model of rank {}.",
            model.rank()
        ),
        Some(draws) => format!(
            "It was then sampled given all data, and predictions are means over {draws} draws."
        ),
        None => String::new(),
    };
    format!(
        "Of {} heats, the longest ones decide, and among them {} has the smallest held-out error{sample}{folds}{lead}. {drawn}",
        race.heats.len(),
        winner.contender
    )
}

fn table(race: &RaceReport) -> Block {
    let decimals = decimals_of(race.winner().error, 4);
    let rows = race
        .heats
        .iter()
        .enumerate()
        .map(|(at, heat)| {
            let behind = if at == race.chosen {
                "chosen".to_owned()
            } else {
                // Adding zero turns what rounds to minus zero into zero.
                let behind = (10.0 * behind(race, heat)).round() / 10.0 + 0.0;
                format!("{behind:+.1} %").replace('-', "\u{2212}")
            };
            vec![
                (at + 1).to_string(),
                heat.contender.to_string(),
                heat.sweeps().to_string(),
                fixed(heat.error, decimals),
                behind,
            ]
        })
        .collect();
    Block::table(&["heat", "contender", "sweeps", "held-out rmse", "behind"], rows)
}

/// Baselines with their names, those that fit on the axis first.
fn baselines(race: &RaceReport) -> (Vec<(f64, String)>, Vec<(f64, String)>) {
    let errors = || race.heats.iter().map(|heat| heat.error);
    let low = errors().fold(f64::INFINITY, f64::min).ln();
    let high = errors().fold(f64::NEG_INFINITY, f64::max).ln();
    // Heats that are equally good still need some room.
    let length = (high - low).max(0.05);
    let all = [(race.baselines.mean, "mean alone"), (race.baselines.biases, "biases alone")];
    all.into_iter().map(|(error, name)| (error, name.to_owned())).partition(|(error, _)| {
        let at = error.ln();
        at.is_finite() && at.max(high) - at.min(low) <= STRETCH * length
    })
}

fn chart(race: &RaceReport) -> LineChart {
    let longest = race.heats.iter().map(Heat::sweeps).max().unwrap_or(0);
    let series = |name: &str, colour, belongs: &dyn Fn(usize, &Heat) -> bool| Series {
        name: name.to_owned(),
        points: race
            .heats
            .iter()
            .enumerate()
            .filter(|&(at, heat)| belongs(at, heat))
            .map(|(at, heat)| Point {
                x: (at + 1) as f64,
                y: heat.error,
                error_bar: None,
                tooltip: format!(
                    "heat {}: {}\nheld-out rmse {} after {} sweeps",
                    at + 1,
                    heat.contender,
                    short_number(heat.error),
                    heat.sweeps()
                ),
            })
            .collect(),
        style: SeriesStyle::Markers,
        colour,
    };
    let is_chosen = |at: usize| at == race.chosen;
    let all = [
        series("short heats", 7, &|at, heat| !is_chosen(at) && heat.sweeps() < longest),
        series("long heats", 0, &|at, heat| !is_chosen(at) && heat.sweeps() >= longest),
        series("chosen", 1, &|at, _| is_chosen(at)),
    ];
    let (fitting, _) = baselines(race);
    let reference = |(error, name): (f64, String)| {
        ReferenceLine::Horizontal(error, format!("{name}: {}", short_number(error)))
    };
    let count = race.heats.len();
    let every = count.div_ceil(24).max(1);
    let ticks: Vec<f64> = (1..=count).step_by(every).map(|heat| heat as f64).collect();
    LineChart {
        title: "Held-out error of every heat".to_owned(),
        x: Axis::linear("heat").with_range(0.5, count as f64 + 0.5).with_ticks(&ticks),
        y: Axis::log("held-out rmse"),
        series: all.into_iter().filter(|series| !series.points.is_empty()).collect(),
        reference_lines: fitting.into_iter().map(reference).collect(),
    }
}

fn caption(race: &RaceReport) -> String {
    let (_, far) = baselines(race);
    let words = "Contenders are compared on two thirds of the held-out cells. The baselines and the \
                 error in the summary come from the other third, on which nothing is chosen.";
    if far.is_empty() {
        return words.to_owned();
    }
    let far = far.iter().map(|(error, name)| format!("{name} {}", short_number(*error)));
    format!("{words} Not on the chart: {}.", far.collect::<Vec<_>>().join(", "))
}
