//! `quadfill fit`.

mod settings;

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use quadfill::checkpoint_path;
use quadfill::model::ModelKind;
use quadfill::objective::PenaltyScale;
use quadfill::solve::{Choice, FitConfig, Rank, Solver};
use quadfill_io::ReadOptions;

use super::reading::DataFlags;
use super::sampling::SamplingFlags;
use super::values;
use crate::paths;
pub(crate) use settings::{Bias, names};
use settings::{ChoiceFlags, SearchFlags};

const EXAMPLES: &str = "\
Examples:
  quadfill fit ratings.csv -o model
  quadfill fit ratings.csv -o model --modes user,movie --value stars --test test.csv
  quadfill fit u.data -o model --bin 4=20w --report fit.html

These are the flags that most fits need; `quadfill fit --help` lists all of them.";

const DEFAULTS: &str = "\
Without any settings:
  The column that is called rating, score, count or the like is the value, or else the last one; the
  others are the modes. Times are cut into bins. A line says what was taken for what.
  First all data are fitted by a pairwise model, the penalty decreasing along a path from where zero is
  optimal. If the residual vanishes and there are more observations than free parameters, the data
  are exact; the smallest such rank is used and polished to working precision.
  Otherwise 10 % of the data are held out and models are compared on them: pairs or products, their
  rank, biases and priors, as means of draws from the posterior or as paths of penalties. Short runs
  come first, longer ones for what does well. The best is fitted again on all of DATA. A posterior
  mean is distilled into a small model; with --keep-draws its draws are kept, for intervals that differ
  from cell to cell. --effort says how much is computed, and --explain-choice lists what was compared.
  --model, --rank, --bias and --solver fix what they name and leave the rest to the comparison.
  With --penalty X nothing is held out, and --bias auto means none. Columns are added until a
  certificate says that no more would lower the objective; with --rank R the path ends at X.

With --model learned the kernel is found first: short paths from several kernels are compared on held-out
  data, sweeps over the factors alternate with the best kernel for them, and the fit continues with
  what was found. The kernel is in the summary and in the --json output.

With --solver gibbs there is no penalty to choose: all parameters are drawn from the posterior, the
  penalties too, and predictions are means over draws. --bias auto then means modes, and the rank is
  10 unless --rank says otherwise. `predict --interval` needs no data with such a model.

A fit that was stopped leaves a checkpoint beside MODEL; the same command with --resume continues
from it, and the model is bit-identical to that of an uninterrupted fit.

Examples:
  quadfill fit ratings.csv -o model
  quadfill fit ratings.csv -o model --modes user,movie --value stars --rank 20 --precision f32
  quadfill fit u.data -o model --modes 1,2,4 --value 3 --bin 4=20w --penalty-scale count
  quadfill fit traffic.mat -o model --missing 0
  quadfill fit triples.tsv -o model --model transe --tie head,tail
  quadfill fit ratings.csv -o model --model learned
  quadfill fit plays.csv -o model --implicit 0.01 --penalty 1e-3 --rank 64
  quadfill fit triples.tsv -o model --model transe --tie 1,3 --negatives 4 --penalty 1e-6
  quadfill fit train.tns -o model --rank 5 --test test.tns --json
  quadfill fit ratings.csv -o model --report fit.html
  quadfill fit small.csv -o model --solver sdp
  quadfill fit small.csv -o model --solver sdp --penalty 0.01
  quadfill fit small.csv -o model --theory auto --rank 5
  quadfill fit ratings.csv -o model --solver gibbs --rank 20
  quadfill fit ratings.csv -o model --solver gibbs --burn-in 50 --samples 200 --chains 2";

/// Learn a model from data
///
/// Fits a short vector for every label of every mode, chooses rank, penalty and biases, and writes a
/// model for `predict`, `evaluate` and the other commands.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = DEFAULTS)]
pub(crate) struct FitFlags {
    /// The data: rows of labels and a value in a file, in all files of a folder, or in those that match a
    /// pattern ('part-*.parquet'); `-` for standard input
    data: PathBuf,
    /// The model to write
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
    /// Evaluate on this file after the fit
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,
    /// Hold out the share of DATA with the latest labels of a mode and evaluate on it: week=0.1
    #[arg(
        long,
        value_name = "MODE=SHARE",
        value_parser = values::share,
        conflicts_with = "test",
        hide_short_help = true
    )]
    split_latest: Option<(String, f64)>,
    /// Write a page about the fit, with charts: data, path, convergence, residuals
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// List every model that was compared on held-out data, with its error
    #[arg(long)]
    explain_choice: bool,
    /// Resume from the checkpoint of a fit that was stopped
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    choice: ChoiceFlags,
    #[command(flatten)]
    search: SearchFlags,
    #[command(flatten)]
    sampling: SamplingFlags,
    #[command(flatten)]
    reading: DataFlags,
}

