//! Modes by their names, and modes that share their factors.

use anyhow::{Result, anyhow, bail};
use quadfill::model::ModelSpec;
use quadfill::observations::TextLabels;
use quadfill::{Labels, Mode, Observations, OnDuplicate, Real};

/// The mode with this name or number from 1.
pub(super) fn find_mode(modes: &[Mode], name: &str) -> Result<usize> {
    let by_name = modes.iter().position(|mode| mode.name == name);
    let by_number = || {
        let number = name.parse::<usize>().ok()?.checked_sub(1)?;
        (number < modes.len()).then_some(number)
    };
    by_name.or_else(by_number).ok_or_else(|| {
        let names: Vec<&str> = modes.iter().map(|mode| mode.name.as_str()).collect();
        anyhow!("there is no mode `{name}`: the modes are {}", names.join(", "))
    })
}

/// Lets modes share their factors, giving them all labels that any of them has.
pub(super) fn tie<T: Real>(
    data: Observations<T>,
    spec: ModelSpec,
    ties: &[String],
) -> Result<(Observations<T>, ModelSpec)> {
    let (mut data, mut spec) = (data, spec);
    for names in ties {
        let tied: Vec<usize> = names
            .split(',')
            .map(|name| find_mode(data.modes(), name.trim()))
            .collect::<Result<_>>()?;
        if tied.len() < 2 {
            bail!("--tie {names}: name two or more modes separated by commas");
        }
        spec = spec.with_tied(&tied);
    }
    for group in 0..spec.group_count() {
        let tied: Vec<usize> = spec.group_modes(group).collect();
        if tied.len() > 1 {
            data = share_labels(data, &tied)?;
        }
    }
    Ok((data, spec))
}

fn share_labels<T: Real>(data: Observations<T>, tied: &[usize]) -> Result<Observations<T>> {
    let (mut modes, mut indices, values, weights) = data.into_parts();
    let union = union(tied.iter().map(|&mode| &modes[mode].labels));
    for &mode in tied {
        let own = &modes[mode].labels;
        let places: Vec<u32> = (0..own.len())
            .map(|label| union.find(&own.name(label)).expect("the union has every label"))
            .collect();
        for index in &mut indices[mode] {
            *index = places[*index as usize];
        }
        modes[mode].labels = union.clone();
    }
    Ok(Observations::new(modes, indices, values, weights, OnDuplicate::Error)?)
}

fn union<'a>(all: impl Iterator<Item = &'a Labels> + Clone) -> Labels {
    let numbers: Option<Vec<&[i64]>> = all
        .clone()
        .map(|labels| match labels {
            Labels::Integers(numbers) => Some(numbers.as_slice()),
            Labels::Text(_) => None,
        })
        .collect();
    if let Some(numbers) = numbers {
        return Labels::from_integers(numbers.concat());
    }
    let mut text = TextLabels::default();
    for labels in all {
        for label in 0..labels.len() {
            text.intern(&labels.name(label));
        }
    }
    Labels::Text(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadfill::model::Kernel;

    #[test]
    fn tied_modes_get_the_labels_of_both() {
        let modes = vec![
            Mode::new("head", Labels::from_names(["ann", "bob"])),
            Mode::new("kind", Labels::from_integers(vec![1])),
            Mode::new("tail", Labels::from_names(["bob", "eve"])),
        ];
        let indices = vec![vec![0, 1], vec![0, 0], vec![0, 1]];
        let data = Observations::new(modes, indices, vec![1.0, 2.0], None, OnDuplicate::Error)
            .expect("sound");
        let spec = ModelSpec::quadratic(Kernel::transe(3), 2);
        let (data, spec) = tie(data, spec, &["head,3".to_owned()]).expect("sound");
        assert_eq!(data.sizes(), [3, 1, 3]);
        assert_eq!(data.describe(0), "ann, 1, bob");
        assert_eq!(data.describe(1), "bob, 1, eve");
        assert_eq!(spec.groups, [0, 1, 0]);
        assert!(spec.check(&data.sizes()).is_ok());
    }
}
