//! `quadfill fit`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use quadfill::file::checkpoint_path;
use quadfill::model::{Kernel, ModelSpec, Offsets};
use quadfill::objective::{Incoherence, PenaltyScale};
use quadfill::solve::{FitConfig, KernelChoice, RankChoice, SdpForm, Solver, Theory};
use quadfill_io::ReadOptions;

use super::model::{ModelChoice, ModelFlags};
use super::reading::DataFlags;
use super::sampling::SamplingFlags;
use super::values::{self, Alpha};
use crate::places;

const DEFAULTS: &str = "\
Without any settings:
  The last column is the value, the others are the modes. The model is pairwise.
  First all data are fitted without offsets, the penalty going down a path from where zero is
  optimal. If the residual vanishes and there are more observations than free parameters, the data
  are exact; the smallest rank that does it is taken and polished to working precision.
  Otherwise 10 % of the data are held out, the rank, the penalty and the offsets (none, mean, modes)
  that predict them best are chosen, and the model is fitted again on all of DATA.
  With --penalty X nothing is held out, and --bias auto means none. Columns are added until a
  certificate says that no more would lower the objective; with --rank R the path ends at X.

With --model learned the kernel is found first: short paths from some kernels are judged on held-out
  data, sweeps over the factors alternate with the best kernel for them, and the fit goes on with
  what was found. It is in the summary and in the --json output.

With --solver gibbs there is no penalty to choose: everything is drawn from its posterior, the
  penalties too, and predictions are means over draws. --bias auto then means modes, and the rank is
  10 unless --rank says otherwise. `predict --interval` needs no data with such a model.

A fit that was stopped leaves a checkpoint beside MODEL; the same command with --resume goes on
from it and ends in the same bits.

Examples:
  quadfill fit ratings.csv -o model
  quadfill fit ratings.csv -o model --modes user,movie --value stars --rank 20 --precision f32
  quadfill fit u.data -o model --modes 1,2,4 --value 3 --bin 4=20w --penalty-scale count
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
/// Fits a short vector for every label of every mode, chooses the penalty by itself, and leaves a
/// model that `predict` and `evaluate` work with.
#[derive(Debug, Args)]
#[command(after_help = DEFAULTS)]
pub(crate) struct FitFlags {
    /// The data: rows of labels and a value, `-` for standard input
    data: PathBuf,
    /// The model to write
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
    /// Evaluate on this file after the fit
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,
    /// Keep the share of DATA with the latest labels of a mode apart and evaluate on it: week=0.1
    #[arg(long, value_name = "MODE=SHARE", value_parser = values::share, conflicts_with = "test")]
    split_latest: Option<(String, f64)>,
    /// Write a page about the fit, with charts: data, path, convergence, residuals
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Go on from the checkpoint of a fit that was stopped
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

/// What is fitted.
#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
struct ChoiceFlags {
    #[command(flatten)]
    model: ModelFlags,
    /// Columns of the factors, or auto
    ///
    /// By default auto for the path and, at most, for --solver sdp, which finds it out and keeps at most R
    /// if that is given; 10 for the other solvers.
    #[arg(long, value_name = "R", value_parser = values::rank, allow_negative_numbers = true)]
    rank: Option<Rank>,
    /// Modes that share their factors: head,tail
    #[arg(long, value_name = "MODES")]
    tie: Vec<String>,
    /// Offsets: a global mean, or with `modes` also one bias per label
    #[arg(long, value_name = "WHICH", value_enum, default_value = "auto")]
    bias: Bias,
    /// The penalty lambda on squared factors; found out by default
    #[arg(long, value_name = "X", value_parser = values::real, allow_negative_numbers = true)]
    penalty: Option<f64>,
    /// Whether rows are penalised alike or by their number of observations
    #[arg(long, value_name = "HOW", value_enum, default_value = "uniform")]
    penalty_scale: Scale,
    /// Penalise rows longer than sqrt(ALPHA) with LAMBDA2 times the fourth power of the excess
    #[arg(long, value_name = "ALPHA,LAMBDA2", value_parser = values::pair, allow_hyphen_values = true)]
    incoherence: Option<(f64, f64)>,
    /// Count every cell that is not in DATA as a zero of this weight; rows of DATA count 1 unless
    /// --value names a column
    #[arg(long, value_name = "W0", value_parser = values::real, allow_negative_numbers = true)]
    implicit: Option<f64>,
    /// Draw so many cells for each row of DATA that are not in it, to be told apart: rows of DATA are
    /// 1 and those drawn 0, for transe, which predicts distances, the other way round
    #[arg(long, value_name = "N", value_parser = values::count, allow_negative_numbers = true, conflicts_with_all = ["implicit", "value", "weight"])]
    negatives: Option<usize>,
    /// The modes whose labels are replaced by --negatives; the first and the last by default
    #[arg(long, value_name = "MODES", requires = "negatives")]
    negative_modes: Option<String>,
    /// Add a small random perturbation, for small problems
    #[arg(long)]
    perturb: bool,
    /// Set penalty, incoherence, perturbation and rank as the recovery theorem does
    ///
    /// ALPHA is the largest squared norm of a row of the true factors, or `auto` to take it from a
    /// first fit (of rank --rank). For small problems.
    #[arg(
        long,
        value_name = "ALPHA",
        value_parser = values::real_or_auto,
        allow_negative_numbers = true,
        conflicts_with_all = ["penalty", "incoherence", "perturb", "resume"]
    )]
    theory: Option<Alpha>,
}

