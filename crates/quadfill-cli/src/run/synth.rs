//! Makes data from known factors.

use std::path::{Path, PathBuf};

use anyhow::Result;
use quadfill::model::ModelKind;
use quadfill_io::write_atomically;
use serde::Serialize;

use crate::clock::Clock;
use crate::flags::SynthPlan;
use crate::interrupt;
use crate::output::Output;
use crate::report::{Lines, grouped};
use quadfill_lab::planted::{Cells, Planted};

#[derive(Debug, Serialize)]
struct SynthReport {
    output: PathBuf,
    test: Option<PathBuf>,
    dims: Vec<usize>,
    model: String,
    rank: usize,
    observations: usize,
    test_observations: usize,
    degrees_of_freedom: usize,
    noise: f64,
    min_per_label: usize,
    draws: usize,
    seed: u64,
    seconds: f64,
}

pub(super) fn run(plan: &SynthPlan, output: Output) -> Result<()> {
    let clock = Clock::start();
    let recipe = &plan.recipe;
    let planted = recipe.make()?;
    write(plan, &planted)?;
    let report = SynthReport {
        output: plan.output.clone(),
        test: plan.test.clone(),
        dims: recipe.shape.sizes().to_vec(),
        model: ModelKind::of(&recipe.spec.interaction).to_string(),
        rank: recipe.spec.rank,
        observations: recipe.observations,
        test_observations: recipe.test_observations.unwrap_or(0),
        degrees_of_freedom: recipe.spec.degrees_of_freedom(recipe.shape.sizes()),
        noise: recipe.noise,
        min_per_label: planted.min_per_label,
        draws: planted.draws,
        seed: recipe.seed,
        seconds: clock.seconds(),
    };
    output.outcome(report.text(), &report)
}

/// Writes the synthetic data, both files or none.
pub(super) fn write(plan: &SynthPlan, planted: &Planted) -> Result<()> {
    let _whole = interrupt::writing();
    write_cells(&plan.output, &planted.train)?;
    if let (Some(path), Some(cells)) = (&plan.test, &planted.test)
        && let Err(error) = write_cells(path, cells)
    {
        let _ = std::fs::remove_file(&plan.output);
        return Err(error);
    }
    Ok(())
}

/// Labels count from 1 in both formats; `.csv` has a header.
fn write_cells(path: &Path, cells: &Cells) -> Result<()> {
    let is_csv = path.extension().is_some_and(|ending| ending == "csv");
    let separator = if is_csv { ',' } else { ' ' };
    write_atomically(path, |out| {
        if is_csv {
            for mode in 1..=cells.columns.len() {
                write!(out, "mode{mode},")?;
            }
            writeln!(out, "value")?;
        }
        for (row, value) in cells.values.iter().enumerate() {
            for column in &cells.columns {
                write!(out, "{}{separator}", u64::from(column[row]) + 1)?;
            }
            writeln!(out, "{value}")?;
        }
        Ok(())
    })?;
    Ok(())
}

impl SynthReport {
    fn text(&self) -> Lines {
        let mut lines = Lines::default();
        let dims: Vec<String> = self.dims.iter().map(usize::to_string).collect();
        lines.add("tensor", format!("{}, {} of rank {}", dims.join(" x "), self.model, self.rank));
        lines.add(
            "observations",
            format!(
                "{} for {} free parameters -> {}",
                grouped(self.observations),
                grouped(self.degrees_of_freedom),
                self.output.display()
            ),
        );
        if let Some(test) = &self.test {
            lines.add(
                "test",
                format!("{} other cells -> {}", grouped(self.test_observations), test.display()),
            );
        }
        lines.add(
            "per label",
            format!(
                "at least {} observations, in {} {}",
                self.min_per_label,
                self.draws,
                if self.draws == 1 { "draw" } else { "draws" }
            ),
        );
        lines
    }
}
