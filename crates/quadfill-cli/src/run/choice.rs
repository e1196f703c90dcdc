//! How a model was chosen, in words.

use quadfill::solve::{Heat, Method, RaceReport};

use crate::report::{Lines, counted, grouped, number};

/// What was chosen, why, and how good it is on data that nothing was chosen on.
pub(super) fn add_lines(lines: &mut Lines, race: &RaceReport, rank: usize, draws: Option<usize>) {
    let winner = race.winner();
    lines.add("chosen", chosen(winner, rank, draws));
    lines.add("  because", reason(race));
    let held_out = race.held_out;
    lines.add(
        "held out",
        format!(
            "rmse: mean {}, biases {}, this model {} +- {} (on cells that nothing was chosen on)",
            number(race.baselines.mean),
            number(race.baselines.biases),
            number(held_out.rmse),
            two_digits(held_out.standard_error)
        ),
    );
}

/// A standard error, which has no more digits than these.
fn two_digits(value: f64) -> String {
    let digits = if value > 0.0 { (1.0 - value.log10().floor()).clamp(0.0, 8.0) } else { 0.0 };
    format!("{value:.*}", digits as usize)
}

/// The winner, and what is kept of it.
fn chosen(winner: &Heat, rank: usize, draws: Option<usize>) -> String {
    let contender = &winner.contender;
    let kept = match (contender.method, draws) {
        (Method::Path { .. }, _) | (_, None) => String::new(),
        (_, Some(1)) => format!("; the mean of its draws, distilled to rank {rank}"),
        (_, Some(draws)) => format!("; the mean of {}", counted(draws, "draw")),
    };
    format!("{contender}{kept}")
}

/// How far the next model is behind.
fn reason(race: &RaceReport) -> String {
    let winner = race.winner();
    let others = race.heats.iter().filter(|heat| heat.contender.model != winner.contender.model);
    let next = others.min_by(|x, y| x.error.total_cmp(&y.error));
    let tried = format!(
        "best of {} on {}{}",
        counted(race.heats.len(), "comparison"),
        match race.folds {
            1 => "a held-out tenth".to_owned(),
            folds => format!("{folds} held-out tenths"),
        },
        race.sample.map_or(String::new(), |sample| {
            format!(" of a sample of {} observations, then fitted to all", grouped(sample))
        })
    );
    match next {
        Some(heat) => format!(
            "{tried}; {} was {:.1} % behind (--explain-choice shows all)",
            heat.contender.model,
            behind(heat, winner)
        ),
        None => format!("{tried} (--explain-choice shows all)"),
    }
}

/// How much larger the error of a heat is, in percent.
fn behind(heat: &Heat, winner: &Heat) -> f64 {
    100.0 * (heat.error / winner.error.max(f64::MIN_POSITIVE) - 1.0)
}

/// Every heat, one line each.
pub(super) fn table(race: &RaceReport) -> Lines {
    let mut lines = Lines::default();
    lines.add("held-out rmse", "behind  sweeps  contender");
    for (at, heat) in race.heats.iter().enumerate() {
        let sweeps = heat.sweeps();
        let mark = if at == race.chosen { "  <- chosen" } else { "" };
        let behind = format!("{:+.1} %", behind(heat, race.winner()));
        lines.add(
            format!("{:.5}", heat.error),
            format!("{behind:>7} {sweeps:>6}  {}{mark}", heat.contender),
        );
    }
    lines
}
