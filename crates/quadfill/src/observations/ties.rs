//! Modes that share their factors have the same labels.

use super::{Labels, Mode, Observations, TextLabels};

impl Observations {
    /// Gives some modes all the labels that any of them has.
    #[must_use]
    pub(crate) fn with_shared_labels(mut self, tied: &[usize]) -> Self {
        let union = Labels::union(tied.iter().map(|&mode| &self.modes[mode].labels));
        for &mode in tied {
            let index_map = self.modes[mode].labels.index_map(&union);
            for index in &mut self.indices[mode] {
                *index = index_map[*index as usize];
            }
            self.modes[mode] = self.modes[mode].with_labels(union.clone());
        }
        self
    }
}

impl Labels {
    /// The union of some label lists: whole numbers in ascending order, or text in order of appearance.
    pub(crate) fn union<'a>(all: impl Iterator<Item = &'a Self> + Clone) -> Self {
        let numbers: Option<Vec<&[i64]>> = all
            .clone()
            .map(|labels| match labels {
                Self::Integers(numbers) => Some(numbers.as_slice()),
                Self::Text(_) => None,
            })
            .collect();
        if let Some(numbers) = numbers {
            return Self::from_integers(numbers.concat());
        }
        let mut text = TextLabels::default();
        for labels in all {
            for label in 0..labels.len() {
                text.intern(&labels.name(label));
            }
        }
        Self::Text(text)
    }
}

/// Positions of modes by their names, for lists such as `["head", "tail"]`.
pub(crate) fn positions(modes: &[Mode], names: &[String]) -> crate::Result<Vec<usize>> {
    names.iter().map(|name| Mode::position(modes, name.trim())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observations::OnDuplicate;

    #[test]
    fn shared_labels_are_those_of_all_modes() {
        let modes = vec![
            Mode::new("head", Labels::from_names(["ann", "bob"])),
            Mode::new("tail", Labels::from_names(["bob", "eve"])),
        ];
        let indices = vec![vec![0, 1], vec![0, 1]];
        let data = Observations::new(modes, indices, vec![1.0, 2.0], None, OnDuplicate::Error);
        let data = data.expect("the data are sound").with_shared_labels(&[0, 1]);
        assert_eq!(data.sizes(), [3, 3]);
        assert_eq!(data.describe(1), "bob, eve");
    }
}
