//! The settings of a fit.

use serde::{Deserialize, Serialize};

use super::gibbs::Sampling;
use super::sdp::SdpForm;
use crate::model::{Biases, ModelKind, ModelSpec};
use crate::objective::{PenaltyScale, RowNormPenalty};
use crate::views::Storage;

/// A setting that is chosen automatically, or given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice<V> {
    /// Chosen automatically.
    #[default]
    Auto,
    /// Given.
    Fixed(V),
}

impl<V: Copy> Choice<V> {
    /// The given value, if there is one.
    pub fn fixed(self) -> Option<V> {
        match self {
            Self::Auto => None,
            Self::Fixed(value) => Some(value),
        }
    }

    /// The given value, or `other`.
    pub fn unwrap_or(self, other: V) -> V {
        self.fixed().unwrap_or(other)
    }

    /// Whether it is chosen automatically.
    pub fn is_auto(self) -> bool {
        matches!(self, Self::Auto)
    }
}

impl<V> From<Option<V>> for Choice<V> {
    fn from(value: Option<V>) -> Self {
        value.map_or(Self::Auto, Self::Fixed)
    }
}

/// Files of models that say nothing of a setting stay as they were before it existed.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
fn left_to_choose(choice: &Choice<bool>) -> bool {
    choice.is_auto()
}

/// A scale by its name alone, as it was written before it could be chosen automatically.
mod given_or_auto {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Choice, PenaltyScale};

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Name {
        Auto,
        Uniform,
        Count,
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    pub(super) fn serialize<S: Serializer>(
        choice: &Choice<PenaltyScale>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let name = match choice {
            Choice::Auto => Name::Auto,
            Choice::Fixed(PenaltyScale::Uniform) => Name::Uniform,
            Choice::Fixed(PenaltyScale::Count) => Name::Count,
        };
        name.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Choice<PenaltyScale>, D::Error> {
        Ok(match Name::deserialize(deserializer)? {
            Name::Auto => Choice::Auto,
            Name::Uniform => Choice::Fixed(PenaltyScale::Uniform),
            Name::Count => Choice::Fixed(PenaltyScale::Count),
        })
    }
}

/// The number of columns of the factors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rank {
    /// This many.
    Fixed(usize),
    /// Chosen automatically by the path: at a given penalty columns are added until the certificate
    /// says that no more would help; otherwise rank and penalty are chosen together, on held-out data
    /// or as the smallest rank that fits exactly. The sampler compares ranks on held-out data, with everything
    /// else that is not given. The convex program keeps the rank of its solution.
    /// Other solvers, and fits of implicit data, use 10.
    Auto {
        /// The largest rank that is tried; by default 64, for CP 100, or 512 at a given penalty.
        max: Option<usize>,
    },
}

impl Default for Rank {
    fn default() -> Self {
        Self::Auto { max: None }
    }
}

/// The precision of the numbers that a fit computes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// Single: faster, and half the memory.
    F32,
    /// Double: exact data are reproduced to more digits.
    F64,
}

/// The solver.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Chosen automatically: exact data are reproduced by the path; for others, models and priors are
    /// compared on held-out data, and the best is sampled. Where the settings rule that out (a penalty,
    /// shared factors, a kernel with a diagonal, implicit data), the path.
    #[default]
    Auto,
    /// Decrease the penalty step by step from where zero is optimal.
    Path,
    /// Alternating least squares from a random start at one penalty.
    Als,
    /// Gradient descent with steps of a fixed length, or by backtracking.
    Gd(Choice<f64>),
    /// Limited-memory BFGS.
    Lbfgs,
    /// Damped Gauss-Newton on all parameters jointly.
    GaussNewton,
    /// A convex program over `X = U U^T` with the rank left free, for small problems. By default the
    /// smallest trace that reproduces the data, or with a penalty the objective. The rank is the maximum
    /// number of columns that are kept.
    Sdp(Choice<SdpForm>),
    /// Sample the posterior instead of minimising: no penalty to choose, and the draws give intervals. Without
    /// a rank, models, ranks and priors are compared on held-out data first.
    /// For CP and for quadratic models without a diagonal.
    Gibbs(Sampling),
}

impl Solver {
    /// Whether a fit can be resumed.
    pub fn keeps_checkpoints(self) -> bool {
        matches!(self, Self::Auto | Self::Path | Self::Als | Self::Gibbs(_))
    }

    /// Whether the rank can be left out, and is found.
    pub fn can_find_rank(self) -> bool {
        matches!(self, Self::Auto | Self::Path | Self::Sdp(_) | Self::Gibbs(_))
    }

    /// Whether this is the path, or may be.
    pub(crate) fn may_be_path(self) -> bool {
        matches!(self, Self::Auto | Self::Path)
    }
}

/// How much is computed to choose a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effort {
    /// A fifth of the default.
    Quick,
    /// Seconds for thousands of observations, minutes for millions.
    #[default]
    Normal,
    /// Four times the default.
    Thorough,
}

