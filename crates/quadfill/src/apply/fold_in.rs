//! Rows for new labels; everything else stays as it is.

use super::fold_in_draws::{self, UsedRows};
use crate::error::{Error, Result};
use crate::fitted::{Fitted, Model, Numbers, with_numbers};
use crate::model::{ModelSpec, Parameters, UnknownLabelRows};
use crate::objective::Objective;
use crate::observations::{ExtendedModes, Labels, Observations};
use crate::solve::als;
use crate::views::Views;
use quadfill_kernels::Real;

/// The maximum number of passes over the new rows, where one step is not exact.
const MAX_PASSES: usize = 100;
/// Relative decrease of the objective at which the passes end.
const TOLERANCE: f64 = 1e-9;

impl Model {
    /// Gives new labels rows by the same row solve as in a fit, from the observations that have them.
    /// Nothing else changes, and observations without new labels are ignored.
    ///
    /// Penalties are those of the fit: a new row has the same equations as it would have had
    /// there. With new labels in one mode a single solve is exact (for kernels with a diagonal it is
    /// iterated: a new entity is found from its distances); with new labels in several modes they
    /// alternate until the objective stops decreasing. In a mean of draws every draw has a row of its own
    /// for a new label: the mean of its distribution given that draw and the new observations.
    ///
    /// ```
    /// use quadfill::solve::{Choice, Rank};
    /// use quadfill::{FitConfig, Labels, Mode, Observations, OnDuplicate};
    ///
    /// // A multiplication table, first without its third row.
    /// let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(3))];
    /// let cells = vec![vec![0, 0, 0, 1, 1], vec![0, 1, 2, 0, 1]];
    /// let values = vec![1.0, 2.0, 3.0, 2.0, 4.0];
    /// let data = Observations::new(modes, cells, values, None, OnDuplicate::Error)?;
    /// let (rank, penalty) = (Rank::Fixed(1), Choice::Fixed(1e-9));
    /// let model = quadfill::fit(data, &FitConfig { rank, penalty, ..FitConfig::default() })?;
    ///
    /// let third = vec![
    ///     Mode::new("a", Labels::from_names(["third"])),
    ///     Mode::new("b", Labels::range(2)),
    /// ];
    /// let new = Observations::new(third, vec![vec![0, 0], vec![0, 1]], vec![3.0, 6.0], None, OnDuplicate::Error)?;
    /// let folded = model.fold_in(new)?;
    /// assert!((folded.predict(&["third", "2"])? - 9.0).abs() < 1e-3);
    /// assert_eq!(folded.predict(&["1", "2"])?, model.predict(&["1", "2"])?);
    /// # Ok::<(), quadfill::Error>(())
    /// ```
    pub fn fold_in(&self, newcomers: Observations) -> Result<Self> {
        let (extended, data) = ExtendedModes::new(&self.modes, &self.spec.groups, newcomers)?;
        let mut model = self.extended(&extended);
        model.solve_new_rows(&data, &extended.new_labels())?;
        Ok(model)
    }

    /// The same model for extended modes; the rows of new labels are zero.
    pub(super) fn extended(&self, extended: &ExtendedModes) -> Self {
        let numbers = match &self.numbers {
            Numbers::F32(fitted) => Numbers::F32(extend(fitted, &self.spec, extended)),
            Numbers::F64(fitted) => Numbers::F64(extend(fitted, &self.spec, extended)),
        };
        Self { modes: extended.modes.clone(), numbers, ..self.clone() }
    }

    /// Solves for the rows of new labels; `is_new` says of each mode which of its labels are.
    pub(super) fn solve_new_rows(
        &mut self,
        data: &Observations,
        is_new: &[Vec<bool>],
    ) -> Result<()> {
        let Some(part) = Part::new(&self.spec, data, is_new) else {
            return Err(Error::Unsupported(
                "the data have no label that the model does not know already: update the model to learn \
                 from more observations of known labels"
                    .to_owned(),
            ));
        };
        self.refuse_implicit(
            "a model fitted with `implicit` learns new labels by an update with all data",
        )?;
        let Self { spec, summary, numbers, .. } = self;
        with_numbers!(numbers, fitted => {
            let rows: usize = fitted.parameters.layout().rows().iter().sum();
            let new_rows = part.is_new.iter().flatten().filter(|&&new| new).count();
            let views = Views::new(part.data);
            if fitted.posterior.is_some() {
                let used = UsedRows { kept: &part.kept, is_new: &part.is_new };
                fold_in_draws::solve(spec, fitted, &views, &used);
                return Ok(());
            }
            let objective =
                Objective::new(&views, spec, summary.penalty, spec.penalty_scale)
                    .with_row_norm_penalty(summary.config.row_norm_penalty)
                    .with_fixed_centres(fitted.centres.as_ref().map(UnknownLabelRows::to_centres))
                    .scaled_as(summary.observations, rows - new_rows);
            let mut parameters = Parameters::zeros(spec, &views.sizes());
            parameters.mean = fitted.parameters.mean;
            for (group, kept) in part.kept.iter().enumerate() {
                for (label, &from) in kept.iter().enumerate() {
                    copy_row(&fitted.parameters, from as usize, &mut parameters, label, group);
                }
            }
            solve(&objective, &mut parameters, &part.is_new);
            for (group, kept) in part.kept.iter().enumerate() {
                let labels = kept.iter().enumerate();
                for (label, &to) in labels.filter(|&(label, _)| part.is_new[group][label]) {
                    copy_row(&parameters, label, &mut fitted.parameters, to as usize, group);
                }
            }
        });
        Ok(())
    }
}

