//! Shows where a prediction comes from.

use anyhow::Result;
use quadfill::apply::Part;
use quadfill::{Mode, Model};
use quadfill_io::read_for_modes;
use serde::Serialize;

use super::labels;
use crate::flags::ExplainFlags;
use crate::output::Output;
use crate::paths;
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

/// An observation that affected the row of a label.
#[derive(Debug, Serialize)]
struct Pull {
    mode: String,
    cell: Vec<String>,
    value: f64,
    leverage: f64,
    effect: f64,
}

pub(super) fn run(flags: &ExplainFlags, output: Output) -> Result<()> {
    let mut options = flags.reading.resolve()?;
    if let Some(data) = &flags.data {
        paths::check_input(data)?;
    }
    let model = Model::load(&flags.model)?;
    options.positions.clone_from(&model.source().positions);
    let cell = labels::parse(&model, &flags.cell)?;
    model.require_labels(&cell, None)?;
    let found = model.explain_cell(&cell)?;
    let mut explanation = Explanation {
        prediction: found.prediction,
        parts: found.parts.iter().map(|part| named(part, model.modes())).collect(),
        observations: Vec::new(),
    };
    if let Some(data) = &flags.data {
        let data = std::slice::from_ref(data);
        let data = read_for_modes(data, &options, model.modes(), model.source())?;
        let influences = model.influences(data, &cell)?;
        for (mode, influences) in model.modes().iter().zip(influences) {
            for influence in influences.iter().take(flags.most) {
                let names = influence.cell.iter().zip(model.modes());
                explanation.observations.push(Pull {
                    mode: mode.name.clone(),
                    cell: names
                        .map(|(&label, mode)| mode.label(label as usize).into_owned())
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
                lines.add(format!("through {mode}"), "");
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