/// Everything that determines a fit besides the data. By default everything is chosen automatically.
///
/// ```
/// use quadfill::solve::{Choice, Rank, Solver};
/// use quadfill::FitConfig;
/// let config = FitConfig {
///     rank: Rank::Fixed(5),
///     solver: Solver::Als,
///     penalty: Choice::Fixed(1e-3),
///     ..FitConfig::default()
/// };
/// assert!(config.check().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitConfig {
    /// The model.
    pub model: ModelKind,
    /// The number of columns.
    pub rank: Rank,
    /// The mean and the biases. Automatically: chosen on held-out data, none where a penalty is given, all
    /// of them where the posterior is sampled.
    pub biases: Choice<Biases>,
    /// Whether the rows of CP are drawn to a centre of their factor matrix instead of to zero, which lets a constant,
    /// biases and pairs in before triples. Automatically: chosen on held-out data, off where a penalty is given.
    #[serde(default, skip_serializing_if = "left_to_choose")]
    pub centre: Choice<bool>,
    /// Lists of modes that share their factors, by name or number from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ties: Vec<Vec<String>>,
    /// The solver.
    pub solver: Solver,
    /// The penalty `lambda`.
    pub penalty: Choice<f64>,
    /// How the penalty is scaled for each row. Automatically: chosen on held-out data where models are compared, else
    /// uniform. A fitted model has the one that was used.
    #[serde(with = "given_or_auto")]
    pub penalty_scale: Choice<PenaltyScale>,
    /// The quartic penalty on long rows.
    pub row_norm_penalty: Option<RowNormPenalty>,
    /// Whether to add a random perturbation `C` of spectral norm at most `lambda`.
    pub perturb: bool,
    /// The weight of unobserved cells, which then count as zeros, or `None` to leave them out. Needs a
    /// penalty, and a model whose sums over all cells have a closed form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implicit: Option<f64>,
    /// The share of the data that is held out, above 0 and below 1.
    pub validation: f64,
    /// Steps of the path; by default 300, or 100 where there are many observations.
    pub path_steps: Choice<usize>,
    /// The maximum number of iterations, or `None` for the solver's default limit.
    pub sweeps: Option<usize>,
    /// Relative decrease of the objective below which a solver stops; 0 never stops early.
    pub tolerance: f64,
    /// Seconds after which the fit ends with the best model so far.
    pub time_limit: Option<f64>,
    /// The random seed of hold-out, starts, perturbation and sampler.
    pub seed: u64,
    /// Single or double precision; by default double.
    pub precision: Choice<Precision>,
    /// How the data are kept during the fit; by default by their size and the free memory. No result depends
    /// on it, so model files do not tell.
    #[serde(skip)]
    pub views: Choice<Storage>,
    /// Whether the fit ends with a certificate (quadratic models only).
    pub certify: bool,
    /// How much is computed to choose a model automatically.
    #[serde(default, skip_serializing_if = "is_default")]
    pub effort: Effort,
    /// Whether a model that is chosen automatically keeps its draws from the posterior, for intervals
    /// that differ from cell to cell, in place of their distilled mean.
    #[serde(default, skip_serializing_if = "is_default")]
    pub keep_draws: bool,
}

fn is_default<V: Default + PartialEq>(value: &V) -> bool {
    *value == V::default()
}

impl Default for FitConfig {
    fn default() -> Self {
        Self {
            model: ModelKind::Auto,
            rank: Rank::default(),
            biases: Choice::Auto,
            centre: Choice::Auto,
            ties: Vec::new(),
            solver: Solver::Auto,
            penalty: Choice::Auto,
            penalty_scale: Choice::Auto,
            row_norm_penalty: None,
            perturb: false,
            implicit: None,
            validation: 0.1,
            path_steps: Choice::Auto,
            sweeps: None,
            tolerance: 1e-7,
            time_limit: None,
            seed: 0,
            precision: Choice::Auto,
            views: Choice::Auto,
            certify: true,
            effort: Effort::Normal,
            keep_draws: false,
        }
    }
}

impl FitConfig {
    /// The path for a model of a given rank; its biases are chosen automatically.
    ///
    /// ```
    /// use quadfill::FitConfig;
    /// use quadfill::model::{Kernel, ModelKind, ModelSpec};
    /// use quadfill::solve::Rank;
    /// let config = FitConfig::for_spec(&ModelSpec::quadratic(Kernel::transe(3), 5).with_tied(&[0, 2]));
    /// assert_eq!((config.model, config.rank), (ModelKind::Transe, Rank::Fixed(5)));
    /// assert_eq!(config.ties, [["1", "3"]]);
    /// ```
    pub fn for_spec(spec: &ModelSpec) -> Self {
        let shared = (0..spec.group_count()).map(|group| spec.group_modes(group));
        let ties = shared
            .map(|modes| modes.map(|mode| (mode + 1).to_string()).collect::<Vec<_>>())
            .filter(|modes| modes.len() > 1);
        Self {
            model: ModelKind::of(&spec.interaction),
            rank: Rank::Fixed(spec.rank),
            ties: ties.collect(),
            solver: Solver::Path,
            ..Self::default()
        }
    }

    /// The path for a quadratic model of a given rank whose kernel is fitted too. The fitted model
    /// has the kernel.
    ///
    /// ```
    /// use quadfill::model::{Kernel, ModelSpec, Parameters, Predictor};
    /// use quadfill::solve::{NoObserver, Status, fit};
    /// use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate};
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
    /// let fit = fit::<f64>(data, &FitConfig::learned(1), &mut NoObserver)?;
    /// assert_eq!(fit.status, Status::Exact);
    /// let kernel = fit.spec.kernel().expect("a quadratic model");
    /// assert!(kernel.get(0, 0) * kernel.get(2, 2) > 0.0);
    /// # Ok::<(), quadfill::Error>(())
    /// ```
    pub fn learned(rank: usize) -> Self {
        let (model, rank) = (ModelKind::Learned, Rank::Fixed(rank));
        Self { model, rank, solver: Solver::Path, ..Self::default() }
    }
}
