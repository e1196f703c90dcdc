//! Everything a fit needs, read and checked before the long work begins.

use anyhow::Result;
use quadfill::apply::Order;
use quadfill::model::ModelSpec;
use quadfill::observations::Summary;
use quadfill::solve::FitConfig;
use quadfill::{Observations, OnDuplicate, Real};
use quadfill_io::{Binning, ReadData, ReadOptions, read};

use super::judge::TestSet;
use super::tie::{find_mode, tie};
use crate::flags::{FitPlan, TestSource};

/// Data, settings that fit them, and what to judge by.
pub(super) struct Prepared<T> {
    pub(super) data: Observations<T>,
    pub(super) bins: Vec<Binning>,
    /// What the column of values is called.
    pub(super) value: String,
    pub(super) config: FitConfig,
    pub(super) test: Option<TestSet>,
}

impl<T: Real> Prepared<T> {
    pub(super) fn read(plan: &FitPlan) -> Result<Self> {
        let read = read::<T>(&plan.data, &plan.reading)?;
        let value = value_name(&read, &plan.reading);
        let ReadData { observations, bins, .. } = read;
        let spec = plan.model.spec(observations.modes().len(), plan.rank())?;
        let (data, spec) = tie(observations, spec, &plan.tie)?;
        let data = match plan.negatives {
            Some(count) => draw_negatives(plan, data, &spec, count)?,
            None => data,
        };
        let config = plan.config(spec);
        config.check(&data.sizes())?;
        let (data, test) = match &plan.test {
            None => (data, None),
            Some(TestSource::File(path)) => {
                let test = TestSet::read(path, &plan.reading, data.modes(), &bins, Some(&value))?;
                (data, Some(test))
            }
            Some(TestSource::Latest(mode, share)) => {
                let mode = find_mode(data.modes(), mode)?;
                let (data, held) = data.split_latest(mode, *share)?;
                (data, Some(TestSet::of(&held)))
            }
        };
        Ok(Self { data, bins, value, config, test })
    }

    /// What the data look like in view of the model.
    pub(super) fn summary(&self) -> Summary {
        let spec = &self.config.model;
        let spec = spec.clone().with_offsets(self.config.offsets.unwrap_or(spec.offsets));
        self.data.summary_for(spec.rank, spec.degrees_of_freedom(&self.data.sizes()))
    }
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
