//! Shows where a prediction comes from.

use anyhow::{Result, bail};
use quadfill::Mode;
use quadfill::apply::{Part, influences};
use quadfill::file::Model;
use quadfill::model::Interaction;
use quadfill::objective::Objective;
use quadfill::views::Views;
use serde::Serialize;

use super::{labels, observed};
use crate::flags::ExplainFlags;
use crate::output::Output;
use crate::places;
use crate::report::{Lines, number};

#[derive(Debug, Serialize)]
struct Explanation {
    prediction: f64,
    parts: Vec<NamedPart>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    observations: Vec<Pull>,
}

#[derive(Debug, Serialize)]
struct NamedPart {
    part: String,
    value: f64,
}

/// A past observation that moved the row of a label.
#[derive(Debug, Serialize)]
struct Pull {
    mode: String,
    cell: Vec<String>,
    value: f64,
    leverage: f64,
    effect: f64,
}

pub(super) fn run(flags: &ExplainFlags, output: Output) -> Result<()> {
    let options = flags.reading.resolve()?;
    if let Some(data) = &flags.data {
        places::check_input(data)?;
    }
    let model = Model::load(&flags.model)?;
    let cell = labels::parse(&model.modes, &flags.cell)?;
    labels::require_all(&model.modes, &cell, None, "the cell")?;
    if model.posterior.is_some() && model.spec.interaction == Interaction::Cp {
        bail!(
            "the columns of different draws have nothing to do with each other, so a cp model of \
             --solver gibbs cannot be explained: fit with --solver path"
        );
    }
    if flags.data.is_some() && model.posterior.is_some() {
        bail!(
            "what single observations did cannot be told of a model of --solver gibbs: leave --data \
             out, or fit with --solver path"
        );
    }
    let predictor = model.predictor();
    let mut explanation = Explanation {
        prediction: predictor.cell(&cell),
        parts: predictor.parts(&cell).iter().map(|part| named(part, &model.modes)).collect(),
        observations: Vec::new(),
    };
    if flags.data.is_some() && model.notes.config.implicit.is_some() {
        bail!(
            "what single observations did cannot be told of a model fitted with --implicit: leave \
             --data out"
        );
    }
    if let Some(data) = &flags.data {
        let views = Views::new(observed::read_known(data, &options, &model)?);
        let notes = &model.notes;
        let objective =
            Objective::new(&views, &model.spec, notes.penalty, notes.config.penalty_scale);
        for (at, mode) in model.modes.iter().enumerate() {
            for influence in influences(&objective, predictor, &cell, at).iter().take(flags.most) {
                let names = influence.cell.iter().zip(&model.modes);
                explanation.observations.push(Pull {
                    mode: mode.name.clone(),
                    cell: names
                        .map(|(&label, mode)| mode.labels.name(label as usize).into_owned())
                        .collect(),
                    value: influence.value,
                    leverage: influence.leverage,
                    effect: influence.effect,
                });
            }
        }
    }
    output.answer(explanation.text(), &explanation)
}

fn named(part: &Part, modes: &[Mode]) -> NamedPart {
    let name = |mode: &usize| modes[*mode].name.as_str();
    let words = match part {
        Part::Mean { .. } => "mean".to_owned(),
        Part::Bias { mode, .. } => format!("bias of {}", name(mode)),
        Part::Pair { modes: [a, b], .. } => format!("{} and {}", name(a), name(b)),
        Part::Length { mode, .. } => format!("length of {}", name(mode)),
        Part::Column { column, .. } => format!("column {}", column + 1),
    };
    NamedPart { part: words, value: part.value() }
}

impl Explanation {
    fn text(&self) -> String {
        let mut lines = Lines::default();
        for part in &self.parts {
            lines.add(part.part.clone(), number(part.value));
        }
        lines.add("prediction", number(self.prediction));
        let mut text = lines.to_string();
        let mut mode = "";
        let mut lines = Lines::default();
        for pull in &self.observations {
            if pull.mode != mode {
                mode = &pull.mode;
                lines.add(format!("by way of {mode}"), "");
            }
            lines.add(
                format!("  {}", pull.cell.join(", ")),
                format!(
                    "{} moved it by {} (leverage {})",
                    number(pull.value),
                    number(pull.effect),
                    number(pull.leverage)
                ),
            );
        }
        if !self.observations.is_empty() {
            text.push_str("\n\n");
            text.push_str(&lines.to_string());
        }
        text
    }
}