/// How it is fitted.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
struct SearchFlags {
    /// The way to the minimum
    #[arg(long, value_name = "NAME", value_enum, default_value = "path")]
    solver: SolverName,
    /// The convex program of --solver sdp
    ///
    /// By default the smallest trace that reproduces the data, or with --penalty the objective.
    #[arg(long, value_name = "FORM", value_enum)]
    sdp_form: Option<FormName>,
    /// The share of the data held out to choose the penalty
    #[arg(long, value_name = "SHARE", default_value = "0.1", value_parser = values::real, allow_negative_numbers = true)]
    validation: f64,
    /// Steps of the path; 300 by default, 100 for many observations
    #[arg(long, value_name = "N", value_parser = values::count, allow_negative_numbers = true)]
    path_steps: Option<usize>,
    /// The most iterations of any solver
    #[arg(long, value_name = "N", value_parser = values::count, allow_negative_numbers = true)]
    sweeps: Option<usize>,
    /// Relative decrease of the objective to stop at; 0 switches every early stop off
    #[arg(long, value_name = "T", default_value = "1e-7", value_parser = values::real, allow_negative_numbers = true)]
    tolerance: f64,
    /// The fixed step of --solver gd; found by backtracking without it
    #[arg(long, value_name = "X", value_parser = values::real, allow_negative_numbers = true)]
    step: Option<f64>,
    /// End after so many seconds with what there is
    #[arg(long, value_name = "SECONDS", value_parser = values::real, allow_negative_numbers = true)]
    time_limit: Option<f64>,
    /// Numbers to compute with: f32 is faster, f64 more exact
    #[arg(long, value_name = "TYPE", value_enum, default_value = "f64")]
    precision: Precision,
}

/// A number of columns, or nothing where it is to be found.
type Rank = Option<usize>;

/// The rank of solvers that cannot find one.
pub(crate) const PLAIN_RANK: usize = 10;
/// The most columns that are tried on held-out data, and at a given penalty.
const MOST_COLUMNS: usize = 64;
const MOST_COLUMNS_AT_PENALTY: usize = 512;
/// The most that a convex program keeps where no rank is given.
pub(crate) const MOST_CONVEX_COLUMNS: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Bias {
    /// Choose on held-out data
    Auto,
    /// None
    None,
    /// The mean of the data
    Mean,
    /// The mean and one bias per label
    Modes,
}

