//! A fit of synthetic data, from its generation to a summary.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use quadfill::model::{Kernel, ModelSpec};
use quadfill_io::write_atomically;
use serde::Serialize;

use super::{fit, synth};
use crate::flags::{FitPlan, SynthPlan};
use crate::output::Output;
use crate::paths;
use crate::report::{grouped, number, sparkline};
use quadfill_lab::planted::{Coverage, Recipe, Shape};

const SIZE: usize = 200;
const RANK: usize = 5;
/// Observations per label and column: three is about the number of free parameters.
const CELLS_PER_UNKNOWN: usize = 4;
const SUMMARY: &str = "summary.txt";

#[derive(Debug, Serialize)]
struct DemoReport {
    folder: PathBuf,
    given: usize,
    cells: u128,
    fit: fit::FitReport,
}

pub(super) fn run(folder: &Path, seed: u64, output: Output) -> Result<()> {
    paths::check_own_folder(folder, SUMMARY)?;
    fs::create_dir_all(folder)?;
    let shape = Shape::new(&[SIZE; 3])?;
    let given = CELLS_PER_UNKNOWN * SIZE * RANK;
    let cells = shape.cells();
    let plan = SynthPlan {
        recipe: Recipe {
            spec: ModelSpec::quadratic(Kernel::pairwise(3), RANK),
            shape,
            observations: given,
            test_observations: Some(20_000),
            noise: 0.0,
            coverage: Coverage::Aim,
            seed,
        },
        output: folder.join("train.tns"),
        test: Some(folder.join("test.tns")),
    };
    synth::write(&plan, &plan.recipe.make()?)?;
    let fit = fit::fit(
        &FitPlan::with_defaults(
            plan.output.clone(),
            folder.join("model"),
            folder.join("test.tns"),
            RANK,
        ),
        output,
    )?;
    let report = DemoReport { folder: folder.to_owned(), given, cells, fit };
    let text = report.text();
    write_atomically(&folder.join(SUMMARY), |out| writeln!(out, "{text}"))?;
    output.outcome(&text, &report)
}

impl DemoReport {
    fn text(&self) -> String {
        let folder = self.folder.display();
        let test = self.fit.test.expect("the demo has test cells");
        let curve: Vec<f64> = self.fit.path.iter().map(|point| point.train_rmse).collect();
        let (first, last) = (curve.first().copied(), curve.last().copied());
        format!(
            "\
A tensor of {SIZE} x {SIZE} x {SIZE} cells was made from {numbers} hidden numbers, {RANK} for each label.

  given        {given} cells, {share} % of the tensor
  predicted    all {cells} cells
  error        {error} relative to the truth, on {count} cells that the fit never saw
  time         {sweeps} sweeps in {seconds} s

The error on the given cells along the path, as the penalty falls:

  {first:>9} {curve} {last}

Left in {folder}: train.tns, test.tns, model, {SUMMARY}. Next:

  quadfill inspect {folder}/model
  quadfill evaluate {folder}/model {folder}/test.tns
  quadfill predict {folder}/model {folder}/test.tns -o {folder}/filled.csv",
            numbers = grouped(3 * SIZE * RANK),
            given = grouped(self.given),
            share = number(100.0 * self.given as f64 / self.cells as f64),
            cells = grouped(self.cells as usize),
            error = number(test.relative_error),
            count = grouped(test.count),
            sweeps = grouped(self.fit.sweeps),
            seconds = number(self.fit.seconds),
            first = first.map_or(String::new(), number),
            last = last.map_or(String::new(), number),
            curve = sparkline(&curve, 40),
        )
    }
}
