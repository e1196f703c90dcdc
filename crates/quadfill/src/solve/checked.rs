//! Checks of the settings, alone and against the data.

use super::config::{Choice, FitConfig, Rank, Solver};
use super::gibbs::Sampling;
use super::sdp::SdpForm;
use super::{gibbs, sdp};
use crate::error::{Error, Result};
use crate::model::{Biases, CENTRE_IS_FOR_CP, ModelKind, ModelSpec, PenaltyScale};
use crate::objective::{HoldOut, Terms};
use crate::observations::{Mode, Summary, positions};
use crate::views::Data;

/// The default rank of solvers that cannot choose one.
pub(super) const PLAIN_RANK: usize = 10;
/// The largest rank that is tried on held-out data, and at a given penalty.
const MAX_RANK: usize = 64;
const MAX_CP_RANK: usize = 100;
const MAX_RANK_AT_PENALTY: usize = 512;

/// Settings that were checked against each other and against the data.
#[derive(Debug, Clone)]
pub(crate) struct CheckedConfig {
    pub(crate) config: FitConfig,
    /// The model, with the largest rank that is tried, and without biases.
    pub(crate) spec: ModelSpec,
    /// Whether the rank is chosen automatically.
    pub(crate) finds_rank: bool,
    /// Whether models are raced if the data are not exact.
    pub(crate) races: bool,
}

impl CheckedConfig {
    /// Checks settings for data with these modes. Modes that share their factors must already have
    /// the same labels, see [`FitConfig::share_labels`].
    pub(crate) fn new(config: &FitConfig, modes: &[Mode]) -> Result<Self> {
        config.check()?;
        let sizes: Vec<usize> = modes.iter().map(|mode| mode.labels.len()).collect();
        let spec = config.spec(modes)?;
        spec.check(&sizes)?;
        match config.solver {
            Solver::Gibbs(sampling) => gibbs::check_size(sampling, &spec, &sizes)?,
            Solver::Sdp(_) => {
                let rows = spec.group_sizes(&sizes).iter().sum();
                sdp::check_size(rows, sizes.iter().sum())?;
            }
            _ => {}
        }
        let finds_rank = matches!(config.rank, Rank::Auto { .. }) && config.can_find_rank();
        let races = config.can_race();
        let mut config = config.clone();
        match (config.solver, config.rank) {
            // What is not raced is done by the path, and so is the attempt to fit exactly.
            (Solver::Auto, _) => config.solver = Solver::Path,
            (Solver::Gibbs(sampling), Rank::Auto { max }) => {
                let most = sampling.max_rank();
                config.rank = Rank::Auto { max: Some(max.map_or(most, |max| max.min(most))) };
            }
            _ => {}
        }
        Ok(Self { config, spec, finds_rank, races })
    }

    /// The terms of the objective.
    pub(crate) fn terms(&self) -> Terms {
        self.config.terms()
    }

    /// What is held out, if this fit chooses anything on held-out data.
    pub(crate) fn hold_out(&self) -> Option<HoldOut> {
        let config = &self.config;
        let chooses = config.solver == Solver::Path && config.penalty.is_auto();
        (chooses || self.races || config.model == ModelKind::Learned)
            .then_some(HoldOut { share: config.validation, seed: config.seed })
    }
}

impl FitConfig {
    /// The terms of the objective that these settings ask for.
    pub fn terms(&self) -> Terms {
        Terms {
            row_norm_penalty: self.row_norm_penalty,
            perturbation: self.perturb.then_some(self.seed),
            implicit: self.implicit,
        }
    }

    /// Summarises data in view of these settings: with the free parameters of the given rank, or else of
    /// rank 1, the fewest that any rank has.
    pub fn summarise(&self, data: &Data) -> Result<Summary> {
        let spec = self.spec(data.modes())?;
        let rank = match (self.rank, self.solver) {
            // The rank of a convex program is only known afterwards.
            (_, Solver::Sdp(_)) => return Ok(data.summary()),
            (Rank::Auto { .. }, _) if self.can_find_rank() => 1,
            _ => spec.rank,
        };
        let free = spec.with_rank(rank).degrees_of_freedom(&data.sizes());
        Ok(data.summary_for(rank, free))
    }

