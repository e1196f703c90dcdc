//! Rows for labels that a model has not seen, everything else staying as it is.

use crate::error::{Error, Result};
use crate::file::Model;
use crate::model::{ModelSpec, Parameters};
use crate::objective::Objective;
use crate::observations::{Grown, Labels, Mode, Observations};
use crate::solve::als;
use crate::views::Views;
use quadfill_kernels::Real;

/// Passes over the new rows at most, where they depend on each other or are not found in one step.
const MOST_PASSES: usize = 100;
/// Relative decrease of the objective that is no longer worth a pass.
const TOLERANCE: f64 = 1e-9;

impl<T: Real> Model<T> {
    /// The same model for modes that have got more labels, whose rows are zero.
    #[must_use]
    pub fn grown(&self, grown: &Grown) -> Self {
        let sizes: Vec<usize> = grown.modes.iter().map(|mode| mode.labels.len()).collect();
        let mut parameters = Parameters::zeros(&self.spec, &sizes);
        parameters.mean = self.parameters.mean;
        for (mode, places) in grown.places.iter().enumerate() {
            let group = self.spec.groups[mode];
            for (label, &place) in places.iter().enumerate() {
                copy_row(&self.parameters, label, &mut parameters, place as usize, group);
            }
        }
        let mut posterior = self.posterior.clone();
        for (mode, places) in grown.places.iter().enumerate() {
            let rows = parameters.layout().rows()[self.spec.groups[mode]];
            if let Some(posterior) = &mut posterior {
                posterior.move_labels(self.spec.groups[mode], places, rows);
            }
        }
        Self {
            posterior,
            spec: self.spec.clone(),
            modes: grown.modes.clone(),
            parameters,
            notes: self.notes.clone(),
        }
    }
}

/// Gives new labels rows by the same row solve as in a fit, from the observations that have them.
/// Nothing else moves, and observations without new labels are not looked at.
///
/// `model` already has the labels of `data` (see [`Model::grown`]); `is_new` says of each mode which
/// of its labels are new. Penalties are those of the fit: a new row's equations are the very ones that
/// it would have had there. With new labels in one mode a single solve is exact (for kernels with a
/// diagonal it is iterated: a new entity is found from its distances); with new labels in several
/// modes they take turns until the objective stops falling.
///
/// ```
/// use quadfill::apply::fold_in;
/// use quadfill::file::Model;
/// use quadfill::model::{Kernel, ModelSpec};
/// use quadfill::observations::Grown;
/// use quadfill::solve::{FitConfig, Silent, fit};
/// use quadfill::{Labels, Mode, Observations, OnDuplicate};
///
/// // A multiplication table, first without its third row.
/// let modes = vec![Mode::new("a", Labels::range(2)), Mode::new("b", Labels::range(3))];
/// let cells = vec![vec![0, 0, 0, 1, 1], vec![0, 1, 2, 0, 1]];
/// let values = vec![1.0, 2.0, 3.0, 2.0, 4.0];
/// let data = Observations::new(modes.clone(), cells, values, None, OnDuplicate::Error)?;
/// let mut config = FitConfig::new(ModelSpec::quadratic(Kernel::pairwise(2), 1));
/// config.penalty = Some(1e-9);
/// let fit = fit(data, &config, &mut Silent)?;
/// let model = Model::new(fit, modes.clone(), Vec::new(), "product".to_owned(), 5, &config);
///
/// let grown = Grown::new(&modes, &[0, 1], &[vec!["2".to_owned()], Vec::new()]);
/// let new = Observations::new(
///     grown.modes.clone(),
///     vec![vec![2, 2], vec![0, 1]],
///     vec![3.0, 6.0],
///     None,
///     OnDuplicate::Error,
/// )?;
/// let folded = fold_in(model.grown(&grown), &new, &grown.new_labels())?;
/// assert!((folded.predictor().cell(&[2, 2]) - 9.0).abs() < 1e-3);
/// assert_eq!(folded.predictor().cell(&[1, 2]), model.predictor().cell(&[1, 2]));
/// # Ok::<(), quadfill::Error>(())
/// ```
pub fn fold_in<T: Real>(
    mut model: Model<T>,
    data: &Observations<T>,
    is_new: &[Vec<bool>],
) -> Result<Model<T>> {
    refuse_draws(&model)?;
    let Some(part) = Part::new(&model.spec, data, is_new) else {
        return Err(Error::Setting(
            "the data have no label that the model does not know already: use `quadfill update` to \
             learn from more observations of known labels"
                .to_owned(),
        ));
    };
    if model.notes.config.implicit.is_some() {
        return Err(Error::Setting(
            "a model fitted with --implicit takes new labels by `quadfill update` with all data"
                .to_owned(),
        ));
    }
    let rows: usize = model.parameters.layout().rows().iter().sum();
    let new_rows: usize = part.is_new.iter().flatten().filter(|&&new| new).count();
    let views = Views::new(part.data);
    let notes = &model.notes;
    let objective = Objective::new(&views, &model.spec, notes.penalty, notes.config.penalty_scale)
        .with_incoherence(notes.config.incoherence)
        .scaled_as(notes.observations, rows - new_rows);
    let sizes: Vec<usize> = views.sizes();
    let mut parameters = Parameters::zeros(&model.spec, &sizes);
    parameters.mean = model.parameters.mean;
    for (group, kept) in part.kept.iter().enumerate() {
        for (label, &place) in kept.iter().enumerate() {
            copy_row(&model.parameters, place as usize, &mut parameters, label, group);
        }
    }
    solve(&objective, &mut parameters, &part.is_new);
    for (group, kept) in part.kept.iter().enumerate() {
        for (label, &place) in kept.iter().enumerate().filter(|&(l, _)| part.is_new[group][l]) {
            copy_row(&parameters, label, &mut model.parameters, place as usize, group);
        }
    }
    Ok(model)
}

