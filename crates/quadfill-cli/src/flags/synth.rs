//! `quadfill synth`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use quadfill::model::{ModelKind, ModelSpec};

use super::model::ModelFlags;
use super::values;
use crate::paths;
use quadfill_lab::planted::{Coverage, Recipe, Shape};

/// Make data from known factors
///
/// Draws factors with standard normal entries and distinct cells uniformly, and writes the cells'
/// values. The draw of cells is repeated until every label has enough observations to be recovered.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  quadfill synth --dims 200,200,200 --rank 5 --observations 4000 --seed 1 -o train.tns --test test.tns
  quadfill synth --dims 50,60 --model transe --observations 900 --noise 0.1 -o noisy.csv")]
pub(crate) struct SynthFlags {
    /// Labels per mode, for 2 to 8 modes: 200,200,200
    #[arg(long, value_name = "SIZES", value_parser = values::sizes)]
    dims: std::vec::Vec<usize>,
    /// Columns of the factors
    #[arg(long, value_name = "R", default_value = "10", value_parser = values::count, allow_negative_numbers = true)]
    rank: usize,
    #[command(flatten)]
    model: ModelFlags,
    /// How many cells to write
    #[arg(short = 'm', long, value_name = "M", value_parser = values::count, allow_negative_numbers = true)]
    observations: usize,
    /// Standard deviation of the noise on the values, relative to their root mean square
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = values::amount, allow_negative_numbers = true)]
    noise: f64,
    /// The file to write, .tns or .csv
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Write other cells, without noise, to this file
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,
    /// How many of them; 20000 by default, or all that are left
    #[arg(long, value_name = "M", value_parser = values::count, allow_negative_numbers = true, requires = "test")]
    test_observations: Option<usize>,
    /// Draw until every label has this many observations; as many as the rank by default, or fewer
    /// where that is impossible
    #[arg(long, value_name = "K", value_parser = values::natural, allow_negative_numbers = true)]
    min_per_label: Option<usize>,
}

/// What `synth` does.
#[derive(Debug)]
pub(crate) struct SynthPlan {
    pub(crate) recipe: Recipe,
    pub(crate) output: PathBuf,
    pub(crate) test: Option<PathBuf>,
}

/// The default number of test cells.
const TEST_OBSERVATIONS: u128 = 20_000;

impl SynthFlags {
    pub(crate) fn resolve(&self, seed: u64) -> Result<SynthPlan> {
        let model = self.model.resolve()?;
        if model == ModelKind::Learned {
            bail!(
                "data have a kernel before it is learned: choose another --model, or write a --kernel"
            );
        }
        let spec = ModelSpec::new(model.interaction(self.dims.len())?, self.dims.len(), self.rank);
        spec.check(&self.dims)?;
        let shape = Shape::new(&self.dims)?;
        for file in std::iter::once(&self.output).chain(&self.test) {
            if !matches!(file.extension().and_then(|e| e.to_str()), Some("tns" | "csv")) {
                bail!(
                    "{}: synth writes .tns and .csv files: choose one of these endings",
                    file.display()
                );
            }
            paths::check_file(file)?;
        }
        if self.test.as_ref() == Some(&self.output) {
            bail!("{}: -o and --test are the same file: choose two names", self.output.display());
        }
        if self.observations as u128 > shape.cells() {
            bail!(
                "{} observations are more than the {} cells there are: lower --observations or raise --dims",
                self.observations,
                shape.cells()
            );
        }
        let left = shape.cells() - self.observations as u128;
        let test_observations = match (&self.test, self.test_observations) {
            (None, _) => None,
            (Some(_), Some(asked)) if asked as u128 > left => bail!(
                "{asked} test observations are more than the {left} cells that are left: lower --test-observations"
            ),
            (Some(_), None) if left == 0 => {
                bail!("no cells are left to test on: lower --observations or leave --test out")
            }
            (Some(_), asked) => Some(asked.unwrap_or(left.min(TEST_OBSERVATIONS) as usize)),
        };
        if let Some(least) = self.min_per_label {
            shape.check_coverage(self.observations, least)?;
        }
        Ok(SynthPlan {
            recipe: Recipe {
                spec,
                shape,
                observations: self.observations,
                test_observations,
                noise: self.noise,
                coverage: self.min_per_label.map_or(Coverage::Aim, Coverage::AtLeast),
                seed,
            },
            output: self.output.clone(),
            test: self.test.clone(),
        })
    }
}
