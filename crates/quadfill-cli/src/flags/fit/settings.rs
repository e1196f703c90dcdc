//! From flags to the settings of a fit.

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use quadfill::model::Biases;
use quadfill::objective::{PenaltyScale, RowNormPenalty};
use quadfill::solve::{Choice, Effort, FitConfig, Precision, Rank, SdpForm, Solver};
use quadfill::views::Storage;

use super::FitFlags;
use crate::flags::model::ModelFlags;
use crate::flags::values;

/// What is fitted.
#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
pub(super) struct ChoiceFlags {
    #[command(flatten)]
    pub(super) model: ModelFlags,
    /// Columns of the factors, or auto
    ///
    /// By default auto: the path and the sampler find the rank, and --solver sdp keeps that of its solution, or at most R;
    /// the other solvers and fits with --implicit use 10.
    #[arg(long, value_name = "R", value_parser = values::rank, allow_negative_numbers = true)]
    pub(super) rank: Option<Choice<usize>>,
    /// Modes that share their factors: head,tail
    #[arg(long, value_name = "MODES", hide_short_help = true)]
    tie: Vec<String>,
    /// The mean of the data, or with `modes` also one bias per label
    #[arg(long, value_name = "WHICH", value_enum, default_value = "auto", hide_short_help = true)]
    bias: Bias,
    /// Whether --model cp draws the rows of a mode to their centre instead of to zero
    ///
    /// A centre lets a constant, biases and pairs in before triples, which helps where cells are few. By default
    /// what predicts held-out data better, and off with --penalty.
    #[arg(long, value_name = "WHICH", value_enum, default_value = "auto", hide_short_help = true)]
    centre: Centre,
    /// The penalty lambda on squared factors; chosen by default
    #[arg(long, value_name = "X", value_parser = values::real, allow_negative_numbers = true)]
    penalty: Option<f64>,
    /// Whether rows are penalised equally or by their number of observations
    ///
    /// By default equally, or where models are compared what predicts held-out data better.
    #[arg(long, value_name = "HOW", value_enum, default_value = "auto", hide_short_help = true)]
    penalty_scale: Scale,
    /// Penalise rows longer than sqrt(ALPHA) with LAMBDA2 times the fourth power of the excess
    #[arg(
        long,
        alias = "incoherence",
        value_name = "ALPHA,LAMBDA2",
        value_parser = values::pair,
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    row_norm_penalty: Option<(f64, f64)>,
    /// Count every cell that is not in DATA as a zero of this weight; rows of DATA count 1 unless
    /// --value names a column
    #[arg(
        long,
        value_name = "W0",
        value_parser = values::real,
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    pub(super) implicit: Option<f64>,
    /// Draw this many unobserved cells for each row of DATA as negative examples: rows of DATA have the
    /// value 1 and drawn cells 0; for transe, which predicts distances, the other way round
    #[arg(
        long,
        value_name = "N",
        value_parser = values::count,
        allow_negative_numbers = true,
        conflicts_with_all = ["implicit", "value", "weight"],
        hide_short_help = true
    )]
    pub(super) negatives: Option<usize>,
    /// The modes whose labels are replaced by --negatives; the first and the last by default
    #[arg(long, value_name = "MODES", requires = "negatives", hide_short_help = true)]
    pub(super) negative_modes: Option<String>,
    /// Add a small random perturbation, for small problems
    #[arg(long, hide_short_help = true)]
    perturb: bool,
    /// Set penalty, row-norm penalty, perturbation and rank as the recovery theorem does
    ///
    /// ALPHA is the largest squared norm of a row of the true factors, or `auto` to take it from a
    /// first fit (of rank --rank). For small problems.
    #[arg(
        long,
        value_name = "ALPHA",
        value_parser = values::real_or_auto,
        allow_negative_numbers = true,
        conflicts_with_all = ["penalty", "row_norm_penalty", "perturb", "resume"],
        hide_short_help = true
    )]
    pub(super) theory: Option<Choice<f64>>,
}

/// How it is fitted.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
pub(super) struct SearchFlags {
    /// The solver; by default exact data are reproduced by the path, and for others models are compared
    /// on held-out data
    #[arg(long, value_name = "NAME", value_enum, default_value = "auto")]
    solver: SolverName,
    /// How much is computed to choose a model
    #[arg(long, value_name = "HOW", value_enum, default_value = "normal")]
    effort: EffortName,
    /// Keep the draws of a model that was chosen automatically, for intervals that differ from cell to
    /// cell; by default their mean is kept
    #[arg(long, hide_short_help = true)]
    keep_draws: bool,
    /// How the data are kept during the fit; by default by their size and the free memory
    ///
    /// The model is the same in any case.
    #[arg(long, value_name = "HOW", value_enum, hide_short_help = true)]
    views: Option<ViewsName>,
    /// The convex program of --solver sdp
    ///
    /// By default trace, or with --penalty objective.
    #[arg(long, value_name = "FORM", value_enum, hide_short_help = true)]
    sdp_form: Option<FormName>,
    /// The share of the data held out to choose the penalty
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "0.1",
        value_parser = values::real,
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    validation: f64,
    /// Steps of the path; 300 by default, 100 for many observations
    #[arg(
        long,
        value_name = "N",
        value_parser = values::count,
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    path_steps: Option<usize>,
    /// The maximum number of iterations of any solver
    #[arg(
        long,
        value_name = "N",
        value_parser = values::count,
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    sweeps: Option<usize>,
    /// Relative decrease of the objective to stop at; 0 disables early stopping
    #[arg(
        long,
        value_name = "T",
        default_value = "1e-7",
        value_parser = values::real,
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    tolerance: f64,
    /// The fixed step size of --solver gd; backtracking by default
    #[arg(
        long,
        value_name = "X",
        value_parser = values::real,
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    step: Option<f64>,
    /// Stop after this many seconds with the best model so far
    #[arg(long, value_name = "SECONDS", value_parser = values::real, allow_negative_numbers = true)]
    time_limit: Option<f64>,
    /// The floating-point type: f32 is faster, f64 (the default) more accurate
    #[arg(long, value_name = "TYPE", value_enum)]
    precision: Option<PrecisionName>,
}

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