    /// Gives modes that share their factors the same labels.
    pub fn share_labels(&self, data: impl Into<Data>) -> Result<Data> {
        let mut data = data.into();
        let spec = self.spec(data.modes())?;
        for group in 0..spec.group_count() {
            let tied: Vec<usize> = spec.group_modes(group).collect();
            if tied.len() > 1 {
                data = data.with_shared_labels(&tied)?;
            }
        }
        Ok(data)
    }

    /// The model for data with these modes: its rank is the largest that is tried, and it has the
    /// biases that are given, or none.
    pub fn spec(&self, modes: &[Mode]) -> Result<ModelSpec> {
        let interaction = self.model.interaction(modes.len())?;
        let groups = (0..modes.len()).collect();
        let biases = self.biases.unwrap_or(Biases::None);
        let centred = self.centre.unwrap_or(false);
        let penalty_scale = self.penalty_scale.unwrap_or(PenaltyScale::Uniform);
        let rank = self.max_rank();
        let mut spec = ModelSpec { interaction, rank, biases, groups, centred, penalty_scale };
        for names in &self.ties {
            spec = spec.with_tied(&positions(modes, names)?);
        }
        Ok(spec)
    }

    fn can_find_rank(&self) -> bool {
        self.solver.may_be_path() && self.implicit.is_none()
    }

    /// Whether there is something that a race chooses, and nothing else.
    fn can_race(&self) -> bool {
        let is_asked_for = matches!(
            (self.solver, self.rank),
            (Solver::Auto, _) | (Solver::Gibbs(_), Rank::Auto { .. })
        );
        let as_sampled = Self { solver: Solver::Gibbs(Sampling::default()), ..self.clone() };
        is_asked_for
            && self.path_steps.is_auto()
            && self.centre.is_auto()
            && self.model != ModelKind::Learned
            && gibbs::check(&as_sampled, Sampling::default()).is_ok()
    }

    /// The rank that is given, or the largest that is tried.
    fn max_rank(&self) -> usize {
        match self.rank {
            Rank::Fixed(rank) => rank,
            Rank::Auto { max: Some(max) } => max,
            Rank::Auto { max: None } => match self.solver {
                Solver::Sdp(_) => crate::model::MAX_COLUMNS,
                _ if !self.can_find_rank() => PLAIN_RANK,
                _ if self.penalty.is_auto() && self.model == ModelKind::Cp => MAX_CP_RANK,
                _ if self.penalty.is_auto() => MAX_RANK,
                _ => MAX_RANK_AT_PENALTY,
            },
        }
    }

    /// Checks every setting as far as possible without the data.
    pub fn check(&self) -> Result<()> {
        self.check_ranges()?;
        if self.perturb && self.model == ModelKind::Cp {
            return bad(
                "`perturb` is for quadratic models only: leave it out, or choose another `model`",
            );
        }
        if self.centre == Choice::Fixed(true) {
            self.check_centre()?;
        }
        if self.ties.iter().any(|modes| modes.len() < 2) {
            return bad("`ties` needs two or more modes in each list, such as head,tail");
        }
        if let (Rank::Auto { .. }, Choice::Fixed(penalty)) = (self.rank, self.penalty)
            && self.can_find_rank()
        {
            if self.model == ModelKind::Cp {
                return bad(
                    "CP has no certificate by which to find the rank at a given `penalty`: give a \
                     `rank`, such as 10, or leave `penalty` out",
                );
            }
            if penalty == 0.0 {
                return bad(
                    "without a penalty there is no smallest rank to be certified: `penalty` must be \
                     above 0, or left out",
                );
            }
        }
        if self.model == ModelKind::Learned {
            self.check_learned()?;
        }
        match self.solver {
            Solver::Gibbs(sampling) => gibbs::check(self, sampling)?,
            Solver::Sdp(form) => sdp::check(self, form)?,
            _ => {}
        }
        match self.implicit {
            Some(weight) => self.check_implicit(weight),
            None => Ok(()),
        }
    }

