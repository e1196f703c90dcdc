//! What a user may set, and the checks that turn it into something that can be run.

use serde::{Deserialize, Serialize};

use super::gibbs::{self, Sampling};
use super::learned;
use super::sdp::{self, SdpForm};
use crate::error::{Error, Result};
use crate::model::{Interaction, Kernel, ModelSpec, Offsets};
use crate::objective::{
    Incoherence, Objective, PERTURBATION_LIMIT, PenaltyScale, Perturbation, check_zeros,
};
use crate::views::Views;
use quadfill_kernels::Real;

/// The way to a minimum.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Lower the penalty step by step from where zero is optimal.
    #[default]
    Path,
    /// Alternating least squares from a random start at one penalty.
    Als,
    /// Gradient descent; with a number, steps of that fixed length, otherwise backtracking.
    Gd(Option<f64>),
    /// Limited-memory BFGS.
    Lbfgs,
    /// Damped Gauss-Newton on all parameters jointly.
    GaussNewton,
    /// A convex program over `X = U U^T` with the rank left free, for small problems. Without a form:
    /// the smallest trace that reproduces the data, or with a penalty the objective itself. The rank of
    /// the model is the most columns that are kept.
    Sdp(Option<SdpForm>),
    /// Draw from the posterior instead of going down: no penalty to choose, and intervals come with
    /// it. For CP and for quadratic models without a diagonal.
    Gibbs(Sampling),
}

impl Solver {
    /// Whether a fit can be resumed.
    pub fn keeps_checkpoints(self) -> bool {
        matches!(self, Self::Path | Self::Als | Self::Gibbs(_))
    }
}

/// Everything that decides a fit besides the data.
///
/// ```
/// use quadfill::model::{Kernel, ModelSpec};
/// use quadfill::solve::{FitConfig, Solver};
/// let mut config = FitConfig::new(ModelSpec::quadratic(Kernel::pairwise(3), 5));
/// config.solver = Solver::Als;
/// config.penalty = Some(1e-3);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitConfig {
    /// The model; its offsets count only when `offsets` says so.
    pub model: ModelSpec,
    /// The offsets, or `None` to choose them: by hold-out, none where a penalty is given, all of them
    /// where the posterior is sampled.
    pub offsets: Option<Offsets>,
    /// The solver.
    pub solver: Solver,
    /// `lambda`, or `None` to choose it.
    pub penalty: Option<f64>,
    /// How the penalty is shared out among rows.
    pub penalty_scale: PenaltyScale,
    /// The quartic penalty.
    pub incoherence: Option<Incoherence>,
    /// Whether to add a random perturbation `C` of spectral norm at most `lambda`.
    pub perturb: bool,
    /// The weight of unobserved cells, which then count as zeros, or `None` to leave them out. Needs a
    /// penalty, and a model whose sums over all cells have a closed form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implicit: Option<f64>,
    /// The share held out to choose the penalty, above 0 and below 1.
    pub validation: f64,
    /// Steps of the path, or `None` for 300 (100 where there are many observations).
    pub path_steps: Option<usize>,
    /// The most iterations in all, or `None` for a limit that suits the solver.
    pub sweeps: Option<usize>,
    /// Relative decrease of the objective below which a solver stops; 0 never stops early.
    pub tolerance: f64,
    /// Seconds after which the fit ends with what it has.
    pub time_limit: Option<f64>,
    /// Decides hold-out, random starts and perturbation.
    pub seed: u64,
    /// How the number of columns is found; only the path can do it by itself.
    #[serde(default)]
    pub rank: RankChoice,
    /// Whether the kernel is fitted too; only the modes of the model's own kernel count then.
    #[serde(default, skip_serializing_if = "KernelChoice::is_given")]
    pub kernel: KernelChoice,
    /// Whether the fit ends with a certificate (quadratic models only).
    #[serde(default)]
    pub certify: bool,
}