impl From<Bias> for Choice<Biases> {
    fn from(bias: Bias) -> Self {
        match bias {
            Bias::Auto => Self::Auto,
            Bias::None => Self::Fixed(Biases::None),
            Bias::Mean => Self::Fixed(Biases::Mean),
            Bias::Modes => Self::Fixed(Biases::Modes),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Centre {
    /// Choose on held-out data
    Auto,
    /// To their centre
    On,
    /// To zero
    Off,
}

impl From<Centre> for Choice<bool> {
    fn from(centre: Centre) -> Self {
        match centre {
            Centre::Auto => Self::Auto,
            Centre::On => Self::Fixed(true),
            Centre::Off => Self::Fixed(false),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Scale {
    /// Choose on held-out data where models are compared
    Auto,
    /// Equally
    Uniform,
    /// By their number of observations
    Count,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SolverName {
    /// Chosen automatically
    Auto,
    /// Decrease the penalty step by step
    Path,
    /// Alternating least squares from a random start
    Als,
    /// Gradient descent
    Gd,
    /// Limited-memory BFGS
    Lbfgs,
    /// Damped Gauss-Newton on all parameters jointly
    GaussNewton,
    /// A convex program with the rank left free, for small problems
    Sdp,
    /// Draw from the posterior
    Gibbs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EffortName {
    /// A fifth of the default
    Quick,
    /// Seconds for thousands of rows, minutes for millions
    Normal,
    /// Four times the default
    Thorough,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ViewsName {
    /// As they are computed with: the fastest
    Plain,
    /// Packed into about a third of the memory
    Packed,
    /// Packed in temporary files
    Mapped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormName {
    /// The smallest trace that reproduces the data
    Trace,
    /// The data term under a bound on the trace, with --row-norm-penalty
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
enum PrecisionName {
    F32,
    F64,
}

/// Names separated by commas.
pub(crate) fn names(list: &str) -> Vec<String> {
    list.split(',').map(|name| name.trim().to_owned()).collect()
}

impl FitFlags {
    /// The settings that the flags ask for.
    pub(super) fn config(&self, seed: u64) -> Result<FitConfig> {
        let (choice, search) = (&self.choice, &self.search);
        let row_norm_penalty = choice.row_norm_penalty;
        Ok(FitConfig {
            model: choice.model.resolve()?,
            rank: match choice.rank {
                Some(Choice::Fixed(rank)) => Rank::Fixed(rank),
                Some(Choice::Auto) | None => Rank::default(),
            },
            biases: choice.bias.into(),
            centre: choice.centre.into(),
            ties: choice.tie.iter().map(|list| names(list)).collect(),
            solver: self.solver()?,
            penalty: choice.penalty.into(),
            penalty_scale: match choice.penalty_scale {
                Scale::Auto => Choice::Auto,
                Scale::Uniform => Choice::Fixed(PenaltyScale::Uniform),
                Scale::Count => Choice::Fixed(PenaltyScale::Count),
            },
            row_norm_penalty: row_norm_penalty
                .map(|(alpha, weight)| RowNormPenalty::new(alpha, weight))
                .transpose()?,
            perturb: choice.perturb,
            implicit: choice.implicit,
            validation: search.validation,
            path_steps: search.path_steps.into(),
            sweeps: search.sweeps,
            tolerance: search.tolerance,
            time_limit: search.time_limit,
            seed,
            precision: match search.precision {
                Some(PrecisionName::F32) => Choice::Fixed(Precision::F32),
                Some(PrecisionName::F64) => Choice::Fixed(Precision::F64),
                None => Choice::Auto,
            },
            views: match search.views {
                Some(ViewsName::Plain) => Choice::Fixed(Storage::Plain),
                Some(ViewsName::Packed) => Choice::Fixed(Storage::Packed),
                Some(ViewsName::Mapped) => Choice::Fixed(Storage::Mapped),
                None => Choice::Auto,
            },
            certify: true,
            effort: match search.effort {
                EffortName::Quick => Effort::Quick,
                EffortName::Normal => Effort::Normal,
                EffortName::Thorough => Effort::Thorough,
            },
            keep_draws: search.keep_draws,
        })
    }

    fn solver(&self) -> Result<Solver> {
        let search = &self.search;
        if let (Some(flag), false) = (self.sampling.given(), search.solver == SolverName::Gibbs) {
            bail!("{flag} is for --solver gibbs only: leave it out");
        }
        if search.sdp_form.is_some() && search.solver != SolverName::Sdp {
            bail!("--sdp-form is for --solver sdp only: leave it out");
        }
        if search.step.is_some() && search.solver != SolverName::Gd {
            bail!("--step is for --solver gd only: leave it out");
        }
        Ok(match search.solver {
            SolverName::Auto => Solver::Auto,
            SolverName::Path => Solver::Path,
            SolverName::Als => Solver::Als,
            SolverName::Gd => Solver::Gd(search.step.into()),
            SolverName::Lbfgs => Solver::Lbfgs,
            SolverName::GaussNewton => Solver::GaussNewton,
            SolverName::Sdp => Solver::Sdp(search.sdp_form.map(SdpForm::from).into()),
            SolverName::Gibbs => Solver::Gibbs(self.sampling.resolve()),
        })
    }
}
