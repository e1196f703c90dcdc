//! Labels that are added to modes later.

use super::{Labels, Mode, Observations};
use crate::error::{Error, Result};

impl Labels {
    /// These labels and some more, and where each of these went. Whole numbers stay in ascending order;
    /// text labels keep their positions, and new ones come after them.
    ///
    /// ```
    /// use quadfill::Labels;
    /// let (more, index_map) = Labels::from_integers(vec![10, 30]).extended(&Labels::from_names(["20", "30"]));
    /// assert_eq!((more.len(), index_map), (3, vec![0, 2]));
    /// let (more, index_map) = Labels::from_integers(vec![10, 30]).extended(&Labels::from_names(["x"]));
    /// assert_eq!((more.find("x"), index_map), (Some(2), vec![0, 1]));
    /// ```
    pub fn extended(&self, more: &Self) -> (Self, Vec<u32>) {
        let more = match (self, more) {
            (Self::Integers(_), Self::Text(text)) => text.as_integers(),
            _ => None,
        }
        .map_or_else(|| more.clone(), Self::Integers);
        let all = Self::union([self, &more].into_iter());
        let index_map = (0..self.len())
            .map(|label| all.find(&self.name(label)).expect("no label is lost"))
            .collect();
        (all, index_map)
    }
}

/// Modes with more labels than they had.
#[derive(Debug, Clone)]
pub struct ExtendedModes {
    /// The extended modes.
    pub modes: Vec<Mode>,
    /// For each mode, the new index of each old label.
    pub index_map: Vec<Vec<u32>>,
}

impl ExtendedModes {
    /// Adds the labels of some data to modes. Modes with the same number in `groups` also get each other's
    /// labels, because they share their rows. Returns the data with the labels of these modes.
    pub fn new(
        modes: &[Mode],
        groups: &[usize],
        data: Observations,
    ) -> Result<(Self, Observations)> {
        if data.modes.len() != modes.len() {
            return Err(Error::OtherModes { expected: modes.len(), got: data.modes.len() });
        }
        let (extended, index_map): (Vec<Mode>, Vec<Vec<u32>>) = modes
            .iter()
            .enumerate()
            .map(|(at, mode)| {
                let shared = (0..modes.len()).filter(|&other| groups[other] == groups[at]);
                let more = Labels::union(
                    shared.map(|other| &data.modes[other].labels).collect::<Vec<_>>().into_iter(),
                );
                let (labels, index_map) = mode.labels.extended(&more);
                (mode.with_labels(labels), index_map)
            })
            .unzip();
        let (data, unknown) = data.relabelled(&extended)?;
        assert_eq!(unknown, 0, "the modes have been extended by every label");
        Ok((Self { modes: extended, index_map }, data))
    }

    /// For each mode and each of its labels, whether it is new.
    pub fn new_labels(&self) -> Vec<Vec<bool>> {
        let modes = self.modes.iter().zip(&self.index_map);
        modes
            .map(|(mode, index_map)| {
                let mut new = vec![true; mode.labels.len()];
                for &index in index_map {
                    new[index as usize] = false;
                }
                new
            })
            .collect()
    }
}
