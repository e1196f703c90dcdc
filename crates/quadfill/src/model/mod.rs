//! Models: how the rows of a cell determine its prediction, and the parameters.

mod evaluation;
mod freedom;
mod kernel;
mod kind;
mod negatives;
mod parameters;
mod penalty_scale;
mod posterior;
mod predictor;
mod principal;
pub(crate) mod tensors;

pub use evaluation::Evaluation;
pub use kernel::Kernel;
pub use kind::ModelKind;
pub(crate) use parameters::each_row;
pub use parameters::{Layout, Parameters};
pub use penalty_scale::PenaltyScale;
pub use posterior::{Draw, GroupPrior, Posterior};
pub(crate) use posterior::{UnknownLabelRows, draw_scale, unknown_rows};
pub(crate) use predictor::inner;
pub use predictor::{Predictor, UNKNOWN};
pub(crate) use principal::{keep_principal, rotate_to_principal_axes, with_columns};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The maximum number of columns of the factors.
pub(crate) const MAX_COLUMNS: usize = 4096;

/// The quadratic models have pairs from the beginning, and their certificate has no centre.
pub(crate) const CENTRE_IS_FOR_CP: &str =
    "`centre` is for CP only: leave it out, or set `model` to cp";

/// How the rows of a cell determine its prediction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interaction {
    /// The sum of `K[a][b] <u_a, u_b>` over all pairs.
    Quadratic(Kernel),
    /// The sum over columns of the product over modes.
    Cp,
}

/// The mean and the biases that are added to the interaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Biases {
    /// Nothing.
    None,
    /// The mean of the data, fixed before the fit.
    Mean,
    /// The mean, and one fitted bias per label of every mode.
    Modes,
}

/// A model without its parameters.
///
/// ```
/// use quadfill::model::{Kernel, ModelSpec, Biases};
/// let spec = ModelSpec::quadratic(Kernel::pairwise(3), 5);
/// // 600 rows of 5 numbers, less the rotations that change nothing.
/// assert_eq!(spec.degrees_of_freedom(&[200, 200, 200]), 2990);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelSpec {
    /// How rows determine predictions.
    pub interaction: Interaction,
    /// How many columns each factor matrix has.
    pub rank: usize,
    /// What is added to the interaction.
    #[serde(alias = "offsets")]
    pub biases: Biases,
    /// For each mode the factor matrix it uses: `[0, 1, 2]` when none is shared, `[0, 1, 0]` when
    /// the first and the third mode share theirs.
    pub groups: Vec<usize>,
    /// Whether rows are drawn to a centre of their factor matrix instead of to zero; for CP only. Then the penalty of
    /// a factor matrix with rows `u` is `sum of lambda_row |u - mu|^2 + lambda |mu|^2` with the best `mu`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub centred: bool,
    /// How the penalty is scaled for each row.
    #[serde(default, skip_serializing_if = "PenaltyScale::is_uniform")]
    pub penalty_scale: PenaltyScale,
}

/// Checks a model that was read from a file: everything else relies on
/// factor matrices being numbered from 0 without gaps.
pub(crate) fn check_stored_spec(
    spec: &ModelSpec,
    sizes: &[usize],
) -> std::result::Result<(), String> {
    let modes = spec.groups.len();
    if !(2..=8).contains(&modes) {
        return Err(format!("the model has {modes} modes instead of 2 to 8"));
    }
    let mut matrices = 0;
    for &group in &spec.groups {
        if group > matrices {
            return Err(format!("there is no factor matrix {group}"));
        }
        matrices = matrices.max(group + 1);
    }
    if let Interaction::Quadratic(kernel) = &spec.interaction
        && kernel.modes() != modes
    {
        return Err(format!(
            "the kernel is for {} modes but the model has {modes}",
            kernel.modes()
        ));
    }
    if let Err(error) = spec.check(sizes) {
        return Err(error.to_string());
    }
    match sizes.iter().find(|&&size| size >= u32::MAX as usize) {
        Some(size) => Err(format!("a mode cannot have {size} labels")),
        None => Ok(()),
    }
}

impl ModelSpec {
    /// A model of an interaction for this many modes, without biases or shared factors.
    pub fn new(interaction: Interaction, modes: usize, rank: usize) -> Self {
        Self {
            interaction,
            rank,
            biases: Biases::None,
            groups: (0..modes).collect(),
            centred: false,
            penalty_scale: PenaltyScale::Uniform,
        }
    }