/// Parameters and draws with the rows of new labels at zero.
fn extend<T: Real>(fitted: &Fitted<T>, spec: &ModelSpec, extended: &ExtendedModes) -> Fitted<T> {
    let sizes: Vec<usize> = extended.modes.iter().map(|mode| mode.labels.len()).collect();
    let mut parameters = Parameters::zeros(spec, &sizes);
    parameters.mean = fitted.parameters.mean;
    let mut posterior = fitted.posterior.clone();
    for (mode, index_map) in extended.index_map.iter().enumerate() {
        let group = spec.groups[mode];
        for (label, &index) in index_map.iter().enumerate() {
            copy_row(&fitted.parameters, label, &mut parameters, index as usize, group);
        }
        let rows = parameters.layout().rows()[group];
        if let Some(posterior) = &mut posterior {
            posterior.move_labels(group, index_map, rows);
        }
    }
    Fitted { parameters, centres: fitted.centres.clone(), posterior }
}

/// Passes over the matrices with new rows until the objective stops decreasing.
fn solve<T: Real>(
    objective: &Objective<'_, T>,
    parameters: &mut Parameters<T>,
    is_new: &[Vec<bool>],
) {
    let groups: Vec<usize> =
        (0..is_new.len()).filter(|&group| is_new[group].contains(&true)).collect();
    let once = groups.len() == 1 && als::is_linear(objective, groups[0]);
    let mut before = f64::INFINITY;
    for _ in 0..MAX_PASSES {
        for &group in &groups {
            als::update_rows(objective, parameters, group, &|row| is_new[group][row]);
        }
        if once {
            break;
        }
        let now = objective.value(parameters).total();
        if before - now <= TOLERANCE * now.abs() {
            break;
        }
        before = now;
    }
}

/// The observations that have new labels, with the labels that they have and no others.
struct Part {
    data: Observations,
    /// For each factor matrix, the rows that are kept.
    kept: Vec<Vec<u32>>,
    /// For each factor matrix and kept row, whether it is new.
    is_new: Vec<Vec<bool>>,
}

impl Part {
    /// The labels keep their order, so that all sums are taken in the order of the whole data.
    fn new(spec: &ModelSpec, data: &Observations, is_new: &[Vec<bool>]) -> Option<Self> {
        let modes = data.modes().len();
        let taken: Vec<usize> = (0..data.len())
            .filter(|&row| (0..modes).any(|m| is_new[m][data.indices(m)[row] as usize]))
            .collect();
        if taken.is_empty() {
            return None;
        }
        let sizes = spec.group_sizes(&data.sizes());
        let mut used: Vec<Vec<bool>> = sizes.iter().map(|&n| vec![false; n]).collect();
        let mut new = used.clone();
        for mode in 0..modes {
            let group = spec.groups[mode];
            for &row in &taken {
                used[group][data.indices(mode)[row] as usize] = true;
            }
            for (label, &is_new) in is_new[mode].iter().enumerate() {
                new[group][label] |= is_new;
            }
        }
        let kept: Vec<Vec<u32>> = used
            .iter()
            .map(|used| (0..used.len() as u32).filter(|&l| used[l as usize]).collect())
            .collect();
        let index_map: Vec<Vec<u32>> = used
            .iter()
            .map(|used| {
                let mut next = 0;
                used.iter()
                    .map(|&used| {
                        next += u32::from(used);
                        next.wrapping_sub(1)
                    })
                    .collect()
            })
            .collect();
        let indices = (0..modes)
            .map(|mode| {
                let index_map = &index_map[spec.groups[mode]];
                taken.iter().map(|&row| index_map[data.indices(mode)[row] as usize]).collect()
            })
            .collect();
        let is_new = kept
            .iter()
            .zip(&new)
            .map(|(kept, new)| kept.iter().map(|&label| new[label as usize]).collect())
            .collect();
        let of_modes = (0..modes)
            .map(|mode| {
                let labels = Labels::range(kept[spec.groups[mode]].len());
                data.modes()[mode].with_labels(labels)
            })
            .collect();
        let values = taken.iter().map(|&row| data.values()[row]).collect();
        let weights = data.weights().map(|w| taken.iter().map(|&row| w[row]).collect());
        let data = data.with_columns(of_modes, indices, values, weights);
        Some(Self { data, kept, is_new })
    }
}

fn copy_row<T: Real>(
    from: &Parameters<T>,
    label: usize,
    to: &mut Parameters<T>,
    index: usize,
    group: usize,
) {
    to.row_mut(group, index).copy_from_slice(from.row(group, label));
    if to.layout().has_biases() {
        to.set_bias(group, index, from.bias(group, label));
    }
}