/// The data that the final model is evaluated on.
#[derive(Debug, Clone)]
pub(crate) enum TestSource {
    File(PathBuf),
    /// The share with the latest labels of a mode.
    Latest(String, f64),
}

/// Unobserved cells that are drawn as negative examples.
#[derive(Debug, Clone)]
pub(crate) struct Negatives {
    /// How many for each row of the data.
    pub(crate) count: usize,
    /// The modes whose labels are replaced; the first and the last if there are none.
    pub(crate) modes: Vec<String>,
}

/// What `fit` does.
#[derive(Debug)]
pub(crate) struct FitPlan {
    pub(crate) data: PathBuf,
    pub(crate) reading: ReadOptions,
    pub(crate) output: PathBuf,
    pub(crate) test: Option<TestSource>,
    pub(crate) report: Option<PathBuf>,
    /// Whether to list what was compared.
    pub(crate) explain_choice: bool,
    pub(crate) resume: bool,
    pub(crate) negatives: Option<Negatives>,
    /// Whether to use the theorem's settings.
    pub(crate) theory: Option<Choice<f64>>,
    pub(crate) config: FitConfig,
}

impl FitPlan {
    /// A fit with every setting at its default but the rank.
    pub(crate) fn with_defaults(
        data: PathBuf,
        output: PathBuf,
        test: PathBuf,
        rank: usize,
    ) -> Self {
        Self {
            data,
            reading: ReadOptions::default(),
            output,
            test: Some(TestSource::File(test)),
            report: None,
            explain_choice: false,
            resume: false,
            negatives: None,
            theory: None,
            config: FitConfig { rank: Rank::Fixed(rank), ..FitConfig::default() },
        }
    }
}

impl FitFlags {
    pub(crate) fn resolve(&self, seed: u64) -> Result<FitPlan> {
        let choice = &self.choice;
        let config = self.config(seed)?;
        if choice.rank == Some(Choice::Auto) {
            if !config.solver.can_find_rank() {
                bail!(
                    "only the solvers path, gibbs and sdp find the rank themselves: give a number, such as \
                     --rank 10"
                );
            }
            if config.implicit.is_some() {
                bail!(
                    "with --implicit a --rank is needed: no certificate shows which rank is enough, \
                     begin with 64"
                );
            }
        }
        if self.resume && !config.solver.keeps_checkpoints() {
            bail!(
                "--resume is for the solvers path, als and gibbs, which keep checkpoints: leave it out"
            );
        }
        if choice.theory.is_some() {
            self.check_theory(&config)?;
        } else {
            config.check()?;
        }
        let seen_only = choice.implicit.is_some() || choice.negatives.is_some();
        let mut reading = self.reading.resolve()?;
        reading.values_are_ones = seen_only && reading.value.is_none();
        paths::check_data(&self.data)?;
        let test = match (&self.test, &self.split_latest) {
            (Some(file), _) => {
                if file == &self.data && file.as_os_str() == "-" {
                    bail!(
                        "standard input cannot be both DATA and --test: name a file for one of them"
                    );
                }
                paths::check_input(file)?;
                Some(TestSource::File(file.clone()))
            }
            (None, Some((mode, share))) => Some(TestSource::Latest(mode.clone(), *share)),
            (None, None) => None,
        };
        paths::check_model(&self.output)?;
        if let Some(report) = &self.report {
            paths::check_report(report)?;
        }
        let checkpoint = checkpoint_path(&self.output);
        if self.resume && !checkpoint.exists() {
            bail!(
                "{}: there is no checkpoint to resume from: leave --resume out to start over",
                checkpoint.display()
            );
        }
        let negatives = choice.negatives.map(|count| Negatives {
            count,
            modes: choice.negative_modes.as_deref().map(names).unwrap_or_default(),
        });
        Ok(FitPlan {
            data: self.data.clone(),
            reading,
            output: self.output.clone(),
            test,
            report: self.report.clone(),
            explain_choice: self.explain_choice,
            resume: self.resume,
            negatives,
            theory: choice.theory,
            config,
        })
    }

    /// Refuses flags for settings that the theorem determines.
    fn check_theory(&self, config: &FitConfig) -> Result<()> {
        if matches!(config.solver, Solver::Gibbs(_)) {
            bail!(
                "the theorem is about an objective, not about draws: leave --theory or --solver out"
            );
        }
        if config.penalty_scale == Choice::Fixed(PenaltyScale::Count) {
            bail!("the theorem penalises all rows equally: leave --penalty-scale or --theory out");
        }
        if config.model == ModelKind::Learned {
            bail!(
                "the theorem is about a kernel that is known: leave --theory out or choose another --model"
            );
        }
        if let (Some(Choice::Fixed(_)), Rank::Fixed(_)) = (self.choice.theory, config.rank)
            && !matches!(config.solver, Solver::Sdp(_))
        {
            bail!("--theory sets the rank: leave --rank out");
        }
        Ok(())
    }
}
