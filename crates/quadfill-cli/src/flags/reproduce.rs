//! `quadfill reproduce`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use quadfill_lab::experiment::{self, Effort, Experiment, Extent, Given};

use super::values;

/// Rerun the paper's experiments
///
/// Makes tensors with a known truth, or uses your data, fits them, and writes results.json, results.csv,
/// charts as SVG and PNG, and one report.html that says what was asked, what the paper found and what was
/// measured.
#[derive(Debug, Args)]
#[command(after_help = "\
Experiments:
  phase         where recovery begins: success over (c, r) and (c, d)
  recovery-als  test error against d for plain ALS and the path
  recovery-sdp  test error against d for the convex program and the path
  convergence   error of ALS against sweeps
  recovery-gd   test error of gradient descent with rank d
  robustness    test error against noise, beside the statistical floor
  timing        seconds to the same accuracy
  kernels       TransE, random kernels, four modes, unequal sizes
  landscape     which share of random starts reaches the certified optimum, by columns
  incoherence   row lengths and singular values of the convex optimum
  theorem       the theorem's objective and constants: error against the number of observations
  all           every one of them

Experiments on data that you have:
  movielens     ratings over time by matrix, CP and quadratic models: --data is a folder of MovieLens (100K to
                32M, latest) as it is unpacked
  hyperspectral an image from a few of its cells: --data is a .npy or .mat array over row, column and band
  words         vectors of words by the pairwise model and CP: --data has texts in wikipedia/ (.txt, .gz, .zst),
                and in word-eval/ analogies (files with `analog` in their names) and similarities (all others);
                --full has windows in all orders as well

Finished cells are kept in cells.jsonl as they finish, and a run that was stopped resumes from there
with the same command. --quick keeps none.

Examples:
  quadfill reproduce phase --quick --out phase
  quadfill reproduce all --quick
  quadfill reproduce recovery-als --full --seeds 10 --out /data/recovery
  quadfill reproduce movielens --data ml-10M100K
  quadfill reproduce hyperspectral --data ribeira.mat --downsample 5
  quadfill reproduce words --data /data --out words")]
pub(crate) struct ReproduceFlags {
    /// The experiment, or `all`
    name: String,
    /// The folder to write everything to; reproduce/NAME by default
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The folder or file of the data, for experiments on data that you have
    #[arg(long, value_name = "PATH")]
    data: Option<PathBuf>,
    /// Downsample an image: squares of N x N pixels become one
    #[arg(long, value_name = "N", value_parser = values::count, allow_negative_numbers = true)]
    downsample: Option<usize>,
    /// Small tensors and few repetitions: minutes for all experiments
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Large tensors and many repetitions: hours
    #[arg(long)]
    full: bool,
    /// Repetitions of every setting
    #[arg(long, value_name = "N", value_parser = values::count, allow_negative_numbers = true)]
    seeds: Option<usize>,
}

/// An experiment and where its results are written.
pub(crate) struct ReproducePart {
    pub(crate) experiment: Box<dyn Experiment>,
    pub(crate) folder: PathBuf,
    /// The command that runs it again.
    pub(crate) command: String,
}

/// What `reproduce` does.
pub(crate) struct ReproducePlan {
    pub(crate) parts: Vec<ReproducePart>,
    pub(crate) extent: Extent,
    /// The folder and the command of all experiments together.
    pub(crate) overview: Option<(PathBuf, String)>,
}

impl ReproduceFlags {
    pub(crate) fn resolve(&self, seed: u64) -> Result<ReproducePlan> {
        let all = self.name == "all";
        let out = self.out.clone().unwrap_or_else(|| {
            let folder = PathBuf::from("reproduce");
            if all { folder } else { folder.join(&self.name) }
        });
        let known: Vec<&str> =
            experiment::all().iter().map(|one| one.name()).chain(experiment::ON_DATA).collect();
        let on_data = experiment::ON_DATA.contains(&self.name.as_str());
        let downsample = match self.downsample {
            Some(_) if self.name != "hyperspectral" => {
                bail!("--downsample is for hyperspectral: leave it out")
            }
            step => step.unwrap_or(1),
        };
        let chosen = match &self.data {
            Some(data) if on_data => {
                Vec::from_iter(experiment::on_data(&self.name, &Given { path: data, downsample })?)
            }
            None if on_data => {
                bail!("{} is an experiment on data that you have: name them with --data", self.name)
            }
            Some(_) => bail!(
                "--data is for experiments on data that you have ({}): leave it out",
                experiment::ON_DATA.join(", ")
            ),
            None => experiment::all(),
        };
        let parts: Vec<ReproducePart> = chosen
            .into_iter()
            .filter(|one| all || one.name() == self.name)
            .map(|one| ReproducePart {
                folder: if all { out.join(one.name()) } else { out.clone() },
                command: self.command(one.name(), seed),
                experiment: one,
            })
            .collect();
        if parts.is_empty() {
            bail!("`{}` is not an experiment: choose {} or all", self.name, known.join(", "));
        }
        let effort = match (self.quick, self.full) {
            (true, _) => Effort::Quick,
            (_, true) => Effort::Full,
            _ => Effort::Usual,
        };
        Ok(ReproducePlan {
            parts,
            extent: Extent { effort, seeds: self.seeds, seed },
            overview: all.then(|| (out, self.command("all", seed))),
        })
    }

    fn command(&self, name: &str, seed: u64) -> String {
        let mut words = vec![format!("quadfill reproduce {name}")];
        words.extend(self.data.as_ref().map(|data| format!("--data {}", data.display())));
        words.extend(self.downsample.map(|step| format!("--downsample {step}")));
        words.extend(self.quick.then(|| "--quick".to_owned()));
        words.extend(self.full.then(|| "--full".to_owned()));
        words.extend(self.seeds.map(|seeds| format!("--seeds {seeds}")));
        words.extend((seed != 0).then(|| format!("--seed {seed}")));
        words.join(" ")
    }
}