    /// A quadratic model without biases or shared factors.
    pub fn quadratic(kernel: Kernel, rank: usize) -> Self {
        let modes = kernel.modes();
        Self::new(Interaction::Quadratic(kernel), modes, rank)
    }

    /// The kernel, where the model has one.
    ///
    /// ```
    /// use quadfill::model::{Kernel, ModelSpec};
    ///
    /// let pairwise = ModelSpec::quadratic(Kernel::pairwise(3), 5);
    /// assert_eq!(pairwise.kernel(), Some(&Kernel::pairwise(3)));
    /// assert_eq!(ModelSpec::cp(3, 5).kernel(), None);
    /// ```
    pub fn kernel(&self) -> Option<&Kernel> {
        match &self.interaction {
            Interaction::Quadratic(kernel) => Some(kernel),
            Interaction::Cp => None,
        }
    }

    /// A CP model without biases or shared factors.
    pub fn cp(modes: usize, rank: usize) -> Self {
        Self::new(Interaction::Cp, modes, rank)
    }

    /// The same with other biases.
    #[must_use]
    pub fn with_biases(mut self, biases: Biases) -> Self {
        self.biases = biases;
        self
    }

    /// The same with rows drawn to a centre, or to zero.
    #[must_use]
    pub fn with_centre(mut self, centred: bool) -> Self {
        self.centred = centred;
        self
    }

    /// The same with penalties that are scaled in this way.
    #[must_use]
    pub fn with_penalty_scale(mut self, scale: PenaltyScale) -> Self {
        self.penalty_scale = scale;
        self
    }

    /// The same with another rank.
    #[must_use]
    pub fn with_rank(mut self, rank: usize) -> Self {
        self.rank = rank;
        self
    }

    /// The same with the given modes sharing one factor matrix. They must have the same labels.
    #[must_use]
    pub fn with_tied(mut self, modes: &[usize]) -> Self {
        if let Some(&first) = modes.iter().min() {
            for &mode in modes {
                self.groups[mode] = self.groups[first];
            }
        }
        // Number the matrices without gaps, in order of first use.
        let mut seen = Vec::new();
        for group in &mut self.groups {
            let at = seen.iter().position(|s| s == group).unwrap_or_else(|| {
                seen.push(*group);
                seen.len() - 1
            });
            *group = at;
        }
        self
    }

    /// How many modes the model is for.
    pub fn modes(&self) -> usize {
        self.groups.len()
    }

    /// Whether any two modes share a factor matrix.
    pub fn is_tied(&self) -> bool {
        self.group_count() < self.modes()
    }

    /// How many factor matrices there are.
    pub fn group_count(&self) -> usize {
        self.groups.iter().max().map_or(0, |&g| g + 1)
    }

    /// The modes that use a factor matrix.
    pub fn group_modes(&self, group: usize) -> impl Iterator<Item = usize> + '_ {
        self.groups.iter().enumerate().filter(move |&(_, &g)| g == group).map(|(mode, _)| mode)
    }

    /// The rows of each factor matrix, given the labels of each mode.
    pub fn group_sizes(&self, sizes: &[usize]) -> Vec<usize> {
        let mut rows = vec![0; self.group_count()];
        for (&group, &size) in self.groups.iter().zip(sizes) {
            rows[group] = rows[group].max(size);
        }
        rows
    }

    /// Checks the model against data with `sizes` labels per mode.
    pub fn check(&self, sizes: &[usize]) -> Result<()> {
        if self.rank == 0 || self.rank > MAX_COLUMNS {
            return Err(Error::setting(format!(
                "`rank` is {}: it must be from 1 to {MAX_COLUMNS}",
                self.rank
            )));
        }
        if self.modes() != sizes.len() {
            return Err(Error::setting(format!(
                "the model is for {} modes but the data have {}",
                self.modes(),
                sizes.len()
            )));
        }
        if self.centred && self.interaction != Interaction::Cp {
            return Err(Error::setting(CENTRE_IS_FOR_CP));
        }
        for group in 0..self.group_count() {
            let mut rows = self.group_modes(group).map(|mode| sizes[mode]);
            let first = rows.next().unwrap_or(0);
            if rows.any(|size| size != first) {
                return Err(Error::setting("modes that share factors must have the same labels"));
            }
        }
        Ok(())
    }
}