/// Who decides how many columns the factors have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RankChoice {
    /// The model says it.
    #[default]
    Given,
    /// The fit finds it, and the model's rank is the most it tries. At a given penalty columns are
    /// added until the certificate says that no more would help; otherwise rank and penalty are
    /// chosen together, on held-out data or as the smallest rank that fits exactly.
    Auto,
}

/// Who decides which pairs of modes interact, and how strongly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelChoice {
    /// The model says it.
    #[default]
    Given,
    /// The fit finds it: a short path from each of some kernels, judged on held-out data, sweeps that
    /// change the kernel too, and then a fit with what was found. A diagonal is learned unless there is
    /// a bias for every label, which says the same.
    Learned,
}

impl KernelChoice {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    fn is_given(&self) -> bool {
        *self == Self::Given
    }
}

impl FitConfig {
    /// The defaults for a quadratic model whose kernel is fitted too. The fit's own model has the kernel.
    ///
    /// ```
    /// use quadfill::model::{Interaction, Kernel, ModelSpec, Parameters};
    /// use quadfill::solve::{FitConfig, Silent, Status, fit};
    /// use quadfill::{Labels, Mode, Observations, OnDuplicate, apply::Predictor};
    ///
    /// // Half of the cells of a tensor of squared distances: the diagonal of the kernel is not zero.
    /// let truth = ModelSpec::quadratic(Kernel::transe(3), 1);
    /// let rows = Parameters::<f64>::random(&truth, &[9, 9, 9], 1.0, 5);
    /// let cells: Vec<[u32; 3]> = (0..729).step_by(2).map(|c| [c / 81, c / 9 % 9, c % 9]).collect();
    /// let values = cells.iter().map(|cell| Predictor::new(&truth, &rows).cell(cell)).collect();
    /// let columns = (0..3).map(|mode| cells.iter().map(|cell| cell[mode]).collect()).collect();
    /// let modes = ["a", "b", "c"].map(|name| Mode::new(name, Labels::range(9))).to_vec();
    /// let data = Observations::new(modes, columns, values, None, OnDuplicate::Error)?;
    ///
    /// let fit = fit(data, &FitConfig::learned(3, 1), &mut Silent)?;
    /// assert_eq!(fit.status, Status::Exact);
    /// let Interaction::Quadratic(kernel) = &fit.spec.interaction else { unreachable!() };
    /// assert!(kernel.get(0, 0) * kernel.get(2, 2) > 0.0);
    /// # Ok::<(), quadfill::Error>(())
    /// ```
    pub fn learned(modes: usize, rank: usize) -> Self {
        let stand_in = ModelSpec::quadratic(Kernel::pairwise(modes), rank);
        Self { kernel: KernelChoice::Learned, ..Self::new(stand_in) }
    }

    /// The same with a kernel that is known.
    pub(super) fn with_kernel(&self, kernel: Kernel) -> Self {
        let model = ModelSpec { interaction: Interaction::Quadratic(kernel), ..self.model.clone() };
        Self { model, kernel: KernelChoice::Given, ..self.clone() }
    }

    /// The defaults for a model.
    pub fn new(model: ModelSpec) -> Self {
        Self {
            model,
            offsets: None,
            solver: Solver::Path,
            penalty: None,
            penalty_scale: PenaltyScale::Uniform,
            incoherence: None,
            perturb: false,
            implicit: None,
            validation: 0.1,
            path_steps: None,
            sweeps: None,
            tolerance: 1e-7,
            time_limit: None,
            seed: 0,
            rank: RankChoice::Given,
            kernel: KernelChoice::Given,
            certify: true,
        }
    }