impl Bias {
    /// The offsets, or nothing where they are to be chosen.
    pub(crate) fn offsets(self) -> Option<Offsets> {
        match self {
            Self::Auto => None,
            Self::None => Some(Offsets::None),
            Self::Mean => Some(Offsets::Mean),
            Self::Modes => Some(Offsets::Modes),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Scale {
    Uniform,
    Count,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SolverName {
    /// Lower the penalty step by step
    Path,
    /// Alternating least squares from a random start
    Als,
    /// Gradient descent
    Gd,
    /// Limited-memory BFGS
    Lbfgs,
    /// Damped Gauss-Newton on everything jointly
    GaussNewton,
    /// A convex program with the rank left free, for small problems
    Sdp,
    /// Draw from the posterior
    Gibbs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormName {
    /// The smallest trace that reproduces the data
    Trace,
    /// The data term under a bound on the trace, with --incoherence
    Penalised,
    /// What the other solvers minimise, over all ranks
    Objective,
}

impl From<FormName> for SdpForm {
    fn from(name: FormName) -> Self {
        match name {
            FormName::Trace => Self::Trace,
            FormName::Penalised => Self::Penalised,
            FormName::Objective => Self::Objective,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Precision {
    F32,
    F64,
}

/// What a fit is judged by in the end.
#[derive(Debug, Clone)]
pub(crate) enum TestSource {
    File(PathBuf),
    /// The share with the latest labels of a mode.
    Latest(String, f64),
}

/// What `fit` does.
#[derive(Debug)]
pub(crate) struct FitPlan {
    pub(crate) data: PathBuf,
    pub(crate) reading: ReadOptions,
    pub(crate) output: PathBuf,
    pub(crate) test: Option<TestSource>,
    pub(crate) report: Option<PathBuf>,
    pub(crate) resume: bool,
    pub(crate) model: ModelChoice,
    pub(crate) tie: Vec<String>,
    /// Cells to draw for each row of the data.
    pub(crate) negatives: Option<usize>,
    pub(crate) negative_modes: Option<String>,
    pub(crate) precision: Precision,
    /// The theorem's settings are to be taken.
    pub(crate) theory: Option<Alpha>,
    /// Everything but the model, which needs the number of modes.
    settings: FitConfig,
}

impl FitPlan {
    /// The settings for a model.
    pub(crate) fn config(&self, model: ModelSpec) -> FitConfig {
        FitConfig { model, ..self.settings.clone() }
    }

    /// Columns of the factors, or the most there can be.
    pub(crate) fn rank(&self) -> usize {
        self.settings.model.rank
    }

    /// A fit with every setting at its default.
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
            resume: false,
            model: ModelChoice::Pairwise,
            tie: Vec::new(),
            negatives: None,
            negative_modes: None,
            precision: Precision::F64,
            theory: None,
            settings: FitConfig::new(stand_in(rank)),
        }
    }
}

/// Any model with this rank, to check settings with before the data are known.
fn stand_in(rank: usize) -> ModelSpec {
    ModelSpec::quadratic(Kernel::pairwise(2), rank)
}

/// What the theorem sets cannot be set otherwise.
fn check_theory(alpha: Alpha, choice: &ChoiceFlags, search: &SearchFlags) -> Result<()> {
    if search.solver == SolverName::Gibbs {
        bail!("the theorem is about an objective, not about draws: leave --theory or --solver out");
    }
    if choice.penalty_scale != Scale::Uniform {
        bail!("the theorem penalises rows alike: leave --penalty-scale or --theory out");
    }
    if choice.model.resolve()? == ModelChoice::Learned {
        bail!(
            "the theorem is about a kernel that is known: leave --theory out or choose another --model"
        );
    }
    if let Alpha::Given(alpha) = alpha {
        if choice.rank.is_some() && search.solver != SolverName::Sdp {
            bail!("--theory sets the rank: leave --rank out");
        }
        Theory::new(&stand_in(1), &[1, 1], 1, alpha)?;
    }
    Ok(())
}

impl FitFlags {
    pub(crate) fn resolve(&self, seed: u64) -> Result<FitPlan> {
        let (choice, search) = (&self.choice, &self.search);
        let solver = match (search.solver, search.step) {
            (SolverName::Gd, step) => Solver::Gd(step),
            (_, Some(_)) => bail!("--step is for --solver gd only: leave it out"),
            (SolverName::Path, _) => Solver::Path,
            (SolverName::Als, _) => Solver::Als,
            (SolverName::Lbfgs, _) => Solver::Lbfgs,
            (SolverName::GaussNewton, _) => Solver::GaussNewton,
            (SolverName::Sdp, _) => Solver::Sdp(search.sdp_form.map(SdpForm::from)),
            (SolverName::Gibbs, _) => Solver::Gibbs(self.sampling.resolve()),
        };
        if let (Some(flag), false) = (self.sampling.given(), search.solver == SolverName::Gibbs) {
            bail!("{flag} is for --solver gibbs only: leave it out");
        }
        if search.sdp_form.is_some() && search.solver != SolverName::Sdp {
            bail!("--sdp-form is for --solver sdp only: leave it out");
        }
        if self.resume && !solver.keeps_checkpoints() {
            bail!(
                "--resume is for the solvers path, als and gibbs, which keep checkpoints: leave it out"
            );
        }
        let rank = match (choice.rank, search.solver) {
            (Some(rank), _) => rank,
            (None, SolverName::Path) if choice.theory.is_none() && choice.implicit.is_none() => {
                None
            }
            (None, SolverName::Sdp) => Some(MOST_CONVEX_COLUMNS),
            (None, _) => Some(PLAIN_RANK),
        };
        let most = if choice.penalty.is_some() { MOST_COLUMNS_AT_PENALTY } else { MOST_COLUMNS };
        let settings = FitConfig {
            rank: if rank.is_some() { RankChoice::Given } else { RankChoice::Auto },
            offsets: choice.bias.offsets(),
            solver,
            penalty: choice.penalty,
            penalty_scale: match choice.penalty_scale {
                Scale::Uniform => PenaltyScale::Uniform,
                Scale::Count => PenaltyScale::Count,
            },
            incoherence: choice
                .incoherence
                .map(|(alpha, weight)| Incoherence::new(alpha, weight))
                .transpose()?,
            perturb: choice.perturb,
            implicit: choice.implicit,
            validation: search.validation,
            path_steps: search.path_steps,
            sweeps: search.sweeps,
            tolerance: search.tolerance,
            time_limit: search.time_limit,
            seed,
            ..FitConfig::new(stand_in(rank.unwrap_or(most)))
        };
        let model = choice.model.resolve()?;
        let settings = match model {
            ModelChoice::Learned => FitConfig { kernel: KernelChoice::Learned, ..settings },
            _ => settings,
        };
        if let Some(alpha) = choice.theory {
            check_theory(alpha, choice, search)?;
        } else {
            settings.check(&[1, 1])?;
        }
        if let (Some(_), ModelChoice::Transe | ModelChoice::Norms) = (choice.implicit, &model) {
            bail!(
                "--implicit is for pairwise, matrix, pairs and cp: use --negatives with this model"
            );
        }
        if choice.perturb && model == ModelChoice::Cp {
            bail!("--perturb is for quadratic models only: leave it out or choose another --model");
        }
        let seen_only = choice.implicit.is_some() || choice.negatives.is_some();
        let mut reading = self.reading.resolve()?;
        reading.ones = seen_only && reading.value.is_none();
        places::check_input(&self.data)?;
        let test = match (&self.test, &self.split_latest) {
            (Some(file), _) => {
                if file == &self.data && file.as_os_str() == "-" {
                    bail!(
                        "standard input cannot be both DATA and --test: name a file for one of them"
                    );
                }
                places::check_input(file)?;
                Some(TestSource::File(file.clone()))
            }
            (None, Some((mode, share))) => Some(TestSource::Latest(mode.clone(), *share)),
            (None, None) => None,
        };
        places::check_model(&self.output)?;
        if let Some(report) = &self.report {
            places::check_report(report)?;
        }
        let checkpoint = checkpoint_path(&self.output);
        if self.resume && !checkpoint.exists() {
            bail!(
                "{}: there is no checkpoint to go on from: leave --resume out to begin anew",
                checkpoint.display()
            );
        }
        Ok(FitPlan {
            data: self.data.clone(),
            reading,
            output: self.output.clone(),
            test,
            report: self.report.clone(),
            resume: self.resume,
            model,
            tie: choice.tie.clone(),
            negatives: choice.negatives,
            negative_modes: choice.negative_modes.clone(),
            precision: search.precision,
            theory: choice.theory,
            settings,
        })
    }
}