/// Passes over the matrices with new rows until the objective stops falling.
fn solve<T: Real>(
    objective: &Objective<'_, T>,
    parameters: &mut Parameters<T>,
    is_new: &[Vec<bool>],
) {
    let groups: Vec<usize> =
        (0..is_new.len()).filter(|&group| is_new[group].contains(&true)).collect();
    let once = groups.len() == 1 && als::is_linear(objective, groups[0]);
    let mut before = f64::INFINITY;
    for _ in 0..MOST_PASSES {
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
struct Part<T> {
    data: Observations<T>,
    /// For each factor matrix, the rows that are kept.
    kept: Vec<Vec<u32>>,
    /// For each factor matrix and kept row, whether it is new.
    is_new: Vec<Vec<bool>>,
}

impl<T: Real> Part<T> {
    /// The labels keep their order, so that all sums are taken in the order of the whole data.
    fn new(spec: &ModelSpec, data: &Observations<T>, is_new: &[Vec<bool>]) -> Option<Self> {
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
        let places: Vec<Vec<u32>> = used
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
                let places = &places[spec.groups[mode]];
                taken.iter().map(|&row| places[data.indices(mode)[row] as usize]).collect()
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
                Mode::new(data.modes()[mode].name.clone(), labels)
            })
            .collect();
        let values = taken.iter().map(|&row| data.values()[row]).collect();
        let weights = data.weights().map(|w| taken.iter().map(|&row| w[row]).collect());
        let data = Observations::from_checked(of_modes, indices, values, weights);
        Some(Self { data, kept, is_new })
    }
}

/// A mean of draws has no objective to go on with.
pub(super) fn refuse_draws<T: Real>(model: &Model<T>) -> Result<()> {
    if model.posterior.is_some() {
        return Err(Error::Setting(
            "a model of --solver gibbs is a mean of draws, which cannot be learned on: fit all data \
             again, or fit with --solver path"
                .to_owned(),
        ));
    }
    Ok(())
}

fn copy_row<T: Real>(
    from: &Parameters<T>,
    label: usize,
    to: &mut Parameters<T>,
    place: usize,
    group: usize,
) {
    to.row_mut(group, place).copy_from_slice(from.row(group, label));
    if to.layout().has_biases() {
        to.set_bias(group, place, from.bias(group, label));
    }
}