    /// The objective of a model on data, with every term that the settings ask for.
    pub fn objective<'v, T: Real>(
        &self,
        views: &'v Views<T>,
        spec: &ModelSpec,
        penalty: f64,
    ) -> Result<Objective<'v, T>> {
        let rows = spec.group_sizes(&views.sizes()).iter().sum();
        let perturbation = if self.perturb {
            Some(Perturbation::random(rows, self.penalty.unwrap_or(penalty), self.seed)?)
        } else {
            None
        };
        Ok(Objective::new(views, spec, penalty, self.penalty_scale)
            .with_incoherence(self.incoherence)
            .with_perturbation(perturbation)
            .with_zeros(self.implicit))
    }

    /// Checks every setting against the data's `sizes`.
    pub fn check(&self, sizes: &[usize]) -> Result<()> {
        let bad = |message: String| Err(Error::Setting(message));
        self.model.check(sizes)?;
        if self.kernel == KernelChoice::Learned {
            learned::check(self)?;
        }
        if let Some(penalty) = self.penalty
            && !(penalty.is_finite() && penalty >= 0.0)
        {
            return bad(format!(
                "a penalty of {penalty} makes no sense: give a number not below 0"
            ));
        }
        if !(self.validation > 0.0 && self.validation < 1.0) {
            return bad(format!(
                "a share of {} cannot be held out: choose a number between 0 and 1, such as 0.1",
                self.validation
            ));
        }
        if !(self.tolerance.is_finite() && self.tolerance >= 0.0) {
            return bad(format!(
                "a tolerance of {} makes no sense: give a number not below 0",
                self.tolerance
            ));
        }
        if self.path_steps == Some(0) {
            return bad("a path needs at least one step".to_owned());
        }
        if let Solver::Gd(Some(step)) = self.solver
            && !(step.is_finite() && step > 0.0)
        {
            return bad(format!("a step of {step} makes no sense: give a number above 0"));
        }
        if let Some(limit) = self.time_limit
            && !(limit.is_finite() && limit > 0.0)
        {
            return bad(format!("a time limit of {limit} makes no sense: give seconds above 0"));
        }
        let rows: usize = self.model.group_sizes(sizes).iter().sum();
        if self.perturb && rows > PERTURBATION_LIMIT {
            return bad(format!(
                "--perturb needs a dense {rows} x {rows} matrix ({} MB): it is for at most \
                 {PERTURBATION_LIMIT} rows in all modes together",
                rows * rows * 8 / 1_000_000
            ));
        }
        if self.rank == RankChoice::Auto && self.solver != Solver::Path {
            return bad(
                "only the solver path finds the rank by itself: give a number, such as --rank 10"
                    .to_owned(),
            );
        }
        if self.rank == RankChoice::Auto
            && self.penalty.is_some()
            && self.model.interaction == Interaction::Cp
        {
            return bad(
                "CP has no certificate by which to find the rank at a given penalty: give a \
                        number, such as --rank 10, or leave the penalty out"
                    .to_owned(),
            );
        }
        if self.rank == RankChoice::Auto && self.penalty == Some(0.0) {
            return bad(
                "without a penalty there is no smallest rank to be certified: give --penalty a \
                        number above 0, or leave it out"
                    .to_owned(),
            );
        }
        if let Solver::Gibbs(sampling) = self.solver {
            gibbs::check(self, sampling, sizes)?;
        }
        if let Some(weight) = self.implicit {
            check_zeros(&self.model, self.offsets, weight)?;
            if self.penalty.is_none() {
                return bad("with --implicit a --penalty is needed: held-out errors on observed \
                            cells cannot choose it, begin with 1e-3"
                    .to_owned());
            }
            if !matches!(self.solver, Solver::Path | Solver::Als) {
                return bad(
                    "--implicit is for the solvers path and als: leave --solver out".to_owned()
                );
            }
            if self.rank == RankChoice::Auto {
                return bad(
                    "with --implicit a --rank is needed: no certificate says how many columns \
                            all cells want, begin with 64"
                        .to_owned(),
                );
            }
            if self.incoherence.is_some() || self.perturb {
                return bad(
                    "--implicit cannot be used with --incoherence or --perturb: leave them out"
                        .to_owned(),
                );
            }
        }
        if self.perturb && self.model.interaction == Interaction::Cp {
            return bad("--perturb is for quadratic models only".to_owned());
        }
        if let Solver::Sdp(form) = self.solver {
            sdp::check(self, form, sizes)?;
        }
        Ok(())
    }
}