    fn check_ranges(&self) -> Result<()> {
        let out_of_range = |setting: &str, value: f64, range: &str| {
            Err(Error::setting(format!("`{setting}` is {value}: it must be a number {range}")))
        };
        let not_negative = |number: f64| number.is_finite() && number >= 0.0;
        let positive = |number: f64| number.is_finite() && number > 0.0;
        if let Choice::Fixed(penalty) = self.penalty
            && !not_negative(penalty)
        {
            return out_of_range("penalty", penalty, "not below 0");
        }
        if !(self.validation > 0.0 && self.validation < 1.0) {
            return out_of_range("validation", self.validation, "between 0 and 1, such as 0.1");
        }
        if !not_negative(self.tolerance) {
            return out_of_range("tolerance", self.tolerance, "not below 0");
        }
        if self.path_steps == Choice::Fixed(0) {
            return bad("`path_steps` is 0: a path needs at least one step");
        }
        if let Solver::Gd(Choice::Fixed(step)) = self.solver
            && !positive(step)
        {
            return out_of_range("step", step, "above 0");
        }
        if let Some(limit) = self.time_limit
            && !positive(limit)
        {
            return out_of_range("time_limit", limit, "of seconds above 0");
        }
        let rank = self.max_rank();
        if rank == 0 || rank > crate::model::MAX_COLUMNS {
            return Err(Error::setting(format!(
                "`rank` is {rank}: it must be from 1 to {}",
                crate::model::MAX_COLUMNS
            )));
        }
        Ok(())
    }

    /// Refuses settings that a centre does not support.
    fn check_centre(&self) -> Result<()> {
        if self.model != ModelKind::Cp {
            return bad(CENTRE_IS_FOR_CP);
        }
        if matches!(self.solver, Solver::Gibbs(_)) {
            return bad("the solver gibbs draws the means of all rows: leave `centre` out");
        }
        if self.implicit.is_some() {
            return bad("`implicit` draws rows to zero: leave `centre` out");
        }
        Ok(())
    }

    /// Refuses settings that a learned kernel does not support.
    fn check_learned(&self) -> Result<()> {
        if !self.ties.is_empty() {
            return bad(
                "a kernel cannot be learned where modes share their factors: leave `ties` out, or \
                 choose another `model`",
            );
        }
        if self.implicit.is_some() {
            return bad(
                "`implicit` needs a kernel that is known: `model` must be pairwise, matrix, pairs or cp",
            );
        }
        if matches!(self.solver, Solver::Sdp(_) | Solver::Gibbs(_)) {
            return bad(
                "a kernel cannot be learned by the solvers sdp and gibbs: leave `solver` out, or choose \
                 another `model`",
            );
        }
        Ok(())
    }

    /// Refuses settings without a closed-form sum over all cells.
    fn check_implicit(&self, weight: f64) -> Result<()> {
        if !(weight.is_finite() && weight > 0.0) {
            return Err(Error::setting(format!(
                "`implicit` is {weight}: the weight of unobserved cells must be a number above 0"
            )));
        }
        if self.model.has_diagonal() {
            return bad(
                "`implicit` is for pairwise, matrix, pairs and cp: for models with a diagonal, such as \
                 transe, use `negatives`",
            );
        }
        if !self.ties.is_empty() {
            return bad("`implicit` is for modes with factors of their own: leave `ties` out");
        }
        if matches!(self.biases, Choice::Fixed(biases) if biases != Biases::None) {
            return bad("`implicit` is for models without biases: leave `biases` out");
        }
        if self.penalty.is_auto() {
            return bad(
                "`implicit` needs a `penalty`: held-out errors on observed cells cannot choose it, begin \
                 with 1e-3",
            );
        }
        if !(self.solver.may_be_path() || self.solver == Solver::Als) {
            return bad("`implicit` is for the solvers path and als: leave `solver` out");
        }
        if self.row_norm_penalty.is_some() || self.perturb {
            return bad(
                "`implicit` cannot be combined with `row_norm_penalty` or `perturb`: leave them out",
            );
        }
        Ok(())
    }

    /// The form of the convex program.
    pub(super) fn sdp_form(&self, chosen: Choice<SdpForm>) -> SdpForm {
        chosen.unwrap_or(match self.penalty {
            Choice::Auto => SdpForm::Trace,
            Choice::Fixed(_) => SdpForm::Objective,
        })
    }
}

pub(super) fn bad<V>(message: &str) -> Result<V> {
    Err(Error::setting(message))
}
