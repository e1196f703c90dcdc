//! Everything a fit needs, read and checked before the long work begins.

use anyhow::Result;
use quadfill::apply::Order;
use quadfill::model::ModelSpec;
use quadfill::observations::Summary;
use quadfill::solve::{FitConfig, RankChoice, Solver, Theory};
use quadfill::{Observations, OnDuplicate, Real};
use quadfill_io::{Binning, ColumnPlaces, ReadData, ReadOptions, read};

use super::judge::TestSet;
use super::tie::{find_mode, tie};
use crate::flags::{Alpha, FitPlan, MOST_CONVEX_COLUMNS, PLAIN_RANK, TestSource};

/// Data, settings that fit them, and what to judge by.
pub(super) struct Prepared<T> {
    pub(super) data: Observations<T>,
    pub(super) bins: Vec<Binning>,
    /// Where the columns stand, if they have no names.
    pub(super) places: Option<ColumnPlaces>,
    /// What the column of values is called.
    pub(super) value: String,
    pub(super) config: FitConfig,
    pub(super) test: Option<TestSet>,
    /// The theorem's settings, where they were asked for.
    pub(super) theory: Option<Theory>,
}

impl<T: Real> Prepared<T> {
    pub(super) fn read(plan: &FitPlan) -> Result<Self> {
        let read = read::<T>(&plan.data, &plan.reading)?;
        let value = value_name(&read, &plan.reading);
        let ReadData { observations, bins, places, .. } = read;
        let spec = plan.model.spec(observations.modes().len(), plan.rank())?;
        let (data, spec) = tie(observations, spec, &plan.tie)?;
        let data = match plan.negatives {
            Some(count) => draw_negatives(plan, data, &spec, count)?,
            None => data,
        };
        let mut config = plan.config(spec);
        if plan.theory.is_none() {
            config.check(&data.sizes())?;
        }
        let (data, test) = match &plan.test {
            None => (data, None),
            Some(TestSource::File(path)) => {
                let reading = ReadOptions { places: places.clone(), ..plan.reading.clone() };
                let test = TestSet::read(path, &reading, data.modes(), &bins, Some(&value))?;
                (data, Some(test))
            }
            Some(TestSource::Latest(mode, share)) => {
                let mode = find_mode(data.modes(), mode)?;
                let (data, held) = data.split_latest(mode, *share)?;
                (data, Some(TestSet::of(&held)))
            }
        };
        let theory = plan.theory.map(|alpha| recipe(alpha, &data, &config)).transpose()?;
        if let Some(theory) = &theory {
            theory.apply(&mut config);
            config.check(&data.sizes())?;
        }
        Ok(Self { data, bins, places, value, config, test, theory })
    }

    /// What the data look like in view of the model.
    pub(super) fn summary(&self) -> Summary {
        let mut spec = self.config.model.clone();
        if matches!(self.config.solver, Solver::Sdp(_)) || self.theory.is_some() {
            // The rank is only known afterwards, or does not say what the data should afford.
            return self.data.summary();
        }
        spec.offsets = self.config.offsets.unwrap_or(spec.offsets);
        if self.config.rank == RankChoice::Auto {
            // What no rank could do without.
            spec.rank = 1;
        }
        self.data.summary_for(spec.rank, spec.degrees_of_freedom(&self.data.sizes()))
    }
}

/// The theorem's settings for data.
fn recipe<T: Real>(alpha: Alpha, data: &Observations<T>, config: &FitConfig) -> Result<Theory> {
    let model = &config.model;
    Ok(match alpha {
        Alpha::Given(alpha) => Theory::new(model, &data.sizes(), data.len(), alpha)?,
        Alpha::Auto => {
            // A convex program finds its rank; the fit before it needs one.
            let rank = if model.rank == MOST_CONVEX_COLUMNS { PLAIN_RANK } else { model.rank };
            Theory::estimate(data.clone(), &model.clone().with_rank(rank), config.seed)?
        }
    })
}

/// Adds cells that were not observed, and turns values into distances where the model predicts those.
fn draw_negatives<T: Real>(
    plan: &FitPlan,
    data: Observations<T>,
    spec: &ModelSpec,
    count: usize,
) -> Result<Observations<T>> {
    let modes: Vec<usize> = match &plan.negative_modes {
        Some(names) => names
            .split(',')
            .map(|name| find_mode(data.modes(), name.trim()))
            .collect::<Result<_>>()?,
        None => vec![0, data.modes().len() - 1],
    };
    let seed = plan.config(spec.clone()).seed;
    if Order::of(&spec.interaction) == Order::Highest {
        return Ok(data.with_negatives(count, 0.0, &modes, seed)?);
    }
    let (all, indices, values, weights) = data.into_parts();
    let zeros = vec![T::ZERO; values.len()];
    let data = Observations::new(all, indices, zeros, weights, OnDuplicate::Error)?;
    Ok(data.with_negatives(count, 1.0, &modes, seed)?)
}

/// The name of the column of values, as far as the file or the user gave it one.
fn value_name<T: Real>(read: &ReadData<T>, options: &ReadOptions) -> String {
    if options.ones {
        return "value".to_owned();
    }
    let header = read.header.as_deref().unwrap_or_default();
    let named = match &options.value {
        Some(column) if header.iter().any(|name| name == column.text()) => {
            Some(column.text().to_owned())
        }
        Some(column) => {
            column.number().and_then(|number| header.get(number.checked_sub(1)?).cloned())
        }
        None => {
            let is_taken = |name: &String| {
                let weight = options.weight.as_ref().is_some_and(|w| w.text() == name);
                weight || read.observations.modes().iter().any(|mode| mode.name == *name)
            };
            header.iter().rev().find(|name| !is_taken(name)).cloned()
        }
    };
    named.unwrap_or_else(|| "value".to_owned())
}
